"""A file of SQL on the command line says in Spark SQL what its author wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from invaract_orchestration.cli.sql_files import read_transform
from invaract_orchestration.contract.field_types import INT, Struct
from invaract_orchestration.errors import UsageError
from tests.plan.cases import RULES

SCHEMAS = {"a": Struct((("x", INT), ("y", INT))), "b": Struct((("x", INT), ("z", INT)))}
NO_CROSS_JOIN = RULES.validate_python({"type": "forbid_cross_join"})


@pytest.mark.parametrize("dialect", ["spark", "databricks", "hive", "duckdb", "snowflake", "bigquery", "tsql", "postgres"])
@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("SELECT a.y FROM a, b WHERE a.x = b.x", "kept"),
        ("SELECT a.y FROM a, b WHERE a.x = 3 AND b.x = 3", "broken"),
        ("SELECT a.y FROM a CROSS JOIN b WHERE a.x = b.x", "broken"),
        ("SELECT a.y FROM a JOIN b ON a.x = b.x", "kept"),
    ],
)
def test_query_of_a_dialect_keeps_the_shape_of_its_joins(tmp_path: Path, dialect: str, text: str, outcome: str) -> None:
    file = tmp_path / "query.sql"
    file.write_text(text, encoding="utf-8")
    read = read_transform(str(file), dialect)
    assert isinstance(read, str)
    assert judge_plan_rule(NO_CROSS_JOIN, translate_sql(read, SCHEMAS).plan).outcome == outcome


@pytest.mark.parametrize(
    ("dialect", "shape"),
    [("duckdb", "a, (b RIGHT JOIN c ON b.x = c.x)"), ("databricks", "a, b RIGHT JOIN c ON b.x = c.x")],
)
def test_join_after_a_comma_is_made_first_where_its_dialect_says_so(tmp_path: Path, dialect: str, shape: str) -> None:
    file = tmp_path / "query.sql"
    file.write_text("SELECT a.y FROM a, b RIGHT JOIN c ON b.x = c.x WHERE a.x = c.x", encoding="utf-8")
    assert read_transform(str(file), dialect) == f"SELECT a.y FROM {shape} WHERE a.x = c.x"


def test_file_that_is_no_sql_names_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("query.sql").write_text("SELECT a\nFROM WHERE", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_transform("query.sql", "duckdb")
    assert str(caught.value).startswith("query.sql:2:10: not duckdb SQL: Expected table name")
