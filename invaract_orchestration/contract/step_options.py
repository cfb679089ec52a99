"""The options of each kind of step, as a contract states them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from invaract_orchestration.contract.scalars import Closed, TypeOfField, WrittenValue

Columns = tuple[str, ...]


class Rename(Closed):
    """Columns under other names."""

    mappings: dict[str, str] = Field(min_length=1)
    """The old name of each column, and its new one."""


class CastColumns(Closed):
    """Columns as other types; a text is read in the strict form of its type, and what cannot be cast is null."""

    columns: dict[str, TypeOfField] = Field(min_length=1)
    """The type of each column."""


class Trim(Closed):
    """Texts without the white space around them."""

    fields: Columns = Field(min_length=1)
    """The columns."""
    side: Literal["both", "left", "right"] = "both"
    """Where white space is taken away."""


class Letters(Closed):
    """Texts in one letter case."""

    fields: Columns = Field(min_length=1)
    """The columns."""


class Filter(Closed):
    """The rows for which a condition is true; null is not."""

    sql: str = Field(min_length=1)
    """The condition, in Spark SQL."""


class Deduplicate(Closed):
    """One row for each key: the first in the given order. Rows that are equal in it are ordered by all other columns."""

    on: Columns = Field(min_length=1)
    """The columns of the key."""
    sort_by: Columns = Field(min_length=1)
    """The columns that say which row stays; without an order nobody has said so."""
    order: Literal["asc", "desc"] = "desc"
    """`desc` keeps the row with the greatest values, `asc` that with the smallest; nulls come last."""
    blank_keys: Literal["quarantine", "keep"] = "quarantine"
    """What rows do whose key is blank: they fail `column|required_for_dedup`, or all of them stay."""
    blank: Literal["spaces", "missing"] = "spaces"
    """What a blank key has: a null or a text of nothing but `spaces`, or with `missing` a null alone."""


class Coalesce(Closed):
    """The first value of several columns that is not null."""

    field: str = Field(min_length=1)
    """The column that is written, and the only source where none is named."""
    sources: Columns = ()
    """The columns, in the order in which they are asked."""
    default: WrittenValue | None = None
    """The value where all of them are null."""
    output: str | None = None
    """Another column to write."""


class MapValues(Closed):
    """Values replaced by others."""

    field: str = Field(min_length=1)
    """The column that is read."""
    mapping: dict[str, WrittenValue] = Field(min_length=1)
    """Each value, and what stands for it."""
    default: WrittenValue | None = None
    """What stands for every other value, null included; null where this is left out."""
    output: str | None = None
    """The column to write; by default the one that is read."""
    type: TypeOfField | None = None
    """The type of the new values; by default that of the column where it is rewritten, else string."""


class Derive(Closed):
    """A column computed from the others of its row; what cannot be computed is null."""

    field: str = Field(min_length=1)
    """The column to write."""
    sql: str = Field(min_length=1)
    """The expression, in Spark SQL."""


class Split(Closed):
    """A text cut at a delimiter, as a list of texts."""

    field: str = Field(min_length=1)
    """The column that is read."""
    delimiter: str = Field(default=",", min_length=1)
    """What stands between the parts, literally."""
    output: str | None = None
    """The column to write; by default the one that is read."""


class Explode(Closed):
    """One row for each element of a list; a null or empty list, and a text that is no list, give none."""

    field: str = Field(min_length=1)
    """The list, or a text that holds one as JSON, whose elements are then texts."""
    output: str | None = None
    """The column of the elements; by default the list's own, which is replaced."""


class JsonExtract(Closed):
    """What stands at a path in a JSON text; a missing path, a JSON null and a text that is no JSON give null."""

    field: str = Field(min_length=1)
    """The column to write."""
    source: str = Field(min_length=1)
    """The column that is read: a JSON text, or a nested value."""
    path: str = Field(min_length=1)
    """Such as `$.items[0].price` or `$."a key"`; of several, as in `$.a_b | $.a.b`, the first that leads to a value counts."""
    cast: TypeOfField | None = None
    """The type of what is found, by default string; an object or a list is then its JSON text."""


class RegexExtract(Closed):
    """What a pattern finds first in a text: its group, or the whole match where it has none; null where nothing is found."""

    field: str = Field(min_length=1)
    """The column to write."""
    source: str = Field(min_length=1)
    """The text."""
    pattern: str = Field(min_length=1)
    """A regular expression of the RE2 subset with at most one group; it may match anywhere in the text."""


class DateDiff(Closed):
    """How much lies between two dates or times, as a whole number; negative where the second comes first."""

    field: str = Field(min_length=1)
    """The column to write."""
    from_col: str = Field(min_length=1)
    """The first date or time; a text is read as YYYY-MM-DD, YYYYMMDD or ISO 8601."""
    to_col: str = Field(min_length=1)
    """The second one."""
    unit: Literal["years", "months", "weeks", "days", "hours", "minutes", "seconds"] = "days"
    """`days` counts days of the calendar, every other unit whole units that have passed."""


class DateRangeExplode(Closed):
    """One row for each date from the first to the last, both included; a range without a date gives none."""

    output: str = Field(min_length=1)
    """The column of the dates."""
    start_col: str = Field(min_length=1)
    """The first date; a text is read as for `date_diff`."""
    end_col: str | None = None
    """The last date; today where it is null or left out."""
    interval: str = Field(default="1d", pattern=r"^[1-9][0-9]{0,3}[dw]$")
    """The distance between two dates: a number of days or weeks, such as 1d or 2w."""


class Bin(Closed):
    """A label, and the bounds of the values that it stands for; all of them have to hold."""

    label: WrittenValue
    """The label."""
    lt: WrittenValue | None = None
    """The value is below this."""
    lte: WrittenValue | None = None
    """The value is this or below."""
    gt: WrittenValue | None = None
    """The value is above this."""
    gte: WrittenValue | None = None
    """The value is this or above."""
    eq: WrittenValue | None = None
    """The value is this."""

    @property
    def bounds(self) -> dict[str, str]:
        """The bounds that are given, by their key."""
        return {k: v for k in ("eq", "gt", "gte", "lt", "lte") if (v := getattr(self, k)) is not None}

    @model_validator(mode="after")
    def _has_a_bound(self) -> Bin:
        if not self.bounds:
            raise ValueError("a bin needs a bound; what is in no bin gets `default`")
        return self


class Bucket(Closed):
    """A label for the range that a value lies in: that of the first bin whose bounds hold; a null or NaN is in none."""

    field: str = Field(min_length=1)
    """The column to write."""
    source: str = Field(min_length=1)
    """The column that is read."""
    bins: tuple[Bin, ...] = Field(min_length=1)
    """The bins, in the order in which they are asked."""
    default: WrittenValue | None = None
    """The label of what is in no bin; null where this is left out."""


class Lookup(Closed):
    """A value of a link, found by a key. A key that is there twice in the link stops the run."""

    field: str = Field(min_length=1)
    """The column to write."""
    reference: str = Field(min_length=1)
    """The link's name."""
    on: str = Field(min_length=1)
    """The column of the rows."""
    key: str = Field(min_length=1)
    """The column of the link that equals it."""
    value: str = Field(min_length=1)
    """The column of the link that is taken."""
    default_value: WrittenValue | None = None
    """The value where nothing is found, or a null."""


class Join(Closed):
    """Columns of a link, found by a key. A row with several matches becomes several rows."""

    reference: str = Field(min_length=1)
    """The link's name."""
    on: Columns = Field(min_length=1)
    """The columns of the rows."""
    key: Columns = Field(min_length=1)
    """The columns of the link that equal them, in the same order."""
    fields: Columns = Field(min_length=1)
    """The columns of the link that are taken."""
    type: Literal["left", "inner", "right", "full"] = "left"
    """Which rows stay that have no match."""
    prefix: str = ""
    """What is put before the names of the taken columns."""
    defaults: dict[str, WrittenValue] = Field(default_factory=dict)
    """Values for taken columns that are null."""

    @model_validator(mode="after")
    def _fits(self) -> Join:
        if len(self.on) != len(self.key):
            raise ValueError(f"expected as many columns in 'key' as in 'on', found {len(self.key)} and {len(self.on)}")
        strangers = sorted(set(self.defaults) - set(self.fields))
        if strangers:
            raise ValueError(f"`defaults` names {', '.join(map(repr, strangers))}, which `fields` does not")
        return self


class Rollup(Closed):
    """One row for each group, or one of all rows where there is no `group_by`."""

    group_by: Columns = ()
    """The columns of the groups."""
    aggregations: dict[str, str] = Field(min_length=1)
    """The columns to write, each with its aggregate in Spark SQL."""


class Pivot(Closed):
    """Rows become columns: one row for each set of `id_vars`, one column for each value and value column."""

    id_vars: Columns = Field(min_length=1)
    """The columns that stay."""
    pivot_col: str = Field(min_length=1)
    """The column whose values become names."""
    value_cols: Columns = Field(min_length=1)
    """The columns whose values are put under them."""
    values: tuple[WrittenValue, ...] = Field(min_length=1)
    """The values that become names; a contract's columns never depend on the data."""
    agg: Literal["only", "sum", "min", "max", "avg", "count"] = "only"
    """What becomes of several values for one place; `only` gives the one value, and null where they differ."""
    separator: str = "_"
    """What stands between the parts of a name where there are several value columns."""
    name_template: str | None = None
    """The names instead: a text with `{pivot}` and `{value}`, for the pivoted value and the value column."""
    fill_value: WrittenValue | None = None
    """The value of a place that has none."""


class Unpivot(Closed):
    """Columns become rows: one row for each of the value columns, with its name and its value."""

    value_vars: Columns = Field(min_length=1)
    """The columns that become rows; they are of one type."""
    id_vars: Columns = ()
    """The columns that stay; by default all others."""
    key_field: str = "key"
    """The column of the names."""
    value_field: str = "value"
    """The column of the values."""
    include_nulls: bool = False
    """Whether a null becomes a row too."""


class ChosenColumns(Closed):
    """Columns by name."""

    columns: Columns = Field(min_length=1)
    """The columns."""


Step = (
    Rename | CastColumns | Trim | Letters | Filter | Deduplicate | Coalesce | MapValues | Derive | Split | Explode
    | JsonExtract | RegexExtract | DateDiff | DateRangeExplode | Bucket | Lookup | Join | Rollup | Pivot | Unpivot
    | ChosenColumns | str
)  # fmt: skip
