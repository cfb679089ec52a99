"""Settling what was left open, from the target's own history: the log of the table decides, never a guess."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from invaract_orchestration.audit.log import AttemptView, AuditLog
from invaract_orchestration.audit.records import (
    Attempt,
    ContractVersion,
    Counts,
    Event,
    OutcomeRecord,
    PublicationRecord,
    State,
    Submission,
)  # fmt: skip
from invaract_orchestration.errors import AuditError, AuditUnavailable
from invaract_orchestration.publish.intent import UNKNOWN_VERSION, CommitRecord, Published, TargetCommit
from invaract_orchestration.publish.publisher import Publisher

INTERRUPTED = "attempt.interrupted"
PROCESS = "process"
"""Key of an attempt's context that names the process, as `host:pid:start`."""
_STALE = timedelta(hours=24)
"""An open attempt of another host is taken for interrupted after this time."""
_MAINTENANCE = ("OPTIMIZE", "VACUUM", "FSCK", "CREATE TABLE", "ADD CONSTRAINT", "ADD COLUMN", "SET TBLPROPERTIES", "CHANGE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """What was settled, what was written again, what is still open, and commits that the gate did not make."""

    settled: tuple[tuple[str, State], ...] = ()
    rebuilt: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Submissions of the target's log that cannot be written: the record has another content under their id or their contract's
    version, as for a table that was moved."""
    open: tuple[str, ...] = ()
    bypassed: tuple[TargetCommit, ...] = ()
    oldest_version: int | None = None
    """The first version that the target's log still holds; what is older cannot be written again."""


def settle(
    log: AuditLog, publisher: Publisher, contract: str, target: str, clock: Callable[[], datetime]
) -> tuple[tuple[str, State], ...]:
    """Settle the contract's open attempts: published when the target has the submission, failed when it has not and the process
    that ran it is gone. An attempt that may still be running is left alone.

    Raises:
        AuditUnavailable: the store cannot be read or written.
        GateError: the target cannot be read.
    """
    settled: list[tuple[str, State]] = []
    for view in log.unsettled(contract, target):
        found, is_gone = publisher.find(target, view.submission.submission_id), _is_gone(view.attempt, clock())
        if found is not None and (is_gone or _is_over(view, found)):
            state: State = "published"
            message = f"settled: the target has it{_as_version(found)}"
        elif found is None and is_gone:
            state, message = "failed", "settled: the attempt was interrupted before it published"
        else:
            continue  # whoever runs it will say how it ends
        if _record(log, view, state, message, found, clock()):
            settled.append((view.attempt.attempt_id, state))
    return tuple(settled)


def _is_over(view: AttemptView, found: Published) -> bool:
    """Whether an attempt whose process may be there still has nothing to do any more: it has said how it ended, or its commit is
    the one that was found, after which it does nothing but to say so."""
    return view.outcome is not None or (found.commit is not None and found.commit.attempt == view.attempt.attempt_id)


def reconcile(
    log: AuditLog, publisher: Publisher, contract: str, target: str, clock: Callable[[], datetime], *,
    adopted: int | None = None,
) -> Reconciliation:  # fmt: skip
    """Settle open attempts, write lost rows again from the target's commits, and list commits that by-passed the gate since
    `adopted`, the version at which the table was taken in, or else since the gate's first commit."""
    settled = settle(log, publisher, contract, target, clock)
    history = publisher.history(target)
    known = {view.publication.submission_id for view in log.publications(contract, target)}
    rebuilt: list[str] = []
    refused: list[str] = []
    for entry in reversed(history):
        commit = entry.commit
        if commit is not None and commit.contract == contract and commit.submission not in known:
            known.add(commit.submission)  # a commit that follows by itself may repeat what the first one says
            (rebuilt if _rebuild(log, entry, commit, target) else refused).append(commit.submission)
    first_own = min((e.version for e in history if e.commit is not None), default=None)
    since = first_own if adopted is None else adopted
    return Reconciliation(
        settled=settled, rebuilt=tuple(rebuilt), refused=tuple(refused),
        open=tuple(v.attempt.attempt_id for v in log.unsettled(contract, target)),
        bypassed=tuple(
            e for e in history
            if e.commit is None and since is not None and e.version > since
            and not e.operation.upper().startswith(_MAINTENANCE)
        ),
        oldest_version=min((e.version for e in history), default=None),
    )  # fmt: skip


def publication_on_record(log: AuditLog, submission: Submission) -> PublicationRecord | None:
    """What is recorded of a submission's publication, which stays as it is, whatever the target's log says or has forgotten."""
    found = log.publications(submission.contract, submission.target, submission.slice_digest)
    return next((v.publication for v in found if v.publication.submission_id == submission.submission_id), None)


def _as_version(found: Published) -> str:
    return f" as version {found.version}" if found.commit is not None else f"; {UNKNOWN_VERSION}"


def this_process() -> str:
    """This process, so that a later one can tell whether it is still running."""
    return f"{_here()}:{os.getpid()}:{_started(os.getpid())}"


def _here() -> str:
    """This machine and its room of process ids: containers may share a host's name, and each has a process of any number."""
    try:
        return f"{platform.node()}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return platform.node()


def is_run_by_another(attempt: Attempt) -> bool:
    """Whether the process that made the attempt is another one of this machine, and still there."""
    host, _, rest = attempt.context.get(PROCESS, "").partition(":")
    pid, _, started = rest.partition(":")
    is_other = host == _here() and pid.isdigit() and int(pid) != os.getpid()
    return is_other and _started(int(pid)) == started


def _is_gone(attempt: Attempt, now: datetime) -> bool:
    host, _, rest = attempt.context.get(PROCESS, "").partition(":")
    pid, _, started = rest.partition(":")
    if host == _here() and pid.isdigit():
        return _started(int(pid)) != started
    return now - attempt.started_at > _STALE


def _started(pid: int) -> str:
    """When a process began, in clock ticks since the machine did; empty when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:  # noqa: PTH123  # a kernel file, read whole
            return file.read().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _record(
    log: AuditLog, view: AttemptView, state: State, message: str, found: Published | None, at: datetime
) -> bool:
    """Whether this is how it ended; false when somebody else has said so in the meantime."""
    publication = publication_on_record(log, view.submission) if found is not None else None
    if found is not None and publication is None:
        publication = PublicationRecord(
            submission_id=view.submission.submission_id, target=view.submission.target,
            attempt_id=found.commit.attempt if found.commit else view.attempt.attempt_id, table_version=found.version,
            mode=found.commit.mode if found.commit else "", method=found.method,
            committed_at=found.committed_at or at,
        )  # fmt: skip
    counts = view.verdict.counts if view.verdict else Counts()
    outcome = OutcomeRecord(
        attempt_id=view.attempt.attempt_id, state=state, code=None if found else INTERRUPTED, message=message,
        counts=counts, publication=publication, at=at,
    )  # fmt: skip
    event = Event(attempt_id=view.attempt.attempt_id, state=state, at=at, message=message)
    return _taken(partial(log.record_outcome, outcome, event))


def _taken(write: Callable[[], None]) -> bool:
    """Whether the record takes it; what it has under the same id with another content is never changed."""
    try:
        write()
    except AuditUnavailable:
        raise
    except AuditError:
        return False
    return True


def _rebuild(log: AuditLog, entry: TargetCommit, commit: CommitRecord, target: str) -> bool:
    """Submission, attempt, outcome and publication as the commit tells them; its results and files are lost.

    An attempt that is on record and settled otherwise stays as it is: the publication is recorded by one beside it. False when
    the record refuses that too.
    """
    attempts = (commit.attempt, f"{commit.attempt}-rebuilt")
    return any(_taken(partial(_write_again, log, entry, commit, target, name)) for name in attempts)


def _write_again(log: AuditLog, entry: TargetCommit, commit: CommitRecord, target: str, attempt_id: str) -> None:
    submission = Submission(
        submission_id=commit.submission, contract=commit.contract, target=target, parameters=commit.parameters,
        slice_digest=commit.slice, intake_digest=commit.intake_digest, files=(),
    )  # fmt: skip
    attempt = Attempt(
        attempt_id=attempt_id, submission_id=commit.submission, kind="run", environment=commit.environment,
        contract_version=ContractVersion(
            contract=commit.contract, version=commit.contract_version, digest=commit.contract_digest, document="",
        ),
        engine=commit.engine, host="", started_at=entry.committed_at, context={"rebuilt": "from the target's log"},
    )  # fmt: skip
    message = f"version {entry.version}, {commit.rows} rows, {commit.method}; written again from the target's log"
    at = entry.committed_at
    log.open_attempt(submission, attempt, Event(attempt_id=attempt_id, state="received", at=at, message="rebuilt"))
    publication = PublicationRecord(
        submission_id=commit.submission, attempt_id=commit.attempt, target=target, table_version=entry.version,
        mode=commit.mode, method=commit.method, committed_at=at,
    )  # fmt: skip
    counts = Counts(
        read=commit.read, good=commit.rows, candidate=commit.rows, failing=commit.quarantined,
        quarantined=commit.quarantined,
    )  # fmt: skip
    outcome = OutcomeRecord(
        attempt_id=attempt_id, state="published", code=None, message=message, counts=counts,
        publication=publication, at=at,
    )  # fmt: skip
    log.record_outcome(outcome, Event(attempt_id=attempt_id, state="published", at=at, message=message))
