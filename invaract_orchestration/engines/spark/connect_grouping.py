"""The aggregations of a Spark Connect client's plan."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from invaract_orchestration.candidate.plan.expressions import (
    AggregateCall,
    Alias,
    Comparison,
    Expression,
    Literal,
)
from invaract_orchestration.candidate.plan.nodes import Aggregate, Generate, Plan, Window
from invaract_orchestration.engines.spark.connect_expressions import ConnectReader, output_name, shown_name
from invaract_orchestration.engines.spark.connect_frames import Frame, item_of


def grouped(node: Any, below: Frame, reader: ConnectReader) -> Frame:
    """groupBy, rollup, cube, grouping sets or pivot."""
    keys = [(shown_name(one, made), made) for one in node._grouping_cols for made in (reader.read(one),)]
    calls = [(shown_name(one, made), made) for one in node._aggregate_cols for made in (reader.read(one),)]
    items = [item_of(name, key, reader.session) for name, key in keys]
    is_pivot = node._group_type == "pivot"
    if is_pivot:
        items.extend(_pivoted(node, calls, reader))
    else:
        items.extend(item_of(name, call, reader.session) for name, call in calls)
    return below.over(
        Aggregate(
            child=with_calls(below.plan, reader),
            keys=tuple(key for _, key in keys),
            items=tuple(items),
            grouping_sets=_grouping_sets(node, len(keys), _places(node)),
            pivot=is_pivot,
        )
    )


def _pivoted(node: Any, calls: list[tuple[str, Expression]], reader: ConnectReader) -> Iterator[Alias]:
    tested = reader.read(node._pivot_col)
    values = [reader.read(one) for one in node._pivot_values or ()]
    for value in values or [Literal(None)]:
        for name, call in calls:
            label = str(value.value) if isinstance(value, Literal) else "value"
            only = Comparison("<=>", tested, value)
            made = AggregateCall(call.name, call.args, call.distinct, only) if isinstance(call, AggregateCall) else call
            yield Alias(reader.session.attribute(label if len(calls) == 1 else f"{label}_{name}"), made)


def _places(node: Any) -> list[tuple[int, ...]]:
    names = [output_name(one).lower() for one in node._grouping_cols]
    sets = node._grouping_sets or ()
    return [tuple(names.index(output_name(c).lower()) for c in one if output_name(c).lower() in names) for one in sets]


def with_calls(plan: Plan, reader: ConnectReader) -> Plan:
    """The plan with the generators and windows that the expressions above it use."""
    for made, columns in reader.generators:
        plan = Generate(child=plan, generator=made, columns=tuple(item.attribute for item in columns))
    for call in reader.windows:
        plan = Window(child=plan, items=(call.item,), partition_by=call.partition_by, order_by=call.order_by)
    return plan


def _grouping_sets(node: Any, count: int, listed: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...] | None:
    every = tuple(range(count))
    match node._group_type:
        case "rollup":
            return tuple(every[:n] for n in range(count, -1, -1))
        case "cube":
            return tuple(one for n in range(count, -1, -1) for one in combinations(every, n))
        case "grouping_sets":
            return tuple(listed)
    return None
