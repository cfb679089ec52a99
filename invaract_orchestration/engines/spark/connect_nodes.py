"""The steps of a Spark Connect client's plan, walked as the client's own objects: a deep plan never goes over the wire."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from invaract_orchestration.candidate.plan.expressions import (
    Attribute,
    Function,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Plan,
    Project,
    Read,
    Sample,
    Sort,
    UnknownPlan,
)
from invaract_orchestration.candidate.plan.rule_names import split_name
from invaract_orchestration.candidate.plan.sql.parse import parse_statements
from invaract_orchestration.candidate.plan.sql.queries import Queries
from invaract_orchestration.candidate.plan.sql.scope import Session
from invaract_orchestration.candidate.plan.sql.set_operations import SetWord
from invaract_orchestration.candidate.plan.sql.statements import Statements
from invaract_orchestration.contract.field_types import BIGINT
from invaract_orchestration.engines.spark.catalyst_leaves import Behind, named_table
from invaract_orchestration.engines.spark.checkpoint_log import CHECKPOINTS
from invaract_orchestration.engines.spark.connect_columns import KINDS as COLUMN_STEPS
from invaract_orchestration.engines.spark.connect_columns import with_columns
from invaract_orchestration.engines.spark.connect_expressions import ConnectReader
from invaract_orchestration.engines.spark.connect_frames import Frame, plan_ids
from invaract_orchestration.engines.spark.connect_grouping import grouped
from invaract_orchestration.engines.spark.connect_joins import joined, lateral
from invaract_orchestration.engines.spark.connect_tables import attributes_of
from invaract_orchestration.engines.spark.plan_lines import WrittenAt, call_site, placed

_TRANSPARENT = frozenset({
    "CachedRemoteRelation", "Hint", "Repartition", "RepartitionByExpression", "WithWatermark", "CollectMetrics",
    "WithRelations",
})  # fmt: skip
_CODE = frozenset({
    "MapPartitions", "GroupMap", "CoGroupMap", "ApplyInPandasWithState", "BaseTransformWithStateInPySpark",
    "TransformWithStateInPySpark", "TransformWithStateInPandas",
})  # fmt: skip


class ConnectNodes:
    """One translation of one client's plan."""

    def __init__(self, session: Session, spark: Any, behind: Behind | None = None) -> None:
        self._session = session
        self._spark = spark
        self._behind = behind or (lambda place, columns: None)
        self._queries = Queries(session)
        self._made: dict[int, Frame] = {}

    def frame(self, root: Any, around: Frame | None = None) -> Frame:
        """The translated plan; each client step once."""
        stack: list[tuple[Any, bool]] = [(root, False)]
        while stack:
            node, is_ready = stack.pop()
            if id(node) in self._made:
                continue
            if is_ready:
                made = self._guarded(node, around)
                made.origins.update(dict.fromkeys(plan_ids(node), made.columns))
                self._made[id(node)] = made
                continue
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(_inputs(node)))
        return self._made[id(root)]

    def _guarded(self, node: Any, around: Frame | None) -> Frame:
        inputs = [self._made[id(child)] for child in _inputs(node)]
        try:
            return self._node(node, inputs, around)
        except RecursionError:
            raise
        except Exception as error:  # noqa: BLE001 - a gate must end in a verdict, here "unverifiable"
            kind = type(node).__name__
            self._session.lose("plan.translator_failed", f"reading {kind}: {type(error).__name__}")
            if not inputs:
                return self._opaque(node)
            columns = inputs[0].columns
            plans = tuple(one.shown() for one in inputs)
            return _new(UnknownPlan(description=kind, source_type="spark_connect", inputs=plans, columns=columns))

    def _node(self, node: Any, inputs: list[Frame], around: Frame | None) -> Frame:
        kind = type(node).__name__
        if kind in _CODE:
            return self._code(node, inputs)
        if kind in _TRANSPARENT and inputs:
            return inputs[0].over(inputs[0].plan, inputs[0].columns)
        if not inputs:
            return self._source(node)
        reader = self._reader(inputs[0], around)
        if kind in COLUMN_STEPS:
            return with_columns(node, inputs[0], reader)
        made = self._of_rows(node, inputs[0], reader) or self._of_tables(node, inputs, around)
        if made is not None:
            return made
        self._session.lose("plan.unknown_node", f"the step {kind} cannot be seen into: it is not known")
        plans = tuple(one.shown() for one in inputs)
        return _new(UnknownPlan(description=kind, source_type="spark_connect", inputs=plans, columns=inputs[0].columns))

    def _of_rows(self, node: Any, below: Frame, reader: ConnectReader) -> Frame | None:
        """A step that keeps, orders or cuts off rows."""
        plan: Plan
        match type(node).__name__:
            case "Filter":
                plan = Filter(child=below.plan, condition=reader.read(node.filter))
            case "NADrop":
                read = tuple(reference(a) for a in self._chosen(node.cols or [a.name for a in below.columns], below))
                plan = Filter(child=below.plan, condition=Function("at_least_n_non_nulls", read))
            case "StatSampleBy":
                plan = Filter(child=below.plan, condition=Function("sample_by", (reader.read(node._col),)))
            case "Limit" | "Tail":
                plan = Limit(child=below.plan, count=int(node.limit))
            case "Offset":
                plan = Limit(child=below.plan, count=None)
            case "Sort":
                plan = Sort(child=below.plan, keys=tuple(reader.read(one) for one in node.columns))
            case "Sample":
                plan = Sample(child=below.plan)
            case "Deduplicate":
                on = tuple(reference(a) for a in self._chosen(node.column_names or (), below))
                plan = Distinct(child=below.plan, columns=on)
            case _:
                return None
        return below.over(placed(plan, _written_at(node)), below.columns)

    def _of_tables(self, node: Any, inputs: list[Frame], around: Frame | None) -> Frame | None:
        """A step that groups, combines or names tables."""
        below = inputs[0]

        def reader_over(frame: Frame) -> ConnectReader:
            return self._reader(frame, around)

        match type(node).__name__:
            case "Aggregate":
                return _at_line(grouped(node, below, reader_over(below)), node)
            case "Join":
                return _at_line(joined(node, below, inputs[1], self._session, reader_over), node)
            case "LateralJoin":
                return _at_line(lateral(node, below, self.frame(node.right, below), reader_over), node)
            case "SetOperation":
                return self._set_operation(node, below, inputs[1])
            case "SubqueryAlias":
                made = below.over(below.plan, below.columns)
                made.qualifiers = {a.id: (str(node._alias).lower(),) for a in below.columns}
                return made
            case "SQL":
                return self._sql(node, inputs)
        return None

    def _chosen(self, names: Iterable[str], below: Frame) -> list[Attribute]:
        wanted = {self._session.folded(name) for name in names}
        return [a for a in below.columns if self._session.folded(a.name) in wanted]

    def _reader(self, frame: Frame, around: Frame | None) -> ConnectReader:
        def plan_of(node: Any, outside: Frame) -> Plan:
            return self.frame(node, outside).shown()

        return ConnectReader(self._session, frame, around, self._queries.query, plan_of)

    def _source(self, node: Any) -> Frame:
        match type(node).__name__:
            case "Read":
                plan, _ = self._session.read(split_name(str(node.table_name)), at=None)
                return _new(plan)
            case "SQL":
                return self._sql(node, [])
            case "CachedRelation":
                return self._text(str(node._plan.sql.query)) if node._plan.HasField("sql") else self._opaque(node)
            case "DataSource":
                place = _place(node)
                if place is None:
                    self._session.lose("plan.unknown_node", "a query that the source itself runs cannot be seen into")
                    return self._opaque(node)
                columns = attributes_of(self._schema(node), self._session)
                return _new(self._behind(place, columns) or Read(dataset=place, columns=columns, format=node._format))
            case "LocalRelation":
                columns = attributes_of(self._schema(node), self._session)
                rows = 0 if node._table is None else int(node._table.num_rows)
                return _new(Read(dataset="(values)", columns=columns, inline=True, rows=rows))
            case "CachedLocalRelation" | "ChunkedCachedLocalRelation":  # many rows in memory, which the client sends beforehand
                columns = attributes_of(self._schema(node), self._session)
                return _new(Read(dataset="(values)", columns=columns, inline=True))
            case "Range":
                return _new(Read(dataset="range", columns=(self._session.attribute("id", BIGINT),), inline=True))
        return self._opaque(node)

    def _opaque(self, node: Any) -> Frame:
        kind = type(node).__name__
        columns = attributes_of(self._schema(node), self._session)
        named = "a checkpoint" if kind == "CachedRemoteRelation" else kind
        return _new(UnknownPlan(description=named, source_type="spark_connect", columns=columns))

    def _schema(self, node: Any) -> Any:
        """The columns of a leaf, from the server: a leaf is a small message however deep the plan."""
        from pyspark.sql.connect.dataframe import DataFrame  # only Connect sessions get here

        return DataFrame(node, self._spark).schema

    def _sql(self, node: Any, views: list[Frame]) -> Frame:
        self._queries.bindings.append({})
        for alias, frame in zip(node._views or (), views, strict=False):
            self._queries.bind(str(alias._alias), frame.shown())
        try:
            return self._text(node._query)
        finally:
            self._queries.bindings.pop()

    def _text(self, text: str) -> Frame:
        statements = parse_statements(text, dialect="spark", own_functions=self._session.own_functions)
        return _new(Statements(self._queries).translate(statements))

    def _code(self, node: Any, inputs: list[Frame]) -> Frame:
        function = getattr(node, "_function", None)
        declared = getattr(getattr(function, "_function", None), "_output_type", None)
        unparsed = getattr(declared, "data_type_string", None)
        if unparsed is not None:
            declared = self._spark._parse_ddl(unparsed)
        columns = attributes_of(declared, self._session) if hasattr(declared, "fields") else inputs[0].columns
        plans = tuple(one.shown() for one in inputs)
        kind = type(node).__name__
        return _new(UnknownPlan(description=kind, source_type="code", inputs=plans, columns=columns, hides=False))

    def _set_operation(self, node: Any, left: Frame, right: Frame) -> Frame:
        words: dict[str, SetWord] = {"union": "UNION", "intersect": "INTERSECT", "except": "EXCEPT"}
        made = self._queries.sets.combined(
            words[node.set_op],
            left.shown(),
            right.shown(),
            is_distinct=not node.is_all,
            is_by_name=bool(node.by_name),
        )
        return Frame(made, made.output, {}, {})


def _place(node: Any) -> str | None:
    """Where a source's rows are; null for what a query of its own gives, whose text can hold values."""
    options = {str(name).lower(): str(text) for name, text in (node._options or {}).items()}
    if "query" in options or "dbtable" in options:
        return named_table(options.get("query") or options["dbtable"])
    return str((node._paths or [options.get("path") or node._format])[0])


def _inputs(node: Any) -> list[Any]:
    kind = type(node).__name__
    if kind == "CachedRemoteRelation":
        behind = CHECKPOINTS.behind_relation(node)
        return [] if behind is None else [behind]
    if kind in ("Join", "AsOfJoin", "NearestByJoin"):
        return [node.left, node.right]
    if kind == "LateralJoin":
        return [node.left]
    if kind == "SQL":
        return list(node._views or ())
    child = getattr(node, "_child", None)
    other = getattr(node, "other", None) if kind == "SetOperation" else getattr(node, "_other", None)
    return [one for one in (child, other) if one is not None]


def _written_at(node: Any) -> WrittenAt | None:
    """Where the first expression of a step that knows it was written."""
    found = [getattr(node, name, None) for name in ("filter", "on", "_grouping_cols", "_aggregate_cols")]
    columns = [one for part in found for one in (part if isinstance(part, list) else [part])]
    origins = [getattr(getattr(one, "_expr", one), "origin", None) for one in columns]
    sites = [origin.python_origin.call_site for origin in origins if origin is not None]
    return call_site(sites[0]) if sites else None


def _at_line(frame: Frame, node: Any) -> Frame:
    """The frame with its step placed, where that is the node of the plan itself."""
    at = _written_at(node)
    if isinstance(frame.plan, Aggregate | Join):
        frame.plan = placed(frame.plan, at)
    elif isinstance(frame.plan, Project) and isinstance(frame.plan.child, Join):
        frame.plan = replace(frame.plan, child=placed(frame.plan.child, at))
    return frame


def _new(plan: Plan) -> Frame:
    return Frame(plan, plan.output)

