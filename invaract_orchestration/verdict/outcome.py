"""How a submission ended, as callers see it."""

from __future__ import annotations

EXIT_PUBLISHED = 0
EXIT_REJECTED = 1
EXIT_QUARANTINED = 2
EXIT_FAILED = 3
EXIT_NOT_RECORDED = 4


def exit_code(state: str, *, quarantined: int, is_recorded: bool, is_check: bool, passed: bool) -> int:
    """The exit code of a state: 0 published or nothing to do, 1 rejected, 2 published with rows set aside, 3 could not, 4 the
    audit is still to be written. A check that would pass is 0 or 2 in the same way."""
    if state in ("published", "no_op") or (is_check and state == "judged" and passed):
        if not is_recorded:
            return EXIT_NOT_RECORDED
        return EXIT_QUARANTINED if quarantined else EXIT_PUBLISHED
    return EXIT_REJECTED if state == "rejected" else EXIT_FAILED


