"""Where accepted rows go and how, as a contract states it, and where failing rows are kept."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from invaract_orchestration.contract.scalars import Closed, Duration, WrittenValue

Mode = Literal["append", "overwrite", "replace_partitions", "replace_where", "merge", "scd2"]


class Keep(Closed):
    """How long a candidate stays after its verdict."""

    passed: Duration = "30d"
    """After it was published."""
    rejected: Duration = "30d"
    """After it was rejected."""


class CandidatePlace(Closed):
    """Where candidates are written; by default beside the target on the same file system."""

    location: str | None = None
    """A path or a schema; nothing but the gate writes there."""
    keep: Keep = Keep()
    """How long candidates stay."""


class QuarantinePlace(Closed):
    """Where failing rows are kept, and for how long; by default beside the target."""

    location: str | None = None
    """A path or a table."""
    keep: Duration = "30d"
    """How long the rows stay."""


class Versions(Closed):
    """How mode scd2 writes versions of a row."""

    valid_from: str = Field(default="valid_from", min_length=1)
    """The column of the time since when a version holds."""
    valid_to: str = Field(default="valid_to", min_length=1)
    """The column of the time until when it does."""
    current: str = Field(default="is_current", min_length=1)
    """The column that says whether it still holds."""
    number: str | None = Field(default=None, min_length=1)
    """A column that numbers the versions of a key from 1; none by default."""
    since: str | None = Field(default=None, min_length=1)
    """The column of the candidate that says since when a row holds; by default that is the time of the publication."""
    first: WrittenValue | None = None
    """Since when the first version of a key holds, if not since its own time."""
    open: WrittenValue | None = None
    """What `valid_to` says while a version holds; null by default."""
    track: tuple[str, ...] = ()
    """The columns whose change makes a new version; by default all but the keys."""


class Publish(Closed):
    """Where accepted rows go, and how."""

    target: str = Field(min_length=1)
    """The table's name, or its path."""
    mode: Mode = "append"
    """What the accepted rows do to the rows that are there."""
    keys: tuple[str, ...] = ()
    """The columns by which `merge` and `scd2` match rows."""
    partition_by: tuple[str, ...] = ()
    """The columns that the table is partitioned by."""
    partition: dict[str, WrittenValue] = Field(default_factory=dict)
    """The partition that every row must lie in; `{name}` is a parameter of the submission."""
    where: str | None = None
    """The predicate of the rows that `replace_where` replaces; every new row keeps it."""
    evolve: Literal["refuse", "add_columns"] = "refuse"
    """What a field does that the table does not have yet."""
    constraints: Literal["none", "mirror"] = "none"
    """`mirror`: row rules become NOT NULL and CHECK constraints of the table."""
    versions: Versions | None = None
    """How mode scd2 writes versions, where it is not as usual."""
    allow_empty_overwrite: bool = False
    """Whether a batch without rows may empty the table."""
    candidate: CandidatePlace = CandidatePlace()
    """Where candidates are written."""

    @model_validator(mode="after")
    def _mode_has_what_it_needs(self) -> Publish:
        if self.mode == "replace_where" and not self.where:
            raise ValueError("mode replace_where needs `where`, the predicate of the rows to replace")
        if self.where and self.mode != "replace_where":
            raise ValueError(f"`where` belongs to mode replace_where, not {self.mode}")
        if self.versions is not None and self.mode != "scd2":
            raise ValueError(f"`versions` belongs to mode scd2, not {self.mode}")
        if self.mode == "replace_partitions" and not self.partition_by and not self.partition:
            raise ValueError("mode replace_partitions needs `partition_by` or `partition`")
        return self

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The columns that the table is partitioned by: those of the replaced partition where nothing else is said."""
        return self.partition_by or (tuple(self.partition) if self.mode == "replace_partitions" else ())
