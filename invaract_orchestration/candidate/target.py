"""The table that a candidate is meant for, as it was when it was looked at."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from invaract_orchestration.contract.field_types import FieldType

LENGTH_OF = "type of "
"""Begins the name of the constraint that a text's declared length is; the column's name follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetColumn:
    """A column of the target. `type` is a text where it has no field type; `is_generated` covers identity columns too."""

    name: str
    type: FieldType | str
    nullable: bool
    is_generated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetState:
    """One version of the target. A table that does not exist yet has version null and no columns."""

    location: str
    version: int | None
    columns: tuple[TargetColumn, ...] = ()
    partition_by: tuple[str, ...] = ()
    constraints: Mapping[str, str] = field(default_factory=dict)
    """Name to Spark SQL condition of the table's own CHECK constraints."""
    rewrite_reasons: tuple[str, ...] = ()
    """Features of the table that forbid promoting files as they are."""
    unwritable: tuple[str, ...] = ()
    """Features of the table that the publisher cannot write, by their names in its protocol."""
    unwidenable: tuple[str, ...] = ()
    """Features of the table with which the publisher cannot add a column."""
    is_append_only: bool = False
    """Whether the table forbids that rows are changed or taken out (`delta.appendOnly`)."""

    def constraints_over(self, names: Collection[str]) -> Mapping[str, str]:
        """The constraints that rows of these columns (in small letters) have to keep: the length of a text asks nothing of a
        column that they do not have, whose value is null."""
        return {
            name: condition for name, condition in self.constraints.items()
            if not name.startswith(LENGTH_OF) or name.removeprefix(LENGTH_OF).lower() in names
        }  # fmt: skip

    @property
    def exists(self) -> bool:
        """Whether there is a table at all."""
        return self.version is not None

    def column(self, name: str) -> TargetColumn | None:
        """The column of that name in any letter case, as Delta resolves names."""
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)
