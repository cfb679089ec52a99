"""The audit log in a SQL database. Every method is one transaction, and writers take turns at the head of the chain."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from invaract_orchestration.audit.log import AttemptView, PublishedView
from invaract_orchestration.audit.records import (
    SETTLED,
    Attempt,
    Event,
    OutcomeRecord,
    PublicationRecord,
    Submission,
    VerdictRecord,
    Waiver,
)
from invaract_orchestration.errors import AuditError, ContractVersionReused
from invaract_orchestration.stores import models, rows
from invaract_orchestration.stores.database import Database
from invaract_orchestration.stores.queries import fetch
from invaract_orchestration.stores.views import load_views, published_views
from invaract_orchestration.stores.writing import Entry, Subject, differing


class SqlAuditLog:
    """Writes the audit, and reads what the gate itself needs of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_attempt(self, submission: Submission, attempt: Attempt, first: Event) -> None:
        """Record contract version, submission and attempt with its first event."""
        self._database.write(lambda connection: _open_attempt(connection, submission, attempt, first))

    def append(self, event: Event) -> None:
        """Record one step."""
        self._database.write(lambda connection: _append(connection, event))

    def record_verdict(self, verdict: VerdictRecord, event: Event) -> None:
        """Record the verdict with all of its results; an attempt has a further one for each other target version."""
        self._database.write(lambda connection: _record_verdict(connection, verdict, event))

    def record_outcome(self, outcome: OutcomeRecord, event: Event) -> None:
        """Record how the attempt ended; only an outcome that is not settled may be followed by another."""
        self._database.write(lambda connection: _record_outcome(connection, outcome, event))

    def unsettled(self, contract: str, target: str) -> Sequence[AttemptView]:
        """Attempts of `run` whose last state is not settled, oldest first."""
        return self._database.read(lambda connection: _unsettled(connection, contract, target))

    def publications(self, contract: str, target: str, slice_digest: str | None = None) -> Sequence[PublishedView]:
        """What was published for the contract's target, the last recorded first."""
        condition = (models.publication.c.contract == contract) & (models.publication.c.target == target)
        if slice_digest is not None:
            condition &= models.submission.c.slice_digest == slice_digest
        return self._database.read(lambda connection: published_views(connection, condition))

    def grant(self, waiver: Waiver) -> None:
        """Record a waiver."""
        self._database.write(lambda connection: _grant(connection, waiver))

    def waivers(self, candidate_digest: str) -> Sequence[Waiver]:
        """Every waiver for one candidate, expired ones too, the first granted first."""
        table = models.waiver
        query = select(table).where(table.c.candidate_digest == candidate_digest).order_by(table.c.position)
        return self._database.read(lambda connection: [rows.waiver_of(row) for row in fetch(connection, query)])


def _open_attempt(connection: Connection, submission: Submission, attempt: Attempt, first: Event) -> None:
    if attempt.submission_id != submission.submission_id or first.attempt_id != attempt.attempt_id:
        raise AuditError(f"Attempt {attempt.attempt_id!r} and what is recorded with it name different ids")
    entry = Entry(connection, "opened")
    version = rows.contract_row(attempt.contract_version, entry.position)
    if entry.put(models.contract_version, version, same=("digest",)):
        raise ContractVersionReused(
            f"Version {version['version']!r} of contract {version['contract']!r} was recorded with another content",
            hint="give the changed contract a new version",
        )
    same = ("contract", "target", "parameters", "slice_digest", "intake_digest")
    row = rows.submission_row(submission, entry.position)
    _refuse(f"submission {submission.submission_id!r}", entry.put(models.submission, row, same=same))
    is_new = _put_attempt(entry, attempt, submission)
    if is_new:
        entry.commit(rows.event_row(first))


def _put_attempt(entry: Entry, attempt: Attempt, submission: Submission) -> bool:
    place = f"attempt {attempt.attempt_id!r}"
    row, context = rows.attempt_row(attempt, entry.position), rows.context_rows(attempt)
    known = entry.find(models.attempt, row)
    if known is None:
        entry.insert_attempt(row, context, submission)
        return True
    _refuse(place, differing(known, row, tuple(name for name in row if name != "position")))
    if entry.context_of(attempt.attempt_id) != {each["name"]: each["value"] for each in context}:
        _refuse(place, ("context",))
    return False


def _append(connection: Connection, event: Event) -> None:
    entry = Entry(connection, "step")
    entry.follow(event.attempt_id)
    if not entry.repeats(rows.event_row(event)):
        entry.commit(rows.event_row(event))


def _record_verdict(connection: Connection, verdict: VerdictRecord, event: Event) -> None:
    entry = Entry(connection, "verdict")
    entry.follow(verdict.attempt_id)
    earlier = entry.all_of(models.verdict, verdict.attempt_id)
    row = rows.verdict_row(verdict, len(earlier), entry.position)
    for known in earlier:
        if known["target_version"] == verdict.target_version:
            results = rows.result_rows(verdict, known["ordinal"])
            found = entry.results_of(verdict.attempt_id, known["ordinal"])
            same = tuple(name for name in row if name not in {"ordinal", "position", "at"})
            _refuse(f"the verdict of attempt {verdict.attempt_id!r}", differing(known, row, same) or found != results)
            return
    entry.insert(models.verdict, row)
    entry.insert(models.check_result, *rows.result_rows(verdict, row["ordinal"]))
    entry.commit(rows.event_row(event))


def _record_outcome(connection: Connection, outcome: OutcomeRecord, event: Event) -> None:
    entry = Entry(connection, "outcome")
    subject = entry.follow(outcome.attempt_id)
    earlier = entry.all_of(models.outcome, outcome.attempt_id)
    row = rows.outcome_row(outcome, len(earlier), entry.position)
    place = f"the outcome of attempt {outcome.attempt_id!r}"
    if outcome.publication is not None:
        _put_publication(entry, outcome.publication, subject)
    if earlier:
        same = tuple(name for name in row if name not in {"ordinal", "position", "at"})
        differences = differing(earlier[-1], row, same)
        if not differences:
            return
        if earlier[-1]["state"] in SETTLED:
            _refuse(place, differences)
    entry.insert(models.outcome, row)
    entry.commit(rows.event_row(event))


def _put_publication(entry: Entry, publication: PublicationRecord, subject: Subject) -> None:
    place = f"the publication of submission {subject.submission_id!r}"
    if publication.submission_id != subject.submission_id:
        raise AuditError(f"A publication of submission {publication.submission_id!r} cannot be {place}")
    row = rows.publication_row(publication, subject.contract, entry.position)
    same = tuple(name for name in row if name not in {"position", "committed_at"})
    _refuse(place, entry.put(models.publication, row, same=same))
    entry.mark_published(publication.attempt_id, publication.submission_id)


def _unsettled(connection: Connection, contract: str, target: str) -> Sequence[AttemptView]:
    state = models.attempt_state
    query = (
        select(state.c.attempt_id)
        .where(state.c.contract == contract, state.c.target == target, state.c.kind == "run")
        .where(state.c.state.not_in(SETTLED))
        .order_by(state.c.position)
    )
    return load_views(connection, connection.scalars(query).all(), with_results=True)


def _grant(connection: Connection, waiver: Waiver) -> None:
    entry = Entry(connection, "waiver")
    row = rows.waiver_row(waiver, entry.position)
    is_known = entry.find(models.waiver, row) is not None
    same = tuple(name for name in row if name != "position")
    _refuse(f"waiver {waiver.waiver_id!r}", entry.put(models.waiver, row, same=same))
    if not is_known:
        entry.commit(rows.waiver_event(waiver))


def _refuse(place: str, differences: Sequence[str] | bool) -> None:
    """Raise when the record at `place` exists with another content."""
    if not differences:
        return
    named = "" if differences is True else " (" + ", ".join(sorted(differences)) + ")"
    raise AuditError(
        f"{place[0].upper()}{place[1:]} was recorded with another content{named}",
        hint="what is recorded is never changed: use a new id",
    )
