"""Tables of the session's catalog by name: targets, sources, references and quarantines, on a classic and a remote session."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from invaract_orchestration.audit.adopt import adopt_table
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.spark.catalog import CatalogTables, folder_of
from invaract_orchestration.engines.spark.engine import SparkEngine
from invaract_orchestration.engines.spark.publisher import SparkPublisher
from invaract_orchestration.errors import NotSupported, PublishConflict
from invaract_orchestration.gate import Gate
from tests.engines.lake import broken
from tests.spark.lakes import EngineLake, engine_of

FIELDS = "fields: [{name: id, type: int, required: true}, {name: v, type: string}]"


@pytest.fixture(params=["spark", "spark-connect"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> EngineLake:
    return EngineLake(root=tmp_path, engine=request.param)


@pytest.fixture
def session(lake: EngineLake) -> Any:
    return engine_of(lake.engine).session


@pytest.fixture
def db(lake: EngineLake, session: Any) -> Iterator[str]:
    """A database of its own, in a folder whose name a URI writes otherwise."""
    name = f"db_{uuid.uuid4().hex[:12]}"
    session.sql(f"CREATE DATABASE {name} LOCATION '{lake.root}/ware house'")
    yield name
    session.sql(f"DROP DATABASE {name} CASCADE")


def contract(
    lake: EngineLake, target: str, *, source: str = "{format: csv, location: in}", more: str = "", publish: str = "",
    version: str = "1.0.0",
) -> Contract:  # fmt: skip
    text = f'contract: demo\nversion: "{version}"\nsource: {source}\n{FIELDS}\n'
    text += f"publish: {{target: {target}{', ' + publish if publish else ''}}}\n{more}"
    return load_contract_text(text).placed(lake.root)


def rows(session: Any, name: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in session.sql(f"SELECT * FROM {name}").collect())


# -- targets


def test_new_table_is_made_where_its_database_is_and_read_by_its_name(lake: EngineLake, session: Any, db: str) -> None:
    lake.put({"a.csv": "id,v\n1,a\n2,b\n"})
    result = lake.run(contract(lake, f"{db}.New_Table"))
    assert result.state == "published", (result.message, broken(result))
    assert result.target == str(lake.root / "ware house" / "new_table")
    assert rows(session, f"{db}.new_table") == [(1, "a"), (2, "b")]
    (detail,) = session.sql(f"DESCRIBE DETAIL {db}.NEW_TABLE").select("format", "location").collect()
    assert tuple(detail) == ("delta", f"file:{lake.root}/ware house/new_table")


def test_table_is_one_by_its_name_and_by_its_path(lake: EngineLake, session: Any, db: str) -> None:
    lake.put({"a.csv": "id,v\n1,a\n"})
    first = lake.run(contract(lake, f"{db}.t"))
    by_path = lake.run(contract(lake, f"{lake.root}/ware house/t", version="1.0.1"))
    relative = lake.run(contract(lake, "'./other/../ware house/t'", version="1.0.2"))
    upper = lake.run(contract(lake, f"spark_catalog.{db}.T", version="1.0.3"))
    assert [r.state for r in (first, by_path, relative, upper)] == ["published"] * 4
    assert [r.code for r in (by_path, relative, upper)] == ["publish.already_done"] * 3
    assert len({r.submission_id for r in (first, by_path, relative, upper)}) == 1
    assert len({r.target for r in (first, by_path, relative, upper)}) == 1
    assert rows(session, f"{db}.t") == [(1, "a")]
    lake.put({"a.csv": "id,v\n1,z\n"})
    assert lake.run(contract(lake, f"{lake.root}/ware house/t", version="1.0.1")).code == "slice.already_published"


def test_tables_of_the_user_are_published_to_where_they_are(lake: EngineLake, session: Any, db: str) -> None:
    session.sql(f"CREATE TABLE {db}.managed (id INT, v STRING) USING delta")
    session.sql(f"CREATE TABLE {db}.outside (id INT, v STRING) USING delta LOCATION '{lake.root}/else % where'")
    lake.put({"a.csv": "id,v\n1,a\n"})
    assert lake.run(contract(lake, f"{db}.managed")).state == "published"
    result = lake.run(contract(lake, f"{db}.outside", version="1.0.1"))
    assert (result.state, result.target) == ("published", f"{lake.root}/else % where")
    assert rows(session, f"{db}.managed") == [(1, "a")] == rows(session, f"{db}.outside")


@pytest.mark.parametrize("made", ["VIEW {0} AS SELECT 1 AS id, 'a' AS v", "TABLE {0} (id INT, v STRING) USING parquet"])
def test_name_of_something_else_is_refused(lake: EngineLake, session: Any, db: str, made: str) -> None:
    session.sql("CREATE " + made.format(f"{db}.t"))
    lake.put({"a.csv": "id,v\n1,a\n"})
    result = lake.run(contract(lake, f"{db}.t"))
    assert (result.state, result.code) == ("failed", "table.no_delta")
    assert f"'{db}.t'" in result.message
    assert "expected a Delta table or a free name, found" in result.message
    assert result.hint


@pytest.mark.parametrize("part", ["target", "quarantine", "references", "candidate"])
def test_database_that_is_not_there_is_told_before_any_row_is_read(lake: EngineLake, db: str, part: str) -> None:
    lake.put({"a.csv": "id,v\nwrong,a\n"})
    publish, more = "", ""
    if part == "quarantine":
        more = "quarantine: {location: no_such_db.t}"
    elif part == "references":
        more = "quality: {dataset_rules: [{name: known, references: {columns: [id], table: no_such_db.t, key: [id]}}]}"
    elif part == "candidate":
        publish = "candidate: {location: no_such_db.t}"
    result = lake.run(contract(lake, "no_such_db.t" if part == "target" else f"{db}.t", more=more, publish=publish))
    assert (result.state, result.code) == ("failed", "table.no_database")
    assert "'no_such_db'" in result.message
    assert "CREATE DATABASE" in (result.hint or "")
    assert not (lake.root / "ware house").exists() or list((lake.root / "ware house").iterdir()) == []


@pytest.mark.parametrize("name", ["a.b.c", "no_such_catalog.db.t"])
def test_catalog_that_is_not_there_is_told(lake: EngineLake, name: str) -> None:
    lake.put({"a.csv": "id,v\n1,a\n"})
    result = lake.run(contract(lake, name))
    assert (result.state, result.code) == ("failed", "table.no_database")


def test_catalog_that_forgot_a_table_knows_it_again_after_a_retry(lake: EngineLake, session: Any, db: str) -> None:
    lake.put({"a.csv": "id,v\n1,a\n"})
    assert lake.run(contract(lake, f"{db}.t")).state == "published"
    session.sql(f"DROP TABLE {db}.t")  # the files stay: the table is an external one
    assert lake.run(contract(lake, f"{db}.t")).code == "publish.already_done"
    assert rows(session, f"{db}.t") == [(1, "a")]


def test_name_that_another_table_got_in_the_meantime_is_a_conflict(lake: EngineLake, session: Any, db: str) -> None:
    tables = CatalogTables()
    place = tables.locate(session, f"{db}.t", is_given=True)
    assert place == str(lake.root / "ware house" / "t")
    session.sql(f"CREATE TABLE {db}.t (id INT) USING delta LOCATION '{lake.root}/elsewhere'")
    with pytest.raises(PublishConflict, match="expected it at"):
        tables.announce(session, place)


def test_rejected_batch_leaves_no_table(lake: EngineLake, session: Any, db: str) -> None:
    lake.put({"a.csv": "id,v\nwrong,a\n"})
    assert lake.run(contract(lake, f"{db}.t")).state == "rejected"
    assert [t.tableName for t in session.sql(f"SHOW TABLES IN {db}").collect()] == []


# -- what else has a name


def test_source_table_is_read_by_its_name(lake: EngineLake, session: Any, db: str) -> None:
    session.sql(
        f"CREATE TABLE {db}.s USING delta TBLPROPERTIES ('delta.enableDeletionVectors'='true') AS SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(id, v)"
    )
    session.sql(f"DELETE FROM {db}.s WHERE id = 2")
    result = lake.run(contract(lake, f"{db}.t", source=f"{{format: table, location: {db}.s}}"))
    assert result.state == "published", (result.message, broken(result))
    assert rows(session, f"{db}.t") == [(1, "a")]
    again = lake.run(
        contract(lake, f"{db}.t", source=f"{{format: delta, location: '{lake.root}/ware house/s'}}", version="1.0.1")
    )
    assert again.code == "publish.already_done"


@pytest.mark.parametrize(("read", "inputs"), [("{0}.s", ""), ("o", ", inputs: {{o: {0}.s}}")])
def test_query_reads_tables_by_their_names(lake: EngineLake, session: Any, db: str, read: str, inputs: str) -> None:
    session.sql(f"CREATE TABLE {db}.s USING delta AS SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(id, v)")
    source = "{format: sql, sql: 'select id, v from " + read.format(db) + "'" + inputs.format(db) + "}"
    result = lake.run(contract(lake, f"{db}.t", source=source))
    assert result.state == "published", (result.message, broken(result))
    assert rows(session, f"{db}.t") == [(1, "a"), (2, "b")]


def test_table_that_is_not_there_cannot_be_read(lake: EngineLake, db: str) -> None:
    for source in (f"{{format: table, location: {db}.none}}", f"{{format: sql, sql: 'select id, v from {db}.none'}}"):
        result = lake.run(contract(lake, f"{db}.t", source=source, version=f"1.0.{len(source)}"))
        assert result.state == "failed", result
        assert "there is no Delta table" in result.message


def test_view_in_a_query_is_refused_since_it_has_no_version(lake: EngineLake, session: Any, db: str) -> None:
    session.sql(f"CREATE VIEW {db}.s AS SELECT 1 AS id, 'a' AS v")
    result = lake.run(contract(lake, f"{db}.t", source=f"{{format: sql, sql: 'select id, v from {db}.s'}}"))
    assert (result.state, result.code) == ("failed", "table.no_delta")


def test_keys_and_references_read_tables_by_their_names(lake: EngineLake, session: Any, db: str) -> None:
    session.sql(f"CREATE TABLE {db}.known USING delta AS SELECT * FROM VALUES (1), (2), (4) AS t(id)")
    session.sql(f"CREATE TABLE {db}.t USING delta AS SELECT * FROM VALUES (2, 'old') AS t(id, v)")
    more = (
        "keys: [{columns: [id], across: target}]\n"
        f"quality: {{dataset_rules: [{{name: known, references: {{columns: [id], table: {db}.known, key: [id]}}}}]}}"
    )
    lake.put({"a.csv": "id,v\n1,a\n2,b\n3,c\n"})
    assert broken(lake.run(contract(lake, f"{db}.t", more=more))) == {"id|unique": 1, "known": None}
    lake.put({"a.csv": "id,v\n1,a\n4,b\n"})
    assert lake.run(contract(lake, f"{db}.t", more=more)).state == "published"


def test_quarantine_is_a_table_of_the_catalog(lake: EngineLake, session: Any, db: str) -> None:
    lake.put({"a.csv": "id,v\n1,a\nwrong,b\n"})
    more = f"quality: {{on_row_failure: quarantine}}\nquarantine: {{location: {db}.aside}}"
    publish = f"candidate: {{location: {db}.candidates}}"
    result = lake.run(contract(lake, f"{db}.t", more=more, publish=publish))
    assert result.state == "published", (result.message, broken(result))
    kept = session.sql(f"SELECT source_file, record_number, rule_ids FROM {db}.aside").collect()
    assert [(r[0], r[1], list(r[2])) for r in kept] == [("a.csv", 2, ["id|type"])]
    assert (lake.root / "ware house" / "candidates" / "demo").is_dir()


def test_table_of_the_catalog_is_adopted_by_its_name(lake: EngineLake, session: Any, db: str) -> None:
    session.sql(f"CREATE TABLE {db}.t (id INT NOT NULL, v STRING) USING delta")
    gate = lake.gate
    result = adopt_table(
        contract(lake, f"{db}.t"), publisher=gate.publisher, audit=gate.audit, lake_root=lake.root, clock=gate.clock, parameters={},
        tell=gate.tell, locate=gate.engine.locate,
    )  # fmt: skip
    assert (result.state, result.code, result.target) == ("no_op", "adopted", str(lake.root / "ware house" / "t"))


@pytest.mark.parametrize(
    ("location", "is_encoded", "place"),
    [
        ("file:/a b/c%20d", False, "/a b/c%20d"), ("file:/a%20b", True, "/a b"), ("file:///a/b/", True, "/a/b"), ("/a/b", True, "/a/b"),
    ],
)  # fmt: skip
def test_location_of_a_catalog_is_a_folder(location: str, is_encoded: bool, place: str) -> None:
    assert folder_of("db.t", location, is_encoded=is_encoded) == place


@pytest.mark.parametrize("location", ["s3a://bucket/t", "hdfs://host:9000/t", "abfss://c@a.dfs.example.org/t"])
def test_location_on_an_object_store_is_refused_by_its_scheme(location: str) -> None:
    with pytest.raises(NotSupported, match=location.partition(":")[0] + "://"):
        folder_of("db.t", location, is_encoded=False)


# -- sessions


def test_session_that_the_gate_started_has_no_catalog_that_lasts(spark: Any, tmp_path: Path) -> None:
    lake, engine = EngineLake(root=tmp_path), SparkEngine()
    gate = Gate(engine=engine, publisher=SparkPublisher(engine), audit=lake.audit, waivers=lake.audit, lake_root=lake.root)
    lake.put({"a.csv": "id,v\n1,a\n"})
    result = gate.run(contract(lake, "sales.reporting.orders"))
    assert (result.state, result.target) == ("published", str(lake.root / "sales" / "reporting" / "orders"))
    table = open_table(str(lake.root / "sales" / "reporting" / "orders"))
    assert table is not None
    assert engine.locate("default.orders") is None
