"""What a caller gets for one attempt: everything that was decided, and whether it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from invaract_orchestration.audit.records import Counts, InputFile, PublicationRecord, State
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.errors import ContractBlocked, GateError, OutcomeUnknown, PublishConflict
from invaract_orchestration.verdict.outcome import EXIT_FAILED, EXIT_REJECTED, exit_code
from invaract_orchestration.verdict.verdict import Verdict

_ERRORS: Mapping[str, type[GateError]] = {"conflict": PublishConflict, "unknown": OutcomeUnknown}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """How an attempt ended. Holds names, counts and texts of the contract, never a cell value.

    `submission_id` is null only when the call was refused before anything was looked at. `code` names the reason in words that
    stay the same; null when all went well. `quarantine` is the place of failing rows that were kept, null when none were.
    """

    state: State
    contract: str
    version: str
    target: str
    submission_id: str | None
    attempt_id: str
    is_check: bool
    environment: str | None
    parameters: Mapping[str, str]
    checks: tuple[CheckResult, ...] = ()
    verdict: Verdict | None = None
    publication: PublicationRecord | None = None
    counts: Counts = field(default_factory=Counts)
    files: tuple[InputFile, ...] = ()
    code: str | None = None
    message: str = ""
    hint: str | None = None
    quarantine: str | None = None
    lineage: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Output column to the (input, column) pairs that it derives from; empty where no query was judged."""
    is_recorded: bool = True
    started_at: datetime
    finished_at: datetime

    def __bool__(self) -> NoReturn:
        raise TypeError("a result is no yes or no: compare its state, or call raise_if_blocked()")

    @property
    def exit_code(self) -> int:
        """0 published or nothing to do, 1 rejected, 2 published with rows set aside, 3 could not, 4 audit still to be written."""
        return exit_code(
            self.state, quarantined=self.counts.quarantined or 0, is_recorded=self.is_recorded, is_check=self.is_check,
            passed=self.verdict is not None and self.verdict.passed,
        )  # fmt: skip

    @property
    def blocking(self) -> tuple[CheckResult, ...]:
        """The results that kept the batch from being published."""
        return tuple(c for c in self.checks if c.is_blocking)

    def raise_if_blocked(self) -> None:
        """Do nothing when all went well: published, nothing to do, or a check that would publish.

        Raises:
            ContractBlocked: the batch was rejected; it holds this result.
            GateError: it could not be judged or published, or whether it was is not known.
        """
        if self.exit_code == EXIT_REJECTED:
            reasons = ", ".join(c.check for c in self.blocking[:10]) or self.code or "rejected"
            raise ContractBlocked(f"contract {self.contract}: the batch was rejected: {reasons}", self)
        if self.exit_code == EXIT_FAILED:
            kind = _ERRORS.get(self.state, GateError)
            raise kind(f"contract {self.contract}: {self.message or self.state}", hint=self.hint, code=self.code)
