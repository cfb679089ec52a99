"""Names that Dagster allows for what a contract calls otherwise; the contract's own name always stands in the metadata."""

from __future__ import annotations

import hashlib
import re

VERDICT = "gate|verdict"
"""The check that says whether the batch may go out; it stands for all the others together."""

_SEPARATORS = {"|": "__", "+": "___", ".": "____"}
_PART = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*\Z")
_SPLIT = re.compile(r"([|+.])")
_LIKE_A_DIGEST = re.compile(r"(?:\A|__)x[0-9a-f]{12}\Z")
_LONGEST = 80


def check_name(check: str) -> str:
    """The name of a check's id in letters, digits and underscores; two ids never have one name.

    `amount|min` is `amount__min`, `a+b|unique` is `a___b__unique`. An id that cannot be read back from such a name ends in a
    digest of itself.
    """
    pieces = _SPLIT.split(check)
    name = "".join(_SEPARATORS.get(piece, piece) for piece in pieces)
    parts = pieces[::2]
    if all(_PART.match(part) for part in parts) and len(name) <= _LONGEST and not _LIKE_A_DIGEST.search(name):
        return name
    readable = re.sub(r"[^A-Za-z0-9]+", "_", check).strip("_")[: _LONGEST - 20].strip("_")
    digest = hashlib.sha256(check.encode()).hexdigest()[:12]
    return f"{readable}__x{digest}" if readable else f"x{digest}"
