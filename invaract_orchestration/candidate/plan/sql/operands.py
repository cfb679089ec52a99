"""What a node of sqlglot's tree holds."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp


def names_of(node: exp.Expr) -> tuple[str, ...] | None:
    """The names of a dotted chain; null where anything else stands in it."""
    if isinstance(node, exp.Dot):
        before, last = names_of(node.this), names_of(node.expression)
        return None if before is None or last is None else (*before, *last)
    if isinstance(node, exp.Column):
        return tuple(part.name for part in node.parts)
    return (node.name,) if isinstance(node, exp.Identifier) else None


def unwrapped(node: exp.Expr | None) -> exp.Expr | None:
    """What stands in parentheses."""
    while isinstance(node, exp.Paren | exp.Subquery):
        node = node.this
    return node


def operands(node: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions that a node holds, in its order; the name of a call is none."""
    for value in node.args.values():
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, exp.Expr) and not (isinstance(node, exp.Anonymous) and part is node.this):
                yield part


def flat(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The operands of a chain of one connector, in order, without recursion."""
    parts: list[exp.Expr] = []
    stack: list[exp.Expr] = [node]
    while stack:
        one = stack.pop()
        inner = _unparenthesised(one)
        if isinstance(inner, kind):
            stack.extend((inner.expression, inner.this))
        else:
            parts.append(one)
    return parts


def _unparenthesised(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node
