"""What becomes of an attempt whose end is not plain: a commit that is not shown, a correction that races, a record that lags."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from invaract_orchestration.audit.adopt import adopted_version
from invaract_orchestration.audit.reconcile import Reconciliation, reconcile, settle
from invaract_orchestration.cli.app import call
from invaract_orchestration.engines.delta import publish
from invaract_orchestration.errors import AuditUnavailable
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_audit, open_gate
from tests.faults.ground import AFTER_BOTH, Lake
from tests.faults.test_changes import Before, before_publish, other_writer, run

BOTH = AFTER_BOTH["append"]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = Lake.make(tmp_path / "lake", "append")
    run(made, "first")
    return made


def reconciled(lake: Lake, **given: Any) -> Reconciliation:
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})) as gate:
        return reconcile(gate.audit, gate.publisher, "orders", str(lake.target), gate.clock, **given)


def states(lake: Lake) -> list[str]:
    with open_audit(read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})) as audit:
        assert audit.verify() == ()
        return [view.state for view in audit.attempts(contract="orders")]


def after_the_commit(monkeypatch: pytest.MonkeyPatch, answer: Callable[[], None]) -> None:
    """What the log gives when it is read back."""
    real, asked = publish.find_publication, []

    def find(location: str, submission: str) -> Any:
        asked.append(submission)
        return real(location, submission) if len(asked) == 1 else answer()

    monkeypatch.setattr(publish, "find_publication", find)


def raising() -> None:
    raise ValueError("a log that no reader understands: CANARY")


@pytest.mark.parametrize("answer", [lambda: None, raising])
def test_commit_that_the_log_does_not_show_loses_no_file(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, answer: Callable[[], None]
) -> None:
    after_the_commit(monkeypatch, answer)
    result = run(lake, "second")
    assert (result.state, result.exit_code, result.code) == ("unknown", 3, "publish.unknown")
    assert "CANARY" not in result.message
    monkeypatch.undo()
    assert lake.rows() == BOTH
    assert (run(lake, "second").code, lake.rows()) == ("publish.already_done", BOTH)


class PanicException(BaseException):
    """What a defect of a library in Rust is raised as."""


@pytest.mark.parametrize("has_landed", [True, False])
def test_defect_of_a_library_during_the_commit_is_no_traceback(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, has_landed: bool
) -> None:
    real = DeltaTable.create_write_transaction

    def panicking(*args: Any, **kwargs: Any) -> None:
        if has_landed:
            real(*args, **kwargs)
        raise PanicException("CANARY")

    monkeypatch.setattr(DeltaTable, "create_write_transaction", panicking)
    result = run(lake, "second")
    assert (result.state, lake.rows()) == (("published", BOTH) if has_landed else ("failed", ((1, 10), (2, 20))))
    assert "CANARY" not in result.message


def test_defect_of_a_library_before_the_commit_is_told(lake: Lake) -> None:
    def panicking() -> None:
        raise PanicException("CANARY")

    result = run(lake, "second", change=lambda gate: replace(gate, publisher=Before(gate.publisher, "inspect", panicking)))
    assert (result.state, result.message) == ("failed", "an unexpected PanicException stopped the gate")


def test_other_rows_that_a_retry_sets_aside_are_kept_too(tmp_path: Path) -> None:
    """A rule about the date of the run, and a run that is interrupted before it publishes until the next day."""
    made = Lake.make(tmp_path / "lake", "append", "quarantine")
    contract = made.root / "orders.yaml"
    rule = "  row_rules: [{name: not_old, sql: \"day >= date_sub(current_date(), 1)\"}]\n"
    contract.write_text(contract.read_text().replace("quality: {on_row_failure: quarantine}", f"quality:\n  on_row_failure: quarantine\n{rule}"))
    made.land("first", ((1, "2026-01-01", 1), (2, "2026-01-05", 2), (3, "2026-01-06", 3)))

    def fails() -> None:
        raise OSError("the target is away")

    def at(day: int) -> Callable[[Any], Any]:
        return lambda gate: replace(gate, clock=lambda: datetime(2026, 1, day, 12, tzinfo=UTC))

    first = run(made, "first", change=lambda gate: replace(at(6)(gate), publisher=Before(gate.publisher, "publish", fails)))
    assert (first.state, aside(made)) == ("failed", [1])
    assert run(made, "first", change=lambda gate: replace(at(6)(gate), publisher=Before(gate.publisher, "publish", fails))).state == "failed"
    assert aside(made) == [1]
    second = run(made, "first", change=at(7))
    assert (second.state, second.counts.quarantined, made.rows()) == ("published", 2, ((3, 3),))
    assert aside(made) == [1, 1, 2]


def aside(lake: Lake) -> list[int]:
    from invaract_orchestration.engines.delta.quarantine import quarantined_rows

    rows = quarantined_rows(f"{lake.target}__quarantine", ["record_number"]).column(0).to_pylist()
    return sorted(rows)


def test_outcome_that_is_not_known_stays_so_although_the_store_is_down(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    after_the_commit(monkeypatch, raising)

    def down() -> None:
        raise AuditUnavailable("the audit store is down")

    result = run(lake, "second", change=lambda gate: replace(gate, audit=Before(gate.audit, "record_outcome", down)))
    assert (result.state, result.code, result.is_recorded) == ("unknown", "publish.unknown", False)
    assert "the audit store is down" in result.message


def test_unknown_outcome_is_settled_while_its_process_lives(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    after_the_commit(monkeypatch, raising)
    unknown = run(lake, "second")
    monkeypatch.undo()
    assert reconciled(lake).settled == ((unknown.attempt_id, "published"),)
    assert states(lake) == ["published", "published"]


def test_publication_that_is_not_recorded_is_settled_while_its_process_lives(lake: Lake) -> None:
    def down() -> None:
        raise AuditUnavailable("the audit store is down")

    second = run(lake, "second", change=lambda gate: replace(gate, audit=Before(gate.audit, "record_outcome", down)))
    assert (second.state, second.exit_code) == ("published", 4)
    found = reconciled(lake)
    assert (found.settled, found.rebuilt, found.refused) == (((second.attempt_id, "published"),), (), ())


def test_attempt_that_still_runs_is_not_settled_by_what_another_has_published(lake: Lake) -> None:
    settled: list[Any] = []

    def meanwhile() -> None:
        with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})) as gate:
            other = run(lake, "second") if not settled else None
            settled.append(other)
            settled.append(settle(gate.audit, gate.publisher, "orders", str(lake.target), gate.clock))

    result = run(lake, "second", change=before_publish(meanwhile))
    assert (result.state, result.code, result.is_recorded) == ("published", "publish.already_done", True)
    assert settled[1] == ()
    assert states(lake) == ["published"] * 3


def test_publication_of_an_attempt_that_was_taken_for_interrupted_is_recorded(lake: Lake, tmp_path: Path) -> None:
    shutil.copytree(lake.root / "_invaract", tmp_path / "before")
    second = run(lake, "second")
    hidden = tmp_path / "hidden"
    shutil.move(lake.target, hidden)  # a mount that is not there
    shutil.rmtree(lake.root / "_invaract")
    shutil.copytree(tmp_path / "before", lake.root / "_invaract")
    assert interrupted(str(lake.root), second.submission_id or "", second.attempt_id) == "failed"
    shutil.move(hidden, lake.target)
    found = reconciled(lake)
    assert (found.rebuilt, found.refused) == ((second.submission_id,), ())
    with open_audit(read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})) as audit:
        newest = audit.publications("orders", str(lake.target))[0].publication
        assert (newest.submission_id, newest.attempt_id) == (second.submission_id, second.attempt_id)
        assert audit.verify() == ()
    assert reconciled(lake).rebuilt == ()


def interrupted(root: str, submission: str, attempt: str) -> str:
    """An attempt of a process that is gone, settled while the table cannot be seen."""
    from invaract_orchestration.audit.reconcile import PROCESS, this_process
    from invaract_orchestration.audit.records import Event
    from invaract_orchestration.testing.audit_records import build_attempt, build_submission, build_version

    with open_gate(read_settings({"INVARACT_LAKE_ROOT": root})) as gate, open_audit(read_settings({"INVARACT_LAKE_ROOT": root})) as audit:
        (first,) = audit.attempts(contract="orders", limit=1)
        of_table = next(c.commit for c in _history(root) if c.commit and c.commit.submission == submission)
        version = build_version("orders", "1.0.0", digest=first.attempt.contract_version.digest)
        gone = this_process().replace(f":{os.getpid()}:", ":999999:")
        audit.open_attempt(
            build_submission(
                submission, contract="orders", target=f"{root}/lake/orders", parameters=dict(of_table.parameters),
                slice_digest=of_table.slice, intake_digest=of_table.intake_digest,
            ),
            build_attempt(attempt, submission, contract_version=version, context={PROCESS: gone}),
            Event(attempt_id=attempt, state="publishing", at=gate.clock(), message="publishing"),
        )  # fmt: skip
        ((_, state),) = settle(gate.audit, gate.publisher, "orders", f"{root}/lake/orders", gate.clock)
        return state


def _history(root: str) -> Any:
    from invaract_orchestration.engines.delta.inspect import table_history

    return table_history(str(Path(root).parent / "hidden"))


def test_publications_of_a_table_that_was_moved_are_told_and_left_alone(lake: Lake) -> None:
    moved = lake.target.with_name("moved")
    shutil.move(lake.target, moved)
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})) as gate:
        found = reconcile(gate.audit, gate.publisher, "orders", str(moved), gate.clock)
    assert (len(found.refused), found.rebuilt) == (1, ())
    assert states(lake) == ["published"]


def test_commit_that_repeats_what_a_publication_says_is_written_again_once(lake: Lake) -> None:
    first = next((lake.target / "_delta_log").glob("*1.json")).read_text().splitlines()
    said = next(line for line in first if "commitInfo" in line)
    (lake.target / "_delta_log" / f"{DeltaTable(str(lake.target)).version() + 1:020d}.json").write_text(said + "\n")
    shutil.rmtree(lake.root / "_invaract")
    found = reconciled(lake)
    assert (len(found.rebuilt), found.refused) == (1, ())


def test_commits_since_a_table_was_taken_in_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = Lake.make(tmp_path / "lake", "append")
    monkeypatch.setenv("INVARACT_LAKE_ROOT", str(lake.root))
    other_writer(lake)()
    contract = str(lake.root / "orders.yaml")
    assert call(["adopt", contract, "--param", "batch=first"]) == 0
    other_writer(lake)()
    run(lake, "first")
    capsys.readouterr()
    assert call(["reconcile", contract, "--param", "batch=first"]) == 1
    assert "1 commit by-passed the gate" in capsys.readouterr().out
    with open_audit() as audit:
        assert adopted_version(audit, "orders", str(lake.target)) == 0


@pytest.mark.parametrize("part", ["publisher.inspect", "publisher.publish"])
def test_corrections_that_race_for_a_slice_are_not_both_added(lake: Lake, part: str) -> None:
    """Another content of the same slice is published after this one was found to be the first."""
    lake.land("other", ((7, "2026-01-01", 70),))
    left = [True]

    def other_content() -> None:
        if left:
            left.clear()
            assert run(lake, "second", source=lake.root / "landing" / "other.csv").state == "published"

    port, name = part.split(".")
    result = run(lake, "second", change=lambda gate: replace(gate, **{port: Before(getattr(gate, port), name, other_content)}))
    assert (result.state, result.code) == ("rejected", "slice.already_published"), result.message
    assert lake.rows() == ((1, 10), (2, 20), (7, 70))


def test_same_id_for_another_slice_is_no_success_although_the_audit_is_lost(lake: Lake) -> None:
    run(lake, "second", submission_id="one")
    shutil.rmtree(lake.root / "_invaract")
    result = run(lake, "third", source=lake.root / "landing" / "second.csv", submission_id="one")
    assert (result.state, result.code) == ("failed", "submission.other_content")
    assert run(lake, "second", submission_id="one").code == "publish.already_done"


def test_correction_that_was_asked_for_is_on_record(lake: Lake) -> None:
    lake.land("first", ((1, "2026-01-01", 11),))
    asked = run(lake, "first", supersede=True)
    with open_audit(read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})) as audit:
        view = audit.attempt(asked.attempt_id)
    assert view is not None
    assert "the slice was published before; its correction is added, as asked for" in [e.message for e in view.events]


def consuming(lake: Lake, after: str) -> None:
    contract = lake.root / "orders.yaml"
    text = contract.read_text().replace("source: {", f"source: {{after: {after}, ")
    contract.write_text(text.replace('"1.0.0"', '"1.1.0"'))


@pytest.mark.parametrize("after", ["delete", "archive"])
def test_consumed_files_leave_by_a_retry_of_what_was_killed_before(lake: Lake, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from invaract_orchestration.gate import flow

    consuming(lake, after)

    def killed(*_: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(flow, "consume_files", killed)
    with pytest.raises(KeyboardInterrupt):
        run(lake, "second")
    monkeypatch.undo()
    assert (lake.root / "landing" / "second.csv").exists()
    again = run(lake, "second")
    assert (again.code, lake.rows()) == ("publish.already_done", BOTH)
    assert not (lake.root / "landing" / "second.csv").exists()
    assert (lake.root / "landing" / "_archive" / str(again.submission_id) / "second.csv").exists() is (after == "archive")


def test_file_that_was_delivered_anew_since_is_not_consumed(lake: Lake) -> None:
    consuming(lake, "delete")

    def new_delivery() -> None:
        lake.land("second", ((9, "2026-01-09", 900),))

    class Late:
        """A publisher after whose commit the file is another one."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        def publish(self, intent: Any) -> Any:
            made = self._inner.publish(intent)
            new_delivery()
            return made

    result = run(lake, "second", change=lambda gate: replace(gate, publisher=Late(gate.publisher)))
    assert (result.state, lake.rows()) == ("published", BOTH)
    assert "9,2026-01-09,900" in (lake.root / "landing" / "second.csv").read_text()


def test_context_of_the_caller_does_not_name_the_process(lake: Lake) -> None:
    result = run(lake, "second", context={"process": "elsewhere:1:1"})
    with open_audit(read_settings({"INVARACT_LAKE_ROOT": str(lake.root)})) as audit:
        view = audit.attempt(result.attempt_id)
    assert view is not None
    assert f":{os.getpid()}:" in view.attempt.context["process"]


def test_input_and_target_that_cannot_be_read_are_on_record(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    after_the_commit(monkeypatch, raising)
    assert run(lake, "second").state == "unknown"  # the next attempt would settle it
    newest = max((lake.target / "_delta_log").glob("*.json"))
    newest.write_text("{damaged")
    result = run(lake, "none")
    assert (result.state, result.code, result.is_recorded) == ("failed", "input.missing", True)
