"""Whether a column that the plan reads is the one that a rule names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from invaract_orchestration.candidate.plan.expressions import Alias, Cast, ColumnReference, Expression
from invaract_orchestration.candidate.plan.lineage import PlanLineage, plan_lineage
from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.plan.predicates import Equality
from invaract_orchestration.candidate.plan.rule_names import names_dataset, same_name, split_name
from invaract_orchestration.candidate.plan.type_widening import is_lossless
from invaract_orchestration.contract.field_types import Struct

Pair = tuple[ColumnReference, ColumnReference]


@dataclass(frozen=True, slots=True)
class Names:
    """How the names of a rule are found in one plan."""

    lineage: PlanLineage
    case_sensitive: bool

    @classmethod
    def of(cls, plan: Plan, *, case_sensitive: bool) -> Names:
        """The names of a plan."""
        return cls(plan_lineage(plan), case_sensitive)

    def is_named(self, wanted: str, column: ColumnReference, *inputs: Plan, by_reading: bool = False) -> bool:
        """Whether `wanted` means the column, as a node over these inputs reads it.

        One part is the name that the column has there. `a.b` is a field nested in a struct column `a` of the inputs,
        else the source column `b` of table `a`, through renames. `by_reading`: a read of a nested field also reads what
        holds it.
        """
        parts = split_name(wanted)
        same = partial(same_name, case_sensitive=self.case_sensitive)
        if same(parts[0], column.name) and _covers(parts[1:], column.path, same, by_reading=by_reading):
            return True
        if len(parts) == 1 or any(self._is_struct(plan, parts[0]) for plan in inputs):
            return False
        known = self.lineage.column(column, *inputs)
        return known.derivation == "direct" and any(
            names_dataset(".".join(parts[:at]), source.dataset, case_sensitive=self.case_sensitive)
            and _covers(parts[at:], source.path, same, by_reading=by_reading)
            for source in known.sources
            for at in range(1, len(parts))
        )

    def is_computed(self, column: ColumnReference, *inputs: Plan) -> bool:
        """Whether something below made the column, so that it is no source column any more."""
        return self.lineage.column(column, *inputs).derivation != "direct"

    def _is_struct(self, plan: Plan, name: str) -> bool:
        return any(
            same_name(a.name, name, case_sensitive=self.case_sensitive)
            and (a.type is None or isinstance(a.type, Struct))
            for a in plan.output
        )


def plain_column(expression: Expression) -> ColumnReference | None:
    """The column that an expression is, seen through aliases and casts that lose nothing."""
    while True:
        match expression:
            case ColumnReference():
                return expression
            case Alias():
                expression = expression.expression
            case Cast() if expression.to and expression.source and is_lossless(expression.source, expression.to):
                expression = expression.child
            case _:
                return None


def equated(equality: Equality) -> Pair | None:
    """The two plain columns of an equality, whose types differ at most by a cast that loses nothing."""
    left, right = plain_column(equality.left), plain_column(equality.right)
    if left is None or right is None:
        return None
    if left.type is None or right.type is None:
        return left, right
    return (left, right) if is_lossless(left.type, right.type) or is_lossless(right.type, left.type) else None


def _covers(
    wanted: tuple[str, ...], path: tuple[str, ...], same: Callable[[str, str], bool], *, by_reading: bool
) -> bool:
    if len(wanted) > len(path) or (len(wanted) < len(path) and not by_reading):
        return False
    return all(same(a, b) for a, b in zip(wanted, path, strict=False))
