"""A user's session is used as it is: its settings change no verdict, and none of them is changed."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import ref

import pyarrow as pa
import pytest
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession
from pyspark.sql.connect.client import SparkConnectClient
from pyspark.sql.connect.session import SparkSession as ConnectSession

from invaract_orchestration.engines.spark.engine import SparkEngine
from invaract_orchestration.engines.spark.left_behind import let_go
from invaract_orchestration.engines.spark.session import private_session
from tests.engines.lake import broken
from tests.spark.lakes import EngineLake, engine_of

FIELDS = (
    "{name: id, type: int, required: true}\n{name: at, type: timestamp}\n{name: note, type: string, pattern: 'a\\d'}\n"
    '{name: amount, type: "decimal(10,2)"}'
)
TEXT = "id,at,note,amount\n1,2026-01-01T00:30:00Z,a1,1.25\n2,0001-01-01T00:00:00Z,,\n"
HOSTILE = {
    "spark.sql.session.timeZone": "Pacific/Auckland",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.databricks.delta.schema.autoMerge.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.parquet.outputTimestampType": "INT96",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
}

OLD_MEANINGS = {
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.legacy.sizeOfNull": "false",
    "spark.sql.legacy.json.allowEmptyString.enabled": "true",
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.columnNameOfCorruptRecord": "id",
}


@contextmanager
def settings(spark: Any, values: dict[str, str]) -> Iterator[None]:
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def test_settings_of_the_session_change_no_verdict_and_stay_as_they_are(lake: EngineLake, spark: Any) -> None:
    lake.put({"a.csv": TEXT})
    rule = 'quality: {row_rules: [{name: day, sql: "date(at) <= date(\'2026-01-01\')"}, {name: no, sql: "1 / (id - id) > 0"}]}'
    contract = lake.contract(FIELDS, more=rule)
    with settings(spark, HOSTILE):
        before = dict(spark.conf.getAll)
        result = lake.check(contract)
        after = dict(spark.conf.getAll)
    assert {name: after[name] for name in before} == before  # Delta adds settings of its own when it is first used
    assert broken(result) == {"no": 2}


@pytest.mark.parametrize("engine", ["spark", "spark-connect"])
def test_private_session_has_the_built_in_value_of_what_changes_a_meaning(engine: str) -> None:
    base = engine_of(engine).session
    with private_session(base) as own:
        built_in = {name: own.spark.conf.get(name) for name in OLD_MEANINGS}
    with settings(base, OLD_MEANINGS | {"spark.sql.shuffle.partitions": "3"}), private_session(base) as own:
        assert {name: own.spark.conf.get(name) for name in OLD_MEANINGS} == built_in
        assert own.spark.conf.get("spark.sql.shuffle.partitions") == "3"
    assert [name for name, value in OLD_MEANINGS.items() if value == built_in[name]] == []


@pytest.mark.parametrize("engine", ["spark", "spark-connect"])
@pytest.mark.parametrize("name", ["spark.sql.session.timeZone", "spark.sql.mapKeyDedupPolicy"])
def test_session_that_does_not_take_a_setting_is_not_worked_in(
    tmp_path: Path, engine: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = EngineLake(root=tmp_path, engine=engine)
    lake.put({"a.csv": TEXT})
    kind: Any = type(engine_of(engine).session.conf)
    taken = kind.set
    monkeypatch.setattr(kind, "set", lambda self, key, value: None if key == name else taken(self, key, value))
    result = lake.run(lake.contract(FIELDS))
    assert (result.state, result.code, lake.rows()) == ("failed", "engine.failed", [])
    assert f"it does not take the setting {name}" in result.message


def test_active_session_is_taken_and_no_other_is_started(lake: EngineLake, spark: Any) -> None:
    lake.put({"a.csv": TEXT})
    with SparkEngine().open(lake.root / "scratch", lambda name, _: name) as session:
        assert session.private.spark.sparkContext is spark.sparkContext
        assert session.private.spark is not spark


def test_session_that_is_active_stays_so_and_turns_rdds_into_frames(lake: EngineLake, spark: Any) -> None:
    table = pa.table({"id": [1], "note": ["a"]})
    fields = "{name: id, type: bigint}\n{name: note, type: string}"
    turns = spark.sparkContext.parallelize([(1,)]).toDF(["a"]).sparkSession  # the last one that was made, as PySpark has it
    spark.createDataFrame([(1,)], "a int")  # the session that does this is active from then on
    assert lake.run(lake.contract(fields), frame=table, submission_id="f").state == "published"
    active: Any = SparkSession.getActiveSession()
    assert active is spark
    assert SparkSession._get_j_spark_session_class(spark._jvm).active().sessionUUID() == spark._jsparkSession.sessionUUID()
    assert spark.sparkContext.parallelize([(1,)]).toDF(["a"]).sparkSession is turns


def test_session_of_the_process_is_taken_in_every_thread_as_it_is(spark: Any) -> None:
    before = dict(spark.conf.getAll)
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: SparkEngine().base).result() is spark
    assert dict(spark.conf.getAll) == before


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Airflow sets up in a process lets PySpark log its errors, and pytest keeps each of them with all that it holds."""
    monkeypatch.setattr(logging.getLogger("pyspark.sql.connect.logging"), "disabled", True)


@pytest.mark.parametrize("engine", ["spark", "spark-connect"])
def test_nothing_of_a_run_is_left_in_the_process(spark: Any, tmp_path: Path, engine: str) -> None:
    """Classic Spark without the collector of cycles: what PySpark holds of the JVM is small to it, however large it is there."""
    lake = EngineLake(root=tmp_path, engine=engine)
    lake.put({"a.csv": "id,note\n1,x\n"})
    contract = lake.contract("{name: id, type: int}\n{name: note, type: string}", more="keys: [[id]]")
    lake.run(contract)
    gc.collect()
    gc.disable()
    try:
        before = left()
        assert [lake.check(contract).state for _ in range(2)] == ["judged"] * 2
        end = time.monotonic() + 30
        while engine == "spark-connect" and left() != before and time.monotonic() < end:
            time.sleep(0.1)  # a thread of the client may still be telling the server
            gc.collect()
        assert left() == before
    finally:
        gc.enable()


def left() -> tuple[int, ...]:
    """Sessions of classic Spark, and clients of Spark Connect."""
    known = gc.get_objects()
    return tuple(sum(type(o) is kind for o in known) for kind in (SparkSession, SparkConnectClient))


def test_frame_of_the_users_session_keeps_the_meaning_that_it_has_there(lake: EngineLake, spark: Any) -> None:
    with settings(spark, {"spark.sql.session.timeZone": "Asia/Tokyo"}):
        frame = spark.sql("SELECT 1 AS id, date(timestamp'2026-01-01 23:30:00Z') AS day")
        fields = "{name: id, type: int}\n{name: day, type: date}"
        result = lake.run(lake.contract(fields), frame=frame, submission_id="frame-1")
    assert result.state == "published", result
    assert [str(row["day"]) for row in lake.rows()] == ["2026-01-02"]
    assert [v.name for v in spark.catalog.listTables("global_temp") if v.name.startswith("invaract")] == []


def test_lazy_frame_is_evaluated_once(lake: EngineLake, spark: Any) -> None:
    seen = lake.root / "seen"

    def one(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            with seen.open("a") as file:
                file.write("x" * batch.num_rows)
            yield batch

    frame = spark.range(100).mapInArrow(one, "id bigint")
    fields = "{name: id, type: bigint, max: 98}"
    contract = lake.contract(fields, more="keys: [[id]]\nquality: {on_row_failure: quarantine}")
    result = lake.run(contract, frame=frame, submission_id="f")
    assert result.state == "published", result
    assert len(seen.read_text()) == 100
    assert (len(lake.rows()), len(lake.aside())) == (99, 1)


@pytest.mark.parametrize("value", ["secret-canary-7", "1;secret-canary-7"])
def test_value_of_a_bad_cell_is_in_no_message(lake: EngineLake, value: str, capfd: pytest.CaptureFixture[str]) -> None:
    lake.put({"a.csv": f"id,note\n{value},x\n"})
    result = lake.run(lake.contract("{name: id, type: int}\n{name: note, type: string}"))
    told = capfd.readouterr()
    assert result.state == "rejected"
    assert "canary" not in repr(result) + told.out + told.err


LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.logging")


@pytest.mark.parametrize("engine", ["spark", "spark-connect"])
def test_error_of_spark_is_written_down_by_nobody(tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark logs the errors that it raises, whose texts name values; that of its client is enabled by Airflow's set-up."""
    monkeypatch.setattr(PySparkLogger.getLogger(LOGGERS[-1]), "disabled", False)
    heard: list[str] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", lambda record: heard.append(record.getMessage()))
    for name in LOGGERS:
        logger = PySparkLogger.getLogger(name)
        monkeypatch.setattr(logger, "handlers", [*logger.handlers, handler])
    lake = EngineLake(root=tmp_path, engine=engine)
    source = "format: sql, sql: \"SELECT ('canary-' || id) + 1 AS id FROM range(1, 2)\""
    contract = lake.contract("{name: id, type: bigint}", source=source)
    contract = contract.model_copy(update={"source": contract.source.model_copy(update={"location": None})}).placed(lake.root)
    assert lake.run(contract, submission_id="query-1").state == "failed"
    assert heard == []
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        engine_of(engine).session.sql("SELECT CAST('canary-' || id AS INT) FROM range(1, 2)").collect()
    assert heard != []  # what is not the gate's own is heard as before


@pytest.mark.usefixtures("forgetful")
def test_server_that_does_not_answer_holds_up_no_end() -> None:
    spark = ConnectSession("sc://127.0.0.1:9")
    client = ref(spark.client)
    let_go(spark, is_remote=True)
    assert spark.is_stopped
    del spark
    gc.collect()
    assert client() is None
