"""One check's result: kept, broken or unverifiable, with what was expected, what was found and what that rests on.

A result holds counts, names and texts of the contract. It has no place for a cell value, so none can leave through it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NoReturn

Outcome = Literal["kept", "broken", "unverifiable"]
Stage = Literal["plan", "header", "schema", "rows", "keys", "dataset", "target"]
Evidence = Literal["contract", "plan", "header", "statistics", "write", "scan", "key pass", "target", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check said about one candidate.

    `rows` is how many rows the check looked at, null where it is not about rows; then `rows` is the sum of passed, `failed` and
    `undecided`. `nulls` of them had no value to look at and count as passed (null: not known).
    """

    check: str
    stage: Stage
    outcome: Outcome
    severity: Literal["error", "warn"] = "error"
    expected: str
    found: str
    evidence: Evidence
    hint: str | None = None
    place: str | None = None
    origin: Literal["contract", "target", "gate"] = "contract"
    rows: int | None = None
    failed: int | None = None
    undecided: int = 0
    nulls: int | None = None
    waiver: str | None = None
    """The id of the waiver that lets this candidate through although the check is not kept; null when there is none."""
    is_set_aside: bool = False
    """Every failed and undecided row was moved to the quarantine, so the check holds on what is left and does not block."""

    def __post_init__(self) -> None:
        if self.rows is not None and not 0 <= (self.failed or 0) + self.undecided <= self.rows:
            raise ValueError(f"{self.check}: failed and undecided rows exceed the {self.rows} rows looked at")
        if self.outcome == "kept" and (self.failed or self.undecided):
            raise ValueError(f"{self.check}: a kept check has no failed and no undecided row")

    def __bool__(self) -> NoReturn:
        raise TypeError("a check result is kept, broken or unverifiable: compare its outcome, never its truth")

    @property
    def passed(self) -> int | None:
        """Rows that passed, null where the check is not about rows."""
        return None if self.rows is None else self.rows - (self.failed or 0) - self.undecided

    @property
    def is_blocking(self) -> bool:
        """Whether this result alone keeps the batch from being published."""
        return self.severity == "error" and self.outcome != "kept" and not self.is_set_aside and not self.waiver
