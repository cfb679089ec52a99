"""What each step means, as one query over `source`: the rows as they are at that step.

The hidden column `invaract_row` says which record of the source a row comes from. Steps that make rows of several records do
not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from invaract_orchestration.candidate import step_marks as m
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract import transformations as t
from invaract_orchestration.contract.json_paths import json_path
from invaract_orchestration.contract.literals import canonical_literal
from invaract_orchestration.contract.report import suggest
from invaract_orchestration.contract.step_columns import SOURCE, pivoted_names
from invaract_orchestration.contract.step_expressions import parse_step_query, parse_value
from invaract_orchestration.errors import GateError

ROW = "invaract_row"
_RANK = "invaract_rank"
_MANY = ("group", "distinct", "having", "joins", "laterals", "with_", "limit", "offset", "qualify", "pivots")
"""Parts of a query that make of its rows something else than one row each."""
Columns = Mapping[str, ft.FieldType]
"""Name to type, in the order of the columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepQuery:
    """A step's query; `has_row` says whether its rows still name the record that they come from."""

    tree: exp.Query
    has_row: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInput:
    """What a step finds: the columns of the rows, whether they name their record, and the columns of the links."""

    columns: Columns
    has_row: bool
    links: Mapping[str, Columns]

    def name(self, given: str) -> str:
        """The column of that name in its own spelling.

        Raises:
            GateError: there is none.
        """
        return _found(given, self.columns, "columns at this step")

    def type(self, given: str) -> ft.FieldType:
        """The type of a column. Raises GateError where there is none."""
        return self.columns[self.name(given)]

    def column(self, given: str, table: str | None = None) -> exp.Expr:
        """A column, quoted. Raises GateError where there is none."""
        return _column(self.name(given), table)

    def link(self, given: str) -> tuple[str, Columns]:
        """A link's name and columns. Raises GateError where there is none."""
        name = _found(given, self.links, "links")
        return name, self.links[name]


def step_query(step: t.Transformation, rows: StepInput) -> StepQuery:
    """The query of a step.

    Raises:
        GateError: it reads a column that is not there, or one of a type that it cannot be used on.
    """
    if isinstance(step.step, str):
        return _query(step.step, rows)
    build = _KINDS[step.kind]
    return build(step.step, rows)


def step_error(message: str, hint: str | None = None) -> GateError:
    """A step that cannot be done on the columns that are there."""
    return GateError(message, hint=hint, code="transformation.impossible")


def _found(given: str, known: Iterable[str], what: str) -> str:
    names = {name.lower(): name for name in known}
    if given.lower() not in names:
        message = f"unknown {what.split()[0][:-1]} {given!r}"
        raise GateError(message, code="transformation.unknown_name", hint=suggest(given, names.values(), what))
    return names[given.lower()]


def _column(name: str, table: str | None = None) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def _alias(tree: exp.Expr, name: str) -> exp.Expr:
    return exp.Alias(this=tree, alias=exp.to_identifier(name, quoted=True))


def _select(expressions: Iterable[exp.Expr], *, has_row: bool, table: exp.Expr | str = SOURCE) -> exp.Select:
    row = [exp.column(ROW)] if has_row else []
    return exp.Select().select(*expressions, *row, copy=False).from_(table, copy=False)


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _value(written: str | None, type_: ft.FieldType, what: str) -> exp.Expr:
    """A value of the contract as a value of a type; null where none is written."""
    if written is None:
        return exp.Null()
    if type_ == ft.STRING:
        return _text(written)
    try:
        canonical = canonical_literal(written, type_)
    except ValueError as error:
        raise step_error(f"{what}: {error}") from None
    return exp.Cast(this=_text(canonical), to=exp.DataType.build(str(type_), dialect="spark"))


def _with(rows: StepInput, made: Mapping[str, exp.Expr], *, table: str | None = None) -> list[exp.Expr]:
    """All columns; those that are made in the place of the old ones, or behind them."""
    known = {name.lower(): name for name in rows.columns}
    under = {known.get(name.lower(), name): tree for name, tree in made.items()}
    kept = [_alias(under[n], n) if n in under else _alias(_column(n, table), n) for n in rows.columns]
    return kept + [_alias(tree, n) for n, tree in under.items() if n not in rows.columns]


def _made(rows: StepInput, made: Mapping[str, exp.Expr]) -> StepQuery:
    return StepQuery(tree=_select(_with(rows, made), has_row=rows.has_row), has_row=rows.has_row)


def _texts(names: Iterable[str], rows: StepInput, kind: str) -> list[str]:
    found = [rows.name(n) for n in names]
    for name in found:
        if rows.columns[name] != ft.STRING:
            raise step_error(f"{kind} is for texts, and column {name!r} is {rows.columns[name]}", "cast it to string first")
    return found


# -- columns


def _rename(step: t.Rename, rows: StepInput) -> StepQuery:
    new = {rows.name(old): name for old, name in step.mappings.items()}
    names = [new.get(n, n) for n in rows.columns]
    twice = next((n for n in names if [x.lower() for x in names].count(n.lower()) > 1), None)
    if twice is not None:
        raise step_error(f"rename would make two columns {twice!r}", "drop or rename the other one first")
    chosen = [_alias(_column(n), new.get(n, n)) for n in rows.columns]
    return StepQuery(tree=_select(chosen, has_row=rows.has_row), has_row=rows.has_row)


def _cast(step: t.CastColumns, rows: StepInput) -> StepQuery:
    return _made(rows, {n: cast(rows.column(n), rows.type(n), to, n) for n, to in step.columns.items()})


def cast(value: exp.Expr, from_: ft.FieldType, to: ft.FieldType, name: str) -> exp.Expr:
    """A value as another type, null where it cannot be. Raises GateError for types between which there is no way."""
    if from_ == to:
        return value
    if to == ft.STRING and isinstance(from_, ft.Array | ft.Map | ft.Struct):
        return m.mark(m.JSON_TEXT, value, from_)
    if not can_cast(from_, to):
        raise step_error(f"column {name!r} is {from_}, which cannot be cast to {to}")
    return m.mark(m.CAST, value, from_, to)


def can_cast(from_: ft.FieldType, to: ft.FieldType) -> bool:
    """Whether values of a type can become values of another."""
    nested = (ft.Array, ft.Map, ft.Struct)
    if from_ == to or to == ft.STRING:
        return from_ != ft.BINARY or to != ft.STRING
    if isinstance(from_, nested) or isinstance(to, nested) or ft.BINARY in (from_, to):
        return False
    times = (ft.DATE, ft.TIMESTAMP, ft.TIMESTAMP_NTZ)
    return from_ == ft.STRING or (from_ in times) == (to in times)


def _trim(step: t.Trim, rows: StepInput) -> StepQuery:
    return _made(rows, {n: m.mark(m.TRIM, _column(n), step.side) for n in _texts(step.fields, rows, "trim")})


def _lower(step: t.Letters, rows: StepInput) -> StepQuery:
    return _made(rows, {n: exp.Lower(this=_column(n)) for n in _texts(step.fields, rows, "lower")})


def _upper(step: t.Letters, rows: StepInput) -> StepQuery:
    return _made(rows, {n: exp.Upper(this=_column(n)) for n in _texts(step.fields, rows, "upper")})


def _coalesce(step: t.Coalesce, rows: StepInput) -> StepQuery:
    sources = [rows.name(n) for n in step.sources or (step.field,)]
    type_ = rows.columns[sources[0]]
    other = next((n for n in sources if rows.columns[n] != type_), None)
    if other is not None:
        raise step_error(
            f"coalesce takes columns of one type: {sources[0]!r} is {type_}, {other!r} is {rows.columns[other]}",
            "cast one of them first",
        )
    last = [] if step.default is None else [_value(step.default, type_, "coalesce.default")]
    first, *others = [*map(_column, sources), *last]
    return _made(rows, {step.output or step.field: exp.Coalesce(this=first, expressions=others) if others else first})


def _map_values(step: t.MapValues, rows: StepInput) -> StepQuery:
    name = rows.name(step.field)
    output = step.output or step.field
    from_ = rows.columns[name]
    to = step.type or (from_ if output.lower() == name.lower() else ft.STRING)
    ifs = [
        exp.If(
            this=exp.EQ(this=_column(name), expression=_value(old, from_, f"map_values.mapping.{old}")),
            true=_value(new, to, f"map_values.mapping.{old}"),
        )
        for old, new in step.mapping.items()
    ]
    case = exp.Case(ifs=ifs, default=_value(step.default, to, "map_values.default"))
    return _made(rows, {output: case})


def _derive(step: t.Derive, rows: StepInput) -> StepQuery:
    return _made(rows, {step.field: m.mark(m.TRY, expression(step.sql, rows))})


def expression(sql: str, rows: StepInput, *, may_aggregate: bool = False) -> exp.Expr:
    """A Spark SQL expression over the columns. Raises GateError for a column that is not there."""
    tree = exp.paren(parse_value(sql, may_aggregate=may_aggregate), copy=False)
    for node in list(tree.find_all(exp.Column)):
        parts = [p.name for p in node.parts]
        node.replace(_resolved(parts, rows))
    return tree


def _resolved(parts: list[str], rows: StepInput) -> exp.Expr:
    known = {name.lower(): name for name in rows.columns}
    for taken in range(len(parts), 0, -1):
        name = known.get(".".join(parts[:taken]).lower())
        if name is not None:
            value = _column(name)
            for part in parts[taken:]:
                value = exp.Dot(this=value, expression=exp.to_identifier(part, quoted=True))
            return value
    return rows.column(parts[0])


def _split(step: t.Split, rows: StepInput) -> StepQuery:
    (name,) = _texts((step.field,), rows, "split")
    return _made(rows, {step.output or step.field: m.mark(m.SPLIT, _column(name), step.delimiter)})


def _json_extract(step: t.JsonExtract, rows: StepInput) -> StepQuery:
    name = rows.name(step.source)
    type_ = rows.columns[name]
    source = _column(name)
    if isinstance(type_, ft.Array | ft.Map | ft.Struct):
        source = m.mark(m.JSON_TEXT, source, type_)
    elif type_ != ft.STRING:
        raise step_error(f"json_extract reads JSON texts, and column {name!r} is {type_}")
    json_path(step.path)
    found = m.mark(m.JSON, source, step.path)
    return _made(rows, {step.field: cast(found, ft.STRING, step.cast or ft.STRING, name)})


def _regex_extract(step: t.RegexExtract, rows: StepInput) -> StepQuery:
    (name,) = _texts((step.source,), rows, "regex_extract")
    return _made(rows, {step.field: m.mark(m.REGEX, _column(name), step.pattern)})


def _date_diff(step: t.DateDiff, rows: StepInput) -> StepQuery:
    kind = m.DAY if step.unit in ("days", "weeks", "months", "years") else m.MOMENT
    first, last = (_when(kind, n, rows, "date_diff") for n in (step.from_col, step.to_col))
    return _made(rows, {step.field: m.mark(m.PASSED, step.unit, first, last)})


def _when(kind: str, given: str, rows: StepInput, step: str) -> exp.Expr:
    name = rows.name(given)
    type_ = rows.columns[name]
    if type_ not in (ft.STRING, ft.DATE, ft.TIMESTAMP, ft.TIMESTAMP_NTZ):
        raise step_error(f"{step} reads dates and times, and column {name!r} is {type_}")
    return m.mark(kind, _column(name), type_)


def _bucket(step: t.Bucket, rows: StepInput) -> StepQuery:
    name = rows.name(step.source)
    type_ = rows.columns[name]
    number: ft.FieldType = type_ if type_ not in (*ft.INTEGERS, *ft.FLOATS) and not isinstance(type_, ft.Decimal) else ft.DOUBLE
    compared: dict[str, type[exp.Binary]] = {"eq": exp.EQ, "gt": exp.GT, "gte": exp.GTE, "lt": exp.LT, "lte": exp.LTE}
    ifs = []
    if type_ in ft.FLOATS:
        ifs.append(exp.If(this=exp.IsNan(this=_column(name)), true=_value(step.default, ft.STRING, "bucket.default")))
    for bin_ in step.bins:
        bounds = [
            compared[key](this=_column(name), expression=_bound(text, number, f"bucket.bins.{key}"))
            for key, text in bin_.bounds.items()
        ]
        ifs.append(exp.If(this=exp.and_(*bounds, copy=False), true=_text(bin_.label)))
    return _made(rows, {step.field: exp.Case(ifs=ifs, default=_value(step.default, ft.STRING, "bucket.default"))})


def _bound(text: str, type_: ft.FieldType, what: str) -> exp.Expr:
    if type_ != ft.DOUBLE:
        return _value(text, type_, what)
    try:
        canonical_literal(text, ft.DOUBLE)
    except ValueError as error:
        raise step_error(f"{what}: {error}") from None
    return exp.Literal.number(text) if not text.startswith("-") else exp.Neg(this=exp.Literal.number(text[1:]))


def _chosen(step: t.ChosenColumns, rows: StepInput) -> StepQuery:
    chosen = [_alias(rows.column(n), rows.name(n)) for n in step.columns]
    return StepQuery(tree=_select(chosen, has_row=rows.has_row), has_row=rows.has_row)


def _drop(step: t.ChosenColumns, rows: StepInput) -> StepQuery:
    gone = {rows.name(n) for n in step.columns}
    kept = tuple(n for n in rows.columns if n not in gone)
    if not kept:
        raise step_error("drop would leave no column")
    return _chosen(t.ChosenColumns(columns=kept), rows)


# -- rows


def _filter(step: t.Filter, rows: StepInput) -> StepQuery:
    tree = _select(_with(rows, {}), has_row=rows.has_row)
    return StepQuery(tree=tree.where(m.mark(m.TRY, expression(step.sql, rows)), copy=False), has_row=rows.has_row)


def _deduplicate(step: t.Deduplicate, rows: StepInput) -> StepQuery:
    keys = [rows.name(n) for n in step.on]
    order = [rows.name(n) for n in step.sort_by]
    others = [n for n, type_ in rows.columns.items() if n not in (*keys, *order) and _has_order(type_)]
    ordered = [exp.Ordered(this=_column(n), desc=step.order == "desc", nulls_first=False) for n in order]
    ordered += [exp.Ordered(this=_column(n), desc=False, nulls_first=False) for n in others]
    rank = exp.Window(
        this=exp.RowNumber(), partition_by=[_column(n) for n in keys], order=exp.Order(expressions=ordered)
    )  # fmt: skip
    ranked = _select([*_with(rows, {}), _alias(rank, _RANK)], has_row=rows.has_row).subquery("ranked", copy=False)
    first = exp.EQ(this=exp.column(_RANK, quoted=True), expression=exp.Literal.number(1))
    stays = exp.or_(first, *(is_blank(_column(n), rows.columns[n]) for n in keys), copy=False)
    tree = _select(_with(rows, {}), has_row=rows.has_row, table=ranked).where(stays, copy=False)
    return StepQuery(tree=tree, has_row=rows.has_row)


def is_blank(column: exp.Expr, type_: ft.FieldType) -> exp.Expr:
    """Whether a part of a key is null, or a text of nothing but spaces; `implied_rules` asks the same."""
    missing = exp.Is(this=column, expression=exp.Null())
    if type_ != ft.STRING:
        return missing
    return exp.or_(missing, exp.EQ(this=exp.Trim(this=column.copy()), expression=_text("")), copy=False)


def _has_order(type_: ft.FieldType) -> bool:
    match type_:
        case ft.Map():
            return False
        case ft.Array(element):
            return _has_order(element)
        case ft.Struct(fields):
            return all(_has_order(inner) for _, inner in fields)
    return True


def _explode(step: t.Explode, rows: StepInput) -> StepQuery:
    name = rows.name(step.field)
    items = _column(name)
    if rows.columns[name] == ft.STRING:
        items = m.mark(m.LIST, items)
    elif not isinstance(rows.columns[name], ft.Array):
        raise step_error(f"explode reads lists, and column {name!r} is {rows.columns[name]}")
    return _made(rows, {step.output or step.field: m.mark(m.EACH, items)})


def _date_range(step: t.DateRangeExplode, rows: StepInput) -> StepQuery:
    first = _when(m.DAY, step.start_col, rows, "date_range_explode")
    today = exp.CurrentDate()
    last: exp.Expr = today
    if step.end_col:
        last = exp.Coalesce(this=_when(m.DAY, step.end_col, rows, "date_range_explode"), expressions=[today])
    days = int(step.interval[:-1]) * (7 if step.interval.endswith("w") else 1)
    return _made(rows, {step.output: m.mark(m.EACH, m.mark(m.DAYS, first, last, days))})


# -- links


def _lookup(step: t.Lookup, rows: StepInput) -> StepQuery:
    link, there = rows.link(step.reference)
    value = _found(step.value, there, f"columns of the link {link!r}")
    taken = _column(value, "r")
    if step.default_value is not None:
        default = _value(step.default_value, there[value], "lookup.default_value")
        taken = exp.Coalesce(this=taken, expressions=[default])
    on = _equal((step.on,), (step.key,), rows, link, there)
    tree = _select(_with(rows, {step.field: taken}, table="s"), has_row=False, table=_source_as("s"))
    tree = tree.join(exp.to_table(link).as_("r"), on=on, join_type="left", copy=False)
    return _with_row(tree, rows)


def _join(step: t.Join, rows: StepInput) -> StepQuery:
    link, there = rows.link(step.reference)
    made = {}
    for given in step.fields:
        name = _found(given, there, f"columns of the link {link!r}")
        taken = _column(name, "r")
        if given in step.defaults:
            default = _value(step.defaults[given], there[name], f"join.defaults.{given}")
            taken = exp.Coalesce(this=taken, expressions=[default])
        made[step.prefix + given] = taken
    on = _equal(step.on, step.key, rows, link, there)
    if step.type in ("right", "full"):
        for mine, its in zip(step.on, step.key, strict=True):
            both = [_column(rows.name(mine), "s"), _column(_found(its, there, "columns"), "r")]
            made.setdefault(rows.name(mine), exp.Coalesce(this=both[0], expressions=both[1:]))
    tree = _select(_with(rows, made, table="s"), has_row=False, table=_source_as("s"))
    tree = tree.join(exp.to_table(link).as_("r"), on=on, join_type=step.type, copy=False)
    return _with_row(tree, rows)


def _source_as(name: str) -> exp.Expr:
    return exp.to_table(SOURCE).as_(name)


def _with_row(tree: exp.Select, rows: StepInput) -> StepQuery:
    if rows.has_row:
        tree = tree.select(exp.column(ROW, table="s"), copy=False)
    return StepQuery(tree=tree, has_row=rows.has_row)


def _equal(on: Iterable[str], key: Iterable[str], rows: StepInput, link: str, there: Columns) -> exp.Expr:
    pairs = []
    for mine, its in zip(on, key, strict=True):
        left, right = rows.name(mine), _found(its, there, f"columns of the link {link!r}")
        if not _compare(rows.columns[left], there[right]):
            raise step_error(
                f"{left!r} is {rows.columns[left]}, and {right!r} of the link {link!r} is {there[right]}",
                "cast the column first, or say the link's type under links.fields",
            )
        pairs.append(exp.EQ(this=_column(left, "s"), expression=_column(right, "r")))
    return exp.and_(*pairs, copy=False)


def _compare(one: ft.FieldType, other: ft.FieldType) -> bool:
    are_decimals = isinstance(one, ft.Decimal) and isinstance(other, ft.Decimal)
    return one == other or (one in ft.INTEGERS and other in ft.INTEGERS) or are_decimals


# -- shapes


def _rollup(step: t.Rollup, rows: StepInput) -> StepQuery:
    groups = [rows.name(n) for n in step.group_by]
    made = [_alias(expression(sql, rows, may_aggregate=True), name) for name, sql in step.aggregations.items()]
    tree = _select([*(_alias(_column(n), n) for n in groups), *made], has_row=False)
    return StepQuery(tree=tree.group_by(*map(_column, groups), copy=False) if groups else tree, has_row=False)


def _pivot(step: t.Pivot, rows: StepInput) -> StepQuery:
    ids = [rows.name(n) for n in step.id_vars]
    pivot = rows.name(step.pivot_col)
    made = []
    for (given, value), name in pivoted_names(step).items():
        column = rows.name(given)
        is_it = exp.EQ(this=_column(pivot), expression=_value(value, rows.columns[pivot], "pivot.values"))
        cell = exp.Case(ifs=[exp.If(this=is_it, true=_column(column))])
        found = _aggregate(step.agg, cell)
        if step.fill_value is not None:
            type_ = ft.BIGINT if step.agg == "count" else rows.columns[column]
            found = exp.Coalesce(this=found, expressions=[_value(step.fill_value, type_, "pivot.fill_value")])
        made.append(_alias(found, name))
    tree = _select([*(_alias(_column(n), n) for n in ids), *made], has_row=False).group_by(*map(_column, ids), copy=False)
    return StepQuery(tree=tree, has_row=False)


def _aggregate(agg: str, cell: exp.Expr) -> exp.Expr:
    if agg == "only":
        is_one = exp.LTE(this=exp.Count(this=exp.Distinct(expressions=[cell])), expression=exp.Literal.number(1))
        return exp.Case(ifs=[exp.If(this=is_one, true=exp.Max(this=cell.copy()))])
    calls: dict[str, type[exp.Func]] = {"sum": exp.Sum, "min": exp.Min, "max": exp.Max, "avg": exp.Avg, "count": exp.Count}
    return calls[agg](this=cell)


def _unpivot(step: t.Unpivot, rows: StepInput) -> StepQuery:
    values = [rows.name(n) for n in step.value_vars]
    type_ = rows.columns[values[0]]
    other = next((n for n in values if rows.columns[n] != type_), None)
    if other is not None:
        raise step_error(f"unpivot takes columns of one type: {values[0]!r} is {type_}, {other!r} is {rows.columns[other]}")
    ids = [rows.name(n) for n in step.id_vars] or [n for n in rows.columns if n not in values]
    parts = []
    for name in values:
        made = [_alias(_text(name), step.key_field), _alias(_column(name), step.value_field)]
        part = _select([*(_alias(_column(n), n) for n in ids), *made], has_row=rows.has_row)
        if not step.include_nulls:
            part = part.where(exp.Not(this=exp.Is(this=_column(name), expression=exp.Null())), copy=False)
        parts.append(part)
    tree: exp.Query = parts[0]
    for part in parts[1:]:
        tree = exp.Union(this=tree, expression=part, distinct=False)
    return StepQuery(tree=tree, has_row=rows.has_row)


def _query(sql: str, rows: StepInput) -> StepQuery:
    query = parse_step_query(sql)
    if any(isinstance(s, exp.Alias) and s.alias.lower() == ROW for s in query.selects):
        raise step_error(f"a query cannot name a column {ROW}")
    if isinstance(query, exp.Select) and rows.has_row and _is_row_by_row(query):
        table = next(iter(query.find_all(exp.Table))).alias_or_name
        tree = query.copy()
        tree.set("expressions", [e for s in tree.expressions for e in (_spread(rows) if _is_bare_star(s) else [s])])
        return StepQuery(tree=tree.select(exp.column(ROW, table=table), copy=False), has_row=True)
    return StepQuery(tree=_listed(query, rows), has_row=False)


def _is_bare_star(node: exp.Expr) -> bool:
    star = node.this if isinstance(node, exp.Column) else node
    return isinstance(star, exp.Star)


def _spread(rows: StepInput) -> list[exp.Expr]:
    return [_column(n) for n in rows.columns]


def _listed(query: exp.Query, rows: StepInput) -> exp.Query:
    """The query without the hidden column: what it calls `source` has the columns of the step alone."""
    if not rows.has_row or query.find(exp.Star) is None:
        return query
    inner = _select([_column(n) for n in (*rows.columns,)], has_row=False)
    tree = query.copy()
    for table in list(tree.find_all(exp.Table)):
        if table.name.lower() == SOURCE and not table.db:
            table.replace(inner.copy().subquery(table.alias_or_name, copy=False))
    return tree


def _is_row_by_row(tree: exp.Select) -> bool:
    """Whether each row that a query gives is made of one row of `source`."""
    tables = list(tree.find_all(exp.Table))
    is_single = len(tables) == 1 and tables[0].name.lower() == SOURCE and tables[0].parent is tree.args.get("from_")
    has_more = any(tree.args.get(k) for k in _MANY)
    stars = [s.this if isinstance(s, exp.Column) else s for s in tree.expressions]
    has_more = has_more or any(isinstance(s, exp.Star) and any(s.args.values()) for s in stars)  # * EXCEPT and the like
    return is_single and not has_more and not tree.find(exp.AggFunc, exp.Window, exp.Subquery, exp.Exists, exp.UDTF)


_KINDS: Mapping[str, Callable[..., StepQuery]] = {
    "rename": _rename, "cast": _cast, "trim": _trim, "lower": _lower, "upper": _upper, "filter": _filter,
    "deduplicate": _deduplicate, "coalesce": _coalesce, "map_values": _map_values, "derive": _derive, "split": _split,
    "explode": _explode, "json_extract": _json_extract, "regex_extract": _regex_extract, "date_diff": _date_diff,
    "date_range_explode": _date_range, "bucket": _bucket, "lookup": _lookup, "join": _join, "rollup": _rollup,
    "pivot": _pivot, "unpivot": _unpivot, "select": _chosen, "drop": _drop,
}  # fmt: skip
