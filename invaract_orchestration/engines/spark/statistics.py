"""What the footers of the written files say."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from invaract_orchestration.candidate.candidate import ColumnStatistics
from invaract_orchestration.contract.field_types import DATE, INTEGERS, Decimal, FieldType, Primitive


def footer(path: Path, types: Mapping[str, FieldType]) -> tuple[int, dict[str, ColumnStatistics]]:
    """Rows of a file, and the statistics of its plain columns; bounds of whole numbers, decimals and dates alone are exact."""
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        plain = {n for n, t in types.items() if isinstance(t, Primitive | Decimal) and "." not in n}
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        found: dict[str, list[Any]] = {}
        for group in groups:
            for i in range(group.num_columns):
                column = group.column(i)
                if column.path_in_schema in plain and column.statistics is not None:
                    found.setdefault(column.path_in_schema, []).append((group.num_rows, column.statistics))
        if not groups:
            return 0, {n: ColumnStatistics(nulls=0) for n in types}
        whole = {n: parts for n, parts in found.items() if len(parts) == len(groups)}
        known = {n: s for n, parts in whole.items() if (s := _merged(parts, types[n])) is not None}
        return metadata.num_rows, known


def _merged(parts: list[tuple[int, Any]], type_: FieldType) -> ColumnStatistics | None:
    if not all(s.has_null_count for _, s in parts):
        return None
    nulls = sum(s.null_count for _, s in parts)
    is_exact = type_ in INTEGERS or type_ == DATE or isinstance(type_, Decimal)
    bounded = [s for rows, s in parts if s.null_count < rows]
    if not is_exact or not bounded or not all(s.has_min_max for s in bounded):
        return ColumnStatistics(nulls=nulls)
    return ColumnStatistics(
        nulls=nulls, minimum=_text(min(s.min for s in bounded)), maximum=_text(max(s.max for s in bounded)), has_nan=False
    )


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
