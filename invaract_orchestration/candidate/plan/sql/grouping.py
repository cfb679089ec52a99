"""GROUP BY: its keys and grouping sets, and what the clauses above it read of its output."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

from sqlglot import exp

from invaract_orchestration.candidate.plan.expressions import (
    UDF,
    AggregateCall,
    Alias,
    Attribute,
    ColumnReference,
    Expression,
    Literal,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import Aggregate, Plan
from invaract_orchestration.candidate.plan.render import render_expression
from invaract_orchestration.candidate.plan.sql.expressions import Reader
from invaract_orchestration.candidate.plan.sql.scope import Session, line_of
from invaract_orchestration.candidate.plan.sql.values import expression_type
from invaract_orchestration.candidate.plan.traverse import replaced, signature, walk

_MOST_CUBED = 10
Sets = list[tuple[int, ...]]


def has_aggregate(expression: Expression) -> bool:
    """Whether an aggregate function stands in the expression, outside of its subqueries."""
    return any(isinstance(n, AggregateCall) or (isinstance(n, UDF) and n.is_aggregate) for n in walk(expression))


class Keys:
    """The keys of one GROUP BY, each once, and its grouping sets (null: one with all keys)."""

    def __init__(self, group: exp.Group | None, reader: Reader, items: list[Alias]) -> None:
        self.expressions: list[Expression] = []
        self._places: dict[str, int] = {}
        self._reader = reader
        self._items = items
        self.sets: Sets | None = None
        if group is not None:
            self._read(group)

    def _read(self, group: exp.Group) -> None:
        if group.args.get("all"):
            for item in self._items:
                if not has_aggregate(item) and not isinstance(item.expression, Literal):
                    self._place(item.expression)
            return
        parts = [self._sets_of(one) for one in group.expressions]
        plain: Sets = [tuple(at for (only,) in parts for at in only)] if all(len(p) == 1 for p in parts) else []
        trailing = [one for kind in ("rollup", "cube", "grouping_sets") for one in group.args.get(kind) or ()]
        if any(not one.expressions for one in trailing) and plain:
            parts = [self._spread(one, [(at,) for at in plain[0]]) for one in trailing]
        elif trailing:
            explicit = [self._sets_of(one) for one in trailing]
            parts = explicit if group.args.get("grouping_sets") else [*parts, *explicit]
        if all(len(part) == 1 for part in parts) and not trailing:
            return
        self.sets = [tuple(dict.fromkeys(at for one in chosen for at in one)) for chosen in product(*parts)]

    def _sets_of(self, node: exp.Expr) -> Sets:
        if isinstance(node, exp.Rollup | exp.Cube):
            return self._spread(node, [self._columns(one) for one in node.expressions])
        if isinstance(node, exp.GroupingSets):
            return [one for inner in node.expressions for one in self._sets_of(inner)]
        return [self._columns(node)]

    @staticmethod
    def _spread(node: exp.Expr, parts: Sets) -> Sets:
        if isinstance(node, exp.Rollup):
            chosen: Iterable[tuple[tuple[int, ...], ...]] = (tuple(parts[:n]) for n in range(len(parts), -1, -1))
        elif len(parts) > _MOST_CUBED:  # what every set has in common is all that anybody asks
            chosen = (tuple(parts), ())
        else:
            chosen = (one for n in range(len(parts), -1, -1) for one in combinations(parts, n))
        return [tuple(at for part in one for at in part) for one in chosen]

    def _columns(self, node: exp.Expr) -> tuple[int, ...]:
        if isinstance(node, exp.Paren):
            return self._columns(node.this)
        if isinstance(node, exp.Tuple):
            return tuple(at for one in node.expressions for at in self._columns(one))
        return (self._place(self._key(node)),)

    def _key(self, node: exp.Expr) -> Expression:
        if isinstance(node, exp.Literal) and not node.is_string:
            at = int(node.this) if str(node.this).isdigit() else 0
            if 1 <= at <= len(self._items):
                return self._items[at - 1].expression
        return self._reader.read(node)

    def _place(self, key: Expression) -> int:
        while isinstance(key, Alias):
            key = key.expression
        said = signature(key)
        if said not in self._places:
            self._places[said] = len(self.expressions)
            self.expressions.append(key)
        return self._places[said]


class GroupedOutput:
    """What an aggregation puts out: the select list, and what HAVING, QUALIFY and windows need besides."""

    def __init__(self, session: Session, keys: Keys, items: list[Alias]) -> None:
        self._session = session
        self._keys = keys
        self.items = list(items)
        self._named = len(items)
        self._by_text = {signature(item): item.attribute for item in reversed(items)}
        self._key_texts = {signature(key) for key in keys.expressions}

    @property
    def has_hidden(self) -> bool:
        """Whether it puts out more than the select list."""
        return len(self.items) > self._named

    def over(self, expression: Expression) -> Expression:
        """The expression as it reads above the aggregation."""
        return replaced(expression, self._instead)

    def node(self, child: Plan, group: exp.Expr | None) -> Aggregate:
        """The aggregation itself."""
        sets = self._keys.sets
        return Aggregate(
            child=child,
            keys=tuple(self._keys.expressions),
            items=tuple(self.items),
            grouping_sets=None if sets is None else tuple(sets),
            line=line_of(group) or child.line,
        )

    def _instead(self, node: Expression) -> Expression | None:
        said = signature(node)
        if said in self._by_text:
            return reference(self._by_text[said])
        if isinstance(node, ColumnReference) and node.path:
            whole = f"#{node.id}"
            if said not in self._key_texts and whole in self._key_texts:
                return None if whole not in self._by_text else node
        if said in self._key_texts:
            return self._hidden(node)
        if isinstance(node, AggregateCall) or (isinstance(node, UDF) and node.is_aggregate):
            return self._hidden(node)
        return None

    def _hidden(self, node: Expression) -> Expression:
        if isinstance(node, ColumnReference) and not node.path:
            attribute = Attribute(node.id, node.name, node.type)
        else:
            name = node.path[-1] if isinstance(node, ColumnReference) else render_expression(node).lower()
            attribute = self._session.attribute(name, expression_type(node))
        self.items.append(Alias(attribute, node))
        self._by_text[signature(node)] = attribute
        return reference(attribute)
