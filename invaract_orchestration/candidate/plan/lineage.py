"""Where each output column comes from: its source columns, how it derives from them, and the aggregates on the way.

PARTITION BY and ORDER BY of a window, filters and join conditions add no source; CASE conditions and FILTER clauses do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import NamedTuple

from invaract_orchestration.candidate.plan.builtin_functions import WINDOW_ONLY
from invaract_orchestration.candidate.plan.expressions import (
    UDF,
    AggregateCall,
    Alias,
    Arithmetic,
    Attribute,
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
from invaract_orchestration.candidate.plan.traverse import fold, fold_expression, post_order
from invaract_orchestration.candidate.plan.type_widening import is_lossless

Derivation = OneOf["constant", "direct", "computed", "opaque"]
_STRENGTH: tuple[Derivation, ...] = ("constant", "direct", "computed", "opaque")
_NEVER_CONSTANT = WINDOW_ONLY | {"rand", "randn", "random", "uuid", "shuffle", "now", "monotonically_increasing_id"}


class SourceColumn(NamedTuple):
    """A column of a source, or a field nested in it."""

    dataset: str
    path: tuple[str, ...]

    @property
    def table(self) -> str:
        """The dataset's last part: the table's own name, or the folder's or file's."""
        return short_name(self.dataset)

    def __str__(self) -> str:
        return ".".join((self.table, *self.path))


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """What one column derives from. `hidden`: part of its past is in a step that the plan does not show."""

    sources: frozenset[SourceColumn] = frozenset()
    derivation: Derivation = "constant"
    aggregations: frozenset[str] = frozenset()
    hidden: bool = False

    def __str__(self) -> str:
        names = ", ".join(sorted(map(str, self.sources)))
        functions = f" {{{', '.join(sorted(self.aggregations))}}}" if self.aggregations else ""
        return f"{{{names}}} {self.derivation.capitalize()}{functions}"


Scope = Mapping[int, ColumnLineage]
_UNSEEN = ColumnLineage(derivation="opaque", hidden=True)
_COUNTED = ColumnLineage(derivation="computed")


def short_name(dataset: str) -> str:
    """The last part of a dataset's name: after the last slash of a path, after the last dot of a table's name."""
    if "/" in dataset:
        return dataset.rstrip("/").rpartition("/")[2]
    return dataset.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class PlanLineage:
    """The lineage of every attribute at every node of a plan."""

    scopes: Mapping[int, Scope]
    latest: Scope

    def of(self, plan: Plan) -> Scope:
        """What the plan puts out."""
        return self.scopes[id(plan)]

    def column(self, column: ColumnReference, *inputs: Plan) -> ColumnLineage:
        """The lineage of a column as a node over these inputs reads it, or as the query around the node has it."""
        scopes = (*(self.of(plan) for plan in inputs), self.latest)
        return expression_lineage(column, self.of, *scopes)


def output_lineage(plan: Plan) -> dict[str, ColumnLineage]:
    """The lineage of every output column, in order; columns of one name are merged."""
    found = plan_lineage(plan).of(plan)
    merged: dict[str, ColumnLineage] = {}
    for attribute in plan.output:
        one = found.get(attribute.id, _UNSEEN)
        merged[attribute.name] = _merged((merged[attribute.name], one)) if attribute.name in merged else one
    return merged


def plan_lineage(root: Plan) -> PlanLineage:
    """The lineage of everything below the root, subqueries included."""
    scopes: dict[int, Scope] = {}
    latest: dict[int, ColumnLineage] = {}

    def keep(node: Plan, scope: Scope) -> Scope:
        latest.update(scope)
        scopes[id(node)] = scope
        return scope

    def visit(node: Plan, _: Callable[[Plan], Scope]) -> Scope:
        scope = keep(node, _put_out(node, scope_of, latest))
        return scope if not isinstance(node, Union) or node.again is None else repeated(node, node.again)

    def scope_of(plan: Plan) -> Scope:
        return scopes[id(plan)]

    def repeated(node: Union, start: Plan) -> Scope:
        """What a recursive query puts out once a further round adds nothing: each may carry a value one column on."""
        first = scope_of(start)
        inside = [one for branch in node.branches[1:] for one in post_order(branch)]
        below = {id(one) for one in post_order(start)}
        for _ in node.columns:
            before = scope_of(node)
            keep(start, {a.id: before[c.id] for a, c in zip(start.output, node.columns, strict=True)})
            for one in inside:
                if id(one) not in below:
                    visit(one, scope_of)
            if keep(node, _put_out(node, scope_of, latest)) == before:
                break
        keep(start, first)
        return scope_of(node)

    fold(root, visit)
    return PlanLineage(scopes, latest)


def expression_lineage(expression: Expression, scope_of: Callable[[Plan], Scope], *inputs: Scope) -> ColumnLineage:
    """The lineage of an expression over what its inputs put out."""

    def visit(node: Expression, parts: tuple[ColumnLineage, ...]) -> ColumnLineage:
        match node:
            case ColumnReference():
                known = next((scope[node.id] for scope in inputs if node.id in scope), _UNSEEN)
                return _nested(known, node.path)
            case Literal():
                return ColumnLineage()
            case Alias():
                return parts[0]
            case Cast():
                is_kept = node.to is not None and node.source is not None and is_lossless(node.source, node.to)
                return parts[0] if is_kept else _computed(parts)
            case UDF():
                return _merged((*parts, ColumnLineage(derivation="opaque")))
            case UnknownExpression():  # without operands nobody knows what it reads
                return _merged((*parts, ColumnLineage(derivation="opaque", hidden=not parts)))
            case AggregateCall():
                return _merged((*parts, ColumnLineage(derivation="computed", aggregations=frozenset({node.name}))))
            case Function() if not node.args or node.name in _NEVER_CONSTANT:
                return _merged((*parts, _COUNTED))
            case Arithmetic() | Comparison() | BooleanExpr() | Conditional() | Function():
                return _computed(parts)
            case Subquery():
                return _of_subquery(node, parts, scope_of)

    return fold_expression(expression, visit)


def _of_subquery(node: Subquery, parts: tuple[ColumnLineage, ...], scope_of: Callable[[Plan], Scope]) -> ColumnLineage:
    if node.kind == "exists":
        return _COUNTED
    scope = scope_of(node.plan)
    inner = _merged([scope.get(attribute.id, _UNSEEN) for attribute in node.plan.output])
    return inner if node.kind == "scalar" else _merged((*parts, inner, _COUNTED))


def _nested(whole: ColumnLineage, path: tuple[str, ...]) -> ColumnLineage:
    if not path or whole.derivation != "direct":
        return whole
    deeper = frozenset(SourceColumn(s.dataset, (*s.path, *path)) for s in whole.sources)
    return ColumnLineage(deeper, "direct", whole.aggregations, whole.hidden)


def _merged(parts: Iterable[ColumnLineage]) -> ColumnLineage:
    parts = tuple(parts)
    if len(parts) == 1:
        return parts[0]
    return ColumnLineage(
        frozenset().union(*(p.sources for p in parts)),
        max((p.derivation for p in parts), key=_STRENGTH.index, default="constant"),
        frozenset().union(*(p.aggregations for p in parts)),
        any(p.hidden for p in parts),
    )


def _computed(parts: tuple[ColumnLineage, ...]) -> ColumnLineage:
    """Of literals alone a constant, of anything else a computed value."""
    merged = _merged(parts)
    return _merged((merged, _COUNTED)) if merged.derivation == "direct" else merged


def _put_out(node: Plan, scope_of: Callable[[Plan], Scope], latest: Scope) -> Scope:
    def of(items: Iterable[Alias], *inputs: Plan) -> dict[int, ColumnLineage]:
        scopes = (*(scope_of(plan) for plan in inputs), latest)
        return {item.attribute.id: expression_lineage(item, scope_of, *scopes) for item in items}

    match node:
        case Read():
            return {a.id: _of_source(node, a.name) for a in node.columns}
        case Project() | Aggregate():
            return of(node.items, node.child)
        case Window():
            return {**scope_of(node.child), **of(node.items, node.child)}
        case Generate():
            made = expression_lineage(node.generator, scope_of, scope_of(node.child), latest)
            return {**scope_of(node.child), **{a.id: made for a in node.columns}}
        case Join():
            return {**scope_of(node.left), **scope_of(node.right)}
        case Union():
            return _by_position(node.columns, node.branches, scope_of)
        case SetOperation():
            inputs = (node.left,) if node.operator == "EXCEPT" else (node.left, node.right)
            return _by_position(node.columns, inputs, scope_of)
        case UnknownPlan():
            past = [one for plan in node.inputs for one in scope_of(plan).values()]
            whole = _merged((*past, ColumnLineage(derivation="opaque", hidden=node.hides)))
            return {a.id: whole for a in node.columns}
        case Merge():
            return scope_of(node.source)
        case Filter() | Sort() | Limit() | Sample() | Distinct() | Write() | Update() | Delete() | Script():
            return scope_of(node.child)


def _of_source(node: Read, name: str) -> ColumnLineage:
    if node.inline:
        return ColumnLineage()
    return ColumnLineage(frozenset({SourceColumn(node.dataset, (name,))}), "direct")


def _by_position(columns: tuple[Attribute, ...], inputs: tuple[Plan, ...], scope_of: Callable[[Plan], Scope]) -> Scope:
    made: dict[int, ColumnLineage] = {}
    for at, column in enumerate(columns):
        parts = [scope_of(plan).get(plan.output[at].id, _UNSEEN) for plan in inputs]
        made[column.id] = _merged(parts)
    return made
