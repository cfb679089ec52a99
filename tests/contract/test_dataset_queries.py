"""Queries of dataset rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.contract.dataset_queries import check_query
from invaract_orchestration.contract.field_types import FieldType, parse_type

COLUMNS: dict[str, FieldType | None] = {
    "a": parse_type("int"), "b": parse_type("int"), "s": parse_type("struct<x:int>"),
}  # fmt: skip

WORDS = [
    "select", "a", "b", "from", "candidate", "where", "(", ")", ",", "*", "sum(", "count(", "group", "by", "having",
    "with", "t", "as", "join", "on", "union", "all", "order", "limit", "1", "=", ">", "and", "exists", "case", "when",
    "end", ";", "lateral", "view", "explode(", "over", "values",
]  # fmt: skip


@pytest.mark.parametrize(
    "sql",
    [
        "select sum(a) from candidate",
        "select count(*) n from candidate c where c.a > 1",
        "with t as (select a as q, count(*) n from candidate group by a) select max(n) from t",
        "select count(*) from (select a from candidate group by a having count(*) > 1)",
        "select count(distinct a) from candidate where exists (select 1 from candidate d where d.a = candidate.b)",
        "select (select max(a) from candidate) - (select min(a) from candidate)",
        "select count(*) from candidate x join candidate y on x.a = y.b",
        "select count(*) filter (where a > 1) from candidate",
        "select count_if(a > 1) / count(*) from candidate",
        "select sum(s.x) from candidate",
        "select avg(a) as m from candidate order by m",
        "select count(*) from (select * from candidate) where a = 1",
        "select count(*) from candidate union all select 1 from candidate",
    ],
)
def test_query_over_the_candidate_is_taken(sql: str) -> None:
    assert check_query(sql, COLUMNS) == []


@pytest.mark.parametrize(
    ("sql", "offset", "message"),
    [
        ("select sum(x) from candidate", 11, "unknown column 'x'"),
        ("select c.z from candidate c", 7, "unknown column 'c.z'"),
        ("with t as (select a as q from candidate) select max(m) from t", 52, "unknown column 'm'"),
        ("select count(*) from (select * from candidate) where zz = 1", 53, "unknown column 'zz'"),
        ("select count(*) from orders", 21, "unknown table 'orders'"),
        ("select count(*) from shop.candidate", 21, "unknown table 'shop.candidate'"),
        ("select 1", 0, "the query does not read 'candidate', so it says nothing about the rows to publish"),
        ("select * from candidate", 0, "expected a query that selects one number, found '*'"),
        ("select a, b from candidate", 0, "expected a query that selects one number, found 2 columns"),
        ("delete from candidate", 0, "expected a query, found another statement"),
        ("select count(*) from candidate; select 1", 0, "expected one query, found several statements"),
        ("select rand() from candidate", 7, "rand() gives another value each time, so no retry would agree"),
        ("select sum(a) over () from candidate", 7, "a window is not possible in a dataset rule"),
        ("select count(*) from candidate tablesample (1 percent)", 44, "a sample is not possible in a dataset rule"),
        ("select explode(array(1)) from candidate", 7, "a table function is not possible in a dataset rule"),
        ("select cuont(a) from candidate", 7, "unknown function 'cuont'"),
        ("select sum(a from candidate", 13, "expected a query in Spark SQL, found 'from' out of place"),
        ("", 0, "expected a query"),
        ("select " + "(" * 50 + "1" + ")" * 50 + " from candidate", 0, "the expression is nested too deeply"),
    ],
)
def test_query_that_gives_no_number_of_the_candidate_is_refused(sql: str, offset: int, message: str) -> None:
    assert [(e.offset, str(e)) for e in check_query(sql, COLUMNS)] == [(offset, message)]


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_words_are_a_query_or_an_expression_error(words: list[str]) -> None:
    check_query(" ".join(words), COLUMNS)


@pytest.mark.parametrize(("sql", "said"), [
    ("select count(*) from candidate where name > 1", "a text with a number"), ("select sum(name) from candidate", "expected a number"),
    ("select max(cast(at as bigint)) from candidate", "a cast of a timestamp to a number"), ("select avg(cast(amount as int)) from candidate", "cuts on one engine"),
    ("select count(*) from candidate where name rlike '(?=a)'", "a look-ahead"), ("select count(*) from candidate where name rlike name", "has to be a text in quotes"),
    ("select max(extract(epoch from at)) from candidate", "expected a part of a date, found 'EPOCH'"),
])  # fmt: skip
def test_query_that_engines_convert_differently_is_refused(sql: str, said: str) -> None:
    columns = {"name": parse_type("string"), "amount": parse_type("decimal(10,2)"), "at": parse_type("timestamp")}
    found = check_query(sql, columns)
    assert found
    assert said in str(found[0])
