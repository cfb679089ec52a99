"""`current_date()` and its like in a predicate that several engines evaluate, each at its own time and in its own zone."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlglot import exp, parse_one


def bind_now(sql: str, now: datetime) -> str:
    """The Spark SQL condition with the day and the moment of `now`, whose zone is the contract's; else as it was written."""
    tree = parse_one(sql, read="spark")
    is_bound = False

    def bound(node: exp.Expr) -> exp.Expr:
        nonlocal is_bound
        if isinstance(node, exp.CurrentDate):
            is_bound = True
            return exp.cast(exp.Literal.string(now.date().isoformat()), "DATE")
        if isinstance(node, exp.CurrentTimestamp) or (isinstance(node, exp.Anonymous) and str(node.this).lower() == "now"):
            is_bound = True
            moment = now.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
            return exp.Cast(this=exp.Literal.string(moment), to=exp.DataType.build("TIMESTAMP", dialect="spark"))
        return node

    changed = tree.transform(bound)
    return changed.sql(dialect="spark") if is_bound else sql
