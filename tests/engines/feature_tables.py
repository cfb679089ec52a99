"""Small Delta tables with features that no writer of Python makes: their logs are written by hand, as the protocol says."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "v": ["a", "b", "c"]})
_READER_TOO = {"columnMapping", "deletionVectors", "typeWidening", "v2Checkpoint", "vacuumProtocolCheck", "catalogManaged"}
_PYTHON = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def plain_table(place: str, **properties: str) -> None:
    """Rows 1, 2 and 3 in one file."""
    given = {name.replace("_", "."): value for name, value in properties.items()}
    write_deltalake(place, ROWS.schema.empty_table(), configuration=given or None)
    write_deltalake(place, ROWS, mode="append")


def with_features(place: str, *features: str) -> None:
    """The same table, whose protocol names these features; nothing else is different."""
    plain_table(place)
    protocol: dict[str, Any] = {
        "minReaderVersion": 3 if _READER_TOO & set(features) else 1, "minWriterVersion": 7,
        "writerFeatures": ["appendOnly", "invariants", *features],
    }  # fmt: skip
    if protocol["minReaderVersion"] == 3:
        protocol["readerFeatures"] = sorted(_READER_TOO & set(features))
    _rewritten(place, 0, lambda action: {"protocol": protocol} if "protocol" in action else action)


def with_legacy_protocol(place: str, reader: int, writer: int) -> None:
    """The same table with a protocol of version numbers alone."""
    plain_table(place)
    protocol = {"minReaderVersion": reader, "minWriterVersion": writer}
    _rewritten(place, 0, lambda action: {"protocol": protocol} if "protocol" in action else action)


def with_column_metadata(place: str, column: str, metadata: dict[str, Any]) -> None:
    """The same table, where one column carries what another writer keeps beside it."""
    plain_table(place)

    def changed(action: dict[str, Any]) -> dict[str, Any]:
        if "metaData" in action:
            schema = json.loads(action["metaData"]["schemaString"])
            next(f for f in schema["fields"] if f["name"] == column)["metadata"] = metadata
            action["metaData"]["schemaString"] = json.dumps(schema)
        return action

    _rewritten(place, 0, changed)


def with_deletion_vector(place: str) -> None:
    """The same table, whose row 2 is taken out by a deletion vector: its file still holds it."""
    with_features(place, "deletionVectors")
    vector = {"storageType": "i", "pathOrInlineDv": _z85(_bitmap_of_one(1)), "sizeInBytes": 34, "cardinality": 1}
    first = next(a["add"] for a in _actions(place, 1) if "add" in a)
    removed = {
        "path": first["path"], "deletionTimestamp": 0, "dataChange": True, "extendedFileMetadata": True,
        "partitionValues": {}, "size": first["size"],
    }  # fmt: skip
    statistics = json.dumps({"numRecords": 3, "tightBounds": False})
    actions = [
        {"commitInfo": {"timestamp": 0, "operation": "DELETE"}}, {"remove": removed},
        {"add": first | {"stats": statistics, "deletionVector": vector}},
    ]  # fmt: skip
    _log(place, 2).write_text("\n".join(map(json.dumps, actions)))


def with_column_mapping(place: str) -> None:
    """Rows 1, 2 and 3 in files whose columns have other names."""
    DeltaTable.create(place, ROWS.schema, configuration={"delta.columnMapping.mode": "name"})
    write_deltalake(place, ROWS, mode="append")


def with_change_feed(place: str) -> None:
    """Rows 1, 2 and 3 in a table that keeps its changes."""
    DeltaTable.create(place, ROWS.schema, configuration={"delta.enableChangeDataFeed": "true"})
    write_deltalake(place, ROWS, mode="append")


def _bitmap_of_one(row: int) -> bytes:
    """A roaring bitmap of one row number, in the array form that deletion vectors have."""
    bitmap = struct.pack("<IIHHIH", 12346, 1, 0, 0, 16, row)
    return struct.pack("<IQI", 1681511377, 1, 0) + bitmap


def _z85(data: bytes) -> str:
    padded = data + b"\0" * (-len(data) % 4)
    return base64.b85encode(padded).decode().translate(str.maketrans(_PYTHON, _Z85))


def _log(place: str, version: int) -> Path:
    return Path(place) / "_delta_log" / f"{version:020d}.json"


def _actions(place: str, version: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _log(place, version).read_text().splitlines()]


def _rewritten(place: str, version: int, change: Any) -> None:
    _log(place, version).write_text("\n".join(json.dumps(change(a)) for a in _actions(place, version)))
