"""What a translation could not carry over, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass

from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One loss in a translation. The message names nodes, columns and tables, never a value of the query."""

    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A plan, with every loss on the way to it; no diagnostics: everything was understood.

    `case_sensitive`: names that differ in letter case alone are different in the session that made the plan.
    """

    plan: Plan
    diagnostics: tuple[Diagnostic, ...] = ()
    case_sensitive: bool = False


class SqlSyntaxError(UsageError):
    """A text that is no SQL of its dialect. Lines and columns count from 1; the text itself is not repeated."""

    code = "plan.unreadable_sql"

    def __init__(self, *, dialect: str, reason: str, line: int | None = None, column: int | None = None) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        place = "" if line is None else f" at line {line}, column {column}"
        super().__init__(
            f"The SQL text{place} is not {dialect} SQL: {reason}",
            hint="check the text with the engine that will run it, or name its dialect",
        )
