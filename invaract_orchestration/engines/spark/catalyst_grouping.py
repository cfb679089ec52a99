"""Catalyst writes grouping sets as an Expand below the aggregation and a pivot as two aggregations: both are put back."""

from __future__ import annotations

from invaract_orchestration.candidate.plan.expressions import (
    AggregateCall,
    Alias,
    ColumnReference,
    Expression,
    Function,
    Literal,
)
from invaract_orchestration.candidate.plan.nodes import Aggregate, Plan, Project
from invaract_orchestration.candidate.plan.traverse import replaced
from invaract_orchestration.engines.spark.catalyst_expand import rows_of
from invaract_orchestration.engines.spark.catalyst_expressions import (
    CatalystExpressions,
    attributes,
    holds,
    listed,
    named_list,
)
from invaract_orchestration.engines.spark.catalyst_tree import CatalystNode

GROUPING_ID = "spark_grouping_id"


def is_grouping_expand(node: CatalystNode) -> bool:
    """Whether an Expand makes the rows of grouping sets."""
    return node.kind == "Expand" and any(a.name == GROUPING_ID for a in attributes(node, "output"))


def is_pivot(node: CatalystNode) -> bool:
    """Whether an aggregation is the upper one of a pivot."""
    return node.kind == "Aggregate" and holds(node.fields.get("aggregateExpressions"), "PivotFirst")


def with_grouping_sets(node: CatalystNode, child: Plan, reader: CatalystExpressions) -> Aggregate:
    """The aggregation over what stands below the Expand; `child` is that Expand's own input."""
    expand = node.children[0]
    rows = rows_of(expand, reader)
    below = {item.attribute.id: item.expression for item in child.items} if isinstance(child, Project) else {}
    source = child.child if isinstance(child, Project) else child
    grouped = {key.id for key in listed(reader, node, "groupingExpressions") if isinstance(key, ColumnReference)}
    keys: list[Expression] = []
    held: list[set[int]] = [set() for _ in rows]
    meaning: dict[int, Expression] = {}
    for at, attribute in enumerate(attributes(expand, "output")):
        present = [n for n, row in enumerate(rows) if not isinstance(row[at], Literal)]
        if not present:
            continue
        column = rows[present[0]][at]
        if isinstance(column, ColumnReference):
            reader.names.under(attribute, column.name)
        meaning[attribute.id] = below.get(column.id, column) if isinstance(column, ColumnReference) else column
        if attribute.id in grouped:
            for n in present:
                held[n].add(len(keys))
            keys.append(meaning[attribute.id])

    def instead(one: Expression) -> Expression | None:
        if isinstance(one, ColumnReference) and one.id in meaning:
            return _stepped(meaning[one.id], one)
        return Function("grouping_id") if isinstance(one, ColumnReference) and one.name == GROUPING_ID else None

    items = [Alias(i.attribute, replaced(i.expression, instead)) for i in named_list(reader, node, "aggregateExpressions")]
    sets = tuple(tuple(sorted(one)) for one in held)
    return Aggregate(child=source, keys=tuple(keys), items=tuple(items), grouping_sets=sets)


def _stepped(whole: Expression, read: ColumnReference) -> Expression:
    """What a column means, or the field of it that is read."""
    if not read.path:
        return whole
    if isinstance(whole, ColumnReference):
        return ColumnReference(whole.id, whole.name, (*whole.path, *read.path), read.type, read.outer)
    return Function("field", (whole,))


def as_pivot(node: CatalystNode, lower: Plan, reader: CatalystExpressions) -> Aggregate:
    """One aggregation for the two of a pivot: keyed by what the upper one groups by."""
    inner = {item.attribute.id: item.expression for item in lower.items} if isinstance(lower, Aggregate) else {}
    source = lower.child if isinstance(lower, Aggregate) else lower

    def instead(one: Expression) -> Expression | None:
        if isinstance(one, AggregateCall) and one.name == "PIVOT_FIRST" and len(one.args) == 2:
            pivoted, value = (replaced(arg, below) for arg in one.args)
            only = Function("pivoted", (pivoted,))
            return replaced(value, lambda call: _only(call, only))
        return below(one)

    def below(one: Expression) -> Expression | None:
        return inner.get(one.id) if isinstance(one, ColumnReference) and not one.path else None

    keys = tuple(replaced(key, below) for key in listed(reader, node, "groupingExpressions"))
    items = tuple(Alias(i.attribute, replaced(i.expression, instead)) for i in named_list(reader, node, "aggregateExpressions"))
    return Aggregate(child=source, keys=keys, items=items, pivot=True)


def _only(call: Expression, condition: Expression) -> Expression | None:
    if isinstance(call, AggregateCall):
        return AggregateCall(call.name, call.args, call.distinct, condition)
    return None
