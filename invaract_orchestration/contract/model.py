"""The contract: what one published table promises. Frozen, closed and complete.

Scalars that are compared with data (`min`, `max`, `allowed`) are kept as the text that the author wrote: their value
follows from the field's type, so that `010`, `on` or `0.1` never turn into something else on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from invaract_orchestration.contract.bound_now import bind_now
from invaract_orchestration.contract.fields import FieldSpec, Key, walk_fields
from invaract_orchestration.contract.plan_rules import PlanRule
from invaract_orchestration.contract.publication import CandidatePlace, Keep, Mode, Publish, QuarantinePlace, Versions
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
from invaract_orchestration.contract.transformations import Link, Transformation

__all__ = [
    "CandidatePlace", "Closed", "Contract", "Covers", "DATASET_KINDS", "DatasetRule", "Duration", "FieldSpec",
    "Freshness", "Keep", "Key", "Link", "MaxQuarantined", "Mode", "MustBe", "Name", "Notification", "NullShare", "Owner",
    "Phase", "PlanRule", "Publish", "Quality", "QuarantinePlace", "References", "RowCount", "RowRule", "SchemaPolicy",
    "Severity", "Source", "SourceOptions", "Transformation", "TypeOfField", "Version", "Versions", "WrittenValue",
    "duration_seconds", "walk_fields",
]  # fmt: skip



class Owner(Closed):
    """Who answers for the table."""

    team: str
    """The team."""
    contact: str | None = None
    """How to reach it."""


class SourceOptions(Closed):
    """How the text of the files is written; every default is stated here and nowhere else."""

    delimiter: str = Field(default=",", min_length=1, max_length=1)
    """The character between two values of a CSV line."""
    quote: str = Field(default='"', min_length=1, max_length=1)
    """The character around a value that holds a delimiter or a line end."""
    escape: str = Field(default='"', min_length=1, max_length=1)
    """The character before a quote inside of a quoted value; by default the quote itself, doubled."""
    encoding: Literal["utf-8", "latin-1", "utf-16"] = "utf-8"
    """How the bytes of the files are read as text."""
    null_values: tuple[WrittenValue, ...] = ("",)
    """Unquoted texts that mean null; a quoted one is that text."""
    trailing_delimiter: Literal["reject", "accept"] = "reject"
    """`accept`: every line ends with one more delimiter; the header may."""
    shape: Literal["lines", "array", "any"] = "lines"
    """JSON only: one record a line, or one array of records a file; `any`: whichever the files begin with."""

    @model_validator(mode="after")
    def _double_the_quote(self) -> SourceOptions:
        if "escape" not in self.model_fields_set:
            object.__setattr__(self, "escape", self.quote)
        return self


class InputField(Closed):
    """A column of a table that a query reads."""

    name: str = Field(min_length=1)
    """The column's name, taken literally."""
    type: TypeOfField
    """Its type, exactly."""
    sensitivity_tags: tuple[str, ...] = ()
    """Labels that every column derived from this one carries."""


class Source(Closed):
    """Where a batch comes from."""

    format: Literal["csv", "json", "parquet", "delta", "table", "sql"] = "csv"
    """What the files are, or `table` for a catalog table and `sql` for a query."""
    location: str | None = None
    """A path, a folder or a glob; `{name}` is a parameter of the submission. Many files are one batch."""
    sql: str | None = None
    """Spark SQL over the tables of `inputs`."""
    inputs: dict[str, str] = Field(default_factory=dict)
    """The tables that `sql` reads: the name in the query, and the table or path it stands for."""
    input_fields: dict[str, tuple[InputField, ...]] = Field(default_factory=dict)
    """Columns that an input must have, by the input's name; others may be there too."""
    fields: tuple[FieldSpec, ...] = ()
    """The columns as they arrive, where transformations make others of them; by default the fields that no step creates."""
    options: SourceOptions = SourceOptions()
    """How the text of the files is written."""
    flatten: tuple[str, ...] = ()
    """Columns whose JSON text, or nested value, gives columns `parent_child` of their own; `*` means every column."""
    header: Literal["exact", "names", "positional"] = "exact"
    """`exact`: names and order; `names`: any order; `positional`: the header is not compared."""
    empty: Literal["reject", "accept", "no_op"] = "reject"
    """What a batch without any row does; no file at all is always an error."""
    after: Literal["keep", "archive", "delete"] = "keep"
    """What happens to the files once they are published."""

    @model_validator(mode="after")
    def _place(self) -> Source:
        if self.format == "sql" and not self.sql:
            raise ValueError("a source of format sql needs `sql`, the query that gives the rows")
        if self.format != "sql" and self.sql:
            raise ValueError(f"`sql` belongs to a source of format sql, not {self.format}")
        if self.format != "sql" and (self.inputs or self.input_fields):
            raise ValueError(f"`inputs` belongs to a source of format sql, not {self.format}")
        strangers = sorted(set(self.input_fields) - set(self.inputs))
        if strangers:
            raise ValueError(f"`input_fields` names {', '.join(map(repr, strangers))}, which `inputs` does not")
        return self


class SchemaPolicy(Closed):
    """What a difference between the data's columns and the contract's does; `accept` means accept and ignore."""

    extra_fields: Literal["reject", "accept"] = "reject"
    """Columns that the contract does not name."""
    missing_optional: Literal["reject", "accept"] = "reject"
    """Columns without `required` that the data does not have."""
    type_changes: Literal["reject", "accept", "cast"] = "reject"
    """Columns of another type in a typed file: `accept` takes each number or nanosecond that fits, `cast` turns what it can."""


class Freshness(Closed):
    """When data is expected; read by status and notifications, never a reason to loosen a check."""

    expected_by: str | None = None
    """The time of day, HH:MM in the contract's zone, by which data is published."""
    every: Duration | None = None
    """How often data is expected."""
    column: str | None = None
    """The column that says when a row happened."""
    max_age: Duration | None = None
    """The greatest age of the newest row."""


class Notification(Closed):
    """Whom to tell of what; the place names an environment variable, never a secret."""

    on: tuple[Literal["rejected", "late", "unknown"], ...] = Field(min_length=1)
    """What is told."""
    to: str
    """`webhook:env:NAME` or `command:env:NAME`, where the environment variable NAME holds the address or command; or `log`."""


class Contract(Closed):
    """One agreement about one published table."""

    contract: Name
    """The stable id; it stays when the version changes."""
    version: Version = "0.0.0"
    """MAJOR.MINOR.PATCH in quotes."""
    status: Literal["draft", "active", "deprecated", "retired"] = "active"
    """`draft` is checked and never published, `retired` is refused."""
    description: str | None = None
    """What the table means, for people."""
    owner: Owner | None = None
    """Who answers for the table."""
    consumers: tuple[str, ...] = ()
    """Who reads the table."""
    arrives: str | None = None
    """When and how data arrives, in words."""
    timezone: str = "UTC"
    """The zone of `current_date()`, and of instants written without one where a field allows it; dates of instants are UTC's."""
    source: Source | None = None
    """Where a batch comes from."""
    fields: tuple[FieldSpec, ...] = ()
    """The columns, in the order of the file; `columns` and `model.fields` are accepted spellings."""
    keys: tuple[Key, ...] = ()
    """Lists of columns whose values together are there once."""
    schema_policy: SchemaPolicy = SchemaPolicy()
    """What differences between the data's columns and these do."""
    function: str | None = Field(default=None, min_length=1)
    """The function that makes the rows which are published, in words: whoever runs the contract has to give it as `transform`."""
    links: tuple[Link, ...] = ()
    """Rows of reference for the steps, or for a function that takes `links`."""
    transformations: tuple[Transformation, ...] = ()
    """The steps between the source and what is published, in their order; `fields` say what they make."""
    quality: Quality = Quality()
    """Rules on rows and on the whole."""
    rules: tuple[PlanRule, ...] = ()
    """Rules on the shape of the transformation's plan."""
    publish: Publish | None = None
    """Where accepted rows go, and how."""
    quarantine: QuarantinePlace = QuarantinePlace()
    """Where failing rows are kept."""
    freshness: Freshness | None = None
    """When data is expected."""
    notifications: tuple[Notification, ...] = ()
    """Whom to tell of what."""
    environments: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Names and places by environment, such as `prod: {publish.target: ...}`; never a check."""
    extensions: dict[str, Any] = Field(default_factory=dict)
    """Anything of your own; kept, shown, and never read."""

    _base: Path | None = PrivateAttr(None)
    _environment: str | None = PrivateAttr(None)
    _declared: Contract | None = PrivateAttr(None)
    _file: str | None = PrivateAttr(None)
    _places: dict[tuple[str | int, ...], tuple[int, int]] = PrivateAttr(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        """Equal when they say the same, wherever their files are."""  # pydantic would compare the private parts too
        return isinstance(other, Contract) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # mappings inside have no hash

    def placed(self, base: Path | None, environment: str | None = None, declared: Contract | None = None) -> Contract:
        """The same contract with the folder of its file, and what it was before an environment's names were put in."""
        copy = self.model_copy()
        copy._base, copy._environment, copy._declared = base, environment, declared
        return copy

    def located(self, file: str, places: dict[tuple[str | int, ...], tuple[int, int]]) -> Contract:
        """The same contract with the line and column of each of its parts, for messages."""
        copy = self.model_copy()
        copy._file, copy._places = file, places
        return copy

    @property
    def file(self) -> str | None:
        """The file as it was named, or none."""
        return self._file

    def place_of(self, path: tuple[str | int, ...]) -> tuple[int, int] | None:
        """Line and column of a part, such as `("fields", 0, "min")`, or of the nearest part around it."""
        while path and path not in self._places:
            path = path[:-1]
        return self._places.get(path)

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

    def with_target(self, target: str) -> Contract:
        """The same agreement published to another place; what the file says, and so the digest, stays."""
        publish = self.publish.model_copy(update={"target": target}) if self.publish else Publish(target=target)
        copy = self.model_copy(update={"publish": publish})
        return copy.placed(self.base, self.environment, self.declared)

    def filled(self, fill: Callable[[str], str], now: datetime) -> Contract:
        """The same agreement with the parameters and the time of one submission put into what it replaces; the digest stays."""
        if self.publish is None or not (self.publish.where or self.publish.partition):
            return self
        where = bind_now(fill(self.publish.where), now) if self.publish.where else None
        partition = {name: fill(value) for name, value in self.publish.partition.items()}
        publish = self.publish.model_copy(update={"where": where, "partition": partition})
        return self.model_copy(update={"publish": publish}).placed(self.base, self.environment, self.declared)

    def with_query(self, sql: str) -> Contract:
        """The same agreement with its rows from a query; what the file says, and so the digest, stays."""
        source = self.source or Source()
        query = Source(
            format="sql", sql=sql, inputs=source.inputs, input_fields=source.input_fields, empty=source.empty
        )  # fmt: skip
        copy = self.model_copy(update={"source": query})
        return copy.placed(self.base, self.environment, self.declared)

    @classmethod
    def from_pandera(cls, schema: Any, *, contract: str | None = None, version: str = "1.0.0") -> Contract:
        """The contract that a pandera `DataFrameModel` or `DataFrameSchema` says; see `pandera_bridge`."""
        from invaract_orchestration.contract.pandera_bridge import from_pandera

        return from_pandera(schema, contract=contract, version=version)

    def to_pandera(self, backend: Literal["pyspark", "polars", "pandas"]) -> Any:
        """Fields and keys as a pandera schema of that backend; see `pandera_bridge`."""
        from invaract_orchestration.contract.pandera_bridge import to_pandera

        return to_pandera(self, backend)

    @property
    def is_stepped(self) -> bool:
        """Whether something is done between what arrives and what is published: steps, casts, or columns out of others."""
        flatten = self.source.flatten if self.source else ()
        return bool(self.transformations or flatten) or self.schema_policy.type_changes == "cast"

    def all_keys(self) -> tuple[Key, ...]:
        """The keys, then those of `unique: true` and of a merge; each set of columns once, the strictest wins."""
        declared = [Key(columns=(f.name,), severity=f.severity) for f in self.fields if f.unique]
        merge = [Key(columns=self.publish.keys)] if self.publish and self.publish.keys else []
        found: dict[frozenset[str], Key] = {}
        for key in (*self.keys, *declared, *merge):
            columns = frozenset(key.columns)
            found[columns] = found[columns].strictest(key) if columns in found else key
        return tuple(found.values())

    def field(self, name: str) -> FieldSpec | None:
        """The column of that exact name, or none."""
        return next((f for f in self.fields if f.name == name), None)
