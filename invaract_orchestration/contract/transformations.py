"""Declared transformations: steps between the source and what is published, as a contract states them.

Each entry names one kind and its options. What a step means as a query is said in `candidate.step_queries`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from invaract_orchestration.contract.scalars import Closed, Phase, TypeOfField
from invaract_orchestration.contract.step_options import (
    Bin,
    Bucket,
    CastColumns,
    ChosenColumns,
    Coalesce,
    Columns,
    DateDiff,
    DateRangeExplode,
    Deduplicate,
    Derive,
    Explode,
    Filter,
    Join,
    JsonExtract,
    Letters,
    Lookup,
    MapValues,
    Pivot,
    RegexExtract,
    Rename,
    Rollup,
    Split,
    Step,
    Trim,
    Unpivot,
)

__all__ = [
    "Bin", "Bucket", "CastColumns", "ChosenColumns", "Coalesce", "DateDiff", "DateRangeExplode", "Deduplicate",
    "Derive", "Explode", "Filter", "Join", "JsonExtract", "Letters", "Link", "Lookup", "MapValues", "Pivot",
    "ROW_KEEPING", "RegexExtract", "Rename", "Rollup", "STEP_KINDS", "Split", "Step", "Transformation", "Trim",
    "Unpivot",
]  # fmt: skip


class Transformation(Closed):
    """One step; exactly one of its kinds is given."""

    phase: Phase | None = None
    """`pre`: on the source's rows, before any check; `post` (the default): on the rows that passed."""
    rename: Rename | None = None
    """Columns under other names."""
    cast: CastColumns | None = None
    """Columns as other types."""
    trim: Trim | None = None
    """White space around texts taken away."""
    lower: Letters | None = None
    """Texts in small letters."""
    upper: Letters | None = None
    """Texts in capital letters."""
    filter: Filter | None = None
    """The rows that a condition is true for."""
    deduplicate: Deduplicate | None = None
    """One row for each key."""
    coalesce: Coalesce | None = None
    """The first value that is not null."""
    map_values: MapValues | None = None
    """Values replaced by others."""
    derive: Derive | None = None
    """A column computed from others."""
    split: Split | None = None
    """A text cut into a list."""
    explode: Explode | None = None
    """One row for each element of a list."""
    json_extract: JsonExtract | None = None
    """What stands at a path in a JSON text."""
    regex_extract: RegexExtract | None = None
    """What a pattern finds in a text."""
    date_diff: DateDiff | None = None
    """How much lies between two dates."""
    date_range_explode: DateRangeExplode | None = None
    """One row for each date of a range."""
    bucket: Bucket | None = None
    """A label for the range of a value."""
    lookup: Lookup | None = None
    """A value of a link."""
    join: Join | None = None
    """Columns of a link."""
    rollup: Rollup | None = None
    """One row for each group."""
    pivot: Pivot | None = None
    """Rows become columns."""
    unpivot: Unpivot | None = None
    """Columns become rows."""
    select: ChosenColumns | None = None
    """These columns, in this order, and no others."""
    drop: ChosenColumns | None = None
    """All columns but these."""
    sql: str | None = Field(default=None, min_length=1)
    """A query in Spark SQL over `source`, the rows as they are at this step, and the links by name."""

    @property
    def kind(self) -> str:
        """The key that says what this step does."""
        return next(k for k in STEP_KINDS if getattr(self, k) is not None)

    @property
    def step(self) -> Step:
        """The options of its kind, or the text of a query."""
        options: Step = getattr(self, self.kind)
        return options

    @property
    def runs_in(self) -> Phase:
        """The phase; post where none is written, whatever the kind."""
        return self.phase or "post"

    @model_validator(mode="after")
    def _one_kind(self) -> Transformation:
        given = [k for k in STEP_KINDS if getattr(self, k) is not None]
        if len(given) != 1:
            raise ValueError(f"expected exactly one kind of step, found {', '.join(given) or 'none'}")
        return self


STEP_KINDS = tuple(name for name in Transformation.model_fields if name != "phase")
ROW_KEEPING = frozenset({
    "rename", "cast", "trim", "lower", "upper", "coalesce", "map_values", "derive", "split", "json_extract",
    "regex_extract", "date_diff", "bucket", "lookup", "select", "drop",
})  # fmt: skip
"""Kinds that give a row for each row."""


class Link(Closed):
    """Rows of reference, which steps read by name."""

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """The name in the steps."""
    location: str = Field(min_length=1)
    """A file, a folder, a glob or a table."""
    format: Literal["csv", "json", "parquet", "delta"] | None = None
    """What it is; by default as its name ends, and a Delta table where that says nothing."""
    fields: dict[str, TypeOfField] = Field(default_factory=dict)
    """The types of columns of a CSV or JSON file; other columns of a CSV file are texts, those of a JSON file as they are."""
    columns: Columns = ()
    """The columns that are read; by default all."""
    filter: str | None = Field(default=None, min_length=1)
    """The condition of the rows that are read, in Spark SQL."""
