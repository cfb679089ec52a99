"""Parquet files that are one table together: an input of a query, or a link.

Their columns are those of their footers, by name: a file that does not have one has nulls there. Folder names of the form
`name=value` give columns of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from invaract_orchestration.contract.field_types import NANOSECONDS, FieldType, Primitive
from invaract_orchestration.engines.arrow_types import field_type, has_nanoseconds
from invaract_orchestration.errors import InputUnreadable, NotSupported
from invaract_orchestration.intake.column_names import fold
from invaract_orchestration.intake.listing import ListedFile

Columns = tuple[tuple[str, FieldType | str], ...]

TOO_FINE = "invaract: finer than a microsecond"
"""What an engine's error says where a moment in nanoseconds is no whole microsecond: it would be cut off without a word."""
TOO_FINE_SENTENCE = "a table that is read holds moments finer than a microsecond"
TOO_FINE_HINT = "round them before the table is written, such as df['at'].dt.floor('us') in pandas"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetTable:
    """The files of a table, their columns, and those that only the folders say."""

    files: tuple[ListedFile, ...]
    columns: Columns
    folders: tuple[str, ...]

    @property
    def fine(self) -> dict[str, Primitive]:
        """The columns that are in nanoseconds, with the type that they have in microseconds."""
        return {name: NANOSECONDS[type_] for name, type_ in self.columns if isinstance(type_, str) and type_ in NANOSECONDS}


def parquet_table(what: str, files: Sequence[ListedFile]) -> ParquetTable:
    """The table that files are; `what` says in messages which one that is.

    Raises:
        InputUnreadable: a file is no Parquet file, has two columns of one name, or has a column in another type or spelling than
            the files before it.
        NotSupported: a timestamp in nanoseconds stands inside of another type.
    """
    found: dict[str, tuple[str, FieldType | str, str]] = {}
    for file in files:
        own = parquet_columns(file.path, file.name, has_fine_parts=False)
        if len({fold(name) for name, _ in own}) != len(own):
            raise InputUnreadable(f"{what}: {file.name} has two columns whose names differ in letter case at most")
        for name, type_ in own:
            first, expected, place = found.setdefault(fold(name), (name, type_, file.name))
            if (first, expected) != (name, type_):
                raise InputUnreadable(
                    f"{what}: column {name!r} is {type_} in {file.name}, expected {first!r} as {expected}, as in {place}",
                    hint="write its files alike, or make it a Delta table, which has one schema",
                )
    said = dict.fromkeys(n for file in files for n in file.folder_columns if fold(n) not in found)
    columns = tuple((name, type_) for name, type_, _ in found.values())
    return ParquetTable(files=tuple(files), columns=columns, folders=tuple(said))


def parquet_columns(path: Path, name: str, *, has_fine_parts: bool = True) -> Columns:
    """Name and type of each column of a Parquet file, from its footer.

    Raises:
        InputUnreadable: the file is no Parquet file.
        NotSupported: a timestamp in nanoseconds stands inside of another type, where that is not to be (`has_fine_parts`).
    """
    try:
        with pq.ParquetFile(path) as file:
            schema: pa.Schema = file.schema_arrow
            leaves = [file.schema.column(i) for i in range(len(file.schema))]
    except Exception:  # noqa: BLE001  # Arrow's text may hold parts of the file
        raise InputUnreadable(
            f"reading the schema of {name}: the file is not a Parquet file, or is cut off",
            hint="check source.format and the file's size",
        ) from None
    nested = next((f.name for f in schema if f.type.num_fields and has_nanoseconds(f.type)), None)
    if nested is not None and not has_fine_parts:
        raise NotSupported(
            f"{name}: column {nested!r} holds timestamps in nanoseconds inside of another type",
            hint='write it in microseconds (pandas: coerce_timestamps="us")',
        )
    instants = {leaf.path for leaf in leaves if leaf.physical_type == "INT96"}
    return tuple((f.name, field_type(f.type, is_instant=f.name in instants)) for f in schema)
