"""The query of a dataset rule: one SELECT over the candidate that gives a single number."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.errors import OptimizeError
from sqlglot.optimizer.scope import Scope, traverse_scope

from invaract_orchestration.contract.expression_names import (
    Columns,
    ExpressionError,
    ambiguous_types,
    first_offset,
    unknown_columns,
)
from invaract_orchestration.contract.expression_types import mixed_kinds
from invaract_orchestration.contract.expressions import argument_refusal, called_function_refusal, is_too_high, parse_sql
from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.contract.report import shown, suggest
from invaract_orchestration.contract.sql_functions import AGGREGATES, ROW_FUNCTIONS

TABLE = "candidate"
_REFUSED: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Window, "a window"), (exp.Placeholder, "a parameter"), (exp.Parameter, "a parameter"),
    (exp.Lambda, "a lambda"), (exp.TableSample, "a sample"), (exp.Lateral, "a lateral view"),
    (exp.UDTF, "a table function"), (exp.Pivot, "a pivot"), (exp.Into, "an INTO"),
)  # fmt: skip
_FUNCTIONS = ROW_FUNCTIONS | AGGREGATES


def check_query(sql: str, columns: Columns | None) -> list[ExpressionError]:
    """Everything that hinders a text from being a dataset rule's query over a candidate with these columns, if known."""
    try:
        tree = _parse(sql)
    except ExpressionError as error:
        return [error]
    errors = list(_refusals(sql, tree))
    if not errors and columns is not None:
        errors = list(_unknown_names(tree, columns))
    if not errors and columns is not None and not _has_derived_names(tree):
        errors = [*ambiguous_types(tree, columns), *mixed_kinds(tree, columns)]
    return errors


def _has_derived_names(tree: exp.Query) -> bool:
    """Whether a name may be another than a column of the candidate, so that its type is not known."""
    own = [s for query in tree.find_all(exp.Select) for s in query.selects if isinstance(s, exp.Alias)]
    return tree.find(exp.CTE) is not None or any(query is not tree for query in tree.find_all(exp.Query)) or bool(own)


def _parse(sql: str) -> exp.Query:
    tree = parse_sql(sql, into=None)
    if isinstance(tree, exp.Block):
        raise ExpressionError("expected one query, found several statements", hint="write one rule for each query")
    if not isinstance(tree, exp.Query):
        hint = f"such as: select count(*) from {TABLE}"
        raise ExpressionError("expected a query, found another statement" if tree else "expected a query", hint=hint)
    return tree


def _refusals(sql: str, tree: exp.Query) -> Iterator[ExpressionError]:
    if is_too_high(tree):
        yield ExpressionError("the query is nested too deeply")
        return
    selected = tree.selects
    if len(selected) != 1 or selected[0].is_star:
        yield ExpressionError("expected a query that selects one number, found " + _selected(selected))
    for node in tree.walk():
        refused = next((what for kind, what in _REFUSED if isinstance(node, kind)), None)
        if refused is not None:
            yield ExpressionError(f"{refused} is not possible in a dataset rule", offset=first_offset(node))
        elif not isinstance(node, exp.Exists):
            error = called_function_refusal(sql, node, _FUNCTIONS) or argument_refusal(node)
            if error is not None:
                yield error
    yield from _foreign_tables(tree)


def _selected(selected: list[exp.Expr]) -> str:
    if any(s.is_star for s in selected):
        return "'*'"
    return "none" if not selected else f"{len(selected)} columns"


def _foreign_tables(tree: exp.Query) -> Iterator[ExpressionError]:
    tables = list(tree.find_all(exp.Table))
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)} | {TABLE}
    for table in tables:
        name = ".".join(p.name for p in table.parts)
        if name.lower() not in own:
            hint = f"the rows to publish are the table '{TABLE}'; `references` looks into another table"
            yield ExpressionError(f"unknown table {shown(name)}", offset=first_offset(table), hint=hint)
    if all(t.name.lower() in own - {TABLE} for t in tables):
        yield ExpressionError(f"the query does not read '{TABLE}', so it says nothing about the rows to publish")


def _unknown_names(tree: exp.Query, columns: Columns) -> Iterator[ExpressionError]:
    try:
        scopes = traverse_scope(tree)
    except (OptimizeError, RecursionError) as error:
        yield ExpressionError("the query's tables cannot be told apart", hint="give each an alias of its own")
        del error
        return
    told: set[int] = set()
    for scope in scopes:
        for column in scope.columns:
            if id(column) not in told:
                told.add(id(column))
                yield from _unknown_name(column, scope, columns)


def _unknown_name(
    column: exp.Column, scope: Scope, columns: Columns
) -> Iterator[ExpressionError]:  # fmt: skip
    parts = [p.name for p in column.parts]
    sources = {name.lower(): source for name, source in _visible(scope)}
    if len(parts) > 1 and parts[0].lower() in sources:
        names = _names_of(sources[parts[0].lower()], columns)
        if parts[1].lower() not in {n.lower() for n in names}:
            hint = suggest(parts[1], names, "columns")
            yield ExpressionError(f"unknown column {shown('.'.join(parts))}", offset=first_offset(column), hint=hint)
        return
    known: dict[str, FieldType | None] = {}
    for source in sources.values():
        known.update(_names_of(source, columns))
    known.update(_named(scope))
    yield from unknown_columns(column, known)


def _visible(scope: Scope) -> Iterator[tuple[str, object]]:
    """The sources of a scope and of those around it: a correlated subquery may name them too."""
    current: Scope | None = scope
    while current is not None:
        yield from reversed(list(current.sources.items()))
        current = current.parent


def _names_of(source: object, columns: Columns) -> Columns:
    """The columns of a source, those of its own sources where it selects `*`."""
    if not isinstance(source, Scope):
        return columns
    names = _named(source)
    query = source.expression
    if isinstance(query, exp.Query) and any(s.is_star for s in query.selects):
        for inner in source.sources.values():
            names.update(_names_of(inner, columns))
    return names


def _named(scope: Scope) -> dict[str, FieldType | None]:
    query = scope.expression
    names = query.named_selects if isinstance(query, exp.Query) else []
    return {name: None for name in names if name not in ("", "*")}
