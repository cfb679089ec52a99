"""The candidate's files on disk, whichever engine wrote them."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from invaract_orchestration.candidate.candidate import Candidate, candidate_digest
from invaract_orchestration.errors import CandidateChanged


def redigest(candidate: Candidate) -> str:
    """The candidate's digest from what its files hold now.

    Raises:
        CandidateChanged: a file is no longer there, or cannot be read.
    """
    try:
        digests = file_digests([f.path for f in candidate.files])
        sizes = [Path(f.path).stat().st_size for f in candidate.files]
    except OSError:
        raise CandidateChanged("a file of the candidate is no longer there or cannot be read") from None
    files = tuple(replace(f, digest=d, size=s) for f, d, s in zip(candidate.files, digests, sizes, strict=True))
    return candidate_digest(candidate.columns, files)


def file_digests(paths: Sequence[str]) -> list[str]:
    """SHA-256 of each file, two at a time: hashing lets go of the interpreter's lock."""

    def digest(path: str) -> str:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(digest, paths))


def remove(paths: Iterable[str | Path]) -> None:
    """Remove files that may not be there; folders stay."""
    for path in list(paths):
        with contextlib.suppress(OSError):
            Path(path).unlink()
