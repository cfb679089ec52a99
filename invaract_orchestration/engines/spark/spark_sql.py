"""Spark SQL expressions of a contract, evaluated by Spark with the meaning that every engine gives them.

A value that cannot be computed is null under every setting of a session: arithmetic and casts are turned to their `try_` forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

import sqlglot
from sqlglot import exp

from invaract_orchestration.contract.expressions import ExpressionError, parse_condition
from invaract_orchestration.contract.standard_sql import standard_spelling, with_names
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.tried import tried, tried_in_query
from invaract_orchestration.errors import NotSupported

Reference = Callable[[str], str | None]
"""The SQL of the column of that name in any letter case, or none."""


def condition(sql: str, reference: Reference, now: datetime) -> str:
    """A boolean or null for a Spark SQL condition; `now` is the aware time that current_date() and its like are bound to."""
    return f"({expression(sql, reference, now)})"


def expression(sql: str, reference: Reference, now: datetime) -> str:
    """The text of a Spark SQL expression, each column replaced by what `reference` gives for it."""
    try:
        tree = parse_condition(sql)
    except ExpressionError:
        raise NotSupported(
            "a condition calls what is not known to mean the same on every engine",
            hint="docs/rules.md lists the functions that conditions can use",
        ) from None
    return rendered(tree.transform(lambda node: _column(node, reference)), now)


def query(sql: str, now: datetime, views: Mapping[str, str] | None = None) -> str:
    """The text of a query for a session in ANSI mode. `views` gives the session's name for a table, by its name in lower case; a
    table that is not there keeps its name.

    Raises:
        NotSupported: the query has a form of `*` that Spark has not.
    """
    tree = with_names(sqlglot.parse_one(sql, read="spark"))
    word = next((w for star in tree.find_all(exp.Star) for w in ("replace", "rename") if star.args.get(w)), None)
    if word is not None:
        raise NotSupported(
            f"the query has `* {word.upper()}`, which is not Spark SQL",
            hint="name the columns, or write `* EXCEPT (c), ... AS c`, which puts them last",
        )
    return str(tried_in_query(tree.transform(lambda node: _bound(_viewed(node, views or {}), now))).sql(dialect="spark"))


def measured_query(sql: str, now: datetime) -> str:
    """The text of a dataset rule's query, computed as conditions are."""
    return rendered(standard_spelling(sqlglot.parse_one(sql, read="spark")), now)


def _viewed(node: exp.Expr, views: Mapping[str, str]) -> exp.Expr:
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return node
    view = views.get(".".join(p.name for p in node.parts).lower())
    return node if view is None else exp.alias_(exp.to_table(view), node.alias_or_name, table=True)


def rendered(tree: exp.Expr, now: datetime) -> str:
    """The Spark text of a tree, with current_date() and its like bound and every calculation in its `try_` form."""
    return str(tried(tree.transform(lambda node: _bound(node, now))).sql(dialect="spark"))


def _column(node: exp.Expr, reference: Reference) -> exp.Expr:
    if not isinstance(node, exp.Column):
        return node
    parts = [part.name for part in node.parts]
    for taken in range(len(parts), 0, -1):
        found = reference(".".join(parts[:taken]))
        if found is not None:
            break
    else:
        raise NotSupported(f"the expression reads {'.'.join(parts)!r}, which is no column here")
    value = exp.Var(this=".".join([found, *(q.name(part) for part in parts[taken:])]))
    value.meta["is_column"] = True
    return value


def _bound(node: exp.Expr, now: datetime) -> exp.Expr:
    if isinstance(node, exp.CurrentDate):
        return exp.cast(exp.Literal.string(now.date().isoformat()), "DATE")
    if isinstance(node, exp.CurrentTimestamp) or (isinstance(node, exp.Anonymous) and str(node.this).lower() == "now"):
        return exp.Cast(this=exp.Literal.string(now.isoformat()), to=exp.DataType.build("TIMESTAMP", dialect="spark"))
    return node
