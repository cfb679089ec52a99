"""Queries of other dialects, judged as their own engine reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from invaract_orchestration.contract.field_types import Struct, parse_type
from tests.plan.cases import RULES, CaseFile

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "dialect_cases.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[f"{one['dialect']}-{n}" for n, one in enumerate(CASES)])
def test_query_of_a_dialect_has_its_outcome(case: dict[str, Any], plan_cases: CaseFile) -> None:
    plan = translate_sql(case["sql"], plan_cases.schemas, dialect=case["dialect"]).plan
    assert judge_plan_rule(RULES.validate_python(case["rule"]), plan).outcome == case["expect"]


_INT = parse_type("int")
_TABLES = {
    "a": Struct((("x", _INT), ("k", _INT))),
    "b": Struct((("z", _INT), ("k", _INT), ("y", _INT))),
    "d": Struct((("k", _INT), ("w", _INT), ("x", _INT))),
}


@pytest.mark.parametrize(
    ("joined", "standard", "in_place"),
    [
        ("a JOIN b USING (k)", "k x z y", "x k z y"),
        ("a NATURAL FULL JOIN b", "k x z y", "x k z y"),
        ("b JOIN a USING (k) JOIN d USING (x)", "x k z y k w", "z k y x k w"),
        ("a JOIN b USING (k) JOIN d USING (k)", "k x z y w x", "x k z y w x"),
        ("a LEFT SEMI JOIN b USING (k)", "k x", "x k"),
        ("a LEFT ANTI JOIN b USING (k)", "k x", "x k"),
    ],
)
def test_star_over_using_has_the_order_of_the_dialect(joined: str, standard: str, in_place: str) -> None:
    spark = translate_sql(f"SELECT * FROM {joined}", _TABLES, dialect="spark").plan
    duckdb = translate_sql(f"SELECT * FROM {joined.replace('LEFT ', '')}", _TABLES, dialect="duckdb").plan
    assert [a.name for a in spark.output] == standard.split()
    assert [a.name for a in duckdb.output] == in_place.split()


@pytest.mark.parametrize(
    ("dialect", "sql", "outcome"),
    [
        ("spark", "SELECT * FROM nowhere", "unverifiable"),
        ("spark", "SELECT n.* FROM nowhere n JOIN orders o ON n.x = o.order_id", "unverifiable"),
        ("spark", "SELECT * FROM any_function(1)", "unverifiable"),
        ("spark", "SELECT IDENTIFIER('email') AS x FROM customers", "broken"),
        ("spark", "SELECT IDENTIFIER(concat('em', 'ail')) AS x FROM customers", "unverifiable"),
        ("spark", "SELECT email FROM IDENTIFIER('customers')", "broken"),
        ("spark", "SELECT s.* FROM (SELECT struct(email, name) AS s FROM customers) t", "broken"),
        ("spark", "SELECT s.* FROM (SELECT mask_text(email) AS s FROM customers) t", "broken"),
        ("spark", "SELECT s.* FROM (SELECT struct(name, region) AS s FROM customers) t", "kept"),
        ("duckdb", "SELECT COLUMNS('e.*') FROM customers", "broken"),
        ("duckdb", "SELECT * RENAME (email AS e) FROM customers", "broken"),
        ("duckdb", "SELECT * FROM (SUMMARIZE customers)", "unverifiable"),
        ("duckdb", "SELECT * FROM query('SELECT email FROM customers')", "unverifiable"),
        ("duckdb", "SELECT email.upper() AS e FROM customers", "broken"),
        ("duckdb", "SELECT c.email.lower().trim() AS e FROM customers c", "broken"),
        ("duckdb", "SELECT c.name.lower().trim() AS e FROM customers c", "kept"),
        ("duckdb", "SELECT v.x FROM customers c, LATERAL (VALUES (c.name), (c.email)) v(x)", "broken"),
        ("duckdb", "SELECT v.x FROM customers c, (VALUES (c.email)) v(x)", "broken"),
        ("duckdb", "SELECT v.x FROM customers c, LATERAL (VALUES (c.name, c.email)) v(x, y)", "kept"),
        ("duckdb", "SELECT x FROM (VALUES ((SELECT max(email) FROM customers))) v(x)", "broken"),
        ("duckdb", "SELECT e FROM customers, (SELECT email AS e)", "broken"),
    ],
)
def test_tagged_column_is_never_lost_behind_a_star_or_a_function(
    dialect: str, sql: str, outcome: str, plan_cases: CaseFile
) -> None:
    plan = translate_sql(sql, plan_cases.schemas, dialect=dialect).plan
    rule = RULES.validate_python({"type": "forbid_tag_in_output", "tags": ["pii"]})
    assert judge_plan_rule(rule, plan, tags={"customers.email": ["pii"]}).outcome == outcome
