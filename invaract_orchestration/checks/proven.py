"""What is known of row checks without reading the candidate: by how it was written, and by the statistics of its files.

Statistics only ever prove `kept`; any doubt is left to a scan.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import date, datetime
from decimal import Decimal as Number
from typing import Any

from invaract_orchestration.candidate.candidate import Candidate, ColumnStatistics, Tally
from invaract_orchestration.checks.row_rules import RowCheck
from invaract_orchestration.contract.field_types import DATE, FLOATS, INTEGERS, TIMESTAMP_NTZ, Decimal, FieldType

_PROVABLE = ("required", "min", "max")


def tallies_without_scan(
    candidate: Candidate, checks: Iterable[RowCheck], *, structure: Iterable[str], written: Collection[str]
) -> tuple[dict[str, Tally], list[RowCheck]]:
    """Tallies of the checks that every row of the candidate keeps, and the checks that its rows have to be asked.

    `structure` are the checks on the form of a record, which the writing guards. `written` are the type checks that the writing
    guards too; those of a typed source hold by the columns' types.
    """
    total = candidate.rows
    known = {check: Tally(rows=total, evidence="write") for check in structure}
    asked: list[RowCheck] = []
    for check in checks:
        nulls = _nulls(candidate, check)
        if check.kind == "type":
            known[check.check] = Tally(rows=total, nulls=nulls, evidence="write" if check.check in written else "statistics")
        elif is_proven(check, candidate):
            known[check.check] = Tally(rows=total, nulls=nulls, evidence="statistics")
        else:
            asked.append(check)
    return known, asked


def is_proven(check: RowCheck, candidate: Candidate) -> bool:
    """Whether the statistics of every file prove the check for every row; a statistic that is not known proves nothing."""
    if check.kind not in _PROVABLE or len(check.path) != 1 or check.type is None or check.spec is None:
        return False
    name = candidate.spelled.get(check.path[0], check.path[0])
    known = [(file.rows, file.statistics[name]) for file in candidate.files if name in file.statistics]
    if len(known) < len(candidate.files):
        return False
    if check.kind == "required":
        return all(s.nulls == 0 for _, s in known)
    parse = _reader(check.type)
    return parse is not None and all(_is_within(rows, s, check, parse) for rows, s in known)


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


def _nulls(candidate: Candidate, check: RowCheck) -> int | None:
    """The values that a check of a whole column was not asked of; none when that is not known."""
    if len(check.path) != 1:
        return None
    name = candidate.spelled.get(check.path[0], check.path[0])
    counts = [f.statistics[name].nulls for f in candidate.files if name in f.statistics]
    return sum(counts) if len(counts) == len(candidate.files) else None
