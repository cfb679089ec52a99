"""The course of one attempt: what is known of it so far, its trail, and the result that it ends with."""

from __future__ import annotations

import platform
import uuid
from collections.abc import Callable, Mapping
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
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.digest import canonical_json, contract_digest
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import AuditError, EngineFailure
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
        self.files: tuple[InputFile, ...] = ()
        self.checks: list[CheckResult] = []
        self.verdict: Verdict | None = None
        self.counts = Counts()
        self.quarantine: str | None = None
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
        self.submission_id, self.files = submission.submission_id, submission.files
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

    def end(self, state: State, message: str, *, code: str | None = None, hint: str | None = None) -> GateResult:
        """Record how it ended. When that cannot be written after a publication, the result says so and a later run repairs it."""
        if self._trail is None:
            return self.result(state, message, code=code, hint=hint, is_recorded=False)
        try:
            self._trail.outcome(state, message, code=code, counts=self.counts, publication=self.publication)
        except AuditError as error:
            if state != "published":
                return self.result("failed", error.sentence, code=error.code, hint=error.hint, is_recorded=False)
            return self.result(
                state, f"{message}; the table is published, its audit record is not", code="audit.pending", is_recorded=False,
                hint="submit again when the audit store is back: nothing is published twice, and the record is written",
            )  # fmt: skip
        self._trail.tell(f"{state}: {message}")
        return self.result(state, message, code=code, hint=hint)

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
            quarantine=self.quarantine, is_recorded=is_recorded, started_at=self.started, finished_at=self.clock(),
        )  # fmt: skip
