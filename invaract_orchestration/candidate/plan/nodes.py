"""The nodes of a plan: what a transformation does, whatever it was written in.

Engine-free, frozen, compared by identity. Every node knows its output from the moment it is built, so a deep plan is
never walked to find it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from invaract_orchestration.candidate.plan.expressions import Alias, Attribute, Expression
from invaract_orchestration.candidate.plan.node_form import Node, Unary
from invaract_orchestration.candidate.plan.row_changes import Delete, Merge, Script, Update, Write

JoinKind = OneOf["inner", "cross", "left", "right", "full", "semi", "anti"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Read(Node):
    """A source: a table, files, or (`inline`) rows written in the query itself. It hides nothing of the job."""

    dataset: str
    columns: tuple[Attribute, ...]
    format: str | None = None
    inline: bool = False
    rows: int | None = None

    def __post_init__(self) -> None:
        self._put_out(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Project(Unary):
    """The select list."""

    items: tuple[Alias, ...]

    def __post_init__(self) -> None:
        self._put_out(tuple(item.attribute for item in self.items))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The items."""
        return self.items


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Filter(Unary):
    """WHERE, HAVING and QUALIFY alike."""

    condition: Expression

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The condition."""
        return (self.condition,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Join(Node):
    """A join of two inputs; an inner one without condition is a comma join. A lateral's right input reads the left."""

    left: Plan
    right: Plan
    kind: JoinKind
    condition: Expression | None = None
    lateral: bool = False

    def __post_init__(self) -> None:
        kept = () if self.kind in ("semi", "anti") else self.right.output
        self._put_out((*self.left.output, *kept))
        if not self.lateral and {a.id for a in self.left.output} & {a.id for a in self.right.output}:
            raise ValueError("the two inputs of a join share a column id")

    @property
    def children(self) -> tuple[Plan, ...]:
        """Left, then right."""
        return (self.left, self.right)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The condition, where there is one."""
        return () if self.condition is None else (self.condition,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Aggregate(Unary):
    """GROUP BY (or PIVOT). Each grouping set holds positions in `keys`; null: one set with all of them."""

    keys: tuple[Expression, ...]
    items: tuple[Alias, ...]
    grouping_sets: tuple[tuple[int, ...], ...] | None = None
    pivot: bool = False

    def __post_init__(self) -> None:
        self._put_out(tuple(item.attribute for item in self.items))
        if any(at >= len(self.keys) for one in self.grouping_sets or () for at in one):
            raise ValueError("a grouping set names a key that is not there")

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The grouping sets, the plain GROUP BY as its single one."""
        return (tuple(range(len(self.keys))),) if self.grouping_sets is None else self.grouping_sets

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The keys, then the items."""
        return (*self.keys, *self.items)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Union(Node):
    """UNION ALL by position: the column at a place takes the values of that place in every branch.

    Of a recursive query the later branches read `again`, the plan of the first, where they mean the union itself.
    """

    branches: tuple[Plan, ...]
    columns: tuple[Attribute, ...]
    again: Plan | None = None

    def __post_init__(self) -> None:
        if len(self.branches) < 2 or any(len(b.output) != len(self.columns) for b in self.branches):
            raise ValueError("a union has two or more branches of one width")
        self._put_out(self.columns)

    @property
    def children(self) -> tuple[Plan, ...]:
        """The branches."""
        return self.branches


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SetOperation(Node):
    """INTERSECT or EXCEPT, by position."""

    operator: OneOf["INTERSECT", "EXCEPT"]
    left: Plan
    right: Plan
    columns: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        if len(self.left.output) != len(self.right.output) or len(self.columns) != len(self.left.output):
            raise ValueError(f"the inputs of {self.operator} differ in width")
        self._put_out(self.columns)

    @property
    def children(self) -> tuple[Plan, ...]:
        """Left, then right."""
        return (self.left, self.right)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distinct(Unary):
    """DISTINCT over the whole row, or over the listed columns (dropDuplicates)."""

    columns: tuple[Expression, ...] = ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The listed columns."""
        return self.columns


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sort(Unary):
    """ORDER BY; a key may read a column that the select list left out."""

    keys: tuple[Expression, ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The sort keys."""
        return self.keys


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Limit(Unary):
    """At most `count` rows; null: a count that only the run knows, or an OFFSET alone."""

    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample(Unary):
    """A random part of the rows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window(Unary):
    """Window functions added to every row, over one partitioning and order."""

    items: tuple[Alias, ...]
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        self._put_out((*self.child.output, *(item.attribute for item in self.items)))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The functions, then PARTITION BY and ORDER BY."""
        return (*self.items, *self.partition_by, *self.order_by)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Generate(Unary):
    """explode and its like: rows made from a value of each row."""

    generator: Expression
    columns: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        self._put_out((*self.child.output, *self.columns))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The generator."""
        return (self.generator,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnknownPlan(Node):
    """A step that the translation cannot see into.

    `hides`: the job's own earlier logic may stand inside it (a checkpoint, a node nobody knows). A step written as
    code hides no relational logic, and never counts as any.
    """

    description: str
    source_type: str
    inputs: tuple[Plan, ...] = ()
    columns: tuple[Attribute, ...] = ()
    hides: bool = True

    def __post_init__(self) -> None:
        self._put_out(self.columns)

    @property
    def children(self) -> tuple[Plan, ...]:
        """The inputs, translated."""
        return self.inputs


Plan = (
    Read
    | Write
    | Project
    | Filter
    | Join
    | Aggregate
    | Union
    | SetOperation
    | Distinct
    | Sort
    | Limit
    | Sample
    | Window
    | Generate
    | UnknownPlan
    | Merge
    | Update
    | Delete
    | Script
)
