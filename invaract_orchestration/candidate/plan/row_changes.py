"""Statements that write: rows into a target, or changes of a target's rows, alone or after others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from invaract_orchestration.candidate.plan.expressions import Expression
from invaract_orchestration.candidate.plan.node_form import Node, Unary

if TYPE_CHECKING:
    from invaract_orchestration.candidate.plan.nodes import Plan

Path = tuple[str, ...]
"""A column of a target, or a field nested in it; empty where the text does not say which."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Write(Unary):
    """The statement that puts rows into a target.

    `updated`: the columns that it sets in rows which are there already (an upsert); null: all of them.
    """

    target: str
    mode: str = "append"
    updated: tuple[Path, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeAction:
    """One WHEN clause. `assigned` holds the columns that an update or insert sets; null: all of them (`*`)."""

    when: OneOf["matched", "not_matched", "not_matched_by_source"]
    action: OneOf["update", "delete", "insert", "nothing"]
    condition: Expression | None = None
    assigned: tuple[Path, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Merge(Node):
    """MERGE INTO a target."""

    target: Plan
    source: Plan
    condition: Expression
    actions: tuple[MergeAction, ...]

    @property
    def children(self) -> tuple[Plan, ...]:
        """The target, then the source."""
        return (self.target, self.source)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The match condition, then those of the clauses."""
        return (self.condition, *(a.condition for a in self.actions if a.condition is not None))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Update(Unary):
    """UPDATE of a target; without condition it takes every row."""

    condition: Expression | None
    assignments: tuple[tuple[Path, Expression], ...]
    target: str | None = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The condition, then the assigned values."""
        values = tuple(value for _, value in self.assignments)
        return values if self.condition is None else (self.condition, *values)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Delete(Unary):
    """DELETE from a target; without condition it takes every row."""

    condition: Expression | None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The condition, where there is one."""
        return () if self.condition is None else (self.condition,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Script(Unary):
    """The last of several statements; `others` ran before it, or stand in its WITH, and are no queries."""

    others: tuple[Plan, ...]

    @property
    def beside(self) -> tuple[Plan, ...]:
        """The other statements."""
        return self.others
