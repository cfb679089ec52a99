"""What the footers of the written files say, and what it proves. They only ever prove `kept`; any doubt is left to a scan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal as Number
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from invaract_orchestration.candidate.candidate import Candidate, ColumnStatistics
from invaract_orchestration.checks.row_rules import RowCheck
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


def is_proven(check: RowCheck, candidate: Candidate) -> bool:
    """Whether the statistics of every file prove the check for every row."""
    if len(check.path) != 1 or check.type is None or check.spec is None:
        return False
    name = candidate.spelled.get(check.path[0], check.path[0])
    found = [(f.rows, f.statistics.get(name)) for f in candidate.files]
    known = [(rows, s) for rows, s in found if s is not None]
    if len(known) < len(found):
        return False
    if check.kind == "required":
        return all(s.nulls == 0 for _, s in known)
    parse: Callable[[str], Any] = date.fromisoformat if check.type == DATE else Number
    bound = check.spec.min if check.kind == "min" else check.spec.max
    return all(_is_within(rows, s, check.kind, bound or "", parse) for rows, s in known)


def _is_within(rows: int, statistics: ColumnStatistics, kind: str, bound: str, parse: Callable[[str], Any]) -> bool:
    if statistics.nulls == rows:
        return True  # no value to look at
    try:
        if kind == "min":
            return statistics.minimum is not None and bool(parse(statistics.minimum) >= parse(bound))
        return statistics.maximum is not None and bool(parse(statistics.maximum) <= parse(bound))
    except (ValueError, ArithmeticError):
        return False


def integer_span(candidate: Candidate, name: str) -> tuple[int, int] | None:
    """Exact smallest and largest value of an integer or date column (dates as days since 1970), none when not known."""
    bounds: list[int] = []
    for file in candidate.files:
        statistics = file.statistics.get(name)
        if statistics is None or statistics.minimum is None or statistics.maximum is None:
            if statistics is not None and statistics.nulls == file.rows:
                continue
            return None
        for text in (statistics.minimum, statistics.maximum):
            is_date = text.count("-") == 2
            bounds.append((date.fromisoformat(text) - date(1970, 1, 1)).days if is_date else int(text))
    return (min(bounds), max(bounds)) if bounds else None
