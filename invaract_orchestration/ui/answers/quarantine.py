"""Failing rows: how many and why, never what stood in them."""

from __future__ import annotations

from typing import Literal

from invaract_orchestration.ui.answers.answer import Answer
from invaract_orchestration.ui.answers.runs import RunSummary


class Reason(Answer):
    """A check that rows of a submission failed; a row may fail several."""

    check: str
    failed: int
    undecided: int
    rows: int | None
    is_set_aside: bool


class QuarantineEntry(Answer):
    """The failing rows of one attempt: how many and why, never what stood in them."""

    run: RunSummary
    kind: Literal["quarantined", "rejected"]
    rows: int
    reasons: list[Reason]


class Quarantine(Answer):
    """Attempts with failing rows, the last recorded first."""

    entries: list[QuarantineEntry]
    total: int
    newer: str | None
    older: str | None
    unreadable: list[str]
