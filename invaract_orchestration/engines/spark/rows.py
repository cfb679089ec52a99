"""The rows of a batch as one data frame, with each field's typed value and whether its text was in the declared form.

The frame's columns are named by position (v0, t0, ...), so no name of the data can clash with one of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from invaract_orchestration.contract.field_types import (
    BINARY,
    BOOLEAN,
    FLOATS,
    INTEGERS,
    STRING,
    Array,
    FieldType,
    Map,
    Struct,
)  # fmt: skip
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.spark import sql_text as q

RECORD, HEADER, BLANK, DOUBT = "record", "header", "blank", "doubt"
PLACE = ("f", "n", "p")
WITH_NULLS = "map('ignoreNullFields', 'false')"


def as_payload(value: str, type_: FieldType) -> str:
    """A typed value as it is kept with a failing row: JSON of its own where that holds every digit, else its text."""
    if type_ in (*INTEGERS, BOOLEAN, STRING):
        return value
    if type_ == BINARY:
        return f"regexp_replace(hex({value}), '(..)', {q.text(chr(92) * 2 + 'x$1')})"
    if isinstance(type_, Array | Map | Struct):
        return f"to_json({value})"
    return f"lower(CAST({value} AS STRING))" if type_ in FLOATS else f"CAST({value} AS STRING)"


def as_json(text: str) -> str:
    """A text as a JSON string."""
    return f"substring(to_json(array({text})), 2, char_length(to_json(array({text}))) - 2)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Two readings of a batch. `quick` gives the columns `k` (what a line is), v0.. and t0..; `numbered` gives f (file), n
    (number in the file), p (the original as JSON), the columns of `structure`, v0.. and t0.. for every record, good or not.
    """

    quick: Callable[[], Any] | None
    """None where only the other reading is sure."""
    numbered: Callable[[], Any]
    values: dict[str, str]
    """Field name to the column that holds its typed value."""
    rights: tuple[tuple[str, str, str], ...]
    """(check id, field name, column) of the form of each value; empty for typed sources."""
    structure: tuple[tuple[str, str], ...]
    """(check id, column) of the structure of each record."""
    headers: int = 0
    """How many lines of the quick reading are headers."""
    is_text: bool
    counts_malformed_apart: bool = False
    """Whether a record that is none is not asked any other check."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Spark's name of a file to its name in the batch."""

    def guard(self) -> str:
        """The condition that every row is structurally right and every value in its form."""
        return q.all_of([c for _, c in self.structure] + [c for _, _, c in self.rights])


@dataclass(slots=True)
class Held:
    """Columns that hold what a reading needs more than once (see `Hold`), named by a prefix and a number.

    An expression that stands in a plan n times is planned n times, and where it is needed by another that stands there m times,
    n * m times. What is read from a column of its own stays in one place: Spark puts it back only where it is needed once.
    """

    prefix: str
    steps: list[tuple[int, str]] = field(default_factory=list)
    """Each column's expression, and after how many others it can be computed."""

    def __call__(self, sql: str) -> str:
        """The name of a new column that holds this."""
        read = [at for n in re.findall(rf"\b{self.prefix}_([0-9]+)\b", sql) if (at := int(n)) < len(self.steps)]
        self.steps.append((max((self.steps[at][0] + 1 for at in read), default=0), sql))
        return f"{self.prefix}_{len(self.steps) - 1}"


def with_held(frame: Any, held: Sequence[Held]) -> Any:
    """The frame with all of these columns."""
    named = [(after, f"{sql} AS {h.prefix}_{at}") for h in held for at, (after, sql) in enumerate(h.steps)]
    for now in sorted({after for after, _ in named}):
        frame = frame.selectExpr("*", *(column for after, column in named if after == now))
    return frame


def only(frame: Any, condition: str) -> Any:
    """The rows of a frame for which a condition on its columns is true.

    Spark computes a condition from what the columns are made of, once more for each time they stand in it, and then the columns.
    It leaves one alone that reads a column which may be another each time.
    """
    return frame.selectExpr("*", "monotonically_increasing_id() AS here").where(f"here >= 0 AND ({condition})")


def union(left: Any, right: Any) -> Any:
    """Rows of both."""
    return left.unionAll(right)


def column_types(contract: Contract) -> dict[str, FieldType]:
    """Field name to type."""
    return {f.name: f.type for f in contract.fields}
