"""Steps that give columns of a row other values, names or types."""

from __future__ import annotations

from sqlglot import exp

from invaract_orchestration.candidate import step_marks as m
from invaract_orchestration.candidate.step_input import (
    StepInput,
    StepQuery,
    cast,
    common_type,
    expression,
    in_place,
    moment_of,
    quoted_column,
    require_texts,
    select_rows,
    step_error,
    text_literal,
    typed_literal,
    under_name,
)  # fmt: skip
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract import transformations as t
from invaract_orchestration.contract.json_paths import json_paths
from invaract_orchestration.contract.literals import canonical_literal


def rename_query(step: t.Rename, rows: StepInput) -> StepQuery:
    """See `Rename`."""
    new = {rows.name(old): name for old, name in step.mappings.items()}
    names = [new.get(n, n) for n in rows.columns]
    twice = next((n for n in names if [x.lower() for x in names].count(n.lower()) > 1), None)
    if twice is not None:
        raise step_error(f"rename would make two columns {twice!r}", "drop or rename the other one first")
    chosen = [under_name(quoted_column(n), new.get(n, n)) for n in rows.columns]
    return StepQuery(tree=select_rows(chosen, has_row=rows.has_row), has_row=rows.has_row)


def cast_query(step: t.CastColumns, rows: StepInput) -> StepQuery:
    """See `CastColumns`."""
    return in_place(rows, {n: cast(rows.column(n), rows.type(n), to, n) for n, to in step.columns.items()})


def trim_query(step: t.Trim, rows: StepInput) -> StepQuery:
    """See `Trim`."""
    return in_place(rows, {n: m.mark(m.TRIM, quoted_column(n), step.side) for n in require_texts(step.fields, rows, "trim")})


def lower_query(step: t.Letters, rows: StepInput) -> StepQuery:
    """See `Letters`."""
    return in_place(rows, {n: exp.Lower(this=quoted_column(n)) for n in require_texts(step.fields, rows, "lower")})


def upper_query(step: t.Letters, rows: StepInput) -> StepQuery:
    """See `Letters`."""
    return in_place(rows, {n: exp.Upper(this=quoted_column(n)) for n in require_texts(step.fields, rows, "upper")})


def coalesce_query(step: t.Coalesce, rows: StepInput) -> StepQuery:
    """See `Coalesce`."""
    sources = [rows.name(n) for n in step.sources or (step.field,)]
    type_ = common_type(sources, rows, "coalesce")
    last = [] if step.default is None else [typed_literal(step.default, type_, "coalesce.default")]
    first, *others = [*(cast(quoted_column(n), rows.columns[n], type_, n) for n in sources), *last]
    return in_place(rows, {step.output or step.field: exp.Coalesce(this=first, expressions=others) if others else first})


def map_values_query(step: t.MapValues, rows: StepInput) -> StepQuery:
    """See `MapValues`."""
    name = rows.name(step.field)
    output = step.output or step.field
    from_ = rows.columns[name]
    to = step.type or (from_ if output.lower() == name.lower() else ft.STRING)
    ifs = [
        exp.If(
            this=exp.EQ(this=quoted_column(name), expression=typed_literal(old, from_, f"map_values.mapping.{old}")),
            true=typed_literal(new, to, f"map_values.mapping.{old}"),
        )
        for old, new in step.mapping.items()
    ]
    case = exp.Case(ifs=ifs, default=typed_literal(step.default, to, "map_values.default"))
    return in_place(rows, {output: case})


def derive_query(step: t.Derive, rows: StepInput) -> StepQuery:
    """See `Derive`."""
    return in_place(rows, {step.field: m.mark(m.TRY, expression(step.sql, rows))})


def split_query(step: t.Split, rows: StepInput) -> StepQuery:
    """See `Split`."""
    (name,) = require_texts((step.field,), rows, "split")
    return in_place(rows, {step.output or step.field: m.mark(m.SPLIT, quoted_column(name), step.delimiter)})


def json_extract_query(step: t.JsonExtract, rows: StepInput) -> StepQuery:
    """See `JsonExtract`."""
    name = rows.name(step.source)
    type_ = rows.columns[name]
    source = quoted_column(name)
    if isinstance(type_, ft.Array | ft.Map | ft.Struct):
        source = m.mark(m.JSON_TEXT, source, type_)
    elif type_ != ft.STRING:
        raise step_error(f"json_extract reads JSON texts, and column {name!r} is {type_}")
    try:
        first, *others = [m.mark(m.JSON, source.copy(), path) for path in json_paths(step.path)]
    except ValueError as error:  # of a path that a flattened name gives: what a contract says is checked before
        raise step_error(f"{step.field!r} leads to no path of a JSON text: {error}") from None
    found = exp.Coalesce(this=first, expressions=others) if others else first
    return in_place(rows, {step.field: cast(found, ft.STRING, step.cast or ft.STRING, name)})


def regex_extract_query(step: t.RegexExtract, rows: StepInput) -> StepQuery:
    """See `RegexExtract`."""
    (name,) = require_texts((step.source,), rows, "regex_extract")
    return in_place(rows, {step.field: m.mark(m.REGEX, quoted_column(name), step.pattern)})


def date_diff_query(step: t.DateDiff, rows: StepInput) -> StepQuery:
    """See `DateDiff`."""
    kind = m.DAY if step.unit in ("days", "weeks", "months", "years") else m.MOMENT
    first, last = (moment_of(kind, n, rows, "date_diff") for n in (step.from_col, step.to_col))
    return in_place(rows, {step.field: m.mark(m.PASSED, step.unit, first, last)})


def bucket_query(step: t.Bucket, rows: StepInput) -> StepQuery:
    """See `Bucket`."""
    name = rows.name(step.source)
    type_ = rows.columns[name]
    number: ft.FieldType = type_ if type_ not in (*ft.INTEGERS, *ft.FLOATS) and not isinstance(type_, ft.Decimal) else ft.DOUBLE
    compared: dict[str, type[exp.Binary]] = {"eq": exp.EQ, "gt": exp.GT, "gte": exp.GTE, "lt": exp.LT, "lte": exp.LTE}
    ifs = []
    if type_ in ft.FLOATS:
        is_nan = exp.IsNan(this=quoted_column(name))
        ifs.append(exp.If(this=is_nan, true=typed_literal(step.default, ft.STRING, "bucket.default")))
    for bin_ in step.bins:
        bounds = [
            compared[key](this=quoted_column(name), expression=_bound(text, number, f"bucket.bins.{key}"))
            for key, text in bin_.bounds.items()
        ]
        ifs.append(exp.If(this=exp.and_(*bounds, copy=False), true=text_literal(bin_.label)))
    return in_place(rows, {step.field: exp.Case(ifs=ifs, default=typed_literal(step.default, ft.STRING, "bucket.default"))})


def _bound(text: str, type_: ft.FieldType, what: str) -> exp.Expr:
    if type_ != ft.DOUBLE:
        return typed_literal(text, type_, what)
    try:
        canonical_literal(text, ft.DOUBLE)
    except ValueError as error:
        raise step_error(f"{what}: {error}") from None
    return exp.Literal.number(text) if not text.startswith("-") else exp.Neg(this=exp.Literal.number(text[1:]))


def chosen_query(step: t.ChosenColumns, rows: StepInput) -> StepQuery:
    """See `ChosenColumns`."""
    chosen = [under_name(rows.column(n), rows.name(n)) for n in step.columns]
    return StepQuery(tree=select_rows(chosen, has_row=rows.has_row), has_row=rows.has_row)


def drop_query(step: t.ChosenColumns, rows: StepInput) -> StepQuery:
    """See `ChosenColumns`."""
    gone = {rows.name(n) for n in step.columns}
    kept = tuple(n for n in rows.columns if n not in gone)
    if not kept:
        raise step_error("drop would leave no column")
    return chosen_query(t.ChosenColumns(columns=kept), rows)
