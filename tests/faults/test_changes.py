"""What changes between verdict and publication, and what the audit store does in the meantime."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake

from invaract_orchestration.audit.reconcile import reconcile
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.errors import AuditUnavailable, UsageError
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate
from tests.faults.ground import AFTER_BOTH, Lake


class Before:
    """A part of the gate that does something right before one of its calls."""

    def __init__(self, inner: Any, name: str, act: Callable[[], None]) -> None:
        self._inner, self._name, self._act = inner, name, act

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name != self._name:
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            self._act()
            return found(*args, **kwargs)

        return call


def run(lake: Lake, batch: str, *, change: Callable[[Any], Any] = lambda gate: gate, **call: Any) -> GateResult:
    settings = read_settings({"INVARACT_LAKE_ROOT": str(lake.root), "INVARACT_THREADS": "1"})
    with open_gate(settings) as gate:
        return change(gate).run(load_contract(lake.root / "orders.yaml"), parameters={"batch": batch}, **call)


def before_publish(act: Callable[[], None]) -> Callable[[Any], Any]:
    return lambda gate: replace(gate, publisher=Before(gate.publisher, "publish", act))


def other_writer(lake: Lake, times: int = 1) -> Callable[[], None]:
    import pyarrow as pa

    left = [times]

    def act() -> None:
        if left[0]:
            left[0] -= 1
            rows = {"id": pa.array([90 + left[0]], pa.int32()), "day": pa.array([20454], pa.date32()), "v": pa.array([1], pa.int32())}
            write_deltalake(str(lake.target), pa.table(rows), mode="append")

    return act


def test_target_changed_before_publish_is_judged_again_and_published(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    result = run(lake, "second", change=before_publish(other_writer(lake)))
    assert result.state == "published"
    assert lake.rows() == ((1, 10), (2, 20), (2, 21), (3, 30), (90, 1))


def twin(lake: Lake, batch: str, **call: Any) -> Callable[[], None]:
    """The same submission by another caller, once."""
    left = [True]

    def act() -> None:
        if left:
            left.clear()
            assert run(lake, batch, **call).state == "published"

    return act


@pytest.mark.parametrize("part", ["audit.open_attempt", "audit.publications", "publisher.publish"])
def test_same_submission_published_by_another_caller_in_between_is_already_done(tmp_path: Path, part: str) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    port, call = part.split(".")
    act = twin(lake, "second")
    result = run(lake, "second", change=lambda gate: replace(gate, **{port: Before(getattr(gate, port), call, act)}))
    assert (result.state, result.exit_code, result.code) == ("published", 0, "publish.already_done"), result.message
    assert result.publication is not None
    assert result.publication.attempt_id != result.attempt_id
    assert lake.rows() == ((1, 10), (2, 20), (2, 21), (3, 30))


def test_same_id_published_with_another_content_in_between_is_no_success(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first", submission_id="one")
    other = Lake.make(tmp_path / "other", "append")

    def elsewhere() -> None:
        """Its audit is not the one that this caller writes, so that the table alone can tell."""
        settings = read_settings({"INVARACT_LAKE_ROOT": str(other.root)})
        with open_gate(settings) as gate:
            contract = load_contract(lake.root / "orders.yaml")
            ended = gate.run(contract, parameters={"batch": "first"}, target=str(lake.target), submission_id="two", supersede=True)
            assert ended.state == "published"

    result = run(lake, "second", change=before_publish(elsewhere), submission_id="two")
    assert (result.state, result.code) == ("failed", "submission.other_content")


def test_target_changed_at_every_try_ends_in_conflict_without_a_row(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    result = run(lake, "second", change=before_publish(other_writer(lake, 99)))
    assert (result.state, result.exit_code, result.code) == ("conflict", 3, "publish.concurrent")
    assert not {(2, 21), (3, 30)} & set(lake.rows())
    assert run(lake, "second").state == "published"


def test_key_taken_by_another_writer_before_publish_is_rejected(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    text = (lake.root / "orders.yaml").read_text()
    (lake.root / "orders.yaml").write_text(text.replace("quality:", "keys: [{columns: [id], across: target}]\nquality:"))
    lake.land("first", ((1, "2026-01-01", 10),))
    lake.land("own", ((90, "2026-01-01", 5),))
    run(lake, "first")
    result = run(lake, "own", change=before_publish(other_writer(lake)))
    assert (result.state, [c.check for c in result.blocking]) == ("rejected", ["id|unique"])
    assert lake.rows() == ((1, 10), (90, 1))


def test_candidate_changed_after_the_verdict_is_a_loud_error(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    version = lake.version()

    def tamper(line: str) -> None:
        if line == "publishing":
            file = max((lake.root / "lake").rglob("orders__candidates/**/part-*.parquet"), key=lambda p: p.stat().st_mtime_ns)
            file.write_bytes(file.read_bytes()[:-9] + b"tampered!")

    result = run(lake, "second", change=lambda gate: replace(gate, tell=tamper))
    assert (result.state, result.code, result.exit_code) == ("failed", "publish.candidate_changed", 3)
    assert (lake.rows(), lake.version()) == (((1, 10), (2, 20)), version)


def test_input_that_grows_or_appears_during_the_run_is_noticed(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    landing = lake.root / "landing" / "second.csv"

    def grow(line: str) -> None:
        if line == "writing the candidate":
            landing.write_text(landing.read_text() + "9,2026-01-02,9\n")

    result = run(lake, "second", change=lambda gate: replace(gate, tell=grow))
    assert (result.state, result.code) == ("failed", "input.changed")
    assert lake.version() is None


def test_same_id_with_other_content_is_an_error(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first", submission_id="batch-7")
    result = run(lake, "second", submission_id="batch-7")
    assert (result.state, result.code) == ("failed", "submission.other_content")
    assert lake.rows() == ((1, 10), (2, 20))


@pytest.mark.parametrize("call", ["open_attempt", "append", "record_verdict"])
def test_audit_down_before_publishing_fails_with_the_target_unchanged(tmp_path: Path, call: str) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    version = lake.version()
    result = run(lake, "second", change=lambda gate: replace(gate, audit=Before(gate.audit, call, down)))
    assert (result.state, result.exit_code, result.code) == ("failed", 3, "audit.unavailable")
    assert lake.version() == version
    assert run(lake, "second").state == "published"


def test_audit_down_after_publishing_ends_with_4_and_is_repaired(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    result = run(lake, "second", change=lambda gate: replace(gate, audit=Before(gate.audit, "record_outcome", down)))
    assert (result.state, result.exit_code, result.code) == ("published", 4, "audit.pending")
    again = run(lake, "second")
    assert (again.state, again.exit_code, again.code) == ("published", 0, "publish.already_done")
    assert lake.rows() == ((1, 10), (2, 20), (2, 21), (3, 30))


def down() -> None:
    raise AuditUnavailable("the audit store is down")


def test_locked_audit_store_fails_in_bounded_time_with_the_target_unchanged(tmp_path: Path) -> None:
    from invaract_orchestration.engines.delta.publisher import DeltaPublisher
    from invaract_orchestration.engines.duckdb.engine import DuckDBEngine
    from invaract_orchestration.gate import Gate
    from invaract_orchestration.stores.open import open_store

    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    version = lake.version()
    file = lake.root / "lake" / "_invaract" / "audit.db"
    file = file if file.exists() else lake.root / "_invaract" / "audit.db"
    with open_store(f"sqlite:///{file}", timeout=1.0) as store, sqlite3.connect(file) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        gate = Gate(engine=DuckDBEngine(), publisher=DeltaPublisher(), audit=store, waivers=store, lake_root=lake.root)
        result = gate.run(load_contract(lake.root / "orders.yaml"), parameters={"batch": "second"})
        holder.rollback()
    assert (result.state, result.code) == ("failed", "audit.unavailable")
    assert lake.version() == version


def test_lost_audit_store_is_written_again_from_the_target(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    first, second = run(lake, "first"), run(lake, "second")
    settings = read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})
    shutil.move(lake.root / "_invaract", tmp_path / "lost")
    with open_gate(settings) as gate:
        found = reconcile(gate.audit, gate.publisher, "orders", str(lake.target), gate.clock)
        views = gate.audit.publications("orders", str(lake.target))
    assert set(found.rebuilt) == {first.submission_id, second.submission_id}
    assert {(v.publication.submission_id, v.publication.table_version, v.publication.attempt_id) for v in views} == {
        (r.submission_id, r.publication.table_version, r.attempt_id) for r in (first, second) if r.publication
    }
    assert run(lake, "second").code == "publish.already_done"


def test_commit_that_by_passed_the_gate_is_listed(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    other_writer(lake)()
    table = DeltaTable(str(lake.target))
    table.optimize.compact()
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})) as gate:
        found = reconcile(gate.audit, gate.publisher, "orders", str(lake.target), gate.clock)
    assert [c.operation for c in found.bypassed] == ["WRITE"]


@pytest.mark.parametrize("when", ["writing the candidate", "publishing"])
def test_vacuum_and_optimize_between_steps_do_no_harm(tmp_path: Path, when: str) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")

    def tidy(line: str) -> None:
        if line == when:
            table = DeltaTable(str(lake.target))
            table.optimize.compact()
            table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)

    result = run(lake, "second", change=lambda gate: replace(gate, tell=tidy))
    assert result.state == "published"
    assert lake.rows() == ((1, 10), (2, 20), (2, 21), (3, 30))


def test_clock_that_jumps_back_changes_no_verdict(tmp_path: Path) -> None:
    from datetime import UTC, datetime, timedelta

    lake = Lake.make(tmp_path / "lake", "append")
    hours = iter([0, 48, -48] * 50)
    jumping = lambda: datetime.now(UTC) + timedelta(hours=next(hours))  # noqa: E731
    result = run(lake, "first", change=lambda gate: replace(gate, clock=jumping))
    assert result.state == "published"
    assert run(lake, "first").code == "publish.already_done"


def test_contract_version_with_another_content_is_refused(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    version = lake.version()
    text = (lake.root / "orders.yaml").read_text()
    (lake.root / "orders.yaml").write_text(text.replace("min: 0", "min: -5"))
    result = run(lake, "second")
    assert (result.state, result.code) == ("failed", "contract.version_reused")
    assert lake.version() == version


def test_candidate_is_never_published_without_its_own_passing_verdict(tmp_path: Path) -> None:
    from invaract_orchestration.errors import GateError
    from invaract_orchestration.publish.intent import intend
    from invaract_orchestration.verdict.verdict import decide

    with pytest.raises(GateError, match="no passing verdict"):
        intend(decide((), None), load_contract(Lake.make(tmp_path / "lake", "append").root / "orders.yaml"), None, None, None)  # type: ignore[arg-type]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes; where none can be mounted the test is left out, with the reason."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def published_to(place: Path, folder: Path) -> tuple[Lake, int]:
    """A lake whose table is at a place of its own, and the version after its first batch."""
    lake = Lake.make(folder / "lake", "append")
    text = (lake.root / "orders.yaml").read_text()
    (lake.root / "orders.yaml").write_text(text.replace("target: lake.orders", f"target: {place}/orders"))
    run(lake, "first")
    return lake, DeltaTable(str(place / "orders")).version()


def test_full_disk_publishes_nothing_and_says_so(tmp_path: Path, small_disk: Path) -> None:
    lake, before = published_to(small_disk, tmp_path)
    (small_disk / "filler").write_bytes(b"x" * (2 * 1024 * 1024 - 100 * 1024))
    lake.land("second", tuple((i, "2026-01-02", i * 7919 % 65521) for i in range(100_000)))
    result = run(lake, "second")
    assert (result.state, result.exit_code) == ("failed", 3), result.message
    assert "disk is full" in result.message or "cannot be written" in result.message, result.message
    assert DeltaTable(str(small_disk / "orders")).version() == before
    (small_disk / "filler").unlink()


def test_read_only_folder_publishes_nothing_and_says_so(tmp_path: Path, small_disk: Path) -> None:
    lake, before = published_to(small_disk, tmp_path)
    if subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], capture_output=True, check=False).returncode:
        pytest.skip("the file system cannot be made read-only here")
    result = run(lake, "second")
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert (result.state, result.exit_code) == ("failed", 3), result.message
    assert DeltaTable(str(small_disk / "orders")).version() == before
    assert run(lake, "second").state == "published"


def test_audit_store_restored_from_an_older_copy_becomes_complete(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    first = run(lake, "first")
    shutil.copytree(lake.root / "_invaract", tmp_path / "older")
    second = run(lake, "second")
    shutil.rmtree(lake.root / "_invaract")
    shutil.copytree(tmp_path / "older", lake.root / "_invaract")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})) as gate:
        found = reconcile(gate.audit, gate.publisher, "orders", str(lake.target), gate.clock)
        views = gate.audit.publications("orders", str(lake.target))
    assert found.rebuilt == (second.submission_id,)
    assert [v.publication.submission_id for v in views] == [second.submission_id, first.submission_id]


def test_commit_that_cannot_be_read_back_is_unknown_until_the_log_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from invaract_orchestration.engines.delta import publish
    from invaract_orchestration.errors import InputUnreadable

    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    real, asked = publish.find_publication, []

    def unreadable_after_the_commit(location: str, submission: str) -> Any:
        asked.append(submission)
        if len(asked) > 1:
            raise InputUnreadable("the store does not answer")
        return real(location, submission)

    monkeypatch.setattr(publish, "find_publication", unreadable_after_the_commit)
    result = run(lake, "second")
    assert (result.state, result.exit_code, result.code) == ("unknown", 3, "publish.unknown")
    monkeypatch.undo()
    assert lake.rows() == ((1, 10), (2, 20), (2, 21), (3, 30))
    again = run(lake, "second")
    assert (again.state, again.code) == ("published", "publish.already_done")
    assert lake.rows() == ((1, 10), (2, 20), (2, 21), (3, 30))


def test_correction_is_refused_in_append_although_the_audit_is_lost(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    version = lake.version()
    shutil.rmtree(lake.root / "_invaract")
    lake.land("first", ((1, "2026-01-01", 11), (2, "2026-01-02", 20)))
    result = run(lake, "first")
    assert (result.state, result.code) == ("rejected", "slice.already_published")
    assert (lake.rows(), lake.version()) == (((1, 10), (2, 20)), version)
    assert run(lake, "first", supersede=True).state == "published"


def test_key_of_a_batch_that_is_rejected_for_its_rows_says_what_it_was_judged_on(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    lake.land("second", ((1, "2026-01-01", "x"), (1, "2026-01-02", 5), (2, "2026-01-02", None)))
    result = run(lake, "second")
    found = {c.check: c for c in result.checks}
    assert found["id|unique"].found == "2 rows, every key once; judged without the 1 failing rows"
    assert (found["v|min"].rows, found["v|min"].undecided, found["v|min"].nulls) == (3, 1, 1)


@pytest.mark.parametrize("mode", ["append", "overwrite", "merge"])
def test_publication_that_was_restored_away_is_no_success_until_it_is_asked_for(tmp_path: Path, mode: str) -> None:
    lake = Lake.make(tmp_path / "lake", mode)
    first, second = run(lake, "first"), run(lake, "second")
    assert first.publication is not None
    DeltaTable(str(lake.target)).restore(first.publication.table_version)
    again = run(lake, "second")
    assert (again.state, again.code, again.submission_id) == ("failed", "submission.undone", second.submission_id)
    assert lake.rows() == ((1, 10), (2, 20))
    assert run(lake, "second", submission_id="second-again").state == "published"
    assert lake.rows() == AFTER_BOTH[mode]


def test_publication_that_a_further_restore_brought_back_is_already_done(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    second = run(lake, "second")
    assert second.publication is not None
    DeltaTable(str(lake.target)).restore(second.publication.table_version - 1)
    DeltaTable(str(lake.target)).restore(second.publication.table_version)
    again = run(lake, "second")
    assert (again.state, again.code, lake.rows()) == ("published", "publish.already_done", AFTER_BOTH["append"])


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_publication_of_a_table_that_was_made_anew_is_no_success_until_it_is_asked_for(tmp_path: Path, mode: str) -> None:
    lake = Lake.make(tmp_path / "lake", mode)
    run(lake, "first")
    shutil.rmtree(lake.target)
    again = run(lake, "first")
    assert (again.state, again.code, lake.version()) == ("failed", "submission.undone", None)
    assert run(lake, "first", submission_id="first-again").state == "published"
    assert lake.rows() == ((1, 10), (2, 20))
    assert run(lake, "second").state == "published"
    assert lake.rows() == AFTER_BOTH[mode]


def without_its_log(lake: Lake) -> None:
    """The log as its own clean-up leaves it: a checkpoint, and no commit of before."""
    table = DeltaTable(str(lake.target))
    table.create_checkpoint()
    for file in sorted((lake.target / "_delta_log").glob("*.json"))[:-1]:
        file.unlink()


def test_retry_after_the_logs_clean_up_is_recorded_and_blocks_nobody(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    first = run(lake, "first")
    assert first.publication is not None
    other_writer(lake)()
    without_its_log(lake)
    again = run(lake, "first")
    assert (again.code, again.is_recorded, again.publication) == ("publish.already_done", True, first.publication)
    next_run = subprocess.run(
        [sys.executable, "-c", f"from tests.faults.ground import attempt; print(attempt({str(lake.root)!r}, 'second')['state'])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert next_run.stdout.strip() == "published"


def test_retry_after_the_logs_clean_up_and_the_loss_of_the_audit_names_no_version(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    other_writer(lake)()
    without_its_log(lake)
    for file in (lake.root / "_invaract").glob("audit.db*"):
        file.unlink()
    again = run(lake, "first")
    assert again.message == "already published; the log no longer says which version it was"
    assert lake.rows() == ((1, 10), (2, 20), (90, 1))


def test_submission_whose_transaction_id_has_expired_is_found_in_the_history(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first", submission_id="one")
    log = lake.target / "_delta_log"
    commit = next(file for file in log.glob("*.json") if "invaract:one" in file.read_text())
    lines = [line for line in commit.read_text().splitlines() if not line.startswith('{"txn"')]
    commit.write_text("\n".join(lines) + "\n")
    table = DeltaTable(str(lake.target))
    table.alter.set_table_properties({"delta.setTransactionRetentionDuration": "interval 1 days"})
    again = run(lake, "first", submission_id="one")
    assert (again.code, lake.rows()) == ("publish.already_done", ((1, 10), (2, 20)))


def test_correction_that_a_text_asks_for_is_misuse(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    lake.land("first", ((1, "2026-01-01", 11),))
    with pytest.raises(UsageError, match="supersede is of type str"):
        run(lake, "first", supersede="false")
    assert lake.rows() == ((1, 10), (2, 20))


def test_source_is_named_by_a_path_as_by_its_text(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    by_path = run(lake, "first", source=lake.root / "landing" / "first.csv")
    by_text = run(lake, "first", source=str(lake.root / "landing" / "first.csv"))
    assert (by_path.state, by_text.code, lake.rows()) == ("published", "publish.already_done", ((1, 10), (2, 20)))


def test_target_whose_log_is_damaged_is_told_and_on_record(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")
    newest = max((lake.target / "_delta_log").glob("*.json"))
    whole = newest.read_text()
    newest.write_text("{damaged")
    damaged = run(lake, "second")
    assert (damaged.state, damaged.code, damaged.is_recorded) == ("failed", "input.unreadable", True)
    newest.write_text(whole)
    assert (run(lake, "second").state, lake.rows()) == ("published", AFTER_BOTH["append"])


def test_audit_down_at_the_end_of_a_retry_is_still_a_publication(tmp_path: Path) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    run(lake, "first")

    def down() -> None:
        raise AuditUnavailable("the audit store is down")

    def changed(gate: Any) -> Any:
        return replace(gate, audit=Before(Before(gate.audit, "publications", down), "record_outcome", down))

    again = run(lake, "first", change=changed)
    assert (again.state, again.code, again.exit_code, lake.rows()) == ("published", "audit.pending", 4, ((1, 10), (2, 20)))
    assert run(lake, "first").exit_code == 0
