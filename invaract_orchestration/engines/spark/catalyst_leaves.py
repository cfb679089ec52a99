"""What the JVM knows of a plan's leaves and the JSON does not tell: paths, table names, and where an RDD comes from."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from invaract_orchestration.candidate.plan.expressions import Alias, Attribute, reference
from invaract_orchestration.candidate.plan.nodes import Plan, Project, Read, UnknownPlan
from invaract_orchestration.engines.spark.catalyst_expressions import attributes
from invaract_orchestration.engines.spark.catalyst_tree import CatalystNode
from invaract_orchestration.engines.spark.checkpoint_log import CHECKPOINTS

_IN_MEMORY = frozenset({"MapPartitionsRDD", "PythonRDD", "ParallelCollectionRDD"})
_MOST_PARENTS = 10_000
_PART = r"""(?:[\w$#@]+|"[^"]+"|`[^`]+`|\[[^\]]+\])"""
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")
Behind = Callable[[str, tuple[Attribute, ...]], Plan | None]
"""The plan that made the rows at a place, putting out these columns; none for a place of which nothing more is known."""


class CatalystLeaves:
    """Translates leaves. `seen_through` translates the plan behind a tracked checkpoint, `behind` knows that of a place."""

    def __init__(self, plan: Any, seen_through: Callable[[Any], Plan], behind: Behind | None = None) -> None:
        self._seen_through = seen_through
        self._behind = behind or (lambda place, columns: None)
        self._by_column: dict[tuple[str, int], Any] = {}
        self._collect(plan)

    def leaf(self, node: CatalystNode) -> Plan:
        """The source, or the opaque leaf."""
        columns = attributes(node, "output")
        jvm = self._by_column.get((node.kind, columns[0].id)) if columns else None
        match node.kind:
            case "OneRowRelation":
                return Read(dataset="(one row)", columns=(), inline=True, rows=1)
            case "LocalRelation":
                return Read(dataset="(values)", columns=columns, inline=True, rows=_row_count(jvm))
            case "Range":
                return Read(dataset="range", columns=columns, inline=True)
            case "LogicalRDD" | "ExternalRDD":
                return self._rdd(jvm, columns)
        dataset = _table_name(node) or _place(jvm)
        if dataset is None:
            return UnknownPlan(description=node.kind, source_type="spark", columns=columns)
        return self._behind(dataset, columns) or Read(dataset=dataset, columns=columns, format=_format(node))

    def _rdd(self, jvm: Any, columns: tuple[Attribute, ...]) -> Plan:
        if jvm is None:
            return UnknownPlan(description="an RDD", source_type="spark", columns=columns)
        rdd = jvm.rdd()
        tracked = CHECKPOINTS.behind_rdd(rdd)
        if tracked is not None:
            return under_ids(self._seen_through(tracked), columns)
        origin = _origin(rdd)
        if origin is None:
            return Read(dataset="(rows in memory)", columns=columns, inline=True)
        return UnknownPlan(description=origin, source_type="spark", columns=columns)

    def _collect(self, plan: Any) -> None:
        found = [plan]
        nested = plan.subqueriesAll()
        found.extend(nested.apply(at) for at in range(nested.size()))
        for one in found:
            leaves = one.collectLeaves()
            for at in range(leaves.size()):
                leaf = leaves.apply(at)
                output = leaf.output()
                if output.size():
                    self._by_column[str(leaf.getClass().getSimpleName()), int(output.apply(0).exprId().id())] = leaf


def leaf_of(plan: Any) -> Any:
    """The only leaf of an analysed JVM plan that holds an RDD, or null."""
    leaves = plan.collectLeaves()
    if leaves.size() != 1 or leaves.apply(0).getClass().getSimpleName() != "LogicalRDD":
        return None
    return leaves.apply(0)


def _origin(rdd: Any) -> str | None:
    """What an RDD hides, or null for rows in memory: those come from a collection, through conversions alone."""
    stack, seen, kinds = [rdd], 0, set()
    while stack and seen < _MOST_PARENTS:
        one = stack.pop()
        seen += 1
        kind = one.getClass().getSimpleName()
        kinds.add(kind)
        if "Checkpoint" in kind or one.checkpointData().isDefined():
            return "a checkpoint"
        if kind == "SQLExecutionRDD":
            return "an RDD made from another frame"
        parents = one.dependencies()
        stack.extend(parents.apply(at).rdd() for at in range(parents.size()))
    return None if kinds <= _IN_MEMORY and "ParallelCollectionRDD" in kinds else "an RDD made by code"


def under_ids(plan: Plan, columns: tuple[Attribute, ...]) -> Plan:
    """The plan with its columns, by position, under the ids of others."""
    if tuple(a.id for a in plan.output) == tuple(a.id for a in columns):
        return plan
    return Project(child=plan, items=tuple(
        Alias(Attribute(a.id, b.name, a.type), reference(b)) for a, b in zip(columns, plan.output, strict=True)
    ))


def _table_name(node: CatalystNode) -> str | None:
    for name in ("catalogTable", "tableMeta"):
        table = node.fields.get(name)
        identifier = table.get("identifier") if isinstance(table, dict) else None
        if isinstance(identifier, dict):
            return ".".join(str(identifier[p]) for p in ("catalog", "database", "table") if identifier.get(p)) or None
    return None


def _place(jvm: Any) -> str | None:
    """Where a relation's rows are: its root path, or the name of its table."""
    if jvm is None:
        return None
    kind = jvm.getClass().getSimpleName()
    if kind == "LogicalRelation":
        relation = jvm.relation()
        own = relation.getClass()
        if own.getSimpleName() == "JDBCRelation":
            return named_table(str(relation.jdbcOptions().tableOrQuery()))
        if "HadoopFsRelation" in (own.getSimpleName(), own.getSuperclass().getSimpleName()):  # Delta's is a nameless one of them
            paths = relation.location().rootPaths()
            return str(paths.apply(0).toString()) if paths.size() else None
        return str(own.getSimpleName()) or None
    if kind.startswith(("DataSourceV2", "StreamingRelation")):
        return str(jvm.name())
    return None


def named_table(text: str) -> str | None:
    """The name of a database's table; null for anything else that such a source takes, which is a query of its own."""
    return text if _NAME.fullmatch(text) else None


def _format(node: CatalystNode) -> str | None:
    table = node.fields.get("catalogTable")
    provider = table.get("provider") if isinstance(table, dict) else None
    return None if provider is None else str(provider)


def _row_count(jvm: Any) -> int | None:
    return None if jvm is None else int(jvm.data().size())
