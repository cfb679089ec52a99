"""The candidate: the rows to publish, materialised once and bound by a digest. And where the other rows went."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.contract.transformations import ROW_KEEPING


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """What the writer knows of one column of one file. Bounds are texts of values, null where not known or not exact."""

    nulls: int
    minimum: str | None = None
    maximum: str | None = None
    has_nan: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFile:
    """One Parquet file: its path, size in bytes, rows, SHA-256 of its content, partition values and statistics by column.

    The statistics are in memory only: they hold values, so no part of them is ever recorded.
    """

    path: str
    size: int
    rows: int
    digest: str
    partition: tuple[tuple[str, str | None], ...] = ()
    statistics: Mapping[str, ColumnStatistics] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """The materialised rows: names as the target spells them, types, files and the digest over all of it."""

    location: str
    columns: tuple[tuple[str, FieldType], ...]
    spelled: Mapping[str, str]
    """Field name to the target's spelling of it."""
    files: tuple[CandidateFile, ...]
    digest: str

    @property
    def rows(self) -> int:
        """Rows over all files."""
        return sum(f.rows for f in self.files)

    @property
    def size(self) -> int:
        """Bytes over all files."""
        return sum(f.size for f in self.files)


def candidate_digest(columns: tuple[tuple[str, FieldType], ...], files: tuple[CandidateFile, ...]) -> str:
    """A digest over names, types and the contents of all files; file names and their order do not matter."""
    body = {
        "columns": [[name, str(type_)] for name, type_ in columns],
        "files": sorted([f.digest, f.rows, f.size, list(map(list, f.partition))] for f in files),
    }
    return "sha256:" + hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How a row check did: rows looked at, rows that failed, rows it could not be asked of, rows without a value."""

    rows: int
    failed: int = 0
    undecided: int = 0
    nulls: int | None = None
    evidence: str = "scan"
    sides: tuple[Tally, Tally] | None = None
    """What this is the sum of, where the check was asked of the rows before a function and of its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingRows:
    """Rows that broke a row check with their original text, in a file that is there as long as the engine's session."""

    location: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCount:
    """The rows that a step was given and gave; `at` is its position among the contract's steps."""

    at: int
    kind: str
    phase: str
    rows_in: int
    rows_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Where the rows of a batch with steps went. Each phase: rows that went in, that came out, and that failed its checks.

    `unreadable` are records that never became rows.
    """

    unreadable: int
    pre_in: int
    pre_out: int
    pre_failing: int
    post_in: int
    post_out: int
    post_failing: int
    steps: tuple[StepCount, ...] = ()

    @property
    def filtered(self) -> int:
        """Rows that a filter left out."""
        return sum(s.rows_in - s.rows_out for s in self.steps if s.kind == "filter")

    @property
    def deduplicated(self) -> int:
        """Rows that stood for a key which another row has."""
        return sum(s.rows_in - s.rows_out for s in self.steps if s.kind == "deduplicate")

    def unaccounted(self, read: int, candidate: int) -> str | None:
        """What does not add up, or none."""
        sums = (
            (read, self.unreadable + self.pre_in, "records read, and rows that went into the steps"),
            (self.pre_out - self.pre_failing, self.post_in, "rows that passed the first checks, and rows that went on"),
            (self.post_out - self.post_failing, candidate, "rows that passed all checks, and rows written"),
        )
        for one, other, what in sums:
            if one != other:
                return f"{one} {what.replace(', and ', f', but {other} ')}"
        return self._broken_chain("pre", self.pre_in, self.pre_out) or self._broken_chain("post", self.post_in, self.post_out)

    def _broken_chain(self, phase: str, rows: int, last: int) -> str | None:
        for step in self.steps:
            if step.phase != phase:
                continue
            if step.rows_in != rows:
                return f"{rows} rows came to step {step.at + 1} ({step.kind}), but it was given {step.rows_in}"
            if step.kind in ROW_KEEPING and step.rows_in != step.rows_out:
                return f"step {step.at + 1} ({step.kind}) keeps its rows, but was given {step.rows_in} and gave {step.rows_out}"
            rows = step.rows_out
        return None if rows == last else f"{rows} rows left the last step of phase {phase}, but {last} were checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Materialised:
    """What writing the candidate gave. Without steps `read` = candidate rows + `set_aside`, with steps see `stages`; failing rows
    may also still be in the candidate.
    """

    candidate: Candidate
    read: int
    tallies: Mapping[str, Tally]
    failing: FailingRows | None
    set_aside: int
    """Rows that are not in the candidate because they failed."""
    stages: Stages | None = None
    """Where the rows went, for a contract with steps."""
    is_stopped: bool = False
    """Whether rows of the source failed in a batch that is rejected whole, so that a caller's function over them was not run."""
