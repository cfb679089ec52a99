"""Whatever parses is translated, judged and rendered: a random query never raises, at worst it has diagnostics."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from invaract_orchestration.candidate.plan.diagnostics import SqlSyntaxError
from invaract_orchestration.candidate.plan.lineage import output_lineage
from invaract_orchestration.candidate.plan.render import render_plan
from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from invaract_orchestration.contract.field_types import Struct, parse_type
from tests.plan.cases import RULES

SCHEMAS = {
    "t": Struct((("a", parse_type("int")), ("b", parse_type("string")), ("s", parse_type("struct<x:int,y:string>")))),
    "u": Struct((("a", parse_type("bigint")), ("c", parse_type("array<int>")))),
}
JUDGED = [
    {"type": kind, "columns": columns, "scope": scope}
    for kind in ("required_group_by", "required_join_columns", "required_filter_columns")
    for columns in (["a"], ["t.a", "s.x"])
    for scope in ("any", "final", "every_branch")
] + [{"type": "forbid_cross_join"}, {"type": "forbid_cross_join", "allow_single_row": True}]

columns = st.sampled_from(["a", "b", "c", "t.a", "u.a", "x.a", "s.x", "s", "nowhere", "t.s.y", "q.z.w", "`odd name`"])
literals = st.sampled_from(["1", "1.5", "'v'", "true", "NULL", "DATE'2026-01-01'", "INTERVAL 1 DAY", "1e3", "5.0D"])
tables = st.sampled_from(["t", "u", "v", "db.t", "nowhere", "parquet.`/data/x`", "t AS x", "range(5)", "VALUES (1, 2)"])


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        st.builds("({0[0]} {1} {0[1]})".format, two, st.sampled_from(["+", "=", "<=>", "<>", "AND", "OR", "<", "||"])),
        st.builds("NOT ({})".format, inner),
        st.builds("{}({})".format, st.sampled_from(["sum", "upper", "own", "mean", "count", "explode", "isnull"]), inner),
        st.builds("CAST({} AS {})".format, inner, st.sampled_from(["bigint", "string", "decimal(5,2)", "void"])),
        st.builds("CASE WHEN {0[0]} THEN {0[1]} ELSE 1 END".format, two),
        st.builds("{0[0]} BETWEEN {0[1]} AND 9".format, two),
        st.builds("{0[0]} IN ({0[1]}, 2)".format, two),
        st.builds("sum({0[0]}) OVER (PARTITION BY {0[1]} ORDER BY a)".format, two),
        st.builds("transform(c, v -> v + {})".format, inner),
        st.builds("{}[0]".format, inner),
        st.just("COUNT(*)"),
        st.just("count(DISTINCT a) FILTER (WHERE b = 'v')"),
        st.builds("EXISTS (SELECT 1 FROM u WHERE u.a = {})".format, inner),
        st.builds("a IN (SELECT a FROM u WHERE {})".format, inner),
        st.builds("(SELECT max(a) FROM u WHERE {})".format, inner),
    )


expressions = st.recursive(st.one_of(columns, literals), combined, max_leaves=6)
joins = st.builds(
    "{} {} {}".format,
    st.sampled_from([",", "JOIN", "LEFT JOIN", "CROSS JOIN", "NATURAL JOIN", "LEFT ANTI JOIN", "FULL OUTER JOIN"]),
    st.one_of(tables, st.just("LATERAL (SELECT a FROM u WHERE u.a = t.a) l"), st.just("(SELECT a, b FROM t) d")),
    st.one_of(st.just(""), st.builds("ON {}".format, expressions), st.just("USING (a)")),
)
clauses = st.tuples(
    st.one_of(st.just(""), st.builds("LATERAL VIEW explode({}) e AS tag".format, expressions)),
    st.one_of(st.just(""), st.builds("WHERE {}".format, expressions)),
    st.one_of(
        st.just(""),
        st.builds("GROUP BY {}".format, expressions),
        st.builds("GROUP BY ROLLUP(a, {})".format, expressions),
        st.sampled_from(["GROUP BY ALL", "GROUP BY 1", "GROUP BY a, b WITH CUBE", "GROUP BY GROUPING SETS ((a), ())"]),
    ),
    st.one_of(st.just(""), st.builds("HAVING {}".format, expressions)),
    st.one_of(st.just(""), st.builds("QUALIFY {}".format, expressions)),
    st.one_of(st.just(""), st.builds("ORDER BY {} LIMIT 3".format, expressions)),
).map(" ".join)
selected = st.lists(
    st.one_of(expressions, st.builds("{} AS x".format, expressions), st.sampled_from(["*", "t.*", "s.*", "* EXCEPT (a)"])),
    min_size=1,
    max_size=3,
).map(", ".join)
selects = st.builds("SELECT {} FROM {} {} {}".format, selected, tables, st.lists(joins, max_size=2).map(" ".join), clauses)
queries = st.one_of(
    selects,
    st.builds("({}) {} ({})".format, selects, st.sampled_from(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]), selects),
    st.builds("WITH v AS ({}), w(p) AS (SELECT a FROM v) SELECT * FROM w JOIN v ON p = a".format, selects),
    st.builds("WITH RECURSIVE v AS (SELECT 1 AS a UNION ALL {}) SELECT * FROM v".format, selects),
    st.builds("SELECT * FROM ({}) PIVOT (sum(a) FOR b IN ('v', 'w'))".format, selects),
    st.builds("INSERT INTO t {}".format, selects),
    st.builds("UPDATE t SET a = {} WHERE {}".format, expressions, expressions),
    st.builds("DELETE FROM t WHERE {}".format, expressions),
    st.builds("MERGE INTO t USING ({}) x ON t.a = x.a WHEN MATCHED THEN UPDATE SET *".format, selects),
)


def judge_everything(sql: str, dialect: str) -> None:
    translation = translate_sql(sql, SCHEMAS, dialect=dialect, functions=frozenset({"own"}))
    assert "plan.translator_failed" not in {one.code for one in translation.diagnostics}
    assert render_plan(translation.plan) == render_plan(translation.plan)
    assert set(output_lineage(translation.plan)) == {a.name for a in translation.plan.output}
    for rule in JUDGED:
        finding = judge_plan_rule(RULES.validate_python(rule), translation.plan)
        assert finding.outcome in ("kept", "broken", "unverifiable")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sql=queries, dialect=st.sampled_from(["spark", "spark", "duckdb", "postgres", "snowflake", "bigquery", "tsql"]))
def test_random_query_never_raises(sql: str, dialect: str) -> None:
    try:
        judge_everything(sql, dialect)
    except SqlSyntaxError:
        return


@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet="SELECTFROMWHEREGROUPBYabc01'\"`()*,;.= \n", max_size=60))
def test_random_text_is_a_plan_or_a_syntax_error(text: str) -> None:
    try:
        judge_everything(text, "spark")
    except SqlSyntaxError as error:
        assert (error.line is None) is (error.column is None)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t TABLESAMPLE (10 PERCENT)",
        "SELECT * FROM t UNPIVOT (v FOR n IN (a, b))",
        "SELECT a FROM t |> WHERE a > 1",
        "SHOW TABLES",
        "SET x = 1",
        "DESCRIBE t",
        "TRUNCATE TABLE t",
        "CREATE VIEW v AS SELECT a FROM t; SELECT * FROM v WHERE a > 1",
        "SELECT TRANSFORM(a) USING 'cat' AS (x) FROM t",
        "FROM t SELECT a",
        "SELECT a FROM t WHERE a > ALL (SELECT a FROM u)",
        "SELECT (a, b) = (1, 'v'), struct(a, b).a, array(1, 2)[0], map('k', a)['k'] FROM t",
        "TABLE t",
        "SELECT 1 WHERE false",
        "VALUES (1), (2)",
        "OPTIMIZE t ZORDER BY (a)",
        "ALTER TABLE t ADD COLUMN z int",
        "SELECT * FROM t JOIN LATERAL explode(array(1, 2)) AS e(x) ON true",
    ],
)
def test_rare_statement_never_raises(sql: str) -> None:
    judge_everything(sql, "spark")


def test_text_that_is_no_sql_names_line_and_column() -> None:
    with pytest.raises(SqlSyntaxError) as caught:
        translate_sql("SELECT a\nFROM t\nWHERE secret = 'value' AND", SCHEMAS)
    assert (caught.value.line, caught.value.column) == (3, 26)
    assert "value" not in str(caught.value)


def test_unknown_dialect_is_named() -> None:
    with pytest.raises(SqlSyntaxError, match="no such dialect"):
        translate_sql("SELECT 1", {}, dialect="klingon")


def test_unsupported_statement_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    translate_sql("ALTER TABLE t SET WHATEVER = 'secret'", {})
    assert caplog.text == ""
