"""Every contract and target of a table, found by steps from one to the next in its index: few of them stand in many rows."""

from __future__ import annotations

from sqlalchemy import CTE, Table, select, tuple_


def contract_targets(table: Table, name: str) -> CTE:
    """Each pair once. The table's key is one column, and an index of it begins with contract and target."""
    first, later, found = table.alias(), table.alias(), table.alias()
    (key,) = table.primary_key.columns.keys()
    start = select(first.c.contract, first.c.target).order_by(first.c.contract, first.c.target).limit(1).subquery()
    pairs = select(start.c.contract, start.c.target).cte(name, recursive=True)
    following = (
        select(later.c[key])
        .where(tuple_(later.c.contract, later.c.target) > tuple_(pairs.c.contract, pairs.c.target))
        .order_by(later.c.contract, later.c.target).limit(1).correlate(pairs).scalar_subquery()
    )  # fmt: skip
    return pairs.union_all(select(found.c.contract, found.c.target).join_from(pairs, found, found.c[key] == following))
