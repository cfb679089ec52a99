"""One finding of lint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from invaract_orchestration.contract.model import Contract

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """What was found, where, and how to mend it. `code` is stable; lines and columns count from 1."""

    code: str
    level: Literal["error", "warning"]
    message: str
    path: Path = ()
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def located(self, contract: Contract) -> LintFinding:
        """The same finding with the place that the contract's file has for its path."""
        place = contract.place_of(self.path)
        line, column = place if place is not None else (None, None)
        return replace(self, file=contract.file, line=line, column=column)

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.file, self.line, self.column) if p is not None)
        text = ": ".join(p for p in (place, f"{self.level} {self.code}", self.message) if p)
        return text if self.hint is None else f"{text}\n  Hint: {self.hint}"
