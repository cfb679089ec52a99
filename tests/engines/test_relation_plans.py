"""The plan of a function's relation on the embedded engine: what its text reads by a name is part of it, or hides what it is."""

# ruff: noqa: F841 - a text reads variables by their names

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from invaract_orchestration.candidate.plan.diagnostics import Translation
from invaract_orchestration.candidate.plan.expressions import Attribute
from invaract_orchestration.candidate.plan.lineage import output_lineage
from invaract_orchestration.candidate.plan.nodes import Read
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from invaract_orchestration.contract.field_types import parse_type
from invaract_orchestration.engines.duckdb.relation_plan import RelationNames, relation_plan
from tests.engines.lake import Lake, broken
from tests.plan.cases import RULES

ROWS = Read(
    dataset="in",
    columns=tuple(Attribute(i, n, parse_type(t)) for i, (n, t) in enumerate((("id", "bigint"), ("email", "string"), ("name", "string")))),
)
MEMORY = pa.table({"id": [1], "name": ["x"]})
CROSS = {"type": "forbid_cross_join"}
NO_PII = {"type": "forbid_tag_in_output", "tags": ["pii"]}
Build = Callable[[duckdb.DuckDBPyConnection, Any, Any], Any]


def reads(*columns: str) -> dict[str, Any]:
    return {"type": "required_filter_columns", "columns": list(columns)}


def equates(*columns: str) -> dict[str, Any]:
    return {"type": "required_join_columns", "columns": list(columns)}


def plan_of(build: Build, source: Read | None = ROWS) -> Translation:
    """What is told of the relation that the function builds over rows, with a link and another database beside them."""
    connection = duckdb.connect()
    connection.execute("ATTACH ':memory:' AS other; CREATE TABLE other.t AS SELECT 1 AS id, 'x' AS code")
    connection.execute("CREATE TEMP TABLE links AS SELECT 1 AS id, 'x' AS mail")
    connection.execute(
        "CREATE TEMP VIEW given AS SELECT CAST(error('none yet') AS BIGINT) AS id, CAST(error('none yet') AS VARCHAR) AS email, "
        "CAST(error('none yet') AS VARCHAR) AS name WHERE error('none yet') IS NULL"
    )
    made = build(connection, connection.sql("SELECT * FROM given"), connection.sql("SELECT * FROM links"))
    return relation_plan(
        made.sql_query(), RelationNames(connection=connection, rows="given", source=source, links={"links": "customers"})
    )


def read_by_name(connection: Any, rows: Any, link: Any) -> Any:
    return connection.sql("SELECT id, email AS m FROM rows WHERE id > 1")


def swapped(connection: Any, rows: Any, link: Any) -> Any:
    other = connection.sql("SELECT id, name AS email, email AS name FROM given")
    return connection.sql("SELECT email FROM other")


def crossed(connection: Any, rows: Any, link: Any) -> Any:
    pairs = connection.sql("SELECT a.* FROM given a, given b")
    return connection.sql("SELECT * FROM pairs")


def with_link(connection: Any, rows: Any, link: Any) -> Any:
    return connection.sql("SELECT rows.id, mail FROM rows JOIN link USING (id)")


def crossed_view(connection: Any, rows: Any, link: Any) -> Any:
    connection.execute("CREATE VIEW pairs AS SELECT given.* FROM given, other.t")
    return connection.sql("SELECT id FROM pairs")


def view_with_names(connection: Any, rows: Any, link: Any) -> Any:
    connection.execute("CREATE VIEW v(a, b, c) AS SELECT * FROM given WHERE id > 1")
    return connection.sql("SELECT b FROM v")


def view_of_rows(connection: Any, rows: Any, link: Any) -> Any:
    rows.create_view("v")
    return connection.sql("SELECT email FROM v")


def registered_relation(connection: Any, rows: Any, link: Any) -> Any:
    connection.register("pairs", connection.sql("SELECT a.* FROM other.t a, other.t b"))
    return connection.sql("SELECT * FROM pairs")


def registered_rows(connection: Any, rows: Any, link: Any) -> Any:
    connection.register("held", MEMORY)
    return connection.sql("SELECT held.id FROM held JOIN other.t ON held.id = t.id")


def rows_in_memory(connection: Any, rows: Any, link: Any) -> Any:
    return connection.sql("SELECT * FROM MEMORY WHERE name > 'a'")


def own_table(connection: Any, rows: Any, link: Any) -> Any:
    connection.execute("CREATE TABLE made AS SELECT a.id FROM other.t a, other.t b")
    return connection.sql("SELECT * FROM made")


def other_database(connection: Any, rows: Any, link: Any) -> Any:
    return connection.sql("SELECT * FROM other.t WHERE code > 'a'")


CASES: list[tuple[Build, dict[str, Any], str]] = [
    (read_by_name, CROSS, "kept"),
    (read_by_name, reads("in.id"), "kept"),
    (read_by_name, NO_PII, "broken"),
    (swapped, NO_PII, "unverifiable"),
    (crossed, CROSS, "unverifiable"),
    (with_link, CROSS, "kept"),
    (with_link, equates("customers.id"), "kept"),
    (crossed_view, CROSS, "broken"),
    (view_with_names, reads("in.id"), "kept"),
    (view_with_names, NO_PII, "broken"),
    (view_of_rows, NO_PII, "broken"),
    (registered_relation, CROSS, "broken"),
    (registered_rows, equates("id"), "kept"),
    (registered_rows, CROSS, "kept"),
    (rows_in_memory, CROSS, "kept"),
    (rows_in_memory, reads("id"), "broken"),
    (rows_in_memory, NO_PII, "kept"),
    (own_table, CROSS, "unverifiable"),
    (own_table, reads("id"), "unverifiable"),
    (other_database, reads("t.code"), "kept"),
    (other_database, reads("id"), "broken"),
]


@pytest.mark.parametrize(("build", "rule", "outcome"), CASES, ids=[f"{b.__name__}-{r['type']}" for b, r, _ in CASES])
def test_what_a_text_reads_by_a_name_is_part_of_its_plan(build: Build, rule: dict[str, Any], outcome: str) -> None:
    plan = plan_of(build).plan
    assert judge_plan_rule(RULES.validate_python(rule), plan, tags={"in.email": ["pii"]}).outcome == outcome


def test_lineage_leads_through_names_to_the_rows_and_the_link() -> None:
    told = {name: str(one) for name, one in output_lineage(plan_of(with_link).plan).items()}
    assert told == {"id": "{in.id} Direct", "mail": "{customers.mail} Direct"}


def test_function_without_rows_has_none_to_compare_with() -> None:
    def build(connection: Any, rows: Any, link: Any) -> Any:
        other = connection.sql("SELECT * FROM other.t")
        return connection.sql("SELECT * FROM other")

    finding = judge_plan_rule(RULES.validate_python(CROSS), plan_of(build, None).plan)
    assert (finding.outcome, finding.node) == ("unverifiable", "Unknown(duckdb: a relation read as a Python variable)")


def test_rows_that_a_text_reads_by_their_variable_are_judged_through_the_gate(tmp_path: Any) -> None:
    lake = Lake(root=tmp_path)
    lake.put({"a.csv": "id,qty\n1,5\n2,7\n"})
    contract = lake.contract(
        "{name: id, type: bigint}\n{name: qty, type: int}",
        more="rules: [{type: forbid_cross_join}, {type: required_filter_columns, columns: [qty]}]\n",
    )
    result = lake.run(contract, transform=lambda c, rows: c.sql("SELECT id, qty FROM rows WHERE qty > 5"))
    assert (result.state, lake.rows()) == ("published", [{"id": 2, "qty": 7}])
    assert result.lineage == {"id": (("in", "id"),), "qty": (("in", "qty"),)}

    def hidden(connection: Any, rows: Any) -> Any:
        pairs = rows.set_alias("a").cross(rows.set_alias("b")).project("a.id, a.qty")
        return connection.sql("SELECT * FROM pairs WHERE qty > 5")

    result = lake.run(contract, transform=hidden, submission_id="b")
    assert (result.state, broken(result)) == ("rejected", {"plan|forbid_cross_join": None})
