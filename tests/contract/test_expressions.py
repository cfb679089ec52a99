"""Conditions over one row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.contract.expressions import (
    ExpressionError,
    check_condition,
    columns_read,
    parse_condition,
)
from invaract_orchestration.contract.field_types import FieldType, parse_type
from invaract_orchestration.contract.model import Contract, DatasetRule, FieldSpec, Key, RowCount, RowRule
from invaract_orchestration.contract.phases import early_checks, phase_of

COLUMNS: dict[str, FieldType | None] = {
    name: parse_type(type_)
    for name, type_ in {
        "a": "int", "b": "int", "c": "string", "d": "date", "t": "timestamp", "f": "boolean",
        "amount": "decimal(10,2)", "s": "struct<x:int,y:struct<z:int>>", "m": "map<string,int>", "l": "array<int>",
        "order id": "string", "amount.eur": "decimal(10,2)",
    }.items()
}  # fmt: skip

WORDS = [
    "a", "b", "c.x", "(", ")", ",", "+", "-", "*", "/", "and", "or", "not", "in", "like", "'x'", "1", "null", "case",
    "when", "then", "end", "sum(", "if(", "::int", "select", "from", "interval", "day", "[", "]", ".", "between",
]  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "read"),
    [
        ("a > 1", {"a"}), ("A + b > 2", {"a", "b"}), ("f", {"f"}), ("not f", {"f"}), ("a <=> b", {"a", "b"}),
        ("a in (1, 2) and c is not null", {"a", "c"}), ("amount between 0.5 and 10", {"amount"}),
        ("c like 'a%' or c ilike 'B_' or c rlike '^x'", {"c"}), ("s.x = 1", {"s"}), ("S.Y.Z = 1", {"s"}),
        ("amount.eur > 0", {"amount.eur"}), ("`amount.eur` > 1 and `Order Id` <> 'x'", {"amount.eur", "order id"}),
        ("case when f then true else a > 1 end", {"f", "a"}), ("if(f, a, b) = 1", {"f", "a", "b"}),
        ("coalesce(a, b, 0) >= 0", {"a", "b"}), ("cast(c as int) > 1 and try_cast(c as date) < d", {"c", "d"}),
        ("a::bigint > 1", {"a"}), ("d >= date'2026-01-01' and t < timestamp'2026-01-01 00:00:00'", {"d", "t"}),
        ("d + interval 1 day > current_date() and t < now()", {"d", "t"}), ("datediff(d, current_date) < 3", {"d"}),
        ("extract(year from d) = 2026 and year(d) = 2026", {"d"}), ("date_trunc('month', d) = d", {"d"}),
        ("length(trim(both ' ' from c)) > 0", {"c"}), ("startswith(c, 'x') or contains(c, 'y')", {"c"}),
        ("split(c, ',')[0] = 'x'", {"c"}), ("substring(c, 1, 2) = 'ab' and floor(amount) > 1", {"c", "amount"}),
        ("size(l) > 0 and array_contains(l, 1)", {"l"}), ("isnull(a) or isnotnull(b) or isnan(amount)",
        {"a", "b", "amount"}), ("a % 2 = 0 and a div 2 > 1 and -a < 0", {"a"}), ("c || 'x' = 'yx'", {"c"}),
        ("1 = 1", set()), ("position('x' in c) > 0", {"c"}), ("dayofweek(d) = 1 and weekday(d) = 6", {"d"}),
    ],
)  # fmt: skip
def test_condition_is_taken_and_its_columns_are_known(sql: str, read: set[str]) -> None:
    assert check_condition(sql, COLUMNS) == []
    assert columns_read(parse_condition(sql), COLUMNS) == frozenset(read)


@pytest.mark.parametrize(
    ("sql", "offset", "message", "hint"),
    [
        ("amont > 0", 0, "unknown column 'amont'", "did you mean 'amount'?"),
        ("a > 0 and s.w = 1", 10, "unknown field 'w' in 's'", "fields: 'x', 'y'"),
        ("a.b = 1", 0, "'a' is of type int, which has no field 'b'", None),
        ("c = 1 or lenght(c) > 1", 9, "unknown function 'lenght'", "did you mean 'length'?"),
        ("sum(a) > 1", 0, "sum() needs more than one row", "an aggregate belongs to `quality.dataset_rules`"),
        ("row_number() > 1", 0, "row_number() needs more than one row", None),
        ("sum(a) over () > 1", 0, "a window is not possible in a condition over one row", None),
        ("rand() > 0.5", 0, "rand() gives another value each time, so no retry would agree", None),
        ("a in (select 1)", 0, "a subquery is not possible in a condition over one row",
         "a query over many rows belongs to `quality.dataset_rules`"),
        ("select 1", 0, "expected a condition over one row, found a statement",
         "a query belongs to `quality.dataset_rules`"),
        ("a = 1; drop table x", 0, "expected one condition, found a ';'", "write one rule for each condition"),
        ("a as x", 2, "expected a condition in Spark SQL, found 'as' out of place", None),
        ("? = a", 0, "a parameter is not possible in a condition", "write the value itself"),
        ("${x} = 1", 0, "a parameter is not possible in a condition", "write the value itself"),
        ("a + 1", 0, "expected a condition that is true or false", "compare it with something, such as `amount > 0`"),
        ("c", 0, "expected a condition that is true or false", "compare it with something, such as `amount > 0`"),
        ("c rlike '(?=a)'", 8, "pattern of rlike: a look-ahead is not in the RE2 subset at character 1",
         "a rule of `quality.row_rules` can say what a pattern cannot"),
        ("c rlike c", 8, "the pattern of rlike has to be a text in quotes", None),
        ("cast(amount as int) = 1", 5, "a cast of a number with decimals to a whole number cuts on one engine and "
         "rounds on another", "say how: floor, ceil or round"),
        ("size(m) > 1", 5, "size() is for lists", "write size(map_keys(...))"),
        ("", 0, "expected a condition in Spark SQL, found nothing", None),
        ("(" * 60 + "a" + ")" * 60, 0, "the expression is nested too deeply", None),
        ("not " * 100 + "f", 0, "the expression is nested too deeply", None),
        (" or ".join(["a = 1"] * 300), 0, "the expression is nested too deeply",
         "a list of values is shorter with IN"),
    ],
)  # fmt: skip
def test_condition_that_cannot_be_evaluated_alike_is_refused(sql: str, offset: int, message: str, hint: str | None) -> None:
    errors = check_condition(sql, COLUMNS)
    assert [(e.offset, str(e), e.hint) for e in errors] == [(offset, message, hint)]


@pytest.mark.parametrize("sql", ["sum(a) > 1", "rand() > 1", "a in (select 1)", "foo(a)", "a; b"])
def test_parse_condition_refuses_what_check_condition_refuses(sql: str) -> None:
    with pytest.raises(ExpressionError):
        parse_condition(sql)


@pytest.mark.parametrize(
    ("sql", "spark"),
    [
        ("isnull(a)", "(a IS NULL)"), ("isnotnull(a)", "(NOT a IS NULL)"),
        ("isnan(a)", "COALESCE(ISNAN(a), FALSE)"), ("c like '10\\\\%'", "c LIKE '10\\\\%' ESCAPE '\\\\'"),
        ("t < now()", "t < CURRENT_TIMESTAMP()"), ("substring(c, 0, 2) = 'a'", "SUBSTRING(c, 1, 2) = 'a'"),
        ("isnull(weekday(d))", "(((DATEDIFF(d, CAST('1970-01-05' AS DATE)) % 7 + 7) % 7) IS NULL)"),
    ],
)  # fmt: skip
def test_condition_comes_out_in_the_spelling_that_means_one_thing(sql: str, spark: str) -> None:
    assert parse_condition(sql).sql(dialect="spark") == spark


def test_columns_without_known_names_are_taken_as_written() -> None:
    assert columns_read(parse_condition("A.x > 1 and `b c` = 2")) == frozenset({"A", "b c"})


@given(st.text(max_size=60))
def test_any_text_is_a_condition_or_an_expression_error(sql: str) -> None:
    for error in check_condition(sql, COLUMNS):
        assert str(error)


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_any_words_are_a_condition_or_an_expression_error(words: list[str]) -> None:
    check_condition(" ".join(words), COLUMNS)


@pytest.mark.parametrize(
    ("check", "phase"),
    [
        (RowRule(name="r", sql="a > 1"), "pre"),
        (RowRule(name="r", sql="made > 1"), "post"),
        (RowRule(name="r", sql="MADE > a"), "post"),
        (RowRule(name="r", sql="made > 1", phase="pre"), "pre"),
        (RowRule(name="r", sql="'made' = c"), "pre"),
        (FieldSpec(name="a", type="int"), "pre"),  # type: ignore[arg-type]  # text is taken
        (FieldSpec(name="made", type="int"), "post"),  # type: ignore[arg-type]
        (Key(columns=("a",)), "post"),
        (DatasetRule(name="d", row_count=RowCount(min=1)), "post"),
    ],
)
def test_phase_follows_from_what_a_check_reads(check: FieldSpec | RowRule | Key | DatasetRule, phase: str) -> None:
    assert phase_of(check, ["a", "c", "made"], created=["made"]) == phase


def test_early_check_of_a_created_column_is_found() -> None:
    contract = Contract(
        contract="x",
        fields=(FieldSpec(name="made", type="int", phase="pre"),),  # type: ignore[arg-type]
        quality={"row_rules": [{"name": "r", "sql": "made > 1", "phase": "pre"}]},  # type: ignore[arg-type]
    )
    assert list(early_checks(contract, ["made"])) == [
        (("fields", 0, "phase"), "made"),
        (("quality", "row_rules", 0, "phase"), "r"),
    ]
    assert list(early_checks(contract, [])) == []
