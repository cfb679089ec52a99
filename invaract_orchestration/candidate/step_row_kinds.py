"""Steps that leave rows out, make several of one, or find columns in a link."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from invaract_orchestration.candidate import step_marks as m
from invaract_orchestration.candidate.step_input import (
    ROW,
    Columns,
    StepInput,
    StepQuery,
    expression,
    found_name,
    in_place,
    moment_of,
    quoted_column,
    select_rows,
    step_error,
    text_literal,
    typed_literal,
    under_name,
    with_columns,
)  # fmt: skip
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract import transformations as t
from invaract_orchestration.contract.step_columns import SOURCE

_RANK = "invaract_rank"


def filter_query(step: t.Filter, rows: StepInput) -> StepQuery:
    """See `Filter`."""
    tree = select_rows(with_columns(rows, {}), has_row=rows.has_row)
    return StepQuery(tree=tree.where(m.mark(m.TRY, expression(step.sql, rows)), copy=False), has_row=rows.has_row)


def deduplicate_query(step: t.Deduplicate, rows: StepInput) -> StepQuery:
    """See `Deduplicate`."""
    keys = [rows.name(n) for n in step.on]
    order = [rows.name(n) for n in step.sort_by]
    others = [n for n, type_ in rows.columns.items() if n not in (*keys, *order) and _has_order(type_)]
    ordered = [exp.Ordered(this=quoted_column(n), desc=step.order == "desc", nulls_first=False) for n in order]
    ordered += [exp.Ordered(this=quoted_column(n), desc=False, nulls_first=False) for n in others]
    rank = exp.Window(
        this=exp.RowNumber(), partition_by=[quoted_column(n) for n in keys], order=exp.Order(expressions=ordered)
    )  # fmt: skip
    ranked = select_rows([*with_columns(rows, {}), under_name(rank, _RANK)], has_row=rows.has_row).subquery("ranked", copy=False)
    first = exp.EQ(this=exp.column(_RANK, quoted=True), expression=exp.Literal.number(1))
    asked = {n: rows.columns[n] if step.blank == "spaces" else ft.BINARY for n in keys}
    stays = exp.Or(this=first, expression=exp.or_(*(is_blank(quoted_column(n), type_) for n, type_ in asked.items()), copy=False))
    stays.meta[m.EVERY_BLANK] = True
    tree = select_rows(with_columns(rows, {}), has_row=rows.has_row, table=ranked).where(stays, copy=False)
    return StepQuery(tree=tree, has_row=rows.has_row)


def is_blank(column: exp.Expr, type_: ft.FieldType) -> exp.Expr:
    """Whether a part of a key is null, or a text of nothing but spaces; `implied_rules` asks the same."""
    missing = exp.Is(this=column, expression=exp.Null())
    if type_ != ft.STRING:
        return missing
    return exp.or_(missing, exp.EQ(this=exp.Trim(this=column.copy()), expression=text_literal("")), copy=False)


def _has_order(type_: ft.FieldType) -> bool:
    match type_:
        case ft.Map():
            return False
        case ft.Array(element):
            return _has_order(element)
        case ft.Struct(fields):
            return all(_has_order(inner) for _, inner in fields)
    return True


def explode_query(step: t.Explode, rows: StepInput) -> StepQuery:
    """See `Explode`."""
    name = rows.name(step.field)
    items = quoted_column(name)
    if rows.columns[name] == ft.STRING:
        items = m.mark(m.LIST, items)
    elif not isinstance(rows.columns[name], ft.Array):
        raise step_error(f"explode reads lists, and column {name!r} is {rows.columns[name]}")
    return in_place(rows, {step.output or step.field: m.mark(m.EACH, items)})


def date_range_query(step: t.DateRangeExplode, rows: StepInput) -> StepQuery:
    """See `DateRangeExplode`."""
    first = moment_of(m.DAY, step.start_col, rows, "date_range_explode")
    today = exp.CurrentDate()
    last: exp.Expr = today
    if step.end_col:
        last = exp.Coalesce(this=moment_of(m.DAY, step.end_col, rows, "date_range_explode"), expressions=[today])
    days = int(step.interval[:-1]) * (7 if step.interval.endswith("w") else 1)
    return in_place(rows, {step.output: m.mark(m.EACH, m.mark(m.DAYS, first, last, days))})


def lookup_query(step: t.Lookup, rows: StepInput) -> StepQuery:
    """See `Lookup`."""
    link, there = rows.link(step.reference)
    value = found_name(step.value, there, f"columns of the link {link!r}")
    taken = quoted_column(value, "r")
    if step.default_value is not None:
        default = typed_literal(step.default_value, there[value], "lookup.default_value")
        taken = exp.Coalesce(this=taken, expressions=[default])
    on = _equal((step.on,), (step.key,), rows, link, there)
    tree = select_rows(with_columns(rows, {step.field: taken}, table="s"), has_row=False, table=_source_as("s"))
    tree = tree.join(exp.to_table(link).as_("r"), on=on, join_type="left", copy=False)
    return _with_row(tree, rows)


def join_query(step: t.Join, rows: StepInput) -> StepQuery:
    """See `Join`."""
    link, there = rows.link(step.reference)
    made = {}
    for given in step.fields:
        name = found_name(given, there, f"columns of the link {link!r}")
        taken = quoted_column(name, "r")
        if given in step.defaults:
            default = typed_literal(step.defaults[given], there[name], f"join.defaults.{given}")
            taken = exp.Coalesce(this=taken, expressions=[default])
        made[step.prefix + given] = taken
    on = _equal(step.on, step.key, rows, link, there)
    if step.type in ("right", "full"):
        for mine, its in zip(step.on, step.key, strict=True):
            both = [quoted_column(rows.name(mine), "s"), quoted_column(found_name(its, there, "columns"), "r")]
            made.setdefault(rows.name(mine), exp.Coalesce(this=both[0], expressions=both[1:]))
    tree = select_rows(with_columns(rows, made, table="s"), has_row=False, table=_source_as("s"))
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
        left, right = rows.name(mine), found_name(its, there, f"columns of the link {link!r}")
        if not _compare(rows.columns[left], there[right]):
            raise step_error(
                f"{left!r} is {rows.columns[left]}, and {right!r} of the link {link!r} is {there[right]}",
                "cast the column first, or say the link's type under links.fields",
            )
        pairs.append(exp.EQ(this=quoted_column(left, "s"), expression=quoted_column(right, "r")))
    return exp.and_(*pairs, copy=False)


def _compare(one: ft.FieldType, other: ft.FieldType) -> bool:
    are_decimals = isinstance(one, ft.Decimal) and isinstance(other, ft.Decimal)
    return one == other or (one in ft.INTEGERS and other in ft.INTEGERS) or are_decimals
