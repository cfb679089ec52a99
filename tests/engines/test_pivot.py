"""PIVOT in a query of the embedded engine: an aggregate stands there alone, its argument is computed as everywhere."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest

from invaract_orchestration.engines.duckdb.spark_sql import query


@pytest.mark.parametrize(
    ("pivot", "row"),
    [
        ("SELECT * FROM (SELECT c, d, a FROM o) PIVOT (sum(a) FOR d IN (DATE'2026-09-01' AS x, DATE'2026-09-02' AS y))", (10, 5, 7)),
        ("SELECT * FROM (SELECT c, k, a FROM o) PIVOT (sum(a * 2) AS s, count_if(a > 5) AS n FOR k IN ('p', 'q'))", (10, 10, 0, 14, 1)),
        ("SELECT * FROM (SELECT c, k, a FROM o) PIVOT (max(cast(a AS string)) FOR k IN ('p' AS x, 'q' AS y))", (10, "5", "7")),
        ("SELECT * FROM (SELECT c, k, a FROM o) PIVOT (sum(abs(a)) FOR k IN ('p', 'q'))", (10, 5, 7)),
    ],
)  # fmt: skip
def test_pivot_computes_each_cell(pivot: str, row: tuple[object, ...]) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE o AS SELECT * FROM (VALUES (10, 5, DATE '2026-09-01', 'p'), (10, 7, DATE '2026-09-02', 'q')) t(c, a, d, k)"
        )
        assert connection.execute(query(pivot, datetime(2026, 9, 2, tzinfo=UTC))).fetchall() == [row]
