"""The expressions of a plan. A column is known by the id of the attribute it reads, never by its name alone.

Nodes compare by identity; `traverse.signature` tells whether two expressions say the same.
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from invaract_orchestration.contract.field_types import FieldType

if TYPE_CHECKING:
    from invaract_orchestration.candidate.plan.nodes import Plan

Value = bool | int | float | str | decimal.Decimal | None
ComparisonOperator = OneOf["=", "<=>", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """One output column of a plan node. The id is unique in a plan; the type is null where nobody told it."""

    id: int
    name: str
    type: FieldType | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ColumnReference:
    """A read of an attribute, or of a field nested in it (`path`). `outer`: it belongs to the query around this one."""

    id: int
    name: str
    path: tuple[str, ...] = ()
    type: FieldType | None = None
    outer: bool = False

    @property
    def children(self) -> tuple[Expression, ...]:
        """None: a leaf."""
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A value written in the query; null has the value None."""

    value: Value
    type: FieldType | None = None

    @property
    def children(self) -> tuple[Expression, ...]:
        """None: a leaf."""
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Alias:
    """An expression put out under a name: what a Project, an Aggregate or a Window is made of."""

    attribute: Attribute
    expression: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """The named expression."""
        return (self.expression,)


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    """A change of type. `to` is null for a type without a name here, `source` where the operand's is not known."""

    child: Expression
    to: FieldType | None
    source: FieldType | None = None

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operand."""
        return (self.child,)


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic:
    """`+ - * / %` and the like; one operand is a sign."""

    operator: str
    operands: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operands."""
        return self.operands


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A comparison of two values; `<=>` is the null-safe equality."""

    operator: ComparisonOperator
    left: Expression
    right: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """Both operands."""
        return (self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class BooleanExpr:
    """AND and OR of two or more operands, NOT of one."""

    operator: OneOf["AND", "OR", "NOT"]
    operands: tuple[Expression, ...]

    def __post_init__(self) -> None:
        if (len(self.operands) == 1) is not (self.operator == "NOT") or not self.operands:
            raise ValueError(f"{self.operator} does not take {len(self.operands)} operands")

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operands."""
        return self.operands


@dataclass(frozen=True, slots=True, eq=False)
class Conditional:
    """CASE WHEN: pairs of condition and value, and the value when none holds (null when not written)."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None = None

    @property
    def children(self) -> tuple[Expression, ...]:
        """Conditions and values in their order, then the last value."""
        pairs = tuple(part for branch in self.branches for part in branch)
        return pairs if self.otherwise is None else (*pairs, self.otherwise)


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the engine, by its canonical lower-case name; the type of what it gives, where that is known."""

    name: str
    args: tuple[Expression, ...] = ()
    type: FieldType | None = None

    @property
    def children(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.args


@dataclass(frozen=True, slots=True, eq=False)
class UDF:
    """A function of the user's own: nothing is known of it but what it is given."""

    name: str | None
    args: tuple[Expression, ...] = ()
    is_aggregate: bool = False

    @property
    def children(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.args


@dataclass(frozen=True, slots=True, eq=False)
class AggregateCall:
    """An aggregate function, by its canonical upper-case name; no argument: `COUNT(*)`."""

    name: str
    args: tuple[Expression, ...] = ()
    distinct: bool = False
    filter: Expression | None = None

    @property
    def children(self) -> tuple[Expression, ...]:
        """The arguments, then the FILTER clause."""
        return self.args if self.filter is None else (*self.args, self.filter)


@dataclass(frozen=True, slots=True, eq=False)
class Subquery:
    """EXISTS, IN (with its left operands) or a scalar query, with its plan."""

    kind: OneOf["exists", "in", "scalar"]
    plan: Plan
    operands: tuple[Expression, ...] = ()

    @property
    def children(self) -> tuple[Expression, ...]:
        """The left operands of IN; the plan is not an expression."""
        return self.operands


@dataclass(frozen=True, slots=True, eq=False)
class UnknownExpression:
    """An expression that the translator does not know, over operands that it does."""

    description: str
    args: tuple[Expression, ...] = ()

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operands."""
        return self.args


Expression = (
    ColumnReference
    | Literal
    | Alias
    | Cast
    | Arithmetic
    | Comparison
    | BooleanExpr
    | Conditional
    | Function
    | UDF
    | AggregateCall
    | Subquery
    | UnknownExpression
)


def reference(attribute: Attribute, *, outer: bool = False) -> ColumnReference:
    """The plain read of an attribute."""
    return ColumnReference(attribute.id, attribute.name, (), attribute.type, outer)


def passed(attribute: Attribute) -> Alias:
    """The attribute put out as it is, under its own id."""
    return Alias(attribute, reference(attribute))


def all_of(operands: list[Expression]) -> Expression | None:
    """The conjunction of the operands; none is null, one is itself."""
    if len(operands) < 2:
        return operands[0] if operands else None
    return BooleanExpr("AND", tuple(operands))
