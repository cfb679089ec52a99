"""What DuckDB says of the columns that it has written."""

from __future__ import annotations

from invaract_orchestration.candidate.candidate import ColumnStatistics


def column_statistics(found: dict[str, dict[str, str]]) -> dict[str, ColumnStatistics]:
    """Statistics of top-level columns; a nested column's are left out."""
    known = {}
    for quoted, values in found.items():
        name = _top_level(quoted)
        if name is None or "null_count" not in values:
            continue
        nan = values.get("has_nan")
        known[name] = ColumnStatistics(
            nulls=int(values["null_count"]),
            minimum=values.get("min") if values.get("min_is_exact") == "true" else None,
            maximum=values.get("max") if values.get("max_is_exact") == "true" else None,
            has_nan=None if nan is None else nan == "true",
        )
    return known


def _top_level(quoted: str) -> str | None:
    inner = quoted[1:-1].replace('""', "\0")
    return None if '"' in inner else inner.replace("\0", '"')
