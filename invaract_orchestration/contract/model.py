"""The contract: what one published table promises. Frozen, closed and complete.

Scalars that are compared with data (`min`, `max`, `allowed`) are kept as the text that the author wrote: their value
follows from the field's type, so that `010`, `on` or `0.1` never turn into something else on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from invaract_orchestration.contract.plan_rules import PlanRule
from invaract_orchestration.contract.quality import (
    DATASET_KINDS,
    Covers,
    DatasetRule,
    MaxQuarantined,
    MustBe,
    NullShare,
    Quality,
    References,
    RowCount,
    RowRule,
)
from invaract_orchestration.contract.scalars import (
    Closed,
    Duration,
    Name,
    Phase,
    Severity,
    TypeOfField,
    Version,
    WrittenValue,
    duration_seconds,
)

__all__ = [
    "CandidatePlace", "Closed", "Contract", "Covers", "DATASET_KINDS", "DatasetRule", "Duration", "FieldSpec",
    "Freshness", "Keep", "Key", "MaxQuarantined", "Mode", "MustBe", "Name", "Notification", "NullShare", "Owner",
    "Phase", "PlanRule", "Publish", "Quality", "QuarantinePlace", "References", "RowCount", "RowRule", "SchemaPolicy",
    "Severity", "Source", "SourceOptions", "TypeOfField", "Version", "WrittenValue", "duration_seconds", "walk_fields",
]  # fmt: skip

Mode = Literal["append", "overwrite", "replace_partitions", "replace_where", "merge", "scd2"]


class Owner(Closed):
    """Who answers for the table."""

    team: str
    contact: str | None = None


class SourceOptions(Closed):
    """How the text of the files is written; every default is stated here and nowhere else."""

    delimiter: str = Field(default=",", min_length=1, max_length=1)
    quote: str = Field(default='"', min_length=1, max_length=1)
    escape: str = Field(default='"', min_length=1, max_length=1)
    encoding: Literal["utf-8", "latin-1", "utf-16"] = "utf-8"
    null_values: tuple[WrittenValue, ...] = ("",)
    """Unquoted texts that mean null; a quoted one is that text."""
    trailing_delimiter: Literal["reject", "accept"] = "reject"
    """`accept`: every line, the header too, may end with one more delimiter."""
    shape: Literal["lines", "array"] = "lines"
    """JSON only: one record a line, or one array of records a file."""


class Source(Closed):
    """Where a batch comes from."""

    format: Literal["csv", "json", "parquet", "delta", "table", "sql"] = "csv"
    location: str | None = None
    sql: str | None = None
    inputs: dict[str, str] = Field(default_factory=dict)
    """The tables that `sql` reads: the name in the query, and the table or path it stands for."""
    options: SourceOptions = SourceOptions()
    header: Literal["exact", "names", "positional"] = "exact"
    empty: Literal["reject", "accept", "no_op"] = "reject"
    after: Literal["keep", "archive", "delete"] = "keep"

    @model_validator(mode="after")
    def _place(self) -> Source:
        if self.format == "sql" and not self.sql:
            raise ValueError("a source of format sql needs `sql`, the query that gives the rows")
        if self.format != "sql" and self.sql:
            raise ValueError(f"`sql` belongs to a source of format sql, not {self.format}")
        if self.format != "sql" and self.inputs:
            raise ValueError(f"`inputs` belongs to a source of format sql, not {self.format}")
        return self


class FieldSpec(Closed):
    """What one column, or one nested field, promises. A null passes every check but `required`."""

    name: str = Field(min_length=1)
    type: TypeOfField
    description: str | None = None
    required: bool = False
    unique: bool = False
    not_blank: Literal["spaces", "whitespace"] | None = None
    min: WrittenValue | None = None
    max: WrittenValue | None = None
    allowed: tuple[WrittenValue, ...] | None = None
    pattern: str | None = None
    min_length: int | None = Field(default=None, ge=0)
    max_length: int | None = Field(default=None, ge=0)
    may_be_absent: bool = False
    normalize: tuple[Literal["trim", "lower", "casefold", "nfc", "nfkc"], ...] = ()
    format: str | None = None
    decimal_separator: Literal[".", ","] = "."
    group_separator: Literal[",", ".", " ", "'", "_"] | None = None
    timezone: Literal["any", "required", "none"] | None = None
    source_timezone: str | None = None
    sensitivity_tags: tuple[str, ...] = ()
    severity: Severity = "error"
    phase: Phase | None = None
    fields: tuple[FieldSpec, ...] = ()


class Key(Closed):
    """Columns whose values together are there once: in the batch, and with `across: target` in the table too."""

    columns: tuple[str, ...] = Field(min_length=1)
    across: Literal["batch", "target"] = "batch"
    nulls: Literal["fail", "distinct", "ignore"] = "fail"
    severity: Severity = "error"

    @property
    def check_id(self) -> str:
        """The stable id of the check, `column|unique` or `a+b|unique`."""
        return "+".join(self.columns) + "|unique"


class SchemaPolicy(Closed):
    """What a difference between the data's columns and the contract's does; `accept` means accept and ignore."""

    extra_fields: Literal["reject", "accept"] = "reject"
    missing_optional: Literal["reject", "accept"] = "reject"
    type_changes: Literal["reject", "accept"] = "reject"


class Keep(Closed):
    """How long a candidate stays after its verdict."""

    passed: Duration = "30d"
    rejected: Duration = "30d"


class CandidatePlace(Closed):
    """Where candidates are written; by default beside the target on the same file system."""

    location: str | None = None
    keep: Keep = Keep()


class QuarantinePlace(Closed):
    """Where failing rows are kept, and for how long; by default beside the target."""

    location: str | None = None
    keep: Duration = "30d"


class Publish(Closed):
    """Where accepted rows go, and how."""

    target: str = Field(min_length=1)
    mode: Mode = "append"
    keys: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    partition: dict[str, WrittenValue] = Field(default_factory=dict)
    where: str | None = None
    evolve: Literal["refuse", "add_columns"] = "refuse"
    constraints: Literal["none", "mirror"] = "none"
    allow_empty_overwrite: bool = False
    candidate: CandidatePlace = CandidatePlace()

    @model_validator(mode="after")
    def _mode_has_what_it_needs(self) -> Publish:
        if self.mode == "replace_where" and not self.where:
            raise ValueError("mode replace_where needs `where`, the predicate of the rows to replace")
        if self.where and self.mode != "replace_where":
            raise ValueError(f"`where` belongs to mode replace_where, not {self.mode}")
        if self.mode == "replace_partitions" and not self.partition_by and not self.partition:
            raise ValueError("mode replace_partitions needs `partition_by` or `partition`")
        return self


class Freshness(Closed):
    """When data is expected; read by status and notifications, never a reason to loosen a check."""

    expected_by: str | None = None
    every: Duration | None = None
    column: str | None = None
    max_age: Duration | None = None


class Notification(Closed):
    """Whom to tell of what; the place names an environment variable, never a secret."""

    on: tuple[Literal["rejected", "late", "unknown"], ...] = Field(min_length=1)
    to: str


class Contract(Closed):
    """One agreement about one published table."""

    contract: Name
    version: Version = "0.0.0"
    status: Literal["draft", "active", "deprecated", "retired"] = "active"
    description: str | None = None
    owner: Owner | None = None
    consumers: tuple[str, ...] = ()
    arrives: str | None = None
    timezone: str = "UTC"
    """The zone of `current_date()`, and of dates taken from instants."""
    source: Source | None = None
    fields: tuple[FieldSpec, ...] = ()
    keys: tuple[Key, ...] = ()
    schema_policy: SchemaPolicy = SchemaPolicy()
    quality: Quality = Quality()
    rules: tuple[PlanRule, ...] = ()
    publish: Publish | None = None
    quarantine: QuarantinePlace = QuarantinePlace()
    freshness: Freshness | None = None
    notifications: tuple[Notification, ...] = ()
    environments: dict[str, dict[str, str]] = Field(default_factory=dict)
    extensions: dict[str, Any] = Field(default_factory=dict)

    _base: Path | None = PrivateAttr(None)
    _environment: str | None = PrivateAttr(None)
    _declared: Contract | None = PrivateAttr(None)

    def __eq__(self, other: object) -> bool:
        """Equal when they say the same, wherever their files are."""  # pydantic would compare the private parts too
        return isinstance(other, Contract) and dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]  # mappings inside have no hash

    def placed(self, base: Path | None, environment: str | None = None, declared: Contract | None = None) -> Contract:
        """The same contract with the folder of its file, and what it was before an environment's names were put in."""
        copy = self.model_copy()
        copy._base, copy._environment, copy._declared = base, environment, declared
        return copy

    @property
    def base(self) -> Path | None:
        """The folder of the contract's file, at which relative paths start; none for a contract without a file."""
        return self._base

    @property
    def environment(self) -> str | None:
        """The environment whose names and places stand in this contract, or none."""
        return self._environment

    @property
    def declared(self) -> Contract:
        """The contract as its file says it, before the names and places of an environment."""
        return self if self._declared is None else self._declared

    def all_keys(self) -> tuple[Key, ...]:
        """The keys, those that a field's `unique: true` declares first; each column list once, the strictest wins."""
        declared = [Key(columns=(f.name,), severity=f.severity) for f in self.fields if f.unique]
        merge = [Key(columns=self.publish.keys)] if self.publish and self.publish.keys else []
        found: dict[tuple[str, ...], Key] = {}
        for key in (*self.keys, *declared, *merge):
            found.setdefault(key.columns, key)
        return tuple(found.values())

    def field(self, name: str) -> FieldSpec | None:
        """The column of that exact name, or none."""
        return next((f for f in self.fields if f.name == name), None)


def walk_fields(fields: tuple[FieldSpec, ...], above: str = "") -> Iterator[tuple[str, FieldSpec]]:
    """Every field with its dotted path, parents before children."""
    for spec in fields:
        path = f"{above}.{spec.name}" if above else spec.name
        yield path, spec
        yield from walk_fields(spec.fields, path)
