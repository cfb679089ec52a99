"""A table for rows that are still to come: a frame over it can be built at once, and gives them when it is evaluated later.

Until the rows are there the table's log names a file that is not there, so that reading it fails loudly and gives nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from deltalake import DeltaTable
from deltalake.transaction import AddAction, RemoveAction

from invaract_orchestration.candidate.candidate import CandidateFile
from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.engines.delta.types import delta_schema
from invaract_orchestration.errors import EngineFailure

_STILL_TO_COME = "rows-are-still-to-come.parquet"


def open_pending(place: Path, columns: Sequence[tuple[str, FieldType]]) -> None:
    """Make the table, without its rows."""
    try:
        place.mkdir(parents=True, mode=0o700)
        table = DeltaTable.create(str(place), delta_schema(tuple(columns), frozenset()), name="rows of a transformation")
        table.create_write_transaction([_added(_STILL_TO_COME, 1, "{}")], "append", table.schema())
    except Exception as error:  # noqa: BLE001  # its text says less than this
        raise EngineFailure(f"the rows of a transformation cannot be kept ({type(error).__name__})") from None


def fill_pending(place: Path, files: Sequence[CandidateFile]) -> None:
    """The rows are there: Parquet files below the table's folder, whose names need no escapes."""
    added: list[AddAction | RemoveAction] = [
        _added(Path(f.path).relative_to(place).as_posix(), f.size, json.dumps({"numRecords": f.rows})) for f in files
    ]
    try:
        table = DeltaTable(str(place))
        table.create_write_transaction(added, "overwrite", table.schema())
    except Exception as error:  # noqa: BLE001  # its text says less than this
        raise EngineFailure(f"the rows of a transformation cannot be kept ({type(error).__name__})") from None


def _added(path: str, size: int, stats: str) -> AddAction:
    return AddAction(path=path, size=size, partition_values={}, modification_time=0, data_change=True, stats=stats)
