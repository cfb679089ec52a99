"""Any condition over columns of every type, on rows of interest: the same answer on Spark as on the embedded engine."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.contract.expressions import check_condition
from invaract_orchestration.contract.field_types import parse_type
from invaract_orchestration.engines.duckdb import spark_sql as duckdb_sql
from invaract_orchestration.engines.duckdb.session import connect
from invaract_orchestration.engines.spark import spark_sql
from invaract_orchestration.engines.spark.session import private_session
from tests.spark import sessions
from tests.spark.grammar import COLUMNS, Grammar, table
from tests.spark.test_parity import QUICK

NOW = datetime(2026, 1, 31, 10, 20, 30, tzinfo=UTC)
TYPES = {name: parse_type(type_) for name, (type_, _, _) in COLUMNS.items()}
ROWS = 60
AT_ONCE = 40
"""Conditions of one query: Spark takes as long for one as for all of them."""


@contextmanager
def embedded(file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with tempfile.TemporaryDirectory() as scratch:
        connection = connect(Path(scratch), None, None)
        connection.execute(f"CREATE TABLE t AS SELECT *, file_row_number AS row FROM read_parquet('{file}', file_row_number=true)")
        yield connection
        connection.close()


def on_embedded(connection: duckdb.DuckDBPyConnection, conditions: list[str]) -> list[list[Any]]:
    found = []
    for sql in conditions:
        text = duckdb_sql.condition(sql, lambda n: f'"{n.lower()}"' if n.lower() in TYPES else None, NOW, TYPES)
        found.append([row[0] for row in connection.execute(f"SELECT {text} FROM t ORDER BY row").fetchall()])
    return found


def on_spark(session: Any, file: Path, conditions: list[str]) -> list[list[Any]]:
    def column(name: str) -> str | None:
        return f"`{name.lower()}`" if name.lower() in TYPES else None

    with private_session(session) as own:
        frame = own.spark.read.parquet(str(file)).coalesce(1)
        rows = frame.selectExpr(*(f"{spark_sql.condition(sql, column, NOW)} AS c{i}" for i, sql in enumerate(conditions))).collect()
    return [[row[i] for row in rows] for i in range(len(conditions))]


def differing(engine: str, seed: int) -> dict[str, str]:
    """The conditions of a seed that are not the same, with what each engine says of the first row that differs."""
    grammar, conditions = Grammar(random.Random(seed).choice), []
    while len(conditions) < AT_ONCE:
        sql = grammar.condition(len(conditions) % 3)
        if not check_condition(sql, TYPES):
            conditions.append(sql)
    session = sessions.classic() if engine == "spark" else sessions.connected()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        pq.write_table(table(ROWS, seed % 7), file)
        theirs = on_spark(session, file, conditions)
        with embedded(file) as connection:
            ours = on_embedded(connection, conditions)
    return {
        sql: f"Spark {next(t for t, o in zip(there, here, strict=True) if t != o)}, first in row {[t != o for t, o in zip(there, here, strict=True)].index(True)}"
        for sql, there, here in zip(conditions, theirs, ours, strict=True)
        if there != here
    }  # fmt: skip


@pytest.mark.parametrize("engine", ["spark", "spark-connect"])
@QUICK
@given(seed=st.integers(0, 2**32))
def test_any_condition_means_the_same(spark: Any, engine: str, seed: int) -> None:
    assert differing(engine, seed) == {}


@pytest.mark.skipif("INVARACT_SEARCH" not in os.environ, reason="a long search: set INVARACT_SEARCH to the number of queries")
def test_condition_of_a_long_search_means_the_same(spark: Any) -> None:
    found: dict[str, str] = {}
    for seed in range(int(os.environ.get("INVARACT_SEARCH", "0"))):
        found |= differing("spark", seed)
    assert found == {}
