"""The text of a contract's query for Spark."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from invaract_orchestration.engines.spark.spark_sql import query
from invaract_orchestration.errors import NotSupported

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT * REPLACE (upper(name) AS name) FROM people", "REPLACE"),
        ("SELECT id FROM (SELECT p.* EXCEPT (a) REPLACE (1 AS b) FROM people p)", "REPLACE"),
        ("SELECT * RENAME (a AS b) FROM people", "RENAME"),
    ],
)
def test_form_of_a_star_that_spark_has_not_is_refused_by_its_name(sql: str, word: str) -> None:
    with pytest.raises(NotSupported, match=rf"`\* {word}`, which is not Spark SQL") as refused:
        query(sql, NOW)
    assert "EXCEPT" in str(refused.value.hint)


def test_star_without_some_columns_is_spark_sql() -> None:
    assert "EXCEPT" in query("SELECT * EXCEPT (name), upper(name) AS name FROM people", NOW)
