"""What the statistics of the written files prove. They only ever prove `kept`; any doubt is left to a scan."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal as Number
from typing import Any

from invaract_orchestration.candidate.candidate import Candidate, ColumnStatistics
from invaract_orchestration.checks.row_rules import RowCheck
from invaract_orchestration.contract.field_types import DATE, FLOATS, INTEGERS, TIMESTAMP_NTZ, Decimal, FieldType


def is_proven(check: RowCheck, candidate: Candidate) -> bool:
    """Whether the statistics of every file prove the check for every row."""
    if len(check.path) != 1 or check.type is None or check.spec is None:
        return False
    name = candidate.spelled.get(check.path[0], check.path[0])
    found = [(f.rows, f.statistics.get(name)) for f in candidate.files]
    if any(s is None for _, s in found):
        return False
    known = [(rows, s) for rows, s in found if s is not None]
    if check.kind == "required":
        return all(s.nulls == 0 for _, s in known)
    parse = _reader(check.type)
    if parse is None:
        return False
    return all(_is_within(rows, s, check, parse) for rows, s in known)


def _is_within(rows: int, statistics: ColumnStatistics, check: RowCheck, parse: Callable[[str], Any]) -> bool:
    if statistics.nulls == rows:
        return True  # no value to look at
    if check.type in FLOATS and statistics.has_nan is not False:
        return False  # the bounds of Parquet leave NaN out
    assert check.spec is not None  # checked by the caller
    try:
        if check.kind == "min":
            return statistics.minimum is not None and parse(statistics.minimum) >= parse(check.spec.min or "")
        return statistics.maximum is not None and parse(statistics.maximum) <= parse(check.spec.max or "")
    except (ValueError, ArithmeticError):
        return False


def _reader(type_: FieldType) -> Callable[[str], Any] | None:
    if type_ in INTEGERS or isinstance(type_, Decimal):
        return Number
    if type_ == DATE:
        return date.fromisoformat
    if type_ == TIMESTAMP_NTZ:
        return datetime.fromisoformat
    return float if type_ in FLOATS else None


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
            try:
                bounds.append((date.fromisoformat(text) - date(1970, 1, 1)).days if text.count("-") == 2 else int(text))
            except ValueError:
                return None
    return (min(bounds), max(bounds)) if bounds else None


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
