"""What every node of a plan has, and what those with one input share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from invaract_orchestration.candidate.plan.expressions import Attribute, Expression

if TYPE_CHECKING:
    from invaract_orchestration.candidate.plan.nodes import Plan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """Where it was written, as far as the front end knows it (no file: the text), and the columns that it puts out."""

    line: int | None = None
    file: str | None = None
    output: tuple[Attribute, ...] = field(init=False, default=())

    def _put_out(self, output: tuple[Attribute, ...]) -> None:
        object.__setattr__(self, "output", output)

    @property
    def children(self) -> tuple[Plan, ...]:
        """The inputs, in order."""
        return ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The node's own expressions."""
        return ()

    @property
    def beside(self) -> tuple[Plan, ...]:
        """Plans of statements that run with this one; no part of its rows, so only a rule that forbids looks there."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unary(Node):
    """A node over one input, whose columns it puts out unless it says otherwise."""

    child: Plan

    def __post_init__(self) -> None:
        self._put_out(self.child.output)

    @property
    def children(self) -> tuple[Plan, ...]:
        """The one input."""
        return (self.child,)
