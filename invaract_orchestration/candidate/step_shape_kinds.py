"""Steps that make rows of several rows, or of columns."""

from __future__ import annotations

from sqlglot import exp

from invaract_orchestration.candidate.step_input import (
    StepInput,
    StepQuery,
    cast,
    common_type,
    expression,
    quoted_column,
    select_rows,
    text_literal,
    typed_literal,
    under_name,
)  # fmt: skip
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract import transformations as t
from invaract_orchestration.contract.step_columns import pivoted_names


def rollup_query(step: t.Rollup, rows: StepInput) -> StepQuery:
    """See `Rollup`."""
    groups = [rows.name(n) for n in step.group_by]
    made = [under_name(expression(sql, rows, may_aggregate=True), name) for name, sql in step.aggregations.items()]
    tree = select_rows([*(under_name(quoted_column(n), n) for n in groups), *made], has_row=False)
    return StepQuery(tree=tree.group_by(*map(quoted_column, groups), copy=False) if groups else tree, has_row=False)


def pivot_query(step: t.Pivot, rows: StepInput) -> StepQuery:
    """See `Pivot`."""
    ids = [rows.name(n) for n in step.id_vars]
    pivot = rows.name(step.pivot_col)
    made = []
    for (given, value), name in pivoted_names(step).items():
        column = rows.name(given)
        is_it = exp.EQ(this=quoted_column(pivot), expression=typed_literal(value, rows.columns[pivot], "pivot.values"))
        cell = exp.Case(ifs=[exp.If(this=is_it, true=quoted_column(column))])
        found = _aggregate(step.agg, cell)
        if step.fill_value is not None:
            type_ = ft.BIGINT if step.agg == "count" else rows.columns[column]
            found = exp.Coalesce(this=found, expressions=[typed_literal(step.fill_value, type_, "pivot.fill_value")])
        made.append(under_name(found, name))
    tree = select_rows([*(under_name(quoted_column(n), n) for n in ids), *made], has_row=False)
    return StepQuery(tree=tree.group_by(*map(quoted_column, ids), copy=False), has_row=False)


def _aggregate(agg: str, cell: exp.Expr) -> exp.Expr:
    if agg == "only":
        is_one = exp.LTE(this=exp.Count(this=exp.Distinct(expressions=[cell])), expression=exp.Literal.number(1))
        return exp.Case(ifs=[exp.If(this=is_one, true=exp.Max(this=cell.copy()))])
    calls: dict[str, type[exp.Func]] = {"sum": exp.Sum, "min": exp.Min, "max": exp.Max, "avg": exp.Avg, "count": exp.Count}
    return calls[agg](this=cell)


def unpivot_query(step: t.Unpivot, rows: StepInput) -> StepQuery:
    """See `Unpivot`."""
    values = [rows.name(n) for n in step.value_vars]
    type_ = common_type(values, rows, "unpivot")
    ids = [rows.name(n) for n in step.id_vars] or [n for n in rows.columns if n not in values]
    parts = []
    for name in values:
        value = cast(quoted_column(name), rows.columns[name], type_, name)
        made = [under_name(text_literal(name), step.key_field), under_name(value, step.value_field)]
        part = select_rows([*(under_name(quoted_column(n), n) for n in ids), *made], has_row=rows.has_row)
        if not step.include_nulls:
            part = part.where(exp.Not(this=exp.Is(this=quoted_column(name), expression=exp.Null())), copy=False)
        parts.append(part)
    tree: exp.Query = parts[0]
    for part in parts[1:]:
        tree = exp.Union(this=tree, expression=part, distinct=False)
    return StepQuery(tree=tree, has_row=rows.has_row)
