"""How a submission ended, as callers see it."""

from __future__ import annotations

from dataclasses import dataclass

EXIT_PUBLISHED = 0
EXIT_REJECTED = 1
EXIT_QUARANTINED = 2
EXIT_FAILED = 3
EXIT_NOT_RECORDED = 4
EXIT_USAGE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """Where the rows went; null is not known. read = quarantined + filtered + deduplicated + good."""

    read: int | None = None
    good: int | None = None
    failing: int | None = None
    quarantined: int | None = None
    filtered: int = 0
    deduplicated: int = 0
    inserted: int | None = None
    updated: int | None = None
    unchanged: int | None = None
    deleted: int | None = None


def exit_code(state: str, *, quarantined: int, is_recorded: bool, is_check: bool, passed: bool) -> int:
    """The exit code of a state: 0 published or nothing to do, 1 rejected, 2 published with rows set aside, 3 could not, 4 the
    audit is still to be written. A check that would pass is 0 or 2 in the same way."""
    if state in ("published", "no_op") or (is_check and state == "judged" and passed):
        if not is_recorded:
            return EXIT_NOT_RECORDED
        return EXIT_QUARANTINED if quarantined else EXIT_PUBLISHED
    return EXIT_REJECTED if state == "rejected" else EXIT_FAILED


