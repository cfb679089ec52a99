"""What the statistics of the written files prove, and what they leave to a scan."""

from __future__ import annotations

import pytest

from invaract_orchestration.candidate.candidate import Candidate, CandidateFile, ColumnStatistics, Tally
from invaract_orchestration.checks.proven import integer_span, is_proven, tallies_without_scan
from invaract_orchestration.checks.row_rules import RowCheck, row_checks
from invaract_orchestration.contract.load import load_contract_text


def checks(field: str) -> dict[str, RowCheck]:
    contract = load_contract_text(f'contract: c\nversion: "1.0.0"\nfields: [{{name: a, {field}}}]\n')
    return {check.check: check for check in row_checks(contract)}


def candidate(*files: tuple[int, ColumnStatistics | None], column: str = "a") -> Candidate:
    made = tuple(
        CandidateFile(path=f"{i}.parquet", size=1, digest="d", rows=rows, partition=(), statistics={column: s} if s else {})
        for i, (rows, s) in enumerate(files)
    )
    return Candidate(location="x", columns=(), spelled={} if column == "a" else {"a": column}, files=made, digest="d")


def seen(low: str | None = None, high: str | None = None, *, nulls: int = 0, nan: bool | None = None) -> ColumnStatistics:
    return ColumnStatistics(nulls=nulls, minimum=low, maximum=high, has_nan=nan)


@pytest.mark.parametrize(
    ("field", "check", "files", "proven"),
    [
        ("type: int, required: true", "a|required", [(3, seen())], True),
        ("type: int, required: true", "a|required", [(3, seen()), (3, seen(nulls=1))], False),
        ("type: int, required: true", "a|required", [(3, seen()), (3, None)], False),
        ("type: string, required: true", "a|required", [(3, seen())], True),
        ("type: int, min: 5", "a|min", [(3, seen("5", "9"))], True),
        ("type: int, min: 5", "a|min", [(3, seen("5", "9")), (3, seen("4", "9"))], False),
        ("type: int, min: 5", "a|min", [(3, seen(None, "9"))], False),
        ("type: int, min: 5", "a|min", [(3, seen("4", "9", nulls=3))], True),
        ("type: int, min: 5", "a|min", [(3, seen("four", "9"))], False),
        ("type: int, min: 5", "a|min", [(3, None)], False),
        ("type: int, max: 5", "a|max", [(3, seen("1", "5"))], True),
        ("type: int, max: 5", "a|max", [(3, seen("1", "6"))], False),
        ("type: int, max: 5", "a|max", [(3, seen("1"))], False),
        ("type: 'decimal(10,2)', min: 0.10", "a|min", [(3, seen("0.1", "1"))], True),
        ("type: double, min: 1", "a|min", [(3, seen("1.0", "2.0", nan=False))], True),
        ("type: double, min: 1", "a|min", [(3, seen("1.0", "2.0", nan=True))], False),
        ("type: double, min: 1", "a|min", [(3, seen("1.0", "2.0"))], False),
        ("type: date, max: 2026-01-31", "a|max", [(3, seen("2026-01-01", "2026-01-31"))], True),
        ("type: date, max: 2026-01-31", "a|max", [(3, seen("2026-01-01", "infinity"))], False),
        ("type: timestamp_ntz, max: '2026-01-31T10:00:00'", "a|max", [(3, seen("2026-01-01 00:00:00", "2026-01-31 10:00:00"))], True),
        ("type: int, allowed: [1]", "a|allowed", [(3, seen("1", "1"))], False),
        ("type: string, min_length: 1", "a|min_length", [(3, seen("x", "x"))], False),
    ],
)
def test_statistics_prove_a_check_or_leave_it_to_a_scan(
    field: str, check: str, files: list[tuple[int, ColumnStatistics | None]], proven: bool
) -> None:
    assert is_proven(checks(field)[check], candidate(*files)) is proven
    assert is_proven(checks(field)[check], candidate(*files, column="A")) is proven


def test_statistics_of_a_column_prove_nothing_of_what_is_inside_of_it() -> None:
    inner = checks("type: 'struct<b:int>', fields: [{name: b, type: int, required: true}]")["a.b|required"]
    assert not is_proven(inner, candidate((3, seen())))


def test_checks_that_nothing_proves_are_asked_of_the_rows() -> None:
    found = checks("type: int, required: true, min: 5, max: 9, allowed: [5, 9]")
    known, asked = tallies_without_scan(
        candidate((2, seen("5", "8")), (1, seen("7", "11"))), found.values(), structure=("row|malformed",), written={"a|type"}
    )
    assert known == {
        "row|malformed": Tally(rows=3, evidence="write"), "a|type": Tally(rows=3, nulls=0, evidence="write"),
        "a|required": Tally(rows=3, nulls=0, evidence="statistics"), "a|min": Tally(rows=3, nulls=0, evidence="statistics"),
    }  # fmt: skip
    assert [check.check for check in asked] == ["a|max", "a|allowed"]


def test_type_of_a_typed_source_rests_on_its_statistics_and_nulls_that_are_not_known_are_none() -> None:
    known, asked = tallies_without_scan(candidate((2, seen(nulls=1)), (1, None)), checks("type: int").values(), structure=(), written=())
    assert (known, asked) == ({"a|type": Tally(rows=3, nulls=None, evidence="statistics")}, [])


@pytest.mark.parametrize(
    ("files", "span"),
    [
        ([(2, seen("-3", "5")), (1, seen("7", "7"))], (-3, 7)), ([(2, seen("1970-01-02", "1970-01-05"))], (1, 4)),
        ([(2, seen("1", "5")), (1, seen(nulls=1))], (1, 5)), ([(2, seen("1", "5")), (2, seen(nulls=1))], None),
        ([(2, seen("1", "5")), (2, None)], None), ([(2, seen("1", "infinity"))], None), ([(1, seen(nulls=1))], None), ([], None),
    ],
)  # fmt: skip
def test_span_of_whole_numbers_and_dates_is_exact_or_not_known(
    files: list[tuple[int, ColumnStatistics | None]], span: tuple[int, int] | None
) -> None:
    assert integer_span(candidate(*files), "a") == span
