"""Retention: candidates and quarantined rows leave when their time is over, never while their submission is unsettled."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.audit.records import SETTLED
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.scalars import duration_seconds


class AttemptLookup(Protocol):
    """The one question that the clean-up asks of the audit."""

    def attempt(self, attempt_id: str) -> AttemptView | None:
        """One attempt; null when there is none of that id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What was removed, and what was left alone because it is unsettled or not on record."""

    removed: tuple[Path, ...]
    left: tuple[Path, ...]
    freed: int
    """Bytes; a file that the published table shares is not counted, as its space stays in use."""


def clean_candidates(contract: Contract, root: Path, audit: AttemptLookup, now: datetime, *, dry_run: bool) -> Cleaned:
    """Remove the candidates of the contract that are older than `publish.candidate.keep`."""
    removed, left, freed = [], [], 0
    for folder in _attempts(root / contract.contract):
        age = _age(folder, audit, now)
        if age is None:
            left.append(folder)
            continue
        state, passed_for = age
        if passed_for < _kept_for(contract, state):
            continue
        freed += sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and f.stat().st_nlink == 1)
        removed.append(folder)
        if not dry_run:
            shutil.rmtree(folder)
            _remove_if_empty(folder.parent)
    return Cleaned(removed=tuple(removed), left=tuple(left), freed=freed)


def expired_attempts(contract: Contract, attempt_ids: list[str], audit: AttemptLookup, now: datetime) -> list[str]:
    """Which of the attempts, whose failing rows are in the quarantine, are settled and older than `quarantine.keep`."""
    limit = timedelta(seconds=duration_seconds(contract.quarantine.keep))
    return [a for a in attempt_ids if (age := _settled_age(a, audit, now)) is not None and age[1] >= limit]


def _attempts(root: Path) -> Iterator[Path]:
    if root.is_dir():
        for submission in sorted(root.iterdir()):
            yield from (p for p in sorted(submission.iterdir()) if p.is_dir())


def _age(folder: Path, audit: AttemptLookup, now: datetime) -> tuple[str, timedelta] | None:
    return _settled_age(folder.name, audit, now)


def _settled_age(attempt_id: str, audit: AttemptLookup, now: datetime) -> tuple[str, timedelta] | None:
    """(state, time since it ended); none while it is unsettled or not on record."""
    view = audit.attempt(attempt_id)
    if view is None or view.outcome is None or view.state not in (*SETTLED, "judged"):
        return None
    return view.state, now - view.outcome.at


def _kept_for(contract: Contract, state: str) -> timedelta:
    keep = contract.publish.candidate.keep if contract.publish else None
    if keep is None:
        return timedelta(days=30)
    return timedelta(seconds=duration_seconds(keep.passed if state in ("published", "no_op", "judged") else keep.rejected))


def _remove_if_empty(folder: Path) -> None:
    if not any(folder.iterdir()):
        folder.rmdir()
