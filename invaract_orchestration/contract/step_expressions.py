"""Expressions of steps: values and aggregates in Spark SQL, parsed once; what engines would evaluate differently is refused."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from invaract_orchestration.contract.expression_names import ExpressionError, first_offset
from invaract_orchestration.contract.expressions import argument_refusal, called_function_refusal, is_too_high, parse_sql
from invaract_orchestration.contract.sql_functions import AGGREGATES, ROW_FUNCTIONS, UNSTABLE
from invaract_orchestration.contract.standard_sql import standard_spelling

_REFUSED: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Window, "a window"), (exp.Placeholder, "a parameter"), (exp.Parameter, "a parameter"), (exp.Lambda, "a lambda"),
    (exp.Query, "a subquery"), (exp.Subquery, "a subquery"), (exp.Star, "'*'"), (exp.UDTF, "a table function"),
)  # fmt: skip


def parse_value(sql: str, *, may_aggregate: bool = False) -> exp.Expr:
    """The tree of an expression over one row, or over many where `may_aggregate`, in the spelling of every engine.

    Raises:
        ExpressionError: it is none, or it holds what not every engine evaluates alike.
    """
    tree = _parsed(sql, "an expression")
    for error in _refusals(sql, tree, may_aggregate):
        raise error
    return standard_spelling(tree)


def value_errors(sql: str, *, may_aggregate: bool = False) -> list[ExpressionError]:
    """Everything that hinders a text from being such an expression, but for names of columns."""
    try:
        tree = _parsed(sql, "an expression")
    except ExpressionError as error:
        return [error]
    return list(_refusals(sql, tree, may_aggregate))


def parse_step_query(sql: str) -> exp.Query:
    """The tree of a step's query.

    Raises:
        ExpressionError: it is no single SELECT, or it calls what gives another value each time.
    """
    tree = parse_sql(sql, into=None)
    if isinstance(tree, exp.Block):
        raise ExpressionError("expected one query, found several statements", hint="write one step for each query")
    if not isinstance(tree, exp.Query):
        raise ExpressionError("expected a query such as: SELECT * FROM source")
    if is_too_high(tree):
        raise ExpressionError("the query is nested too deeply")
    for node in tree.find_all(exp.Func):
        name = str(node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if name in UNSTABLE:
            raise ExpressionError(
                f"{name}() gives another value each time, so no retry would agree", offset=first_offset(node)
            )
    for refusal in filter(None, map(argument_refusal, tree.walk())):
        raise refusal
    spelled = standard_spelling(tree)
    assert isinstance(spelled, exp.Query)  # a spelling changes functions, never the statement
    return spelled


def _parsed(sql: str, what: str) -> exp.Expr:
    tree = parse_sql(sql, into=exp.Condition)
    if tree is None:
        raise ExpressionError(f"expected {what} in Spark SQL, found nothing")
    return tree


def _refusals(sql: str, tree: exp.Expr, may_aggregate: bool) -> Iterator[ExpressionError]:
    if is_too_high(tree):
        yield ExpressionError("the expression is nested too deeply")
        return
    known = ROW_FUNCTIONS | AGGREGATES if may_aggregate else ROW_FUNCTIONS
    for node in tree.walk():
        what = next((w for kind, w in _REFUSED if isinstance(node, kind)), None)
        if isinstance(node, exp.Star) and may_aggregate and isinstance(node.parent, exp.Count):
            continue
        if what is not None:
            yield ExpressionError(f"{what} is not possible in a step's expression", offset=first_offset(node))
            return
        error = called_function_refusal(sql, node, known) or argument_refusal(node)
        if error is not None:
            yield error
