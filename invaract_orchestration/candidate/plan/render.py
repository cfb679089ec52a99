"""The text of a plan: one deterministic tree, inputs first, then what the node does with them.

A literal can be a cell value, so it is shown as `?` unless the caller allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from invaract_orchestration.candidate.plan.expressions import (
    UDF,
    AggregateCall,
    Alias,
    Arithmetic,
    BooleanExpr,
    Cast,
    ColumnReference,
    Comparison,
    Conditional,
    Expression,
    Function,
    Literal,
    Subquery,
    UnknownExpression,
)
from invaract_orchestration.candidate.plan.lineage import short_name
from invaract_orchestration.candidate.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Plan,
    Project,
    Read,
    Sample,
    SetOperation,
    Sort,
    Union,
    UnknownPlan,
    Window,
)
from invaract_orchestration.candidate.plan.row_changes import Delete, Merge, Script, Update, Write
from invaract_orchestration.candidate.plan.traverse import fold_expression, plans_inside

_SHOWN = ("isnull", "isnotnull")
_MOST_LINES = 2_000  # in a longer text a part that several steps read is written once


def render_plan(plan: Plan, *, literals: bool = False, full_names: bool = True) -> str:
    """The plan as a tree. `full_names` off: sources by the last part of their name."""
    lines: list[str] = []
    shown: set[int] = set()
    stack: list[tuple[Plan | str, str, str]] = [(plan, "", "")]
    while stack:
        entry, first, rest = stack.pop()
        if isinstance(entry, str):
            lines.append(first + entry)
            continue
        node = _shown(entry)
        if id(node) in shown and node.children and len(lines) > _MOST_LINES:
            lines.append(f"{first}{node_title(node, full_names=full_names)} (as above)")
            continue
        shown.add(id(node))
        lines.append(first + node_title(node, full_names=full_names))
        inner = plans_inside(node)
        parts: list[Plan | str] = [*node.children, *_details(node, literals=literals), *inner]
        for at in range(len(parts) - 1, -1, -1):
            is_last = at == len(parts) - 1
            stack.append((parts[at], rest + ("└─ " if is_last else "├─ "), rest + ("   " if is_last else "│  ")))
    return "\n".join(lines) + "\n"


def render_expression(expression: Expression, *, literals: bool = False) -> str:
    """The expression as text, with the names that the columns have at its node."""
    return fold_expression(expression, lambda node, parts: _text(node, parts, literals=literals))


def generated_name(expression: Expression) -> str:
    """A name for an expression that has none, without its literals; of a window or generator the name of its column."""
    return expression.name if isinstance(expression, ColumnReference) else render_expression(expression).lower()


def node_title(node: Plan, *, full_names: bool = True) -> str:
    """The node's own line."""
    match node:
        case Read():
            return f"Read({node.dataset if full_names else short_name(node.dataset)})"
        case Write():
            return f"Write({node.target})"
        case Join():
            return f"{'Lateral' * node.lateral}Join({node.kind.upper()})"
        case Limit():
            return "Limit" if node.count is None else f"Limit({node.count})"
        case SetOperation():
            return node.operator.capitalize()
        case UnknownPlan():
            return f"Unknown({node.source_type}: {node.description})"
        case Aggregate() if node.pivot:
            return "Aggregate(PIVOT)"
    return type(node).__name__


def node_text(node: Plan, *, literals: bool = False) -> str:
    """The node in one line, for a finding."""
    return "; ".join((node_title(node), *_details(node, literals=literals)))


def _shown(node: Plan) -> Plan:
    """The node below projections that only pass columns on."""
    while isinstance(node, Project) and _passes_all(node):
        node = node.child
    return node


def _passes_all(node: Project) -> bool:
    if len(node.items) != len(node.child.output):
        return False
    return all(
        isinstance(item.expression, ColumnReference)
        and not item.expression.path
        and item.expression.id == below.id
        and item.attribute.name == below.name
        for item, below in zip(node.items, node.child.output, strict=True)
    )


def _details(node: Plan, *, literals: bool) -> list[str]:
    def text(expression: Expression) -> str:
        return render_expression(expression, literals=literals)

    match node:
        case Project():
            return [text(item) for item in node.items]
        case Aggregate():
            return [*_grouping(node, text), *(text(item) for item in node.items)]
        case Window():
            return [*(text(item) for item in node.items), *_listed("PARTITION BY", node.partition_by, text)]
        case Filter():
            return [f"WHERE {text(node.condition)}"]
        case Join():
            return [] if node.condition is None else [f"ON {text(node.condition)}"]
        case Sort():
            return _listed("ORDER BY", node.keys, text)
        case Distinct():
            return _listed("BY", node.columns, text)
        case Generate():
            return [f"{', '.join(a.name for a in node.columns)} = {text(node.generator)}"]
        case Merge():
            return [
                f"ON {text(node.condition)}",
                *(f"WHEN {a.when.upper()} THEN {a.action.upper()}" for a in node.actions),
            ]
        case Update():
            where = [] if node.condition is None else [f"WHERE {text(node.condition)}"]
            return [*(f"SET {'.'.join(path)} = {text(value)}" for path, value in node.assignments), *where]
        case Delete():
            return [] if node.condition is None else [f"WHERE {text(node.condition)}"]
        case Read() | Write() | Union() | SetOperation() | Limit() | Sample() | UnknownPlan() | Script():
            return []


def _grouping(node: Aggregate, text: Callable[[Expression], str]) -> list[str]:
    if node.grouping_sets is None:
        return _listed("GROUP BY", node.keys, text)
    sets = ("(" + ", ".join(text(node.keys[at]) for at in one) + ")" for one in node.grouping_sets)
    return [f"GROUP BY GROUPING SETS ({', '.join(sets)})"]


def _listed(words: str, expressions: Iterable[Expression], text: Callable[[Expression], str]) -> list[str]:
    names = ", ".join(map(text, expressions))
    return [f"{words} {names}"] if names else []


def _text(node: Expression, parts: tuple[str, ...], *, literals: bool) -> str:
    listed = ", ".join(parts)
    match node:
        case ColumnReference():
            return ".".join((node.name, *node.path))
        case Literal():
            return _literal(node) if literals else "?"
        case Alias():
            return f"{node.attribute.name} = {parts[0]}"
        case Cast():
            return f"CAST({parts[0]} AS {node.to or '?'})"
        case Arithmetic() if len(parts) == 1:
            return f"{node.operator}{parts[0]}"
        case Arithmetic():
            return "(" + f" {node.operator} ".join(parts) + ")"
        case Comparison():
            return f"{parts[0]} {node.operator} {parts[1]}"
        case BooleanExpr("NOT"):
            return f"NOT ({parts[0]})"
        case BooleanExpr():
            return "(" + f" {node.operator} ".join(parts) + ")"
        case Conditional():
            return _case(node, parts)
        case Function() if node.name in _SHOWN:
            return f"{parts[0]} IS {'NOT ' * (node.name == 'isnotnull')}NULL"
        case Function():
            return f"{node.name}({listed})"
        case UDF():
            return f"UDF {node.name or '(unnamed)'}({listed})"
        case AggregateCall():
            inner = parts[: len(node.args)]
            where = "" if node.filter is None else f" FILTER (WHERE {parts[-1]})"
            return f"{node.name}({'DISTINCT ' * node.distinct}{', '.join(inner) or '*'}){where}"
        case Subquery():
            return f"{listed} IN (query)" if node.kind == "in" else f"{node.kind.upper()} (query)"
        case UnknownExpression():
            return f"{node.description}({listed})"


def _case(node: Conditional, parts: tuple[str, ...]) -> str:
    pairs = "".join(f" WHEN {parts[2 * at]} THEN {parts[2 * at + 1]}" for at in range(len(node.branches)))
    return f"CASE{pairs}{'' if node.otherwise is None else ' ELSE ' + parts[-1]} END"


def _literal(node: Literal) -> str:
    if node.value is None:
        return "NULL"
    if isinstance(node.value, bool):
        return str(node.value).lower()
    return "'" + node.value.replace("'", "''") + "'" if isinstance(node.value, str) else str(node.value)
