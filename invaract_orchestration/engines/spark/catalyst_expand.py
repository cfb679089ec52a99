"""An Expand makes several rows of each: for grouping sets, for UNPIVOT, for a sliding time window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Attribute,
    ColumnReference,
    Expression,
    Function,
    Literal,
    passed,
)
from invaract_orchestration.candidate.plan.nodes import Generate, Plan, Project
from invaract_orchestration.candidate.plan.traverse import signature
from invaract_orchestration.engines.spark.catalyst_expressions import CatalystExpressions, attributes
from invaract_orchestration.engines.spark.catalyst_tree import CatalystNode, Json

_LEFT_OUT = '"projections":null'
Rows = list[list[Expression]]


def add_rows(plan: Any, text: str, nodes: list[Json]) -> None:
    """Put the rows of each Expand back that the JSON leaves out, which depends on the kind of Scala list that they are."""
    if _LEFT_OUT not in text:
        return
    known = {_key(one.output()): one for root in _plans(plan) for one in _nodes(root) if _class_of(one) == "Expand"}
    for node in _without_rows(nodes):
        first, last = (int(node["output"][at][0]["exprId"]["id"]) for at in (0, -1))
        made = known.get((first, last))
        if made is not None:
            node["projections"] = _rows(made, len(node["output"]))


def rows_of(node: CatalystNode, reader: CatalystExpressions) -> Rows:
    """Each row that the Expand makes of one, column by column."""
    return [[reader.read(one) for one in row] for row in node.fields["projections"]]


def expanded(node: CatalystNode, child: Plan, reader: CatalystExpressions) -> Plan:
    """A sliding time window, or UNPIVOT: its rows hold their names as text. A column that all rows share stays itself."""
    rows, columns = rows_of(node, reader), attributes(node, "output")
    names = next((at for at in range(len(columns)) if all(isinstance(row[at], Literal) for row in rows)), None)
    if names is None:
        items = (_shared(a, [row[at] for row in rows], reader) for at, a in enumerate(columns))
        return Project(child=child, items=tuple(items))
    taken = _ways([value for row in rows for value in row[names + 1 :]])
    made = Generate(child=child, generator=Function("unpivot", taken), columns=columns[names:])
    kept = (_shared(a, [row[at] for row in rows], reader) for at, a in enumerate(columns[:names]))
    return Project(child=made, items=(*kept, *(passed(a) for a in columns[names:])))


def _shared(column: Attribute, values: list[Expression], reader: CatalystExpressions) -> Alias:
    """A column that all rows take from one below is that one."""
    ways = _ways(values)
    if len(ways) > 1:
        return Alias(column, Function("expand", ways))
    below = ways[0]
    if isinstance(below, ColumnReference) and not below.path:
        column = reader.names.under(column, below.name)
    return Alias(column, below)


def _ways(values: list[Expression]) -> tuple[Expression, ...]:
    return tuple({signature(one): one for one in values}.values())


def _without_rows(nodes: list[Json]) -> Iterator[Json]:
    """The nodes of the plan, and of the plans of its subqueries, that are an Expand without rows."""
    stack: list[Any] = [nodes]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            if str(one.get("class", "")).endswith(".Expand") and one.get("projections") is None:
                yield one
            stack.extend(one.values())
        elif isinstance(one, list):
            stack.extend(one)


def _plans(plan: Any) -> Iterator[Any]:
    yield plan
    nested = plan.subqueriesAll()
    yield from (nested.apply(at) for at in range(nested.size()))


def _nodes(root: Any) -> Iterator[Any]:
    stack = [root]
    while stack:
        one = stack.pop()
        yield one
        children = one.children()
        stack.extend(children.apply(at) for at in range(children.size()))


def _class_of(one: Any) -> str:
    return str(one.getClass().getSimpleName())


def _key(columns: Any) -> tuple[int, int]:
    """The ids of its first and last column, one of which an Expand makes itself: no two have the same."""
    first, last = (columns.apply(at).exprId().id() for at in (0, columns.size() - 1))
    return int(first), int(last)


def _rows(expand: Any, width: int) -> list[list[list[Json]]]:
    """All expressions of the node in one call: those of its rows, and the columns that it puts out."""
    from pyspark import SparkContext  # only classic sessions get here

    jvm: Any = SparkContext._jvm
    told = json.loads(jvm.org.apache.spark.sql.catalyst.expressions.CreateArray(expand.expressions(), False).toJSON())
    cells = _operands(told)[:-width]
    return [cells[at : at + width] for at in range(0, len(cells), width)]


def _operands(nodes: list[Json]) -> list[list[Json]]:
    """The operands of the first expression of a pre-order list, each a list of its own."""
    found, at = [], 1
    for _ in range(int(nodes[0]["num-children"])):
        end, left = at, 1
        while left:
            left += int(nodes[end]["num-children"]) - 1
            end += 1
        found.append(nodes[at:end])
        at = end
    return found
