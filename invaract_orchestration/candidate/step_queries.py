"""What each step means, as one query over `source`: the rows as they are at that step.

The hidden column `invaract_row` says which record of the source a row comes from. Steps that make rows of several records do
not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from invaract_orchestration.candidate import step_column_kinds as of_columns
from invaract_orchestration.candidate import step_marks as m
from invaract_orchestration.candidate import step_row_kinds as of_rows
from invaract_orchestration.candidate import step_shape_kinds as of_shapes
from invaract_orchestration.candidate.plan.sql.parse import is_bare_join, parse_statements
from invaract_orchestration.candidate.step_input import ROW, StepInput, StepQuery, quoted_column, select_rows, step_error
from invaract_orchestration.contract import transformations as t
from invaract_orchestration.contract.step_columns import SOURCE
from invaract_orchestration.contract.step_expressions import parse_step_query

_MANY = ("group", "distinct", "having", "joins", "laterals", "with_", "limit", "offset", "qualify", "pivots")
"""Parts of a query that make of its rows something else than one row each."""


def step_query(step: t.Transformation, rows: StepInput) -> StepQuery:
    """The query of a step.

    Raises:
        GateError: it reads a column that is not there, or one of a type that it cannot be used on.
    """
    if isinstance(step.step, str):
        return _query(step.step, rows)
    build = _KINDS[step.kind]
    return build(step.step, rows)


def _query(sql: str, rows: StepInput) -> StepQuery:
    query = _with_bare_joins(parse_step_query(sql), sql)
    if any(isinstance(s, exp.Alias) and s.alias.lower() == ROW for s in query.selects):
        raise step_error(f"a query cannot name a column {ROW}")
    if isinstance(query, exp.Select) and rows.has_row and _is_row_by_row(query):
        table = next(iter(query.find_all(exp.Table))).alias_or_name
        tree = query.copy()
        tree.set("expressions", [e for s in tree.expressions for e in (_spread(rows) if _is_bare_star(s) else [s])])
        return StepQuery(tree=tree.select(exp.column(ROW, table=table), copy=False), has_row=True)
    return StepQuery(tree=_listed(query, rows), has_row=False)


def _with_bare_joins(query: exp.Query, sql: str) -> exp.Query:
    """The query with a mark on each join that is a comma, or has no ON, in its text: sqlglot makes CROSS or ON TRUE of it."""
    written = parse_statements(sql, dialect="spark")[0].find_all(exp.Join)
    for join, own in zip(query.find_all(exp.Join), written, strict=False):
        if is_bare_join(own):
            join.meta[m.BARE_JOIN] = True
    return query


def _is_bare_star(node: exp.Expr) -> bool:
    star = node.this if isinstance(node, exp.Column) else node
    return isinstance(star, exp.Star)


def _spread(rows: StepInput) -> list[exp.Expr]:
    return [quoted_column(n) for n in rows.columns]


def _listed(query: exp.Query, rows: StepInput) -> exp.Query:
    """The query without the hidden column: what it calls `source` has the columns of the step alone."""
    if not rows.has_row or query.find(exp.Star) is None:
        return query
    inner = select_rows([quoted_column(n) for n in (*rows.columns,)], has_row=False)
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
    "rename": of_columns.rename_query, "cast": of_columns.cast_query, "trim": of_columns.trim_query,
    "lower": of_columns.lower_query, "upper": of_columns.upper_query, "filter": of_rows.filter_query,
    "deduplicate": of_rows.deduplicate_query, "coalesce": of_columns.coalesce_query,
    "map_values": of_columns.map_values_query, "derive": of_columns.derive_query, "split": of_columns.split_query,
    "explode": of_rows.explode_query, "json_extract": of_columns.json_extract_query,
    "regex_extract": of_columns.regex_extract_query, "date_diff": of_columns.date_diff_query,
    "date_range_explode": of_rows.date_range_query, "bucket": of_columns.bucket_query, "lookup": of_rows.lookup_query,
    "join": of_rows.join_query, "rollup": of_shapes.rollup_query, "pivot": of_shapes.pivot_query,
    "unpivot": of_shapes.unpivot_query, "select": of_columns.chosen_query, "drop": of_columns.drop_query,
}  # fmt: skip
