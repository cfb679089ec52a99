"""A function as the transformation on the embedded engine: it gets a connection and a relation of the checked good rows."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from invaract_orchestration.errors import UsageError
from tests.engines.lake import Lake, broken, check_of
from tests.engines.test_batches import parquet

CANARY = "CANARY-7731"
QUARANTINE = "quality: {on_row_failure: quarantine}\n"
FIELDS = """
{name: id, type: bigint, required: true}
{name: amount, type: 'decimal(10,2)', min: 0}
{name: twice, type: 'decimal(11,2)', max: 100}
"""
ORDERS = "id,amount\n1,2.50\n2,-1.00\n3,70.00\n"
GOOD = "id,amount\n1,2.50\n2,1.00\n3,7.00\n"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(root=tmp_path)


def twice(connection: Any, rows: Any) -> Any:
    return rows.project("id, amount, CAST(amount * 2 AS DECIMAL(11,2)) AS twice")


def failed(lake: Lake, transform: Any, code: str) -> str:
    lake.put({"a.csv": GOOD})
    result = lake.run(lake.contract(FIELDS), transform=transform)
    assert (result.state, result.code, lake.rows()) == ("failed", code, [])
    return result.message


def test_function_gets_the_good_rows_and_failing_rows_of_both_phases_are_set_aside(lake: Lake) -> None:
    lake.put({"a.csv": ORDERS})
    result = lake.run(lake.contract(FIELDS, more=QUARANTINE), transform=twice)
    assert result.state == "published", result.message
    assert lake.rows() == [{"id": 1, "amount": Decimal("2.50"), "twice": Decimal("5.00")}]
    assert lake.aside() == [("", 0, ["twice|max"]), ("a.csv", 2, ["amount|min"])]
    (view, *_) = lake.audit.attempts(limit=1)
    (detail,) = [e.detail for e in view.events if e.state == "materialised"]
    assert (detail["steps"], detail["read"], detail["candidate"]) == ("1 function post: 2 in, 2 out", 3, 1)


def test_failing_row_of_a_batch_that_is_rejected_whole_ends_it_before_the_function_runs(lake: Lake) -> None:
    lake.put({"a.csv": ORDERS})
    result = lake.run(lake.contract(FIELDS), transform=twice)
    assert (result.state, lake.rows(), broken(result)) == ("rejected", [], {"amount|min": 1})
    assert result.counts.candidate is None


def test_plan_of_the_relation_is_judged_and_its_lineage_is_told(lake: Lake) -> None:
    lake.put({"a.csv": GOOD})
    contract = lake.contract(FIELDS, more="rules: [{type: required_filter_columns, columns: [amount]}]\n")
    result = lake.run(contract, transform=twice)
    assert (result.state, broken(result)) == ("rejected", {"plan|required_filter_columns": None})
    kept = lake.run(contract, transform=lambda c, rows: twice(c, rows.filter("amount > 1")))
    assert (kept.state, [r["id"] for r in lake.rows()]) == ("published", [1, 3])
    assert kept.lineage == {"id": (("in", "id"),), "amount": (("in", "amount"),), "twice": (("in", "amount"),)}


def test_query_below_the_function_is_part_of_the_plan(lake: Lake) -> None:
    write_deltalake(str(lake.root / "orders"), pa.table({"id": pa.array([1, 2], pa.int64())}))
    contract = lake.contract("{name: id, type: bigint}", more="rules: [{type: forbid_cross_join}]\n")
    contract = contract.with_query("select o.id from orders o cross join orders p")
    contract = contract.model_copy(update={"source": contract.source.model_copy(update={"inputs": {"orders": "./orders"}})})
    result = lake.run(contract.placed(lake.root), transform=lambda c, rows: rows.filter("id > 0"))
    assert (result.state, broken(result)) == ("rejected", {"plan|forbid_cross_join": None})


def test_keys_and_schema_are_judged_on_the_result(lake: Lake) -> None:
    table = pa.table({"id": pa.array([1, 1, 2], pa.int64()), "qty": pa.array([2, 3, 4], pa.int32())})
    lake.put({"a.parquet": parquet(table)})
    contract = lake.contract("{name: id, type: bigint}\n{name: total, type: bigint}", source="format: parquet", more="keys: [[id]]\n")
    result = lake.run(contract, transform=lambda c, rows: rows.aggregate("id, sum(qty) AS total", "id"))
    assert (result.state, lake.rows()) == ("published", [{"id": 1, "total": 5}, {"id": 2, "total": 4}])
    other = lake.run(contract, submission_id="b", transform=lambda c, rows: rows.project("id, CAST(qty AS BIGINT) AS total"))
    assert (other.state, check_of(other, "id|unique").failed) == ("rejected", 2)
    typed = lake.run(contract, submission_id="c", transform=lambda c, rows: rows.project("id, qty AS total"))
    assert (typed.state, typed.code) == ("rejected", "schema|type")


def test_result_that_is_another_each_time_is_published_as_it_was_checked(lake: Lake) -> None:
    lake.put({"a.csv": "id\n" + "".join(f"{i}\n" for i in range(500))})
    fields = "{name: id, type: bigint}\n{name: r, type: double, max: 0.5}"
    result = lake.run(lake.contract(fields, more=QUARANTINE), transform=lambda c, rows: rows.project("id, random() AS r"))
    assert result.state == "published", result.message
    assert all(row["r"] <= 0.5 for row in lake.rows())
    assert len(lake.rows()) + len(lake.aside()) == 500


READINGS = {
    "fetched": lambda rows: rows.fetchall(), "pandas": lambda rows: rows.df(), "arrow": lambda rows: rows.to_arrow_table(),
    "filtered": lambda rows: rows.filter("amount > 1").fetchall(), "counted": lambda rows: rows.aggregate("count(*)").fetchall(),
}  # fmt: skip


@pytest.mark.parametrize("read", list(READINGS))
def test_function_that_reads_its_rows_is_refused(lake: Lake, read: str) -> None:
    def transform(connection: Any, rows: Any) -> Any:
        READINGS[read](rows)
        return twice(connection, rows)

    assert "read its rows" in failed(lake, transform, "transform.started_jobs")


def test_function_that_raises_is_told_by_class_and_line_without_its_message(lake: Lake) -> None:
    def transform(connection: Any, rows: Any) -> Any:
        raise ValueError(CANARY)

    message = failed(lake, transform, "transform.raised")
    assert message.endswith(f"raised ValueError at line {transform.__code__.co_firstlineno + 1} of its file")
    assert CANARY not in message + repr(lake.audit.attempts(limit=1))


@pytest.mark.parametrize("returned", [None, pa.table({"id": [1]})], ids=["nothing", "arrow"])
def test_function_that_returns_no_relation_is_refused(lake: Lake, returned: Any) -> None:
    assert "not a relation of its connection" in failed(lake, lambda c, rows: returned, "transform.result")


def test_relation_of_another_connection_is_refused(lake: Lake) -> None:
    other = duckdb.connect()
    other.execute("CREATE TABLE mine AS SELECT 1 AS id")
    assert "not a relation of its connection" in failed(lake, lambda c, rows: other.table("mine"), "transform.result")


def test_function_of_the_connection_alone_makes_the_batch(lake: Lake) -> None:
    contract = lake.contract("{name: range, type: bigint, max: 2}", more=QUARANTINE)
    with pytest.raises(UsageError, match="needs a submission id"):
        lake.run(contract, transform=lambda connection: connection.sql("FROM range(4)"))
    result = lake.run(contract, submission_id="own", transform=lambda connection: connection.sql("FROM range(4)"))
    assert (result.state, lake.rows()) == ("published", [{"range": 0}, {"range": 1}, {"range": 2}])


def test_header_of_a_batch_for_a_function_is_as_strict_as_any(lake: Lake) -> None:
    contract = lake.contract(FIELDS)
    for number, (files, check) in enumerate([
        ({"a.csv": "id,amount,note\n1,1.00,x\n"}, "header|unexpected_column"),
        ({"a.csv": "amount,id\n1.00,1\n"}, "header|order"),
        ({"a.csv": "id,Amount\n1,1.00\n"}, "header|case"),
        ({"a.csv": GOOD, "b.csv": "id\n4\n"}, "header|missing_column"),
        ({"a.csv": "1;2.50\n"}, "header|missing"),
    ]):  # fmt: skip
        lake.put(files)
        result = lake.run(contract, submission_id=f"b{number}", transform=twice)
        assert (result.state, result.code) == ("rejected", check)
        for name in files:
            (lake.root / "in" / name).unlink()


def test_key_that_no_record_has_is_missing_when_the_function_reads_it(lake: Lake) -> None:
    lake.put({"a.json": '{"id": 1}\n{"id": 2}\n'})
    contract = lake.contract("{name: id, type: bigint}\n{name: n, type: bigint, required: true}", source="format: json")
    passed_on = lake.run(contract, transform=lambda c, rows: rows)
    assert (passed_on.state, passed_on.code) == ("rejected", "schema|missing_field")
    result = lake.run(contract, transform=lambda c, rows: rows.project("id, id * 10 AS n"))
    assert (result.state, lake.rows()) == ("published", [{"id": 1, "n": 10}, {"id": 2, "n": 20}])


def test_columns_by_position_are_the_fields_that_are_not_for_the_result(lake: Lake) -> None:
    lake.put({"a.csv": "x,y\n1,2.50\n"})
    contract = lake.contract(FIELDS.replace("max: 100", "max: 100, phase: post"), source="header: positional")
    result = lake.run(contract, transform=twice)
    assert result.state == "published", result.message
    assert lake.rows() == [{"id": 1, "amount": Decimal("2.50"), "twice": Decimal("5.00")}]


def test_folders_give_a_function_their_columns(lake: Lake) -> None:
    lake.put({"day=2026-01-02/a.csv": "id\n1\n", "day=2026-01-03/a.csv": "id\n2\n"})
    contract = lake.contract("{name: id, type: bigint}\n{name: day, type: date}\n{name: year, type: int}")
    result = lake.run(contract, transform=lambda c, rows: rows.project("id, day, CAST(year(day) AS INTEGER) AS year"))
    assert result.state == "published", result.message
    assert [(r["id"], str(r["day"]), r["year"]) for r in lake.rows()] == [(1, "2026-01-02", 2026), (2, "2026-01-03", 2026)]


def test_value_in_a_wrong_form_never_gets_to_the_function(lake: Lake) -> None:
    lake.put({"a.csv": "id,amount\n1,2.50\n2,x\nbroken\n"})
    result = lake.run(lake.contract(FIELDS, more=QUARANTINE), transform=twice)
    assert result.state == "published", result.message
    assert [r["id"] for r in lake.rows()] == [1]
    assert lake.aside() == [("a.csv", 2, ["amount|type"]), ("a.csv", 3, ["row|malformed"])]
    assert result.counts.read == 3


def test_too_many_rows_set_aside_before_and_after_reject_the_batch(lake: Lake) -> None:
    lake.put({"a.csv": ORDERS})
    limited = "quality: {on_row_failure: quarantine, max_quarantined: {rows: 1}}\n"
    result = lake.run(lake.contract(FIELDS, more=limited), transform=twice)
    assert (result.state, result.code, lake.rows()) == ("rejected", "batch|max_quarantined", [])
    assert check_of(result, "batch|max_quarantined").found.startswith("2 rows set aside")


def test_result_is_evaluated_once_also_when_rows_of_it_are_set_aside(lake: Lake) -> None:
    lake.put({"a.csv": GOOD})
    seen: list[int] = []

    def note(value: int) -> int:
        seen.append(value)
        return value * 10

    def transform(connection: Any, rows: Any) -> Any:
        connection.create_function("note", note, ["BIGINT"], "BIGINT", side_effects=True)
        return rows.project("note(id) AS id, amount, amount::DECIMAL(11,2) AS twice")

    more = "quality: {on_row_failure: quarantine, row_rules: [{name: small, sql: 'twice < 5'}]}\nkeys: [[id]]\n"
    result = lake.run(lake.contract(FIELDS, more=more), transform=transform)
    assert (result.state, [r["id"] for r in lake.rows()], lake.aside()) == ("published", [10, 20], [("", 0, ["small"])])
    assert sorted(seen) == [1, 2, 3]


def test_function_that_fails_on_a_row_leaks_nothing_of_it(lake: Lake) -> None:
    lake.put({"a.csv": f"id,note\n1,{CANARY}\n"})

    def fail(text: str) -> str:
        raise ValueError(text)

    def transform(connection: Any, rows: Any) -> Any:
        connection.create_function("fail", fail, ["VARCHAR"], "VARCHAR")
        return rows.project("id, fail(note) AS note")

    result = lake.run(lake.contract("{name: id, type: bigint}\n{name: note, type: string}"), transform=transform)
    assert (result.state, result.code, lake.rows()) == ("failed", "engine.failed", [])
    assert CANARY not in repr(result) + repr(lake.audit.attempts(limit=1))
