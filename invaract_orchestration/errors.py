"""The errors of the gate: an exception means "could not judge"; bad data is a verdict, never an exception.

    InvaractError
    ├── ContractError            the contract's file cannot be used; holds every problem found in it
    ├── UsageError               a call that makes no sense as it is: missing parameter, unknown environment
    │   └── UnsafeName           an id or parameter that could leave its place (defined in intake.parameters)
    │       └── UnfitValue       a parameter that is no value of its partition's column (defined there too)
    ├── GateError                could not judge or could not publish
    │   ├── InputUnreadable      a file is missing, cut off, changing or not what its format says
    │   ├── TargetRefused        the target's own schema, constraint or features forbid the publication
    │   ├── EngineFailure        the engine failed in a way that the gate does not know
    │   ├── PublishConflict      another writer won and the retries are used up
    │   ├── OutcomeUnknown       whether the commit landed cannot be known yet; reconcile decides
    │   ├── CandidateChanged     the candidate is not what the verdict was given for
    │   └── NotSupported         named and refused, because it is not built
    ├── AuditError
    │   ├── AuditUnavailable     the audit store cannot be reached or written
    │   │   └── AuditMissing     there is none yet
    │   └── ContractVersionReused  one version with two contents
    ├── ContractBlocked          raised for callers that want an exception for a rejected batch; holds the result
    └── MissingExtra             a package that an optional part needs is not installed
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class InvaractError(Exception):
    """Root of the tree. `code` is stable and machine-readable; the text is for people and never holds a cell value."""

    code = "error"

    def __init__(self, sentence: str, *, hint: str | None = None) -> None:
        self.sentence = sentence
        self.hint = hint
        super().__init__(sentence if hint is None else f"{sentence}\nHint: {hint}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with a contract: where, what, and how to mend it. Lines and columns count from 1."""

    message: str
    path: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None
    hint: str | None = None
    code: str = "contract.invalid"

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.file, self.line, self.column) if p is not None)
        text = ": ".join(p for p in (place, self.path, self.message) if p)
        return text if self.hint is None else f"{text}\n  Hint: {self.hint}"


class ContractError(InvaractError):
    """A contract that cannot be used; `problems` holds all of them."""

    code = "contract.invalid"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        if self.problems:
            self.code = self.problems[0].code
        super().__init__("\n".join(str(p) for p in self.problems))


class UsageError(InvaractError):
    """A call that makes no sense as it is."""

    code = "usage"


class GateError(InvaractError):
    """Could not judge or could not publish; nothing was published unless the class says otherwise."""

    code = "gate.failed"

    def __init__(self, sentence: str, *, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(sentence, hint=hint)
        if code is not None:
            self.code = code


class InputUnreadable(GateError):
    """A file that is missing, cut off, changing or not what its format says."""

    code = "input.unreadable"


class TargetRefused(GateError):
    """The target's own schema, constraints or features forbid the publication."""

    code = "publish.rejected_by_target"


class EngineFailure(GateError):
    """The engine failed in a way the gate does not know; its own message is withheld, as it may hold values."""

    code = "engine.failed"


class PublishConflict(GateError):
    """Another writer won, and the retries are used up."""

    code = "publish.concurrent"


class OutcomeUnknown(GateError):
    """Whether the commit landed cannot be known yet."""

    code = "publish.unknown"


class CandidateChanged(GateError):
    """The candidate is not what the verdict was given for."""

    code = "publish.candidate_changed"


class NotSupported(GateError):
    """Named and refused, because it is not built."""

    code = "not_supported"


class AuditError(InvaractError):
    """The audit could not be written or read."""

    code = "audit.failed"


class AuditUnavailable(AuditError):
    """The audit store cannot be reached or written."""

    code = "audit.unavailable"


class AuditMissing(AuditUnavailable):
    """There is no audit store yet: nothing was ever run here."""


class ContractVersionReused(AuditError):
    """The same contract version was recorded with another content."""

    code = "contract.version_reused"


def is_panic(error: BaseException) -> bool:
    """Whether an error is a defect in a library written in Rust: it is no `Exception`, and its text may hold values."""
    return type(error).__name__ == "PanicException"


class ContractBlocked(InvaractError):
    """A batch was rejected; `result` is the gate's result."""

    code = "blocked"

    def __init__(self, sentence: str, result: Any) -> None:
        super().__init__(sentence)
        self.result = result


class MissingExtra(InvaractError):
    """A package that an optional part needs is not installed."""

    code = "missing_extra"

    def __init__(self, part: str, extra: str) -> None:
        super().__init__(
            f"{part} needs packages that are not installed",
            hint=f"pip install 'invaract-orchestration[{extra}]'",
        )
