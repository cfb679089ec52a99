"""A function as the transformation: it gets the checked good rows, its result is judged, evaluated once and published."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.errors import UsageError
from tests.engines.lake import broken, check_of
from tests.engines.test_batches import parquet
from tests.spark import sessions
from tests.spark.lakes import EngineLake, MakeLake, lakes_in

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
def make(spark: Any, tmp_path: Path) -> MakeLake:
    return lakes_in(tmp_path)


@pytest.fixture(params=["spark", "spark-connect"])
def lake(request: pytest.FixtureRequest, make: MakeLake) -> EngineLake:
    return make(request.param)


@pytest.fixture
def classic(make: MakeLake) -> EngineLake:
    return make("spark")


def twice(session: Any, rows: Any) -> Any:
    return rows.selectExpr("id", "amount", "CAST(amount * 2 AS DECIMAL(11,2)) AS twice")


def event(lake: EngineLake, state: str) -> dict[str, Any]:
    """What the last attempt's event of that state holds."""
    (view, *_) = lake.audit.attempts(limit=1)
    return dict(next(e.detail for e in view.events if e.state == state and e.detail))


def unpublished(lake: EngineLake, result: GateResult, code: str) -> str:
    """The message of an attempt that failed with this code and left the target as it was."""
    assert (result.state, result.code, lake.rows()) == ("failed", code, [])
    return result.message


# -- what it gets, and what becomes of its result


def test_function_gets_the_good_rows_and_failing_rows_of_both_phases_are_set_aside(lake: EngineLake) -> None:
    lake.put({"a.csv": ORDERS})
    result = lake.run(lake.contract(FIELDS, more=QUARANTINE), transform=twice)
    assert result.state == "published", result.message
    assert lake.rows() == [{"id": 1, "amount": Decimal("2.50"), "twice": Decimal("5.00")}]
    assert lake.aside() == [("", 0, ["twice|max"]), ("a.csv", 2, ["amount|min"])]
    assert lake.payloads() == ['{"id":"2","amount":"-1.00"}', '{"id":3,"amount":"70.00","twice":"140.00"}']
    assert broken(result) == {"amount|min": 1, "twice|max": 1}
    assert (result.counts.read, result.counts.candidate, result.counts.quarantined) == (3, 1, 2)


def test_rows_in_and_out_of_the_function_are_on_record_with_its_name(lake: EngineLake) -> None:
    lake.put({"a.csv": ORDERS})
    lake.run(lake.contract(FIELDS, more=QUARANTINE), transform=twice)
    detail = event(lake, "materialised")
    assert detail["steps"] == "1 function post: 2 in, 2 out"
    assert (detail["read"], detail["quarantined_pre"], detail["quarantined_post"], detail["candidate"]) == (3, 1, 1, 1)
    assert event(lake, "received")["function"] == "tests.spark.test_transform_functions:twice"


def test_failing_row_of_a_batch_that_is_rejected_whole_ends_it_before_the_function_runs(lake: EngineLake, tmp_path: Path) -> None:
    lake.put({"a.csv": ORDERS})
    marks = tmp_path / "marks"
    result = lake.run(lake.contract(FIELDS), transform=lambda s, rows: marked(rows, marks))
    assert (result.state, lake.rows(), broken(result)) == ("rejected", [], {"amount|min": 1})
    assert (result.counts.read, result.counts.failing, result.counts.candidate) == (3, 1, None)
    assert lake.aside() == [("a.csv", 2, ["amount|min"])]
    assert not marks.exists()


def marked(rows: Any, marks: Path) -> Any:
    """`twice`, which leaves a line for each row that it is evaluated for."""
    place = str(marks)

    def mark(frames: Any) -> Any:
        for frame in frames:
            with Path(place).open("a") as file:
                file.writelines("row\n" for _ in range(len(frame)))
            frame["twice"] = frame["amount"]
            yield frame

    return rows.mapInPandas(mark, "id BIGINT, amount DECIMAL(10,2), twice DECIMAL(11,2)")


def test_function_is_called_once_and_its_result_evaluated_once(lake: EngineLake, tmp_path: Path) -> None:
    lake.put({"a.csv": ORDERS.replace("70.00", "7.00")})
    calls, marks = [], tmp_path / "marks"

    def transform(session: Any, rows: Any) -> Any:
        calls.append(rows.columns)
        return marked(rows, marks)

    more = "quality: {on_row_failure: quarantine, row_rules: [{name: small, sql: 'twice < 5'}]}\nkeys: [[id]]\n"
    result = lake.run(lake.contract(FIELDS, more=more), transform=transform)
    assert result.state == "published", result.message
    assert [r["id"] for r in lake.rows()] == [1]
    assert (calls, marks.read_text()) == ([["id", "amount"]], "row\nrow\n")


def test_result_that_is_another_each_time_is_published_as_it_was_checked(lake: EngineLake) -> None:
    lake.put({"a.csv": "id\n" + "".join(f"{i}\n" for i in range(200))})
    fields = "{name: id, type: bigint}\n{name: r, type: double, max: 0.5}"
    result = lake.run(lake.contract(fields, more=QUARANTINE), transform=lambda s, rows: rows.selectExpr("id", "rand() AS r"))
    assert result.state == "published", result.message
    published = lake.rows()
    assert all(row["r"] <= 0.5 for row in published)
    assert len(published) + len(lake.aside()) == 200
    assert 0 < len(published) < 200


def test_keys_are_judged_on_the_result(lake: EngineLake) -> None:
    lake.put({"a.csv": "id,amount\n1,1.00\n1,2.00\n2,5.00\n"})
    fields, keyed = "{name: id, type: bigint}\n{name: amount, type: 'decimal(20,2)'}", "keys: [[id]]\n"
    source = "fields: [{name: id, type: bigint}, {name: amount, type: 'decimal(10,2)'}]"
    contract = lake.contract(fields, source=source, more=keyed)
    summed = "SUM(amount) AS amount"
    result = lake.run(contract, transform=lambda s, rows: rows.groupBy("id").agg(column(rows, summed)))
    assert result.state == "published", result.message
    assert lake.rows() == [{"id": 1, "amount": Decimal("3.00")}, {"id": 2, "amount": Decimal("5.00")}]
    other = lake.run(contract, submission_id="b", transform=lambda s, rows: rows.selectExpr("id", "CAST(amount AS DECIMAL(20,2)) AS amount"))
    assert (other.state, check_of(other, "id|unique").failed) == ("rejected", 2)


def column(frame: Any, sql: str) -> Any:
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        from pyspark.sql.connect.functions import expr

        return expr(sql)
    from pyspark.sql.functions import expr

    return expr(sql)


def test_schema_of_the_result_is_that_of_the_contract(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})
    contract = lake.contract(FIELDS)
    for number, (transform, check) in enumerate([
        (lambda s, rows: rows, "schema|missing_field"),
        (lambda s, rows: rows.selectExpr("id", "amount", "'x' AS twice"), "schema|type"),
        (lambda s, rows: twice(s, rows).selectExpr("*", "1 AS more"), "schema|unexpected_field"),
    ]):  # fmt: skip
        result = lake.run(contract, submission_id=f"b{number}", transform=transform)
        assert (result.state, result.code) == ("rejected", check)
        assert "the transformation's result" in check_of(result, check).found.replace("\\", "")
    assert lake.rows() == []


def test_rewritten_column_keeps_its_promise_unless_the_check_is_written_for_the_source(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})

    def negated(session: Any, rows: Any) -> Any:
        return rows.selectExpr("id", "CAST(-amount AS DECIMAL(10,2)) AS amount")

    fields = "{name: id, type: bigint}\n{name: amount, type: 'decimal(10,2)', min: 0}"
    rejected = lake.run(lake.contract(fields), transform=negated)
    assert (rejected.state, broken(rejected)) == ("rejected", {"amount|min": 3})
    assert check_of(rejected, "amount|min").found == (
        "before the transformation none of 3 rows failed; after it 3 rows of 3 failed"
    )
    written = lake.contract(fields.replace("min: 0", "min: 0, phase: pre"), more='version: "0.1.0"\n')
    result = lake.run(written, transform=negated)
    assert result.state == "published", result.message
    assert [row["amount"] for row in lake.rows()] == [Decimal("-2.50"), Decimal("-1.00"), Decimal("-7.00")]


def test_null_that_the_function_makes_of_a_required_column_is_never_published(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})
    fields = "{name: id, type: bigint, required: true, phase: pre}\n{name: amount, type: 'decimal(10,2)'}"
    result = lake.run(lake.contract(fields), transform=lambda s, rows: rows.selectExpr("nullif(id, 2) AS id", "amount"))
    assert (result.state, broken(result), lake.rows()) == ("rejected", {"id|required": 1}, [])


def test_check_written_for_the_source_of_a_column_that_only_the_function_makes_is_refused(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})
    contract = lake.contract(FIELDS.replace("max: 100", "max: 100, phase: pre"))
    assert "'twice' is written phase: pre" in unpublished(lake, lake.run(contract, transform=twice), "phase.pre_reads_created")


# -- the plan


def test_plan_of_the_function_is_judged_before_any_job(classic: EngineLake, spark: Any) -> None:
    classic.put({"a.csv": GOOD})
    contract = classic.contract(FIELDS, more="rules: [{type: forbid_cross_join}]\n")
    with data_jobs(spark) as jobs:
        result = classic.run(contract, transform=lambda s, rows: twice(s, rows).crossJoin(s.range(2).toDF("n")).drop("n"))
    assert (result.state, broken(result), jobs) == ("rejected", {"plan|forbid_cross_join": None}, [])


@contextmanager
def data_jobs(spark: Any) -> Iterator[list[str]]:
    """The names of the jobs that are started in a block, but for those with which Delta reads the log of a table that is loaded."""
    context, found, tag = spark.sparkContext, [], uuid.uuid4().hex
    context.addJobTag(tag)
    try:
        yield found
    finally:
        context.removeJobTag(tag)
        own = context._jsc.sc()
        own.listenerBus().waitUntilEmpty()
        jobs = [own.statusStore().job(i) for i in own.statusTracker().getJobIdsForTag(tag)]
        names = [str(j.name()) for j in jobs]
        found += [n for n in names if not n.startswith("load ") and "DatabricksLogging" not in n]


def test_clean_batch_takes_a_job_for_its_rows_and_one_for_the_result(classic: EngineLake, spark: Any) -> None:
    classic.put({"a.csv": GOOD})
    with data_jobs(spark) as jobs:
        assert classic.check(classic.contract(FIELDS.replace(", max: 100", "")), transform=twice).state == "judged"
    assert len([name for name in jobs if name.startswith("parquet")]) == 2, jobs


def test_filter_of_the_gate_is_none_of_the_function(lake: EngineLake) -> None:
    lake.put({"a.csv": ORDERS})
    contract = lake.contract(FIELDS, more=QUARANTINE + "rules: [{type: required_filter_columns, columns: [amount]}]\n")
    result = lake.run(contract, transform=twice)
    assert (result.state, broken(result)) == ("rejected", {"plan|required_filter_columns": None})
    kept = lake.run(contract, transform=lambda s, rows: twice(s, rows).where("amount > 1"))
    assert kept.state == "published", kept.message


def test_lineage_of_the_result_names_the_source(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})
    result = lake.run(lake.contract(FIELDS), transform=twice)
    assert result.lineage == {"id": (("in", "id"),), "amount": (("in", "amount"),), "twice": (("in", "amount"),)}


def test_query_below_the_function_is_part_of_the_plan(lake: EngineLake) -> None:
    write_deltalake(str(lake.root / "orders"), pa.table({"id": pa.array([1, 2], pa.int64())}))
    source = "format: sql, sql: 'select o.id from orders o cross join orders p', inputs: {orders: ./orders}"
    contract = lake_contract(lake, source, "rules: [{type: forbid_cross_join}]\n")
    result = lake.run(contract, transform=lambda s, rows: rows.where("id > 0"))
    assert (result.state, broken(result)) == ("rejected", {"plan|forbid_cross_join": None})
    more = 'rules: [{type: forbid_cross_join}]\nversion: "0.1.0"\n'
    linked = lake_contract(lake, source.replace("cross join orders p", "join orders p on o.id = p.id"), more)
    result = lake.run(linked, transform=lambda s, rows: rows.join(rows.toDF("n"), column(rows, "id = n")).where("id > 1").drop("n"))
    assert (result.state, lake.rows()) == ("published", [{"id": 2}])


def lake_contract(lake: EngineLake, source: str, more: str = "") -> Any:
    from invaract_orchestration.contract.load import load_contract_text

    text = f"contract: demo\nsource: {{{source}}}\nfields:\n- {{name: id, type: bigint}}\npublish: {{target: ./t}}\n{more}"
    return load_contract_text(text).placed(lake.root)


def test_lazy_checkpoint_is_seen_through_by_the_rules_and_refused_when_it_is_of_the_rows(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})
    contract = lake.contract(FIELDS, more="rules: [{type: required_filter_columns, columns: [amount]}]\n")
    held = lake.run(contract, transform=lambda s, rows: twice(s, rows.localCheckpoint(eager=False)))
    assert (held.state, broken(held)) == ("rejected", {"plan|required_filter_columns": None})
    result = lake.run(contract, transform=lambda s, rows: twice(s, rows.where("amount > 1").localCheckpoint(eager=False)))
    assert "fixed its plan before its rows were there" in unpublished(lake, result, "input.unreadable")


def test_lazy_checkpoint_over_a_broadcast_starts_a_job(classic: EngineLake) -> None:
    classic.put({"a.csv": GOOD})

    def transform(session: Any, rows: Any) -> Any:
        return twice(session, rows.join(session.range(3).hint("broadcast"), "id").localCheckpoint(eager=False))

    unpublished(classic, classic.run(classic.contract(FIELDS), transform=transform), "transform.started_jobs")


# -- functions that are none


def raising(session: Any, rows: Any) -> Any:
    raise ValueError(CANARY)


def test_function_that_raises_is_told_by_class_and_line_without_its_message(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})
    result = lake.run(lake.contract(FIELDS), transform=raising)
    message = unpublished(lake, result, "transform.raised")
    line = raising.__code__.co_firstlineno + 1
    assert message == (
        f"the transformation tests.spark.test_transform_functions:raising raised ValueError at line {line} of its file"
    )
    assert CANARY not in repr(result) + repr(lake.audit.attempts(limit=1))
    again = lake.run(lake.contract(FIELDS), transform=lambda s, rows: rows.select("amuont"))
    assert "AnalysisException, UNRESOLVED_COLUMN.WITH_SUGGESTION" in unpublished(lake, again, "transform.raised")


@pytest.mark.parametrize("returned", [None, 3, pd.DataFrame({"id": [1]})], ids=["nothing", "a number", "pandas"])
def test_function_that_returns_no_frame_is_refused(classic: EngineLake, returned: Any) -> None:
    classic.put({"a.csv": GOOD})
    message = unpublished(classic, classic.run(classic.contract(FIELDS), transform=lambda s, rows: returned), "transform.result")
    assert f"returned {type(returned).__module__}.{type(returned).__qualname__}, and not a DataFrame" in message


JOBS: dict[str, Callable[[Any, Any, str], Any]] = {
    "count": lambda s, rows, place: rows.count(),
    "collect": lambda s, rows, place: rows.collect(),
    "another table": lambda s, rows, place: s.range(3).count(),
    "show": lambda s, rows, place: rows.show(),
    "write": lambda s, rows, place: s.range(3).write.format("noop").mode("overwrite").save(),
    "Delta write": lambda s, rows, place: s.range(3).write.format("delta").save(place),
    "eager checkpoint": lambda s, rows, place: s.range(3).localCheckpoint(),
}


@pytest.mark.parametrize("started", list(JOBS))
def test_function_that_starts_a_job_is_refused(lake: EngineLake, started: str) -> None:
    lake.put({"a.csv": GOOD})

    def transform(session: Any, rows: Any) -> Any:
        JOBS[started](session, rows, str(lake.root / "written"))
        return twice(session, rows)

    message = unpublished(lake, lake.run(lake.contract(FIELDS), transform=transform), "transform.started_jobs")
    assert "started a job" in message


def test_function_may_name_views_and_write_its_steps_in_sql(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})

    def transform(session: Any, rows: Any) -> Any:
        rows.createOrReplaceTempView("checked_rows")
        return session.sql("SELECT id, amount, CAST(amount * 2 AS DECIMAL(11,2)) AS twice FROM checked_rows")

    result = lake.run(lake.contract(FIELDS), transform=transform)
    assert result.state == "published", result.message
    assert [row["twice"] for row in lake.rows()] == [Decimal("5.00"), Decimal("2.00"), Decimal("14.00")]


def test_function_that_fails_on_a_row_leaks_nothing_of_it(lake: EngineLake) -> None:
    lake.put({"a.csv": f"id,note\n1,{CANARY}\n"})

    def transform(session: Any, rows: Any) -> Any:
        def fail(frames: Any) -> Any:
            for frame in frames:
                raise ValueError(str(frame["note"][0]))
                yield frame

        return rows.mapInPandas(fail, "id BIGINT, note STRING")

    result = lake.run(lake.contract("{name: id, type: bigint}\n{name: note, type: string}"), transform=transform)
    message = unpublished(lake, result, "engine.failed")
    assert message.startswith("the transformation tests.spark.test_transform_functions:test_function_that_fails_on_a_row")
    assert message.endswith("the engine failed with PythonException")
    assert CANARY not in repr(result) + repr(lake.audit.attempts(limit=1))


def test_function_that_takes_something_else_is_refused_before_anything_is_read(classic: EngineLake) -> None:
    with pytest.raises(UsageError, match="cannot be called with a session and rows"):
        classic.run(classic.contract(FIELDS), transform=lambda one, two, three: None)


# -- what arrives for it


def test_header_of_a_batch_for_a_function_is_as_strict_as_any(lake: EngineLake) -> None:
    contract = lake.contract(FIELDS)
    for number, (files, check) in enumerate([
        ({"a.csv": "id,amount,note\n1,1.00,x\n"}, "header|unexpected_column"),
        ({"a.csv": "amount,id\n1.00,1\n"}, "header|order"),
        ({"a.csv": "id,Amount\n1,1.00\n"}, "header|case"),
        ({"a.csv": GOOD, "b.csv": "id\n4\n"}, "header|missing_column"),
    ]):  # fmt: skip
        lake.put(files)
        result = lake.run(contract, submission_id=f"b{number}", transform=twice)
        assert (result.state, result.code) == ("rejected", check)
        for name in files:
            (lake.root / "in" / name).unlink()
    assert lake.rows() == []


def test_extra_column_that_is_accepted_is_a_text_to_the_function(lake: EngineLake) -> None:
    lake.put({"a.csv": "id,raw\n1,7\n2,x\n"})
    fields = "{name: id, type: bigint}\n{name: n, type: int}"
    contract = lake.contract(fields, more="schema_policy: {extra_fields: accept}\n")
    result = lake.run(contract, transform=lambda s, rows: rows.selectExpr("id", "TRY_CAST(raw AS INT) AS n"))
    assert (result.state, lake.rows()) == ("published", [{"id": 1, "n": 7}, {"id": 2, "n": None}])


def test_declared_columns_of_the_source_are_those_that_arrive(lake: EngineLake) -> None:
    lake.put({"a.csv": "raw,id\n7,1\n9,2\n"})
    source = "fields: [{name: raw, type: int}, {name: id, type: bigint}]"
    contract = lake.contract("{name: id, type: bigint}\n{name: n, type: int}", source=source)
    result = lake.run(contract, transform=lambda s, rows: rows.selectExpr("id", "raw AS n"))
    assert (result.state, lake.rows()) == ("published", [{"id": 1, "n": 7}, {"id": 2, "n": 9}])


def test_key_that_no_record_has_is_missing_when_the_function_reads_it(lake: EngineLake) -> None:
    lake.put({"a.json": '{"id": 1}\n{"id": 2}\n'})
    fields = "{name: id, type: bigint}\n{name: n, type: bigint, required: true}"
    contract = lake.contract(fields, source="format: json")
    passed_on = lake.run(contract, transform=lambda s, rows: rows)
    assert (passed_on.state, passed_on.code) == ("rejected", "schema|missing_field")
    result = lake.run(contract, transform=lambda s, rows: rows.withColumn("n", column(rows, "id * 10")))
    assert (result.state, lake.rows()) == ("published", [{"id": 1, "n": 10}, {"id": 2, "n": 20}])


def test_typed_source_gives_the_function_all_of_its_columns(lake: EngineLake) -> None:
    table = pa.table({"id": pa.array([1, 1, 2], pa.int64()), "qty": pa.array([2, 3, 4], pa.int32()), "price": ["1.5", "2", "4"]})
    lake.put({"a.parquet": parquet(table)})
    fields = "{name: id, type: bigint, required: true}\n{name: total, type: double, min: 0}"
    contract = lake.contract(fields, source="format: parquet", more="rules: [{type: required_group_by, columns: [id]}]\n")
    total = "SUM(qty * CAST(price AS DOUBLE)) AS total"
    result = lake.run(contract, transform=lambda s, rows: rows.groupBy("id").agg(column(rows, total)))
    assert (result.state, lake.rows()) == ("published", [{"id": 1, "total": 9.0}, {"id": 2, "total": 16.0}])


def test_table_and_frame_are_rows_for_a_function_too(lake: EngineLake) -> None:
    write_deltalake(str(lake.root / "in"), pa.table({"id": pa.array([1, -2], pa.int64())}))
    contract = lake_contract(lake, "format: delta, location: ./in", QUARANTINE + "keys: [[id]]\n")
    result = lake.run(contract, transform=lambda s, rows: rows.where("id > 0").selectExpr("id * 10 AS id"))
    assert result.state == "published", result.message
    assert lake.rows() == [{"id": 10}]
    frame = (sessions.classic() if lake.engine == "spark" else sessions.connected()).range(3, 5)
    handed = lake.run(contract, submission_id="f", frame=frame, transform=lambda s, rows: rows.selectExpr("id * 10 AS id"))
    assert (handed.state, lake.rows()) == ("published", [{"id": 10}, {"id": 30}, {"id": 40}])


def test_batch_without_rows_is_rejected_whatever_the_function_makes_of_it(lake: EngineLake) -> None:
    lake.put({"a.csv": "id\n"})
    contract = lake.contract("{name: id, type: bigint}")
    result = lake.run(contract, transform=lambda s, rows: rows.unionAll(s.range(3)))
    assert (result.state, broken(result), lake.rows()) == ("rejected", {"batch|rows": None}, [])


def test_function_of_the_session_alone_makes_the_batch(lake: EngineLake) -> None:
    contract = lake.contract("{name: id, type: bigint, max: 2}", more=QUARANTINE)
    with pytest.raises(UsageError, match="needs a submission id"):
        lake.run(contract, transform=lambda session: session.range(4))
    result = lake.run(contract, submission_id="own", transform=lambda session: session.range(4))
    assert (result.state, lake.rows()) == ("published", [{"id": 0}, {"id": 1}, {"id": 2}])
    assert lake.aside() == [("", 0, ["id|max"])]


def test_ready_frame_as_transformation_is_one_handed_in(lake: EngineLake) -> None:
    frame = (sessions.classic() if lake.engine == "spark" else sessions.connected()).range(2)
    result = lake.run(lake.contract("{name: id, type: bigint}"), submission_id="ready", transform=frame)
    assert (result.state, lake.rows()) == ("published", [{"id": 0}, {"id": 1}])


def test_same_rows_again_are_published_once(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})
    contract = lake.contract(FIELDS)
    assert lake.run(contract, transform=twice).state == "published"
    again = lake.run(contract, transform=twice)
    assert (again.state, again.code, len(lake.rows())) == ("published", "publish.already_done", 3)


def test_function_is_checked_without_a_trace(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})
    assert lake.check(lake.contract(FIELDS), transform=twice).state == "judged"
    assert (lake.rows(), lake.aside()) == ([], [])
    assert not list(lake.root.rglob("rows-*"))


def test_function_may_read_other_tables_and_files(lake: EngineLake) -> None:
    lake.put({"a.csv": GOOD})
    write_deltalake(str(lake.root / "names"), pa.table({"key": pa.array([1, 3], pa.int64())}))
    (lake.root / "more").mkdir()
    (lake.root / "more" / "a.parquet").write_bytes(parquet(pa.table({"other": pa.array([1, 2], pa.int64())})))

    def transform(session: Any, rows: Any) -> Any:
        names = session.read.format("delta").load(str(lake.root / "names"))
        more = session.read.parquet(str(lake.root / "more"))
        joined = rows.join(names, column(rows, "id = key")).join(more, column(rows, "id = other"))
        return twice(session, joined)

    result = lake.run(lake.contract(FIELDS, more="rules: [{type: required_join_columns, columns: [key]}]\n"), transform=transform)
    assert result.state == "published", result.message
    assert [row["id"] for row in lake.rows()] == [1]
