"""The course of one attempt: what is known of it so far, its trail, and the result that it ends with."""

from __future__ import annotations

import platform
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Literal

from invaract_orchestration.audit.log import AuditLog
from invaract_orchestration.audit.records import (
    Attempt,
    ContractVersion,
    Counts,
    InputFile,
    PublicationRecord,
    State,
    Submission,
)  # fmt: skip
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.audit.trail import Trail
from invaract_orchestration.candidate.candidate import FailingRows, Materialised, Stages
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.digest import canonical_json, contract_digest
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import AuditError, AuditUnavailable, EngineFailure, GateError
from invaract_orchestration.publish.intent import Published
from invaract_orchestration.publish.publisher import KeepRequest
from invaract_orchestration.verdict.verdict import Verdict


class Course:
    """Everything that the result of an attempt will say. The gate fills it in step by step."""

    def __init__(
        self, *, contract: Contract, kind: Literal["run", "check", "adopt"], environment: str | None,
        parameters: Mapping[str, str], clock: Callable[[], datetime],
    ) -> None:  # fmt: skip
        self.contract, self.kind, self.environment, self.parameters = contract, kind, environment, parameters
        self.clock = clock
        self.digest = contract_digest(contract)
        self.attempt_id = f"a-{uuid.uuid4().hex}"
        self.started = clock()
        self.target = ""
        self.submission_id: str | None = None
        self.submission: Submission | None = None
        self.files: tuple[InputFile, ...] = ()
        self.checks: list[CheckResult] = []
        self.verdict: Verdict | None = None
        self.counts = Counts()
        self.quarantine: str | None = None
        self.lineage: Mapping[str, tuple[tuple[str, str], ...]] = {}
        self.publication: PublicationRecord | None = None
        self._trail: Trail | None = None

    @property
    def trail(self) -> Trail:
        """The trail, which is open from the moment the batch is known."""
        if self._trail is None:
            raise EngineFailure("a step was to be recorded before the attempt was")
        return self._trail

    @property
    def is_blocked(self) -> bool:
        """Whether a check so far keeps the batch from being published."""
        return any(c.is_blocking for c in self.checks)

    def open(
        self, submission: Submission, *, log: AuditLog, engine: str, context: Mapping[str, str],
        tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        """Put the batch and this attempt at it on record; nothing is read or written before.

        Raises:
            AuditUnavailable: the record could not be written.
        """
        self.submission, self.submission_id, self.files = submission, submission.submission_id, submission.files
        attempt = Attempt(
            attempt_id=self.attempt_id, submission_id=submission.submission_id, kind=self.kind,
            contract_version=ContractVersion(
                contract=self.contract.contract, version=self.contract.version, digest=self.digest,
                document=canonical_json(self.contract),
            ),
            environment=self.environment, engine=engine, host=platform.node(), started_at=self.started, context=context,
        )  # fmt: skip
        trail = Trail(log=log, attempt=attempt, clock=self.clock, tell=tell)
        trail.open(submission)
        self._trail = trail

    def judged(self, verdict: Verdict) -> None:
        """Put a verdict on record, unless it is there already."""
        if self.verdict is not verdict:
            self.verdict = verdict
            self.trail.verdict(verdict, self.counts)

    def count(self, materialised: Materialised) -> None:
        """Where the rows went. A row that is neither written nor set aside is an error, never a warning.

        Raises:
            GateError: the numbers do not add up.
        """
        written, aside = materialised.candidate.rows, materialised.set_aside
        failing = materialised.failing.rows if materialised.failing else 0
        stages = materialised.stages
        if stages is None and written + aside != materialised.read:
            raise GateError(
                f"{materialised.read} rows were read, but {written} written and {aside} set aside", code="rows.unaccounted"
            )
        if stages is not None and (wrong := stages.unaccounted(materialised.read, written)):
            raise GateError(wrong, code="rows.unaccounted", hint="a lookup's key may be there twice in its link")
        is_kept_aside = self.contract.quality.on_row_failure == "quarantine"
        self.counts = Counts(
            read=materialised.read, good=written if stages else materialised.read - failing, candidate=written, failing=failing,
            quarantined=aside if is_kept_aside else 0,
        )  # fmt: skip

    def published(self, found: Published, on_record: PublicationRecord | None = None) -> None:
        """The submission is in the target, by this attempt or by an earlier one; what is on record of that stays."""
        self.counts = replace(self.counts, inserted=found.inserted, updated=found.updated, deleted=found.deleted)
        if on_record is not None:
            self.publication = on_record
            return
        mode = self.contract.publish.mode if self.contract.publish else ""
        self.publication = PublicationRecord(
            submission_id=self.submission_id or "", target=self.target,
            attempt_id=found.commit.attempt if found.commit else self.attempt_id, table_version=found.version,
            mode=found.commit.mode if found.commit else mode, method=found.method,
            committed_at=found.committed_at or self.clock(),
        )  # fmt: skip

    def keeping(self, failing: FailingRows, kind: Literal["quarantined", "rejected"], place: str) -> KeepRequest:
        """What to keep of the failing rows: each set of them once per submission and contract, however often it is asked for."""
        self.quarantine = place
        return KeepRequest(
            location=place, rows=failing, submission_id=self.submission_id or "", attempt_id=self.attempt_id,
            once=f"invaract-quarantine:{self.submission_id}:{kind}:{self.digest[-16:]}", kind=kind, phase="pre",
            contract=self.contract.contract, version=self.contract.version,
        )  # fmt: skip

    def end(self, state: State, message: str, *, code: str | None = None, hint: str | None = None) -> GateResult:
        """Record how it ended. When that cannot be written after a publication, the result says so and a later run repairs it."""
        if self._trail is None:
            return self.result(state, message, code=code, hint=hint, is_recorded=False)
        try:
            self._trail.outcome(state, message, code=code, counts=self.counts, publication=self.publication)
        except AuditError as error:
            if state == "published" and not isinstance(error, AuditUnavailable) and self._is_recorded():
                return self.result(state, f"{message}; recorded by another attempt", code=code, hint=hint)
            if state == "unknown":
                return self.result(state, f"{message}; {error.sentence}", code=code, hint=hint, is_recorded=False)
            if state != "published":
                return self.result("failed", error.sentence, code=error.code, hint=error.hint, is_recorded=False)
            return self.result(
                state, f"{message}; the table is published, its audit record is not", code="audit.pending", is_recorded=False,
                hint="submit again when the audit store is back: nothing is published twice, and the record is written",
            )  # fmt: skip
        self._trail.tell(f"{state}: {message}")
        return self.result(state, message, code=code, hint=hint)

    def _is_recorded(self) -> bool:
        """Whether the publication is on record, whoever has written it."""
        if self._trail is None or self.submission is None:
            return False
        try:
            known = self._trail.log.publications(self.submission.contract, self.submission.target, self.submission.slice_digest)
        except AuditError:
            return False
        return any(view.publication.submission_id == self.submission_id for view in known)

    def result(
        self, state: State, message: str, *, code: str | None = None, hint: str | None = None, is_recorded: bool = True
    ) -> GateResult:
        """The result as things stand."""
        return GateResult(
            state=state, contract=self.contract.contract, version=self.contract.version, target=self.target,
            submission_id=self.submission_id, attempt_id=self.attempt_id, is_check=self.kind == "check",
            environment=self.environment, parameters=self.parameters,
            checks=self.verdict.results if self.verdict else tuple(self.checks), verdict=self.verdict,
            publication=self.publication, counts=self.counts, files=self.files, code=code, message=message, hint=hint,
            quarantine=self.quarantine, lineage=self.lineage,
            is_recorded=is_recorded, started_at=self.started, finished_at=self.clock(),
        )  # fmt: skip


def step_detail(stages: Stages | None) -> dict[str, str | int | None]:
    """Where the rows of a batch with steps went, for its record; nothing without steps."""
    if stages is None:
        return {}
    steps = [f"{s.at + 1} {s.kind} {s.phase}: {s.rows_in} in, {s.rows_out} out" for s in stages.steps]
    return {
        "filtered": stages.filtered, "deduplicated": stages.deduplicated, "steps": "; ".join(steps),
        "quarantined_pre": stages.unreadable + stages.pre_failing, "quarantined_post": stages.post_failing,
    }  # fmt: skip
