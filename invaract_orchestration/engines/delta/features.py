"""What the features of a Delta table ask of a writer and a reader, as allow-lists: any other is refused by its name."""

from __future__ import annotations

import re

from deltalake import DeltaTable

PROMOTABLE = frozenset({"appendOnly", "invariants", "checkConstraints", "timestampNtz", "generatedColumns"})
"""Ask nothing of an added file that the gate has not judged (generated columns are refused before)."""
REWRITABLE = frozenset({"changeDataFeed", "columnMapping", "deletionVectors", "v2Checkpoint"})
"""Ask for a full writer, which deltalake is: every mode was read back by Spark, with its change feed."""
READABLE = frozenset({"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint"})
"""Features of reading that deltalake's query engine keeps."""
UNWIDENABLE = frozenset({"columnMapping"})
"""Features with which deltalake adds no column."""

_LEGACY_WRITER = {4: ("changeDataFeed", "generatedColumns"), 5: ("columnMapping",), 6: ("identityColumns",)}
"""What a protocol without named features asks of a writer, beside append-only, invariants and CHECK constraints."""
_VARIANT = frozenset({"variantType", "variantType-preview"})


def writer_features(table: DeltaTable) -> frozenset[str]:
    """The features that a writer of the table has to keep, also of a protocol that does not name them."""
    protocol = table.protocol()
    if protocol.writer_features is not None:
        found = frozenset(protocol.writer_features)
    else:
        versions = (v for v in _LEGACY_WRITER if v <= protocol.min_writer_version)
        found = frozenset(name for version in versions for name in _LEGACY_WRITER[version])
    return found - _asleep(table)


def _asleep(table: DeltaTable) -> frozenset[str]:
    """Features that a protocol names, and that a table does not use."""
    configuration = table.metadata().configuration
    found = frozenset[str]() if _has_variants(table) else _VARIANT
    if (configuration.get("delta.columnMapping.mode") or "none") == "none":
        found |= {"columnMapping"}
    if (configuration.get("delta.enableChangeDataFeed") or "false").lower() != "true":
        found |= {"changeDataFeed"}
    return found


def unwritable_features(table: DeltaTable) -> tuple[str, ...]:
    """Features that deltalake cannot write, or is not known to write right."""
    return tuple(sorted(writer_features(table) - PROMOTABLE - REWRITABLE))


def unreadable_features(table: DeltaTable) -> tuple[str, ...]:
    """Features that deltalake cannot read, or is not known to read right."""
    found = frozenset(table.protocol().reader_features or ())
    return tuple(sorted((found if _has_variants(table) else found - _VARIANT) - READABLE))


def _has_variants(table: DeltaTable) -> bool:
    """deltalake names the feature for tables without any such column."""
    return re.search(r'"\w*[tT]ype":\s*"variant"', table.schema().to_json()) is not None
