"""Reading a Delta table through deltalake's own query engine: deletion vectors and the log are understood there, and a reader
feature that it does not know is an error, never a wrong answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import TableNotFoundError

from invaract_orchestration.engines.delta.features import unreadable_features
from invaract_orchestration.errors import GateError, InputUnreadable, InvaractError, NotSupported

_ENCODED = re.compile("%[0-9A-Fa-f]{2}")


@contextmanager
def reading(location: str) -> Iterator[None]:
    """Every failure of the reader in the block is told in words of ours, without its text, as InputUnreadable."""
    try:
        yield
    except InvaractError:
        raise
    except Exception as error:  # noqa: BLE001  # deltalake raises many classes, and its text may hold values
        if "catalog-managed" in str(error).lower():
            raise InputUnreadable(
                f"the Delta table at {location!r} cannot be read by its place: it has the table feature 'catalogManaged', so its "
                "catalog keeps its newest commits",
                hint="use a table without that feature",
                code="table.feature",
            ) from None
        raise InputUnreadable(
            f"the Delta table at {location!r} cannot be read ({type(error).__name__})",
            hint="check the place, its permissions and that its log is whole",
        ) from None


def open_table(location: str, version: int | None = None, *, options: dict[str, str] | None = None) -> DeltaTable | None:
    """The table at a place, none when there is no table. Raises GateError when it cannot be read."""
    if _ENCODED.search(location):
        raise NotSupported(
            f"the folder {location!r} holds a percent sign with two digits, which deltalake takes for another "
            "character: it would look into another folder",
            hint="give the folder another name",
        )
    with reading(location):
        try:
            return DeltaTable(location, version=version, storage_options=options)
        except TableNotFoundError:
            _refuse_hidden(location)
            return None


def _refuse_hidden(location: str) -> None:
    """Whether there is a table in a folder that this user may not reach is not known; deltalake says that there is none."""
    try:
        Path(location).stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InputUnreadable(
            f"whether there is a Delta table at {location!r} cannot be seen: {error.strerror}",
            hint="give this user the right to enter the folders above it",
        ) from None


def read_columns(
    location: str, version: int | None, columns: list[str] | None, *, options: dict[str, str] | None = None
) -> pa.RecordBatchReader:
    """The rows of one version as an Arrow stream, of the named columns or all.

    Raises:
        GateError: there is no such table, or a column is missing in it.
    """
    table = open_table(location, version, options=options)
    if table is None:
        raise GateError(f"there is no Delta table at {location!r}", code="table.missing")
    names = [f.name for f in table.schema().fields]
    missing = sorted(set(columns or []) - set(names))
    if missing:
        raise GateError(
            f"the Delta table at {location!r} has no column {', '.join(map(repr, missing))}", code="table.column_missing",
            hint=f"its columns are {', '.join(map(repr, names))}",
        )  # fmt: skip
    _refuse_unreadable(table, location)
    chosen = ", ".join('"' + c.replace('"', '""') + '"' for c in (columns or names))
    with reading(location):
        stream: Any = QueryBuilder().register("t", table).execute(f"SELECT {chosen} FROM t")
        return pa.RecordBatchReader.from_stream(stream)


def _refuse_unreadable(table: DeltaTable, location: str) -> None:
    features = unreadable_features(table)
    if features:
        raise InputUnreadable(
            f"the Delta table at {location!r} cannot be read: expected table features that deltalake knows, found "
            f"{', '.join(map(repr, features))}",
            hint="the engine spark reads such a table",
            code="table.feature",
        )


def count_rows(location: str) -> tuple[int, int] | None:
    """Version and number of rows of the table now; none when there is no table."""
    table = open_table(location)
    if table is None:
        return None
    _refuse_unreadable(table, location)
    with reading(location):  # not table.count(), which counts the rows that a deletion vector takes out too
        rows: Any = QueryBuilder().register("t", table).execute("SELECT count(*) AS n FROM t")
        return table.version(), int(pa.table(rows).column("n")[0].as_py())


def newest_moment(location: str, column: str, zone: str) -> datetime | None:
    """The greatest value of a date or timestamp column as a moment; a date is its end in `zone`. None without a value."""
    table = open_table(location)
    if table is None:
        return None
    latest: Any = None
    for batch in read_columns(location, table.version(), [column]):
        found = pc.max(batch.column(0)).as_py()
        latest = found if latest is None or (found is not None and found > latest) else latest
    if latest is None or isinstance(latest, datetime):
        return latest if latest is None or latest.tzinfo else latest.replace(tzinfo=ZoneInfo(zone))
    if not isinstance(latest, date):
        raise GateError(f"column {column!r} is no date and no timestamp", code="freshness.column")
    return datetime.combine(latest, time.max, ZoneInfo(zone))
