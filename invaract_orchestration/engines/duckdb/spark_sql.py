"""Spark SQL expressions of a contract, evaluated by DuckDB with the same meaning.

A value that cannot be computed is null, and only that value: every calculation of a condition stands in a TRY of its own, as
Spark's `try_` forms do, so that `a * b > 0 OR c` is still true where `c` is. The whole stands in one, for functions that fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

import sqlglot
from sqlglot import exp

from invaract_orchestration.contract.expression_names import Columns
from invaract_orchestration.contract.expressions import ExpressionError, parse_condition
from invaract_orchestration.contract.number_widths import calculated_decimal, number_digits
from invaract_orchestration.contract.standard_sql import standard_spelling, with_names
from invaract_orchestration.engines.duckdb.spark_meaning import spelled
from invaract_orchestration.errors import NotSupported

_SHORT = 18
_CALCULATIONS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg)

Reference = Callable[[str], str | None]
"""The SQL of the column of that name in any letter case, or none."""


def condition(sql: str, reference: Reference, now: datetime, types: Columns) -> str:
    """A boolean or null for a Spark SQL condition; `now` is the aware time that current_date() and its like are bound to."""
    return f"TRY({expression(sql, reference, now, types)})"


def expression(sql: str, reference: Reference, now: datetime, types: Columns) -> str:
    """The DuckDB text of a Spark SQL expression, each column replaced by what `reference` gives for it."""
    try:
        tree = parse_condition(sql)
    except ExpressionError:
        raise NotSupported(
            "a condition calls what is not known to mean the same here as in Spark",
            hint="docs/rules.md lists the functions that conditions can use",
        ) from None
    return rendered(guarded(_widened(tree, types)).transform(lambda node: _column(node, reference)), now)


def _widened(tree: exp.Expr, types: Columns) -> exp.Expr:
    """Decimals of up to 18 digits stay at 18 in DuckDB when they are added or multiplied: one of them is made wider before."""
    calculations = reversed(list(tree.find_all(exp.Add, exp.Sub, exp.Mul)))  # children first, whose digits are known before
    wide = [(n, number_digits(n.this, types)) for n in calculations if sum(calculated_decimal(n, types) or ()) > _SHORT]
    for node, digits in wide:
        whole, fraction = digits or (0, 0)
        type_ = exp.DataType.build(f"decimal({max(whole + fraction, _SHORT + 1)}, {fraction})")
        node.set("this", exp.Cast(this=node.this.copy(), to=type_))  # exp.cast() leaves out one of the same kind
    return tree


def guarded(tree: exp.Expr) -> exp.Expr:
    """Every calculation, from the innermost, in a TRY of its own."""
    root = exp.paren(tree)
    for node in reversed(list(root.find_all(*_CALCULATIONS))):
        node.replace(_tried(node.copy()))
    found: exp.Expr = root.this
    return found


def _tried(node: exp.Expr) -> exp.Expr:
    if not node.find(exp.AggFunc, exp.Window, exp.Query):
        return exp.Anonymous(this="TRY", expressions=[node])
    # TRY takes no aggregate, window and subquery: they are computed before it.
    packed, inner = exp.Struct(), node.copy()
    for key in [k for k in ("this", "expression") if isinstance(node.args.get(k), exp.Expr)]:
        packed.append("expressions", exp.PropertyEQ(this=exp.to_identifier(key), expression=node.args[key]))
        inner.set(key, exp.Dot(this=exp.to_identifier("v"), expression=exp.to_identifier(key)))
    computed = exp.Lambda(this=exp.Anonymous(this="TRY", expressions=[inner]), expressions=[exp.to_identifier("v")])
    listed = exp.Anonymous(this="LIST_TRANSFORM", expressions=[exp.Array(expressions=[packed]), computed])
    return exp.Anonymous(this="LIST_EXTRACT", expressions=[listed, exp.Literal.number(1)])


def measured_query(sql: str, now: datetime, types: Columns) -> str:
    """The DuckDB text of a dataset rule's query, computed as conditions are."""
    return rendered(guarded(_widened(standard_spelling(sqlglot.parse_one(sql, read="spark")), types)), now)


def query(sql: str, now: datetime, views: Mapping[str, str] | None = None) -> str:
    """The DuckDB text of a Spark SQL query. `views` gives the session's name for a table, by its name in lower case; a table
    that is not there keeps its name."""
    tree = standard_spelling(with_names(sqlglot.parse_one(sql, read="spark")))
    return rendered(tree.transform(lambda node: _viewed(node, views or {})), now)


def _viewed(node: exp.Expr, views: Mapping[str, str]) -> exp.Expr:
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return node
    view = views.get(".".join(p.name for p in node.parts).lower())
    return node if view is None else exp.alias_(exp.to_table(view), node.alias_or_name, table=True)


def rendered(tree: exp.Expr, now: datetime) -> str:
    """The DuckDB text of a tree, with current_date() and its like bound."""
    return spelled(tree.transform(lambda node: _bound(node, now))).sql(dialect="duckdb")


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
    value: exp.Expr = exp.Var(this=found)
    value.meta["is_column"] = True
    for part in parts[taken:]:
        value = exp.Anonymous(this="struct_extract", expressions=[value, exp.Literal.string(part)])
    return value


def _bound(node: exp.Expr, now: datetime) -> exp.Expr:
    if isinstance(node, exp.CurrentDate):
        return exp.cast(exp.Literal.string(now.date().isoformat()), "DATE")
    if isinstance(node, exp.CurrentTimestamp) or (isinstance(node, exp.Anonymous) and _called(node) == "now"):
        return exp.cast(exp.Literal.string(now.isoformat()), "TIMESTAMPTZ")
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous) and _called(node.this) == "range":
        # Spark's range() has the column id, DuckDB's is called range.
        alias = node.alias or "range"
        return exp.alias_(exp.Table(this=node.this), alias, table=["id"])
    return node


def _called(node: exp.Anonymous) -> str:
    return str(node.this).lower()
