"""The steps of a Spark Connect client's plan, walked as the client's own objects: a deep plan never goes over the wire."""

from __future__ import annotations

from typing import Any

from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Attribute,
    ColumnReference,
    Expression,
    Function,
    Literal,
    passed,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Limit,
    Plan,
    Project,
    Read,
    Sample,
    Sort,
    UnknownPlan,
)
from invaract_orchestration.candidate.plan.sql.grouping import has_aggregate
from invaract_orchestration.candidate.plan.sql.parse import parse_statements
from invaract_orchestration.candidate.plan.sql.queries import Queries
from invaract_orchestration.candidate.plan.sql.scope import Session
from invaract_orchestration.candidate.plan.sql.set_operations import SetWord
from invaract_orchestration.candidate.plan.sql.statements import Statements
from invaract_orchestration.engines.spark.catalyst_leaves import Behind
from invaract_orchestration.engines.spark.connect_expressions import ConnectReader, output_name
from invaract_orchestration.engines.spark.connect_frames import Frame, item_of
from invaract_orchestration.engines.spark.connect_grouping import grouped, with_calls
from invaract_orchestration.engines.spark.connect_joins import joined, lateral
from invaract_orchestration.engines.spark.connect_tables import attributes_of

_TRANSPARENT = frozenset({
    "Hint", "Repartition", "RepartitionByExpression", "WithWatermark", "CollectMetrics", "WithRelations", "ToSchema",
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
                plan_ids = {getattr(node, "_root_plan_id", None), getattr(node, "_plan_id", None)} - {None}
                made.origins.update({int(one): made.columns for one in plan_ids if one is not None})
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
            columns = inputs[0].columns if inputs else ()
            plans = tuple(one.plan for one in inputs)
            return _new(UnknownPlan(description=kind, source_type="spark_connect", inputs=plans, columns=columns))

    def _node(self, node: Any, inputs: list[Frame], around: Frame | None) -> Frame:
        kind = type(node).__name__
        if kind in _CODE:
            return self._code(node, inputs)
        if kind in _TRANSPARENT:
            return inputs[0].over(inputs[0].plan, inputs[0].columns)
        if not inputs:
            return self._source(node)
        below = inputs[0]
        reader = self._reader(below, around)
        match kind:
            case "Project":
                return self._project(node, below, reader)
            case "WithColumns":
                named = [(name, reader.read(c)) for name, c in zip(node._columnNames, node._columns, strict=True)]
                return self._replaced(below, named, reader)
            case "WithColumnsRenamed":
                new = {old.lower(): name for old, name in node._colsMap.items()}
                return self._renamed(below, [new.get(a.name.lower(), a.name) for a in below.columns])
            case "ToDF":
                return self._renamed(below, list(node._cols))
            case "Drop":
                return self._dropped(node, below, reader)
            case "Filter":
                return below.over(Filter(child=below.plan, condition=reader.read(node.filter)), below.columns)
            case "NADrop":
                names = [n.lower() for n in node.cols or [a.name for a in below.columns]]
                read = tuple(reference(a) for a in below.columns if a.name.lower() in names)
                condition = Function("at_least_n_non_nulls", read)
                return below.over(Filter(child=below.plan, condition=condition), below.columns)
            case "NAFill" | "NAReplace":
                return self._mended(node, below, reader)
            case "Limit" | "Tail":
                return below.over(Limit(child=below.plan, count=int(node.limit)), below.columns)
            case "Offset":
                return below.over(Limit(child=below.plan, count=None), below.columns)
            case "Sort":
                keys = tuple(reader.read(one) for one in node.columns)
                return below.over(Sort(child=below.plan, keys=keys), below.columns)
            case "Sample":
                return below.over(Sample(child=below.plan), below.columns)
            case "Deduplicate":
                names = [name.lower() for name in node.column_names or ()]
                on = tuple(reference(a) for a in below.columns if a.name.lower() in names)
                return below.over(Distinct(child=below.plan, columns=on), below.columns)
            case "Aggregate":
                return grouped(node, below, reader)
            case "Join":
                return joined(node, inputs[0], inputs[1], self._session, lambda one: self._reader(one, around))
            case "LateralJoin":
                right = self.frame(node.right, below)
                return lateral(node, below, right, lambda one: self._reader(one, around))
            case "SetOperation":
                return self._set_operation(node, inputs[0], inputs[1])
            case "SubqueryAlias":
                made = below.over(below.plan, below.columns)
                made.qualifiers = {a.id: (str(node._alias).lower(),) for a in below.columns}
                return made
            case "SQL":
                return self._sql(node, inputs)
        self._session.lose("plan.unknown_node", f"the step {kind} cannot be seen into: it is not known")
        plans = tuple(one.plan for one in inputs)
        return _new(UnknownPlan(description=kind, source_type="spark_connect", inputs=plans, columns=below.columns))

    def _reader(self, frame: Frame, around: Frame | None) -> ConnectReader:
        def plan_of(node: Any, outside: Frame) -> Plan:
            return self.frame(node, outside).plan

        return ConnectReader(self._session, frame, around, self._queries.query, plan_of)

    def _source(self, node: Any) -> Frame:
        match type(node).__name__:
            case "Read":
                plan, _ = self._session.read(tuple(str(node.table_name).replace("`", "").split(".")), at=None)
                return _new(plan)
            case "SQL":
                return self._sql(node, [])
            case "CachedRelation":
                return self._text(str(node._plan.sql.query)) if node._plan.HasField("sql") else self._opaque(node)
            case "DataSource":
                options = dict(node._options or {})
                place = (node._paths or [options.get("dbtable") or options.get("path") or str(node._format)])[0]
                columns = attributes_of(self._schema(node), self._session)
                return _new(self._behind(str(place), columns) or Read(dataset=str(place), columns=columns, format=node._format))
            case "LocalRelation":
                columns = attributes_of(self._schema(node), self._session)
                rows = 0 if node._table is None else int(node._table.num_rows)
                return _new(Read(dataset="(values)", columns=columns, inline=True, rows=rows))
            case "Range":
                return _new(Read(dataset="range", columns=(self._session.attribute("id"),), inline=True))
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
            self._queries.bind(str(alias._alias), frame.plan)
        made = self._text(node._query)
        self._queries.bindings.pop()
        return made

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
        plans = tuple(one.plan for one in inputs)
        kind = type(node).__name__
        return _new(UnknownPlan(description=kind, source_type="code", inputs=plans, columns=columns, hides=False))

    def _project(self, node: Any, below: Frame, reader: ConnectReader) -> Frame:
        items: list[Alias] = []
        for column in node._columns:
            expression = getattr(column, "_expr", column)
            if type(expression).__name__ == "UnresolvedStar":
                items.extend(passed(a) for a in self._star(expression, below))
                continue
            count = len(reader.generators)
            made = reader.read(expression)
            several = [item for _, columns in reader.generators[count:] for item in columns]
            names = list(getattr(expression, "_alias", None) or [])
            if len(several) > 1 and (not names or len(names) == len(several)):
                chosen = names or [item.attribute.name for item in several]
                pairs = zip(chosen, several, strict=True)
                items.extend(item_of(n, reference(i.attribute), self._session) for n, i in pairs)
            else:
                items.append(item_of(output_name(expression), made, self._session))
        if any(has_aggregate(item) for item in items):
            return below.over(Aggregate(child=below.plan, keys=(), items=tuple(items)))
        return below.over(Project(child=with_calls(below.plan, reader), items=tuple(items)))

    @staticmethod
    def _star(node: Any, below: Frame) -> tuple[Attribute, ...]:
        if node._plan_id is not None and node._plan_id in below.origins:
            return below.origins[node._plan_id]
        target = str(node._unparsed_target or "").removesuffix(".*").lower()
        return tuple(a for a in below.columns if not target or below.qualifiers.get(a.id) == (target,))

    def _replaced(self, below: Frame, named: list[tuple[str, Expression]], reader: ConnectReader) -> Frame:
        new = {name.lower(): (name, made) for name, made in named}
        items = [
            Alias(self._session.attribute(a.name), new.pop(a.name.lower())[1]) if a.name.lower() in new else passed(a)
            for a in below.columns
        ]
        items += [Alias(self._session.attribute(name), made) for name, made in new.values()]
        return below.over(Project(child=with_calls(below.plan, reader), items=tuple(items)))

    def _renamed(self, below: Frame, names: list[str]) -> Frame:
        pairs = zip(names, below.columns, strict=True)
        items = tuple(item_of(name, reference(a), self._session) for name, a in pairs)
        return below.over(Project(child=below.plan, items=items))

    def _dropped(self, node: Any, below: Frame, reader: ConnectReader) -> Frame:
        names = {one.lower() for one in node._columns if isinstance(one, str)}
        read = [reader.read(one) for one in node._columns if not isinstance(one, str)]
        ids = {one.id for one in read if isinstance(one, ColumnReference)}
        kept = tuple(passed(a) for a in below.columns if a.name.lower() not in names and a.id not in ids)
        return below.over(Project(child=below.plan, items=kept))

    def _mended(self, node: Any, below: Frame, reader: ConnectReader) -> Frame:
        names = {name.lower() for name in node.cols or [a.name for a in below.columns]}
        named: list[tuple[str, Expression]] = [
            (a.name, Function("coalesce", (reference(a), Literal(None)))) for a in below.columns if a.name.lower() in names
        ]
        return self._replaced(below, named, reader)

    def _set_operation(self, node: Any, left: Frame, right: Frame) -> Frame:
        words: dict[str, SetWord] = {"union": "UNION", "intersect": "INTERSECT", "except": "EXCEPT"}
        made = self._queries.sets.combined(
            words[node.set_op],
            _visible(left),
            _visible(right),
            is_distinct=not node.is_all,
            is_by_name=bool(node.by_name),
        )
        return Frame(made, made.output, {}, {})


def _inputs(node: Any) -> list[Any]:
    kind = type(node).__name__
    if kind in ("Join", "AsOfJoin", "NearestByJoin"):
        return [node.left, node.right]
    if kind == "LateralJoin":
        return [node.left]
    if kind == "SQL":
        return list(node._views or ())
    child = getattr(node, "_child", None)
    other = getattr(node, "other", None) if kind == "SetOperation" else getattr(node, "_other", None)
    return [one for one in (child, other) if one is not None]


def _new(plan: Plan) -> Frame:
    return Frame(plan, plan.output)


def _visible(frame: Frame) -> Plan:
    """The plan with the visible columns alone, in their order."""
    if frame.columns == frame.plan.output:
        return frame.plan
    return Project(child=frame.plan, items=tuple(passed(a) for a in frame.columns))
