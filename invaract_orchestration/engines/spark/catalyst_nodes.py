"""Catalyst's analysed plan to the plan of the gate, node by node, from the leaves up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from invaract_orchestration.candidate.plan.diagnostics import Diagnostic
from invaract_orchestration.candidate.plan.expressions import (
    ColumnReference,
    Expression,
    Function,
    Literal,
    Subquery,
    all_of,
)
from invaract_orchestration.candidate.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Plan,
    Project,
    Sample,
    SetOperation,
    Sort,
    Union,
    UnknownPlan,
    Window,
)
from invaract_orchestration.candidate.plan.traverse import references, replaced
from invaract_orchestration.engines.spark.catalyst_expand import expanded
from invaract_orchestration.engines.spark.catalyst_expressions import (
    CatalystExpressions,
    attributes,
    holds,
    listed,
    named_list,
)
from invaract_orchestration.engines.spark.catalyst_grouping import (
    as_pivot,
    is_grouping_expand,
    is_pivot,
    with_grouping_sets,
)
from invaract_orchestration.engines.spark.catalyst_leaves import CatalystLeaves, under_ids
from invaract_orchestration.engines.spark.catalyst_tree import CatalystNode, Json, children_first, read_tree
from invaract_orchestration.engines.spark.plan_lines import WrittenAt, placed

_JOINS: dict[str, JoinKind] = {
    "Inner": "inner", "Cross": "cross", "LeftOuter": "left", "RightOuter": "right", "FullOuter": "full",
    "LeftSemi": "semi", "LeftAnti": "anti", "ExistenceJoin": "semi", "LeftSingle": "left",
}  # fmt: skip
_TRANSPARENT = frozenset({
    "SubqueryAlias", "View", "ResolvedHint", "UnresolvedHint", "Repartition", "RepartitionByExpression",
    "RebalancePartitions", "EventTimeWatermark", "CollectMetrics", "LocalLimit", "CTERelationDef", "NoopDataset",
    "SubqueryColumnAliases", "PipeOperator",
})  # fmt: skip
_CODE = frozenset({
    "MapInPandas", "MapInArrow", "PythonMapInArrow", "FlatMapGroupsInPandas", "FlatMapGroupsInArrow",
    "FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow", "FlatMapGroupsInPandasWithState", "MapPartitions",
    "MapPartitionsInR", "MapElements", "MapGroups", "CoGroup", "TypedFilter", "DeserializeToObject",
    "SerializeFromObject", "AppendColumns", "FlatMapGroupsWithState", "ScriptTransformation", "TransformWithState",
    "TransformWithStateInPySpark",
})  # fmt: skip
_NO_LINES: Mapping[int, WrittenAt] = {}
_ENGINE_FILTERS = frozenset({
    "IsNotNull", "And", "GreaterThanOrEqual", "GreaterThan", "LessThan", "AttributeReference", "GetStructField", "Cast",
    "PreciseTimestampConversion",
})  # fmt: skip


class CatalystNodes:
    """One translation of one analysed plan."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.leaves: CatalystLeaves | None = None
        self._reader = CatalystExpressions(self.plan)
        self._named: dict[tuple[str, Any], Plan] = {}

    def plan(self, nodes: list[Json], lines: Mapping[int, WrittenAt] = _NO_LINES) -> Plan:
        """The plan of a pre-order list. `lines`: where its steps were written, by their position in the list."""
        root = read_tree(nodes)
        made: dict[int, Plan] = {}
        for node in children_first(root):
            inputs = [made[id(child)] for child in node.children]
            try:
                one = self._node(node, inputs)
                made[id(node)] = one if any(one is below for below in inputs) else placed(one, lines.get(node.place))
            except Exception as error:  # noqa: BLE001 - a gate must end in a verdict, here "unverifiable"
                self.diagnostics.append(
                    Diagnostic(code="plan.translator_failed", message=f"reading {node.kind}: {type(error).__name__}")
                )
                made[id(node)] = UnknownPlan(
                    description=node.kind,
                    source_type="spark",
                    inputs=tuple(inputs),
                    columns=inputs[0].output if inputs else (),
                )
            self._remember(node, made[id(node)])
        return made[id(root)]

    def _node(self, node: CatalystNode, inputs: list[Plan]) -> Plan:
        if node.kind in _TRANSPARENT or is_grouping_expand(node):
            return inputs[0]
        if node.kind in _CODE:
            columns = attributes(node, "output") or attributes(node, "outputAttrs") or inputs[0].output
            return UnknownPlan(description=node.kind, source_type="code", inputs=tuple(inputs), columns=columns, hides=False)
        if not inputs:
            return self._leaf(node)
        if len(inputs) > 1:
            return self._of_several(node, inputs)
        return self._of_one(node, inputs[0])

    def _of_one(self, node: CatalystNode, child: Plan) -> Plan:
        reader = self._reader
        match node.kind:
            case "Project":
                return Project(child=child, items=named_list(reader, node, "projectList"))
            case "Filter":
                if _is_the_engines(node):
                    return child
                return Filter(child=child, condition=listed(reader, node, "condition")[0])
            case "Aggregate":
                return self._aggregate(node, child)
            case "Expand":
                return expanded(node, child, reader)
            case "Window":
                return self._window(node, child)
            case "LateralJoin":
                return self._lateral(node, child)
            case "Sort":
                return Sort(child=child, keys=listed(reader, node, "order"))
            case "GlobalLimit" | "Tail":
                return Limit(child=child, count=_count(listed(reader, node, "limitExpr")))
            case "Offset":
                return Limit(child=child, count=None)
            case "Distinct":
                return Distinct(child=child)
            case "Deduplicate" | "DeduplicateWithinWatermark":
                return Distinct(child=child, columns=listed(reader, node, "keys"))
            case "Sample":
                return Sample(child=child)
            case "Generate":
                made = listed(reader, node, "generator")[0]
                return Generate(child=child, generator=made, columns=attributes(node, "generatorOutput"))
        return self._unknown(node, [child])

    def _of_several(self, node: CatalystNode, inputs: list[Plan]) -> Plan:
        match node.kind:
            case "Join" | "AsOfJoin":
                parts = [*listed(self._reader, node, "condition"), *listed(self._reader, node, "asOfCondition")]
                return Join(left=inputs[0], right=inputs[1], kind=_join_kind(node), condition=all_of(parts))
            case "Union":
                return Union(branches=tuple(inputs), columns=inputs[0].output)
            case "UnionLoop":
                ids = [int(one["id"]) for one in node.fields["outputAttrIds"]]
                named = zip(ids, inputs[0].output, strict=True)
                columns = tuple(self._reader.names.same(i, a) for i, a in named)
                return Union(branches=tuple(inputs), columns=columns, again=inputs[0])
            case "Intersect" | "Except":
                return SetOperation(
                    operator="INTERSECT" if node.kind == "Intersect" else "EXCEPT",
                    left=inputs[0],
                    right=inputs[1],
                    columns=inputs[0].output,
                )
            case "WithCTE":
                return inputs[-1]
        return self._unknown(node, inputs)

    def _leaf(self, node: CatalystNode) -> Plan:
        name = node.fields.get("cteId", node.fields.get("loopId"))
        if node.kind in ("CTERelationRef", "UnionLoopRef") and (node.kind, name) in self._named:
            return self._under_names(under_ids(self._named[node.kind, name], attributes(node, "output")), node)
        made = None if self.leaves is None else self.leaves.leaf(node)
        if made is None or (isinstance(made, UnknownPlan) and made.description == node.kind):
            return self._unknown(node, [])
        return self._under_names(made, node)

    def _under_names(self, leaf: Plan, node: CatalystNode) -> Plan:
        """The leaf, whose columns are read under the names that they have there."""
        for column, below in zip(attributes(node, "output"), leaf.output, strict=False):
            if column.id == below.id:
                self._reader.names.under(column, below.name)
        return leaf

    def _remember(self, node: CatalystNode, plan: Plan) -> None:
        """Keep what a reference elsewhere in the plan means: a common table expression, or the start of a recursion."""
        if node.kind == "CTERelationDef":
            self._named["CTERelationRef", node.fields.get("id")] = plan
        parent = node.parent
        if parent is not None and parent.kind == "UnionLoop" and parent.children[0] is node:
            self._named["UnionLoopRef", parent.fields.get("id")] = plan

    def _aggregate(self, node: CatalystNode, child: Plan) -> Plan:
        if is_grouping_expand(node.children[0]):
            return with_grouping_sets(node, child, self._reader)
        if is_pivot(node):
            return as_pivot(node, child, self._reader)
        windows = _time_windows(node, child)

        def as_written(one: Expression) -> Expression | None:
            return windows.get(one.id) if isinstance(one, ColumnReference) else None

        keys = listed(self._reader, node, "groupingExpressions")
        return Aggregate(
            child=child,
            keys=tuple(replaced(key, as_written) for key in keys) if windows else keys,
            items=named_list(self._reader, node, "aggregateExpressions"),
        )

    def _window(self, node: CatalystNode, child: Plan) -> Plan:
        return Window(
            child=child,
            items=named_list(self._reader, node, "windowExpressions"),
            partition_by=listed(self._reader, node, "partitionSpec"),
            order_by=listed(self._reader, node, "orderSpec"),
        )

    def _lateral(self, node: CatalystNode, left: Plan) -> Plan:
        right = self._reader.read(node.fields["right"])
        condition = listed(self._reader, node, "condition")
        if not isinstance(right, Subquery):
            return self._unknown(node, [left])
        return Join(
            left=left,
            right=right.plan,
            kind=_join_kind(node),
            condition=condition[0] if condition else None,
            lateral=True,
        )

    def _unknown(self, node: CatalystNode, inputs: list[Plan]) -> UnknownPlan:
        self._lose(node, "it is not known")
        columns = attributes(node, "output") or (inputs[0].output if inputs else ())
        return UnknownPlan(description=node.kind, source_type="spark", inputs=tuple(inputs), columns=columns)

    def _lose(self, node: CatalystNode, why: str) -> None:
        message = f"the step {node.kind} cannot be seen into: {why}"
        self.diagnostics.append(Diagnostic(code="plan.unknown_node", message=message))


def _join_kind(node: CatalystNode) -> JoinKind:
    kind = node.fields.get("joinType") or {}
    name = str(kind.get("object") or kind.get("product-class") or "Inner") if isinstance(kind, dict) else str(kind)
    return _JOINS[name.rpartition(".")[2].rstrip("$")]


def _count(expressions: tuple[Expression, ...]) -> int | None:
    value = expressions[0].value if expressions and isinstance(expressions[0], Literal) else None
    return value if isinstance(value, int) else None


def _is_the_engines(node: CatalystNode) -> bool:
    """Whether the analyser added the filter: under or over a time window, or over UNPIVOT."""
    kinds = {str(one["class"]).rpartition(".")[2] for one in node.fields.get("condition") or ()}
    below, above = node.children[0], node.parent
    if below.kind == "Expand" and kinds <= {"IsNotNull", "Coalesce", "AttributeReference"} and "Coalesce" in kinds:
        return True
    if above is not None and _makes_time_window(above, "projectList") and kinds <= {"IsNotNull", "AttributeReference"}:
        return True
    is_window = _makes_time_window(below, "projections") or _makes_time_window(below, "projectList")
    is_tumbling = bool(below.children) and below.children[0].kind == "Filter" and below.kind == "Project"
    return is_window and not is_tumbling and kinds <= _ENGINE_FILTERS


def _time_windows(node: CatalystNode, child: Plan) -> dict[int, Expression]:
    """The time windows that the analyser computes in a step below an aggregation, as the function that was written."""
    below = node.children[0]
    while below.kind == "Filter" and _is_the_engines(below):
        below = below.children[0]
    is_window = _makes_time_window(below, "projections") or _makes_time_window(below, "projectList")
    if not isinstance(child, Project) or not is_window:
        return {}
    made = [item for item in child.items if not isinstance(item.expression, ColumnReference)]
    read = [(item.attribute.id, {one.id: one for one in references(item.expression)}) for item in made]
    return {at: Function("window", tuple(columns.values())) for at, columns in read}


def _makes_time_window(node: CatalystNode, name: str) -> bool:
    return node.kind in ("Project", "Expand") and holds(node.fields.get(name), "PreciseTimestampConversion")
