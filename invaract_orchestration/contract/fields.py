"""Columns and keys, as a contract states them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import Field

from invaract_orchestration.contract.field_types import inner_fields
from invaract_orchestration.contract.scalars import Closed, Name, Phase, Severity, TypeOfField, WrittenValue


class FieldSpec(Closed):
    """What one column, or one nested field, promises. A null passes every check but `required`."""

    name: str = Field(min_length=1)
    """The column's name, taken literally."""
    type: TypeOfField
    """A Spark SQL type: string, bigint, decimal(10,2), date, timestamp, array<string>, struct<zip:string>, ..."""
    description: str | None = None
    """What the field means, for people."""
    required: bool = False
    """No value is null."""
    unique: bool = False
    """No value is there twice in a batch, and none is null."""
    not_blank: Literal["spaces", "whitespace"] | None = None
    """Non-null texts hold more than `spaces`, or than any `whitespace` (also written `true`)."""
    min: WrittenValue | None = None
    """The smallest value, inclusive; nulls pass, NaN does not."""
    max: WrittenValue | None = None
    """The largest value, inclusive; nulls pass, NaN does not."""
    allowed: tuple[WrittenValue, ...] | None = None
    """The only values; nulls pass, NaN does not."""
    pattern: str | None = None
    """A regular expression of the RE2 subset that the whole value matches; nulls pass."""
    min_length: int | None = Field(default=None, ge=0)
    """The least number of characters, inclusive; nulls pass."""
    max_length: int | None = Field(default=None, ge=0)
    """The greatest number of characters, inclusive; nulls pass."""
    complete: bool = False
    """Whether a struct of a JSON record has to have all of its fields; else one that is missing is null."""
    as_text: bool = False
    """Whether a number or a boolean of a JSON record is taken as its text, for a field of type string."""
    may_be_absent: bool = False
    """A batch without this column is fine; its values are then null."""
    normalize: tuple[Literal["trim", "lower", "casefold", "nfc", "nfkc"], ...] = ()
    """What is done to texts before they are compared as keys."""
    format: str | None = None
    """How dates and times are written, in Spark's letters, such as dd/MM/yyyy."""
    decimal_separator: Literal[".", ","] = "."
    """The character before the decimals of a decimal."""
    group_separator: Literal[",", ".", " ", "'", "_"] | None = None
    """The character between groups of three digits of a decimal."""
    timezone: Literal["any", "required", "none"] | None = None
    """Whether times carry a zone: `required` (the default), `any` or `none`."""
    source_timezone: str | None = None
    """The zone of times that are written without one, such as Europe/Paris."""
    sensitivity_tags: tuple[str, ...] = ()
    """Labels that every column derived from this one carries."""
    severity: Severity = "error"
    """`warn` is recorded and shown, and never blocks or moves a row; a value that is not of its type always does."""
    phase: Phase | None = None
    """When the checks run: on the source's rows or on the result of the transformations."""
    fields: tuple[FieldSpec, ...] = ()
    """Checks inside of a struct, of the elements of an array or of the values of a map."""


class Key(Closed):
    """Columns whose values together are there once: in the batch, and with `across: target` in the table too."""

    columns: tuple[str, ...] = Field(min_length=1)
    """The columns of the key."""
    name: Name | None = None
    """The key's id in reports; by default `column|unique`."""
    across: Literal["batch", "target"] = "batch"
    """`target`: unique in the published table too."""
    nulls: Literal["fail", "distinct", "ignore"] = "fail"
    """What a null in the key is: a failure, a value unlike any other, or no key at all."""
    severity: Severity = "error"
    """`warn` is recorded and shown, and never blocks or moves a row."""

    @property
    def check_id(self) -> str:
        """The stable id of the check: its name, else `column|unique` or `a+b|unique`."""
        return self.name or "+".join(self.columns) + "|unique"

    def strictest(self, other: Key) -> Key:
        """One key that is kept only where both are."""
        nulls = next(n for n in ("fail", "distinct", "ignore") if n in (self.nulls, other.nulls))
        across = "target" if "target" in (self.across, other.across) else "batch"
        severity = "error" if "error" in (self.severity, other.severity) else "warn"
        known = {"nulls": nulls, "across": across, "severity": severity, "name": self.name or other.name}
        return self.model_copy(update=known)


def fold(name: str) -> str:
    """The form in which two names collide on a reader that ignores letter case."""
    return unicodedata.normalize("NFC", name).casefold()


def walk_fields(fields: tuple[FieldSpec, ...], above: str = "") -> Iterator[tuple[str, FieldSpec]]:
    """Every field with its dotted path, parents before children."""
    for spec in fields:
        path = f"{above}.{spec.name}" if above else spec.name
        yield path, spec
        yield from walk_fields(spec.fields, path)


def every_field(fields: Iterable[FieldSpec], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldSpec]]:
    """Every field with its path, and every field inside of it: also those that the type names and nothing else is said of."""
    for spec in fields:
        path = (*above, spec.name)
        yield path, spec
        declared = {child.name: child for child in spec.fields}
        yield from every_field([declared.get(n, FieldSpec(name=n, type=t)) for n, t in inner_fields(spec.type)], path)
