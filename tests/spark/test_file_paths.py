"""Rows that Spark has written into folders of any name: a mode that takes them out leaves none of them behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark.lakes import EngineLake, engine_of

FIELDS = "{name: p, type: string, required: true}\n{name: v, type: int, required: true}"
OLD = ("Köln", "a b", "10:30", "plain")


@pytest.fixture
def lake(tmp_path: Path) -> EngineLake:
    return EngineLake(root=tmp_path, engine="spark")


def written_by_spark(lake: EngineLake) -> Any:
    session = engine_of(lake.engine).session
    session.sql(f"CREATE TABLE delta.`{lake.target}` (p STRING, v INT) USING delta PARTITIONED BY (p)")
    rows = ", ".join(f"('{p}', 1)" for p in OLD)
    session.sql(f"INSERT INTO delta.`{lake.target}` VALUES {rows}")
    return session


@pytest.mark.parametrize(
    ("publish", "kept"),
    [
        ("mode: overwrite", []),
        ("mode: replace_partitions, partition_by: [p]", ["10:30", "a b", "plain"]),
        ("mode: replace_where, where: \"p = 'Köln'\"", ["10:30", "a b", "plain"]),
        ("mode: merge, keys: [p]", ["10:30", "a b", "plain"]),
    ],
)
def test_rows_of_folders_with_any_name_are_taken_out(lake: EngineLake, publish: str, kept: list[str]) -> None:
    session = written_by_spark(lake)
    lake.put({"x.csv": "p,v\nKöln,2\n"})
    result = lake.run(lake.contract(FIELDS, publish=publish))
    assert result.state == "published", result.message
    expected = sorted([("Köln", 2), *((p, 1) for p in kept)])
    assert sorted(tuple(r) for r in session.sql(f"SELECT p, v FROM delta.`{lake.target}`").collect()) == expected
    assert sorted((r["p"], r["v"]) for r in lake.rows()) == expected


def test_embedded_engine_refuses_what_it_would_leave_behind(lake: EngineLake) -> None:
    session = written_by_spark(lake)
    lake.engine = "duckdb"
    lake.put({"x.csv": "p,v\nKöln,2\n"})
    result = lake.run(lake.contract(FIELDS, publish="mode: overwrite"))
    assert (result.state, result.code) == ("failed", "publish.rejected_by_target"), result.message
    assert session.sql(f"SELECT count(*) FROM delta.`{lake.target}`").collect()[0][0] == len(OLD)
