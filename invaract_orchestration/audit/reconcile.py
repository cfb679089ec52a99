"""Settling what was left open, from the target's own history: the log of the table decides, never a guess."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

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
    open: tuple[str, ...] = ()
    bypassed: tuple[TargetCommit, ...] = ()
    oldest_version: int | None = None
    """The first version that the target's log still holds; what is older cannot be written again."""


def settle(
    log: AuditLog, publisher: Publisher, contract: str, target: str, clock: Callable[[], datetime]
) -> tuple[tuple[str, State], ...]:
    """Settle the contract's open attempts: published when the target has the submission, failed when the process that ran it is
    gone. An attempt that may still be running is left alone.

    Raises:
        AuditUnavailable: the store cannot be read or written.
        GateError: the target cannot be read.
    """
    settled: list[tuple[str, State]] = []
    for view in log.unsettled(contract, target):
        is_here = view.attempt.context.get(PROCESS, "").startswith(f"{platform.node()}:")
        is_gone = _is_gone(view.attempt, clock())
        if is_here and not is_gone:
            continue  # the process that runs it will say how it ends
        found = publisher.find(target, view.submission.submission_id)
        if found is not None:
            _record(log, view, "published", f"settled: the target has it{_as_version(found)}", found, clock())
            settled.append((view.attempt.attempt_id, "published"))
        elif is_gone:
            _record(log, view, "failed", "settled: the attempt was interrupted before it published", None, clock())
            settled.append((view.attempt.attempt_id, "failed"))
    return tuple(settled)


def reconcile(
    log: AuditLog, publisher: Publisher, contract: str, target: str, clock: Callable[[], datetime]
) -> Reconciliation:
    """Settle open attempts, write lost rows again from the target's commits, and list commits that by-passed the gate."""
    settled = settle(log, publisher, contract, target, clock)
    history = publisher.history(target)
    known = {view.publication.submission_id for view in log.publications(contract, target)}
    rebuilt = []
    for entry in reversed(history):
        if entry.commit is not None and entry.commit.contract == contract and entry.commit.submission not in known:
            _rebuild(log, entry, entry.commit, target)
            rebuilt.append(entry.commit.submission)
    first_own = min((e.version for e in history if e.commit is not None), default=None)
    return Reconciliation(
        settled=settled, rebuilt=tuple(rebuilt),
        open=tuple(v.attempt.attempt_id for v in log.unsettled(contract, target)),
        bypassed=tuple(
            e for e in history
            if e.commit is None and first_own is not None and e.version > first_own
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
    return f"{platform.node()}:{os.getpid()}:{_started(os.getpid())}"


def is_run_by_another(attempt: Attempt) -> bool:
    """Whether the process that made the attempt is another one of this machine, and still there."""
    host, _, rest = attempt.context.get(PROCESS, "").partition(":")
    pid, _, started = rest.partition(":")
    is_other = host == platform.node() and pid.isdigit() and int(pid) != os.getpid()
    return is_other and _started(int(pid)) == started


def _is_gone(attempt: Attempt, now: datetime) -> bool:
    host, _, rest = attempt.context.get(PROCESS, "").partition(":")
    pid, _, started = rest.partition(":")
    if host == platform.node() and pid.isdigit():
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
) -> None:
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
    log.record_outcome(outcome, Event(attempt_id=view.attempt.attempt_id, state=state, at=at, message=message))


def _rebuild(log: AuditLog, entry: TargetCommit, commit: CommitRecord, target: str) -> None:
    """Submission, attempt, outcome and publication as the commit tells them; its results and files are lost."""
    submission = Submission(
        submission_id=commit.submission, contract=commit.contract, target=target, parameters=commit.parameters,
        slice_digest=commit.slice, intake_digest=commit.intake_digest, files=(),
    )  # fmt: skip
    attempt = Attempt(
        attempt_id=commit.attempt, submission_id=commit.submission, kind="run", environment=commit.environment,
        contract_version=ContractVersion(
            contract=commit.contract, version=commit.contract_version, digest=commit.contract_digest, document="",
        ),
        engine=commit.engine, host="", started_at=entry.committed_at, context={"rebuilt": "from the target's log"},
    )  # fmt: skip
    message = f"version {entry.version}, {commit.rows} rows, {commit.method}; written again from the target's log"
    at = entry.committed_at
    log.open_attempt(submission, attempt, Event(attempt_id=commit.attempt, state="received", at=at, message="rebuilt"))
    publication = PublicationRecord(
        submission_id=commit.submission, attempt_id=commit.attempt, target=target, table_version=entry.version,
        mode=commit.mode, method=commit.method, committed_at=at,
    )  # fmt: skip
    counts = Counts(
        read=commit.read, good=commit.rows, candidate=commit.rows, failing=commit.quarantined,
        quarantined=commit.quarantined,
    )  # fmt: skip
    outcome = OutcomeRecord(
        attempt_id=commit.attempt, state="published", code=None, message=message, counts=counts,
        publication=publication, at=at,
    )  # fmt: skip
    log.record_outcome(outcome, Event(attempt_id=commit.attempt, state="published", at=at, message=message))
