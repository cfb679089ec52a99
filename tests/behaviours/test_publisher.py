"""What every publisher does: on Delta tables and in memory."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import QueryBuilder

from invaract_orchestration.candidate.candidate import Candidate, CandidateFile, FailingRows, candidate_digest
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.delta.publisher import DeltaPublisher
from invaract_orchestration.engines.delta.quarantine import quarantined_rows
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.errors import PublishConflict
from invaract_orchestration.publish.intent import CommitRecord, PublishIntent
from invaract_orchestration.publish.publisher import KeepRequest, Publisher
from tests.behaviours.memory_publisher import MemoryPublisher


class Tables(Publisher, Protocol):
    """A publisher, and the rows of its tables."""

    def rows(self, location: str) -> list[dict[str, Any]]: ...

    def aside(self, location: str) -> list[dict[str, Any]]: ...


class InMemory(MemoryPublisher):
    def aside(self, location: str) -> list[dict[str, Any]]:
        return self.kept.get(location, [])


class OnDelta(DeltaPublisher):
    def rows(self, location: str) -> list[dict[str, Any]]:
        table = open_table(location)
        found = [] if table is None else pa.table(QueryBuilder().register("t", table).execute("SELECT * FROM t")).to_pylist()
        return sorted(found, key=repr)

    def aside(self, location: str) -> list[dict[str, Any]]:
        return list(quarantined_rows(location).to_pylist())


@pytest.fixture(params=[InMemory, OnDelta])
def publisher(request: pytest.FixtureRequest) -> Tables:
    made: Tables = request.param()
    return made


def contract(mode: str = "append") -> Contract:
    keys = ", keys: [id]" if mode == "merge" else ""
    return load_contract_text(f"contract: demo\nfields: [{{name: id, type: bigint}}, {{name: note, type: string}}]\npublish: {{target: ./t, mode: {mode}{keys}}}")


def candidate(folder: Path, ids: list[int], note: str) -> Candidate:
    path = folder / f"part-{note}.parquet"
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64()), "note": [note] * len(ids)}), path)
    file = CandidateFile(path=str(path), size=path.stat().st_size, rows=len(ids), digest=hashlib.sha256(path.read_bytes()).hexdigest())
    columns = tuple((f.name, f.type) for f in contract().fields)
    return Candidate(location=str(folder), columns=columns, spelled={}, files=(file,), digest=candidate_digest(columns, (file,)))


def intent(publisher: Publisher, folder: Path, submission: str, ids: list[int], mode: str = "append") -> PublishIntent:
    own = candidate(folder, ids, submission)
    commit = CommitRecord(
        submission=submission, attempt=f"try-of-{submission}", contract="demo", contract_version="1.0.0", contract_digest="c", slice="s",
        parameters={}, intake_digest="i", candidate_digest=own.digest, engine="none 1", environment=None, mode=mode, read=len(ids),
        rows=len(ids), quarantined=0,
    )  # fmt: skip
    return PublishIntent(contract=contract(mode), candidate=own, target=publisher.inspect(place(folder)), commit=commit)


def place(folder: Path) -> str:
    return str(folder / "t")


def pairs(publisher: Tables, folder: Path) -> list[tuple[int, str]]:
    return sorted((row["id"], row["note"]) for row in publisher.rows(place(folder)))


def test_inspect_table_that_is_not_there_is_no_error(publisher: Tables, tmp_path: Path) -> None:
    state = publisher.inspect(place(tmp_path))
    assert (state.exists, state.version, state.columns) == (False, None, ())
    assert publisher.version(place(tmp_path)) is None
    assert publisher.find(place(tmp_path), "one") is None
    assert publisher.history(place(tmp_path)) == ()


def test_publish_append_adds_rows_and_says_so(publisher: Tables, tmp_path: Path) -> None:
    first = publisher.publish(intent(publisher, tmp_path, "one", [1, 2]))
    second = publisher.publish(intent(publisher, tmp_path, "two", [2]))
    assert pairs(publisher, tmp_path) == [(1, "one"), (2, "one"), (2, "two")]
    assert (first.inserted, second.inserted) == (2, 1)
    assert second.version == first.version + 1 == publisher.version(place(tmp_path))
    assert [(c.name, str(c.type)) for c in publisher.inspect(place(tmp_path)).columns] == [("id", "bigint"), ("note", "string")]


def test_publish_same_submission_again_changes_nothing(publisher: Tables, tmp_path: Path) -> None:
    first = publisher.publish(intent(publisher, tmp_path, "one", [1]))
    publisher.publish(intent(publisher, tmp_path, "two", [2]))
    again = publisher.publish(intent(publisher, tmp_path, "one", [1]))
    assert again.version == first.version
    assert pairs(publisher, tmp_path) == [(1, "one"), (2, "two")]


def test_publish_after_another_writer_is_a_conflict_and_leaves_the_table(publisher: Tables, tmp_path: Path) -> None:
    publisher.publish(intent(publisher, tmp_path, "one", [1]))
    late = intent(publisher, tmp_path, "late", [9])
    publisher.publish(intent(publisher, tmp_path, "two", [2]))
    before = publisher.version(place(tmp_path))
    with pytest.raises(PublishConflict):
        publisher.publish(late)
    assert (publisher.version(place(tmp_path)), pairs(publisher, tmp_path)) == (before, [(1, "one"), (2, "two")])
    assert publisher.find(place(tmp_path), "late") is None


def test_publish_overwrite_replaces_every_row(publisher: Tables, tmp_path: Path) -> None:
    publisher.publish(intent(publisher, tmp_path, "one", [1, 2]))
    done = publisher.publish(intent(publisher, tmp_path, "two", [3], "overwrite"))
    assert pairs(publisher, tmp_path) == [(3, "two")]
    assert (done.inserted, done.deleted) == (1, 2)


def test_publish_merge_updates_and_inserts_by_key(publisher: Tables, tmp_path: Path) -> None:
    publisher.publish(intent(publisher, tmp_path, "one", [1, 2]))
    done = publisher.publish(intent(publisher, tmp_path, "two", [2, 3], "merge"))
    assert pairs(publisher, tmp_path) == [(1, "one"), (2, "two"), (3, "two")]
    assert (done.inserted, done.updated) == (1, 1)


def test_find_gives_what_the_commit_says_of_itself(publisher: Tables, tmp_path: Path) -> None:
    wanted = intent(publisher, tmp_path, "one", [1])
    publisher.publish(wanted)
    publisher.publish(intent(publisher, tmp_path, "two", [2]))
    found = publisher.find(place(tmp_path), "one")
    assert found is not None
    assert found.commit == replace(wanted.commit, method="promoted")


def test_history_is_told_newest_first(publisher: Tables, tmp_path: Path) -> None:
    for submission in ("one", "two"):
        publisher.publish(intent(publisher, tmp_path, submission, [1]))
    commits = publisher.history(place(tmp_path))
    assert [c.version for c in commits] == sorted((c.version for c in commits), reverse=True)
    assert [c.commit.submission if c.commit else None for c in commits] == ["two", "one", None]


def test_keep_adds_failing_rows_once(publisher: Tables, tmp_path: Path) -> None:
    path = tmp_path / "failing.parquet"
    pq.write_table(
        pa.table({
            "source_file": ["a.csv"], "record_number": pa.array([3], pa.int64()), "rule_ids": [["id|type"]], "payload": ['{"id":"x"}'],
        }), path,
    )  # fmt: skip
    request = KeepRequest(
        location=str(tmp_path / "aside"), rows=FailingRows(location=str(path), rows=1), once="invaract:one", submission_id="one",
        attempt_id="try", contract="demo", version="1.0.0", phase="rows", kind="quarantined",
    )  # fmt: skip
    assert [publisher.keep(request), publisher.keep(request), publisher.keep(replace(request, once="invaract:two"))] == [True, False, True]
    kept = publisher.aside(request.location)
    assert [(row["submission_id"], row["record_number"], row["rule_ids"], row["kind"]) for row in kept] == [("one", 3, ["id|type"], "quarantined")] * 2
