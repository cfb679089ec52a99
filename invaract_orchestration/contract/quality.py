"""Rules on rows and on the whole, as a contract states them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from invaract_orchestration.contract.scalars import Closed, Name, Phase, Severity, WrittenValue


class MaxQuarantined(Closed):
    """The most rows that may be set aside; both limits are inclusive, percent is of the rows read."""

    rows: int | None = Field(default=None, ge=0)
    """The most rows."""
    percent: float | None = Field(default=None, ge=0, le=100)
    """The most rows, of a hundred read."""


class RowRule(Closed):
    """A Spark SQL condition that every row keeps; null is a failure unless `null_is: pass`."""

    name: Name
    """The rule's id in reports, audit and tests."""
    sql: str = Field(min_length=1)
    """The condition, in Spark SQL."""
    severity: Severity = "error"
    """`warn` is recorded and shown, and never blocks or moves a row."""
    phase: Phase | None = None
    """When it runs: on the source's rows or on the result of the transformations."""
    null_is: Literal["fail", "pass"] = "fail"
    """Whether a row for which the condition is null keeps the rule."""


class Covers(Closed):
    """Every value of the reference file's column stands in the candidate's column at least once."""

    column: str
    """The column of the candidate."""
    reference: str
    """A CSV or Parquet file or a Delta table; a relative path starts at the contract's file."""
    reference_column: str | None = None
    """The reference's column; by default the one of the same name, or the only one."""


class RowCount(Closed):
    """Bounds of the number of rows to publish, inclusive."""

    min: int | None = Field(default=None, ge=0)
    """The least number of rows, inclusive."""
    max: int | None = Field(default=None, ge=0)
    """The greatest number of rows, inclusive."""


class References(Closed):
    """Every non-null combination of the columns stands in the other table's key."""

    columns: tuple[str, ...] = Field(min_length=1)
    """The columns of the candidate."""
    table: str
    """The other table."""
    key: tuple[str, ...] = Field(min_length=1)
    """Its columns, in the order of `columns`."""


class NullShare(Closed):
    """The largest share of rows, 0 to 1 inclusive, whose column may be null."""

    column: str
    """The column of the candidate."""
    max: float = Field(ge=0, le=1)
    """The largest share, inclusive."""


class MustBe(Closed):
    """Bounds of a single number that a query gives; a null is outside of every bound."""

    equal_to: WrittenValue | None = None
    """The number itself."""
    greater_than: WrittenValue | None = None
    """The number is above this."""
    at_least: WrittenValue | None = None
    """The number is this or above."""
    less_than: WrittenValue | None = None
    """The number is below this."""
    at_most: WrittenValue | None = None
    """The number is this or below."""


class DatasetRule(Closed):
    """A condition on the whole candidate; exactly one of its kinds is given."""

    name: Name
    """The rule's id in reports, audit and tests."""
    severity: Severity = "error"
    """`warn` is recorded and shown, and never blocks."""
    covers: Covers | None = None
    """Every value of a reference file is there."""
    row_count: RowCount | None = None
    """How many rows there are."""
    references: References | None = None
    """Every value is there in another table."""
    null_share: NullShare | None = None
    """How many nulls a column has at most."""
    sql: str | None = None
    """A query over `candidate` that gives one number."""
    must_be: MustBe | None = None
    """The bounds of that number."""

    @property
    def kind(self) -> str:
        """The key that says what this rule asks for."""
        return next(k for k in DATASET_KINDS if getattr(self, k) is not None)

    @model_validator(mode="after")
    def _one_kind(self) -> DatasetRule:
        given = [k for k in DATASET_KINDS if getattr(self, k) is not None]
        if len(given) != 1:
            raise ValueError(f"expected exactly one of {', '.join(DATASET_KINDS)}, found {', '.join(given) or 'none'}")
        if (self.sql is None) != (self.must_be is None):
            raise ValueError("`sql` and `must_be` stand together: the query and the bounds of its number")
        bounds = self.must_be or self.row_count
        if bounds is not None and not bounds.model_dump(exclude_none=True):
            raise ValueError("no bound is given, so the rule could never be broken")
        return self


DATASET_KINDS = ("covers", "row_count", "references", "null_share", "sql")


class Quality(Closed):
    """Rules on rows and on the whole, and what a failing row does."""

    on_row_failure: Literal["reject", "quarantine"] = "reject"
    """`reject` the batch, or `quarantine` the failing rows and publish the rest."""
    max_quarantined: MaxQuarantined = MaxQuarantined()
    """How many rows may be set aside."""
    row_rules: tuple[RowRule, ...] = ()
    """Conditions that every row keeps."""
    dataset_rules: tuple[DatasetRule, ...] = ()
    """Conditions on the whole."""
