"""Expressions and queries of steps take what every engine evaluates alike, and nothing else."""

from __future__ import annotations

import pytest

from invaract_orchestration.contract.expression_names import ExpressionError
from invaract_orchestration.contract.step_expressions import parse_step_query, parse_value, value_errors


@pytest.mark.parametrize(("sql", "offset", "message"), [
    ("extract(epoch from d)", 19, "expected a part of a date, found 'EPOCH'"), ("date_part('century', d)", 0, "expected a part of a date, found 'century'"),
    ("a rlike '(?=b)'", 8, "pattern of rlike: a look-ahead is not in the RE2 subset at character 1"), ("a rlike b", 8, "the pattern of rlike has to be a text in quotes"),
    ("rand()", 0, "rand() gives another value each time, so no retry would agree"), ("max(a)", 0, "max() needs more than one row"),
])  # fmt: skip
def test_value_that_engines_evaluate_differently_is_refused(sql: str, offset: int, message: str) -> None:
    assert [(e.offset, str(e)) for e in value_errors(sql)] == [(offset, message)]


@pytest.mark.parametrize(("sql", "spark"), [
    ("extract(MON from d)", "EXTRACT(MONTH FROM d)"), ("date_part('y', d)", "EXTRACT(YEAR FROM d)"), ("concat(a, b)", "CONCAT(a, b)"),
])  # fmt: skip
def test_value_comes_out_in_the_spelling_of_every_engine(sql: str, spark: str) -> None:
    assert parse_value(sql).sql(dialect="spark") == spark


@pytest.mark.parametrize(("sql", "message"), [
    ("select extract(epoch from d) as e from source", "expected a part of a date, found 'EPOCH'"), ("select * from source where a rlike '(?<=b)'", "a look-behind"),
    ("select uuid() as u from source", "uuid() gives another value each time"), ("delete from source", "expected a query such as: SELECT * FROM source"),
])  # fmt: skip
def test_query_of_a_step_that_engines_evaluate_differently_is_refused(sql: str, message: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        parse_step_query(sql)
    assert message in str(refused.value)
