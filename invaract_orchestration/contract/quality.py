"""Rules on rows and on the whole, as a contract states them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from invaract_orchestration.contract.scalars import Closed, Name, Phase, Severity, WrittenValue


class MaxQuarantined(Closed):
    """The most rows that may be set aside; both limits are inclusive, percent is of the rows read."""

    rows: int | None = Field(default=None, ge=0)
    percent: float | None = Field(default=None, ge=0, le=100)


class RowRule(Closed):
    """A Spark SQL condition that every row keeps; null is a failure unless `null_is: pass`."""

    name: Name
    sql: str = Field(min_length=1)
    severity: Severity = "error"
    phase: Phase | None = None
    null_is: Literal["fail", "pass"] = "fail"


class Covers(Closed):
    """Every value of the reference file's column stands in the candidate's column at least once."""

    column: str
    reference: str
    reference_column: str | None = None
    """The reference's column; by default the one of the same name, or the only one."""


class RowCount(Closed):
    """Bounds of the number of rows to publish, inclusive."""

    min: int | None = Field(default=None, ge=0)
    max: int | None = Field(default=None, ge=0)


class References(Closed):
    """Every non-null combination of the columns stands in the other table's key."""

    columns: tuple[str, ...] = Field(min_length=1)
    table: str
    key: tuple[str, ...] = Field(min_length=1)


class NullShare(Closed):
    """The largest share of rows, 0 to 1 inclusive, whose column may be null."""

    column: str
    max: float = Field(ge=0, le=1)


class MustBe(Closed):
    """Bounds of a single number that a query gives; a null is outside of every bound."""

    equal_to: WrittenValue | None = None
    greater_than: WrittenValue | None = None
    at_least: WrittenValue | None = None
    less_than: WrittenValue | None = None
    at_most: WrittenValue | None = None


class DatasetRule(Closed):
    """A condition on the whole candidate; exactly one of its kinds is given."""

    name: Name
    severity: Severity = "error"
    covers: Covers | None = None
    row_count: RowCount | None = None
    references: References | None = None
    null_share: NullShare | None = None
    sql: str | None = None
    must_be: MustBe | None = None

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
    max_quarantined: MaxQuarantined = MaxQuarantined()
    row_rules: tuple[RowRule, ...] = ()
    dataset_rules: tuple[DatasetRule, ...] = ()
