"""Targets that only Spark can write: every mode, once, with the features kept, and nothing told of a row."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.engines.spark import publish as spark_publish
from invaract_orchestration.engines.spark.files import candidate_frame
from invaract_orchestration.engines.spark.publisher import SPARK_WRITES, SparkPublisher
from invaract_orchestration.gate import Gate
from invaract_orchestration.gate import flow as gate_flow
from invaract_orchestration.publish.intent import Published, PublishIntent
from invaract_orchestration.testing.memory_audit import MemoryAudit
from tests.spark.lakes import EngineLake, engine_of

FIELDS = "{name: id, type: int, required: true}\n{name: v, type: string}"
PROPERTIES = {
    "rowTracking": "TBLPROPERTIES ('delta.enableRowTracking'='true')",
    "inCommitTimestamp": "TBLPROPERTIES ('delta.enableInCommitTimestamps'='true')",
    "clustering": "CLUSTER BY (id)",
    "typeWidening": "TBLPROPERTIES ('delta.enableTypeWidening'='true')",
    "vacuumProtocolCheck": "TBLPROPERTIES ('delta.feature.vacuumProtocolCheck'='supported')",
    "domainMetadata": "TBLPROPERTIES ('delta.feature.domainMetadata'='supported')",
    "allowColumnDefaults": "TBLPROPERTIES ('delta.feature.allowColumnDefaults'='supported')",
    "variantType": "TBLPROPERTIES ('delta.feature.variantType'='supported')",
}
COLUMNS = {"allowColumnDefaults": "id INT, v STRING, d STRING DEFAULT 'x'", "variantType": "id INT, v STRING, j VARIANT"}
MODES = {
    "mode: append": [(1, "a"), (2, "b"), (3, "c"), (3, "z"), (9, "n")],
    "mode: overwrite": [(3, "z"), (9, "n")],
    "mode: replace_where, where: id >= 3": [(1, "a"), (2, "b"), (3, "z"), (9, "n")],
    "mode: merge, keys: [id]": [(1, "a"), (2, "b"), (3, "z"), (9, "n")],
}


@pytest.fixture(params=["spark", "spark-connect"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> EngineLake:
    return EngineLake(root=tmp_path, engine=request.param)


@pytest.fixture
def classic(tmp_path: Path) -> EngineLake:
    return EngineLake(root=tmp_path, engine="spark")


def table(lake: EngineLake, feature: str, *, columns: str | None = None, partitioned: str = "") -> Any:
    """Rows 1, 2 and 3 in a table with the feature; the session of the lake."""
    session = engine_of(lake.engine).session
    listed = columns or COLUMNS.get(feature, "id INT, v STRING")
    session.sql(f"CREATE TABLE delta.`{lake.target}` ({listed}) USING delta {partitioned} {PROPERTIES[feature]}")
    session.sql(f"INSERT INTO delta.`{lake.target}` (id, v) VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    return session


def pairs(session: Any, lake: EngineLake) -> list[tuple[Any, Any]]:
    return sorted(tuple(r) for r in session.sql(f"SELECT id, v FROM delta.`{lake.target}`").collect())


def last_commit(lake: EngineLake) -> dict[str, Any]:
    version = DeltaTable(lake.target).version()
    lines = (Path(lake.target) / "_delta_log" / f"{version:020d}.json").read_text().splitlines()
    return {k: v for line in lines for k, v in json.loads(line).items() if k in ("commitInfo", "txn", "add")}


def test_every_feature_that_spark_alone_writes_is_tried() -> None:
    assert set(PROPERTIES) == SPARK_WRITES - {"identityColumns"}


@pytest.mark.parametrize("publish", ["mode: append", "mode: merge, keys: [id]"])
@pytest.mark.parametrize("feature", PROPERTIES)
def test_feature_is_published_by_spark_and_kept(classic: EngineLake, feature: str, publish: str) -> None:
    session = table(classic, feature)
    before = DeltaTable(classic.target).protocol()
    classic.put({"x.csv": "id,v\n3,z\n9,n\n"})
    result = classic.run(classic.contract(FIELDS, publish=publish))
    assert result.state == "published", result
    assert feature in result.message.partition("rewritten: table features ")[2].split(", ")
    assert pairs(session, classic) == MODES[publish]
    assert DeltaTable(classic.target).protocol() == before
    target = f"delta.`{classic.target}`"
    if feature == "rowTracking":
        ids = [r[0] for r in session.sql(f"SELECT _metadata.row_id FROM {target}").collect()]
        assert None not in ids
        assert len(set(ids)) == len(MODES[publish])
    elif feature == "inCommitTimestamp":
        assert last_commit(classic)["commitInfo"]["inCommitTimestamp"] > 0
    elif feature == "clustering":
        assert session.sql(f"DESCRIBE DETAIL {target}").collect()[0]["clusteringColumns"] == ["id"]
    elif feature == "allowColumnDefaults":
        assert {r[0] for r in session.sql(f"SELECT d FROM {target} WHERE id = 9").collect()} == {"x"}


@pytest.mark.parametrize("publish", MODES)
def test_every_mode_is_published_once_with_its_record(lake: EngineLake, publish: str) -> None:
    session = table(lake, "rowTracking")
    lake.put({"x.csv": "id,v\n3,z\n9,n\n"})
    contract = lake.contract(FIELDS, publish=publish)
    result = lake.run(contract)
    assert result.state == "published", result
    assert pairs(session, lake) == MODES[publish]
    version = DeltaTable(lake.target).version()
    newest, *_ = SparkPublisher(engine_of(lake.engine)).history(lake.target)
    assert newest.commit is not None
    assert (newest.version, newest.commit.submission, newest.commit.rows) == (version, result.submission_id, 2)
    assert last_commit(lake)["txn"]["appId"] == f"invaract:{result.submission_id}"
    lake.audit = MemoryAudit()
    assert lake.run(contract).code == "publish.already_done"
    assert DeltaTable(lake.target).version() == version


def test_partitions_are_replaced_and_the_others_left(lake: EngineLake) -> None:
    session = table(lake, "rowTracking", partitioned="PARTITIONED BY (v)")
    lake.put({"x.csv": "id,v\n7,b\n8,new/ =x\n"})
    result = lake.run(lake.contract(FIELDS, publish="mode: replace_partitions, partition_by: [v]"))
    assert result.state == "published", result
    assert pairs(session, lake) == [(1, "a"), (3, "c"), (7, "b"), (8, "new/ =x")]


def test_partitions_of_a_table_without_any_are_not_replaced(classic: EngineLake) -> None:
    session = table(classic, "clustering")
    classic.put({"x.csv": "id,v\n7,b\n"})
    result = classic.run(classic.contract(FIELDS, publish="mode: replace_partitions, partition_by: [v]"))
    assert result.state == "failed", result
    assert pairs(session, classic) == [(1, "a"), (2, "b"), (3, "c")]


def test_versions_are_closed_and_opened(lake: EngineLake) -> None:
    columns = "id INT, v STRING, valid_from TIMESTAMP, valid_to TIMESTAMP, is_current BOOLEAN"
    session = engine_of(lake.engine).session
    session.sql(f"CREATE TABLE delta.`{lake.target}` ({columns}) USING delta {PROPERTIES['rowTracking']}")
    for text in ("id,v\n1,a\n2,b\n", "id,v\n1,a\n2,z\n3,\n"):
        lake.put({"x.csv": text})
        assert lake.run(lake.contract(FIELDS, publish="mode: scd2, keys: [id]")).state == "published"
    kept = session.sql(f"SELECT id, v, is_current, valid_to IS NULL FROM delta.`{lake.target}`").collect()
    assert sorted((tuple(r) for r in kept), key=repr) == [
        (1, "a", True, True), (2, "b", False, False), (2, "z", True, True), (3, None, True, True),
    ]  # fmt: skip


def test_versions_are_written_as_the_contract_says(classic: EngineLake) -> None:
    columns = "id INT, v STRING, since DATE, begins DATE, ends DATE, now BOOLEAN, n INT"
    session = engine_of("spark").session
    session.sql(f"CREATE TABLE delta.`{classic.target}` ({columns}) USING delta {PROPERTIES['rowTracking']}")
    said = (
        "versions: {valid_from: begins, valid_to: ends, current: now, number: n, since: since, first: 1900-01-01, "
        "open: 9999-12-31, track: [v]}"
    )
    fields = FIELDS + "\n{name: since, type: date}"
    for text in ("id,v,since\n1,a,2026-01-01\n2,b,2026-01-01\n", "id,v,since\n1,a,2026-02-01\n2,z,2026-02-01\n"):
        classic.put({"x.csv": text})
        result = classic.run(classic.contract(fields, publish=f"mode: scd2, keys: [id], {said}"))
        assert result.state == "published", (result.code, result.message)
    kept = session.sql(
        f"SELECT id, v, string(begins), string(ends), now, n FROM delta.`{classic.target}` ORDER BY id, n"
    ).collect()
    assert [tuple(r) for r in kept] == [
        (1, "a", "1900-01-01", "9999-12-31", True, 1),
        (2, "b", "1900-01-01", "2026-02-01", False, 1), (2, "z", "2026-02-01", "9999-12-31", True, 2),
    ]  # fmt: skip


def test_row_from_before_the_current_version_is_refused(classic: EngineLake) -> None:
    columns = "id INT, v STRING, since DATE, valid_from DATE, valid_to DATE, is_current BOOLEAN"
    session = engine_of("spark").session
    session.sql(f"CREATE TABLE delta.`{classic.target}` ({columns}) USING delta {PROPERTIES['rowTracking']}")
    contract = classic.contract(FIELDS + "\n{name: since, type: date}", publish="mode: scd2, keys: [id], versions: {since: since, track: [v]}")
    ended = []
    for text in ("1,a,2026-02-01\n", "1,z,2026-01-01\n3,n,2026-01-01\n", "1,a,2026-01-01\n"):
        classic.put({"x.csv": "id,v,since\n" + text})
        result = classic.run(contract)
        ended.append((result.state, result.code))
    assert ended == [("published", None), ("failed", "publish.out_of_order"), ("published", None)]
    kept = session.sql(f"SELECT id, v, string(valid_from), is_current FROM delta.`{classic.target}`").collect()
    assert [tuple(r) for r in kept] == [(1, "a", "2026-02-01", True)]


@pytest.mark.parametrize("way", ["VERSION", "TIMESTAMP"])
def test_restore_by_spark_takes_a_publication_back(classic: EngineLake, way: str) -> None:
    session = table(classic, "rowTracking")
    between = []
    for number in (8, 9):
        classic.put({"x.csv": f"id,v\n{number},n\n"})
        assert classic.run(classic.contract(FIELDS), submission_id=f"batch-{number}").state == "published"
        time.sleep(1)  # moments are looked up by the times of the log's files
        between.append((DeltaTable(classic.target).version(), datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")))
    version, moment = between[0]
    session.sql(f"RESTORE TABLE delta.`{classic.target}` TO {way} AS OF {version if way == 'VERSION' else repr(moment)}")
    found = {n: SparkPublisher(engine_of("spark")).find(classic.target, f"batch-{n}") for n in (8, 9)}
    assert [one.restored_to for one in found.values() if one is not None] == [None, version]
    assert pairs(session, classic) == [(1, "a"), (2, "b"), (3, "c"), (8, "n")]


def test_new_column_is_added(lake: EngineLake) -> None:
    session = engine_of(lake.engine).session
    session.sql(
        f"CREATE TABLE delta.`{lake.target}` (id INT, v STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode'='name')"
    )
    session.sql(f"INSERT INTO delta.`{lake.target}` VALUES (1, 'a')")
    lake.put({"x.csv": "id,v,new one\n9,n,x\n"})
    result = lake.run(lake.contract(FIELDS + "\n{name: new one, type: string}", publish="evolve: add_columns"))
    assert result.state == "published", result
    assert "added columns new one" in result.message
    commits = SparkPublisher(engine_of(lake.engine)).history(lake.target)
    assert [c.operation for c in commits if c.commit is not None] == ["WRITE"]
    found = session.sql(f"SELECT * FROM delta.`{lake.target}`").collect()
    assert sorted(tuple(r) for r in found) == [(1, "a", None), (9, "n", "x")]


def test_table_in_a_place_with_a_hard_name_is_published(classic: EngineLake) -> None:
    classic.root = classic.root / "it's a `hard` % [name]"
    classic.root.mkdir()
    session = engine_of("spark").session
    quoted = "delta.`" + classic.target.replace("`", "``") + "`"
    session.sql(f"CREATE TABLE {quoted} (id INT, v STRING) USING delta {PROPERTIES['rowTracking']}")
    classic.put({"x.csv": "id,v\n9,n\n"})
    result = classic.run(classic.contract(FIELDS, publish="mode: merge, keys: [id]"))
    assert result.state == "published", (result.code, result.message)
    assert [tuple(r) for r in session.sql(f"SELECT * FROM {quoted}").collect()] == [(9, "n")]


@pytest.mark.parametrize("column", ["g INT GENERATED ALWAYS AS (id * 2)", "k BIGINT GENERATED BY DEFAULT AS IDENTITY"])
def test_column_that_the_table_fills_is_refused_as_on_the_embedded_engine(classic: EngineLake, column: str) -> None:
    session = engine_of("spark").session
    session.sql(f"CREATE TABLE delta.`{classic.target}` (id INT, v STRING, {column}) USING delta")
    classic.put({"x.csv": "id,v\n9,n\n"})
    result = classic.run(classic.contract(FIELDS))
    assert (result.state, result.code) == ("failed", "publish.target_schema")
    assert "generated by the table" in result.message
    assert pairs(session, classic) == []


# -- what may go wrong


def test_constraint_of_the_table_is_judged_before(lake: EngineLake, capfd: pytest.CaptureFixture[str]) -> None:
    session = table(lake, "rowTracking")
    session.sql(f"ALTER TABLE delta.`{lake.target}` ADD CONSTRAINT short CHECK (v <> 'canary-77')")
    lake.put({"x.csv": "id,v\n9,canary-77\n"})
    result = lake.run(lake.contract(FIELDS))
    told = capfd.readouterr()
    assert (result.state, result.code) == ("failed", "publish.rejected_by_target")
    assert "canary-77" not in f"{result}{told.out}{told.err}".replace("CHECK of the target: v <> 'canary-77'", "")
    assert pairs(session, lake) == [(1, "a"), (2, "b"), (3, "c")]


def test_message_of_spark_about_a_row_is_not_passed_on(lake: EngineLake, monkeypatch: pytest.MonkeyPatch) -> None:
    session = table(lake, "rowTracking")
    session.sql(f"ALTER TABLE delta.`{lake.target}` ADD CONSTRAINT low CHECK (id < 5)")
    monkeypatch.setattr(gate_flow, "judge_constraints", lambda *_: ())
    lake.put({"x.csv": "id,v\n9,canary-78\n"})
    result = lake.run(lake.contract(FIELDS))
    assert (result.state, result.code) == ("failed", "publish.rejected_by_target")
    assert "canary-78" not in repr(result)
    assert pairs(session, lake) == [(1, "a"), (2, "b"), (3, "c")]


def test_error_after_the_commit_is_a_publication(lake: EngineLake, monkeypatch: pytest.MonkeyPatch) -> None:
    session = table(lake, "rowTracking")
    append = spark_publish._WAYS["append"]

    def then_fails(*given: Any) -> Any:
        append(*given)
        raise RuntimeError("the answer got lost")

    monkeypatch.setitem(spark_publish._WAYS, "append", then_fails)
    lake.put({"x.csv": "id,v\n9,n\n"})
    assert lake.run(lake.contract(FIELDS)).state == "published"
    assert pairs(session, lake) == [(1, "a"), (2, "b"), (3, "c"), (9, "n")]


def test_lost_connection_leaves_the_outcome_unknown(lake: EngineLake, monkeypatch: pytest.MonkeyPatch) -> None:
    session = table(lake, "rowTracking")

    class SparkConnectGrpcException(Exception):
        pass

    def is_lost(*_: Any) -> Any:
        raise SparkConnectGrpcException("connection reset")

    monkeypatch.setitem(spark_publish._WAYS, "append", is_lost)
    lake.put({"x.csv": "id,v\n9,n\n"})
    result = lake.run(lake.contract(FIELDS))
    assert (result.state, result.code) == ("unknown", "publish.unknown")
    assert pairs(session, lake) == [(1, "a"), (2, "b"), (3, "c")]
    monkeypatch.undo()
    assert lake.run(lake.contract(FIELDS)).state == "published"
    assert pairs(session, lake) == [(1, "a"), (2, "b"), (3, "c"), (9, "n")]


class Raced(SparkPublisher):
    """Another writer comes right before the first publication."""

    others: list[Callable[[], None]]

    def publish(self, intent: PublishIntent) -> Published:
        if self.others:
            self.others.pop()()
        return super().publish(intent)


def raced(lake: EngineLake, other: Callable[[], None]) -> Gate:
    publisher = Raced(engine_of(lake.engine))
    object.__setattr__(publisher, "others", [other])
    return Gate(engine=publisher.engine, publisher=publisher, audit=lake.audit, waivers=lake.audit, lake_root=lake.root)


@pytest.mark.parametrize(("key", "state"), [(8, "published"), (9, "rejected")])
def test_other_writer_after_the_verdict_means_judging_again(lake: EngineLake, key: int, state: str) -> None:
    session = table(lake, "rowTracking")
    lake.put({"x.csv": "id,v\n9,n\n"})
    contract = lake.contract(FIELDS, more="keys: [{columns: [id], across: target}]")
    gate = raced(lake, lambda: session.sql(f"INSERT INTO delta.`{lake.target}` VALUES ({key}, 'other')"))
    result = gate.run(contract)
    assert result.state == state, result
    own = [(9, "n")] if state == "published" else []
    assert pairs(session, lake) == [(1, "a"), (2, "b"), (3, "c"), *sorted([(key, "other"), *own])]


def test_column_that_was_added_before_a_failure_is_no_publication(classic: EngineLake, monkeypatch: pytest.MonkeyPatch) -> None:
    session = engine_of("spark").session
    session.sql(f"CREATE TABLE delta.`{classic.target}` (id INT, v STRING) USING delta {PROPERTIES['rowTracking']}")

    def fails(*_: Any) -> Any:
        raise RuntimeError("the disk is full of canary-79")

    monkeypatch.setitem(spark_publish._WAYS, "append", fails)
    classic.put({"x.csv": "id,v,w\n9,n,x\n"})
    contract = classic.contract(FIELDS + "\n{name: w, type: string}", publish="evolve: add_columns")
    result = classic.run(contract)
    assert (result.state, result.code) == ("failed", "engine.failed")
    assert "canary-79" not in repr(result)
    assert [c.commit for c in SparkPublisher(engine_of("spark")).history(classic.target)] == [None, None]
    monkeypatch.undo()
    assert classic.run(contract).state == "published"
    assert [tuple(r) for r in session.sql(f"SELECT * FROM delta.`{classic.target}`").collect()] == [(9, "n", "x")]


def test_table_that_compacts_itself_shows_one_publication_for_each_batch(tmp_path: Path) -> None:
    lake = EngineLake(root=tmp_path, engine="spark-connect")  # its private session begins with the settings of the user's
    session, few = engine_of(lake.engine).session, "spark.databricks.delta.autoCompact.minNumFiles"
    properties = "'delta.enableRowTracking'='true', 'delta.autoOptimize.autoCompact'='true'"
    session.sql(f"CREATE TABLE delta.`{lake.target}` (id INT, v STRING) USING delta TBLPROPERTIES ({properties})")
    session.conf.set(few, "2")
    try:
        for number in range(3):
            lake.put({"x.csv": f"id,v\n{number},n\n"})
            result = lake.run(lake.contract(FIELDS), submission_id=f"batch-{number}")
            assert result.state == "published", result
            assert "another writer" not in result.message
    finally:
        session.conf.unset(few)
    history = SparkPublisher(engine_of(lake.engine)).history(lake.target)
    assert [c.commit.submission for c in history if c.commit is not None] == ["batch-2", "batch-1", "batch-0"]


def test_other_writer_during_the_commit_makes_it_fail(classic: EngineLake, monkeypatch: pytest.MonkeyPatch) -> None:
    session = table(classic, "rowTracking")
    log = Path(classic.target) / "_delta_log"
    seen: list[int] = []

    def with_other_writer(spark: Any, candidate: Any) -> Any:
        seen.append(1)
        if len(seen) > 1:
            return candidate_frame(spark, candidate)
        place = str(log / f"{DeltaTable(classic.target).version() + 1:020d}.json")

        def commits(batches: Any) -> Any:
            Path(place).write_text('{"commitInfo":{"timestamp":1,"operation":"OTHER","inCommitTimestamp":1}}\n')
            yield from batches

        made = candidate_frame(spark, candidate)
        return made.mapInArrow(commits, made.schema)

    monkeypatch.setattr(spark_publish, "candidate_frame", with_other_writer)
    classic.put({"x.csv": "id,v\n9,n\n"})
    result = classic.run(classic.contract(FIELDS))
    assert result.state == "published", result
    assert len(seen) == 2
    assert pairs(session, classic) == [(1, "a"), (2, "b"), (3, "c"), (9, "n")]
    assert [e.operation for e in SparkPublisher(engine_of("spark")).history(classic.target)][1] == "OTHER"


# -- what deltalake writes, as Spark reads it


@pytest.mark.parametrize("publish", MODES)
@pytest.mark.parametrize(
    "properties",
    [
        "'delta.enableDeletionVectors'='true'",
        "'delta.columnMapping.mode'='name'",
        "'delta.columnMapping.mode'='id'",
        "'delta.checkpointPolicy'='v2', 'delta.checkpointInterval'='2'",
        "'delta.enableChangeDataFeed'='true'",
    ],
)
def test_what_deltalake_rewrites_is_read_right_by_spark(classic: EngineLake, properties: str, publish: str) -> None:
    session = engine_of("spark").session
    target = f"delta.`{classic.target}`"
    session.sql(f"CREATE TABLE {target} (id INT, v STRING) USING delta TBLPROPERTIES ({properties})")
    session.sql(
        f"INSERT INTO {target} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'gone') AS t(id, v)"
    )
    session.sql(f"DELETE FROM {target} WHERE id = 4")
    version = DeltaTable(classic.target).version()
    classic.put({"x.csv": "id,v\n3,z\n9,n\n"})
    result = classic.run(classic.contract(FIELDS, publish=publish))
    assert result.state == "published", result
    assert pairs(session, classic) == MODES[publish]
    if "ChangeDataFeed" in properties:
        changes = session.read.format("delta").option("readChangeFeed", "true").option("startingVersion", version + 1)
        feed = changes.load(classic.target).select("id", "v", "_change_type").collect()
        assert {(r[0], r[1]) for r in feed if r[2] in ("insert", "update_postimage")} == {(3, "z"), (9, "n")}
        assert {r[0] for r in feed if r[2] in ("delete", "update_preimage")} == {1, 2, 3} & {
            r for r, v in [(1, "a"), (2, "b"), (3, "c")] if (r, v) not in MODES[publish]
        }  # fmt: skip
    DeltaTable(classic.target).create_checkpoint()
    assert pairs(session, classic) == MODES[publish]


# -- sources


SOURCES = {
    "deletionVectors": "TBLPROPERTIES ('delta.enableDeletionVectors'='true')",
    "columnMapping": "TBLPROPERTIES ('delta.columnMapping.mode'='name')",
    "typeWidening": "TBLPROPERTIES ('delta.enableTypeWidening'='true')",
    "v2Checkpoint": "TBLPROPERTIES ('delta.checkpointPolicy'='v2', 'delta.checkpointInterval'='2')",
    "vacuumProtocolCheck": "TBLPROPERTIES ('delta.feature.vacuumProtocolCheck'='supported')",
}


@pytest.mark.parametrize("feature", SOURCES)
def test_source_with_a_feature_gives_its_rows(classic: EngineLake, feature: str) -> None:
    session = engine_of("spark").session
    place = classic.root / "s"
    narrow = "SMALLINT" if feature == "typeWidening" else "INT"
    session.sql(f"CREATE TABLE delta.`{place}` (id {narrow}, old STRING) USING delta {SOURCES[feature]}")
    session.sql(f"INSERT INTO delta.`{place}` SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c') AS t(id, v)")
    session.sql(f"DELETE FROM delta.`{place}` WHERE id = 2")
    if feature == "typeWidening":
        session.sql(f"ALTER TABLE delta.`{place}` ALTER COLUMN id TYPE INT")
        session.sql(f"INSERT INTO delta.`{place}` VALUES (70000, 'd')")
    name = "old"
    if feature == "columnMapping":
        name = "new"
        session.sql(f"ALTER TABLE delta.`{place}` RENAME COLUMN old TO new")
    fields = f"{{name: id, type: int}}\n{{name: {name}, type: string}}"
    result = classic.run(classic.contract(fields, source="format: delta"), source=str(place))
    assert result.state == "published", result
    wide = [(70000, "d")] if feature == "typeWidening" else []
    assert sorted((r["id"], r[name]) for r in classic.rows()) == [(1, "a"), (3, "c"), *wide]


def test_target_of_a_feature_of_tomorrow_is_refused_by_its_name(classic: EngineLake) -> None:
    from tests.engines.feature_tables import with_features

    with_features(classic.target, "tomorrow")
    classic.put({"x.csv": "id,v\n9,n\n"})
    result = classic.run(classic.contract(FIELDS))
    assert (result.state, result.code) == ("failed", "publish.target_schema")
    assert "'tomorrow'" in result.message


def test_inspected_target_names_what_deltalake_cannot_write_as_no_obstacle(classic: EngineLake) -> None:
    table(classic, "clustering")
    found: TargetState = SparkPublisher(engine_of("spark")).inspect(classic.target)
    assert found.unwritable == ()
    assert found.rewrite_reasons == ("table features clustering, domainMetadata",)
