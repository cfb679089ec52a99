"""Values written in a contract, read strictly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.contract.field_types import PRIMITIVES, FieldType, parse_type
from invaract_orchestration.contract.literals import canonical_literal, literal_value


@pytest.mark.parametrize(
    ("text", "type_", "canonical"),
    [
        ("5", "int", "5"), ("-0", "int", "0"), ("-128", "tinyint", "-128"),
        ("0.1", "decimal(10,2)", "0.10"), ("-0.00", "decimal(4,2)", "0.00"), ("7", "decimal(3,0)", "7"),
        ("1.50", "decimal(2,1)", "1.5"), ("0", "decimal(2,2)", "0.00"), ("-0.5", "decimal(2,2)", "-0.50"),
        ("0.1", "double", "0.1"), ("1e3", "double", "1000.0"), ("-0", "double", "0.0"), ("NaN", "double", "NaN"),
        ("0.1", "float", "0.1"), ("16777217", "float", "16777216.0"),
        ("true", "boolean", "true"), ("2024-02-29", "date", "2024-02-29"),
        ("2026-01-01T10:00:00+02:00", "timestamp", "2026-01-01T08:00:00.000000Z"),
        ("2026-01-01 10:00Z", "timestamp", "2026-01-01T10:00:00.000000Z"),
        ("2026-01-01T00:30:00.5-0130", "timestamp", "2026-01-01T02:00:00.500000Z"),
        ("2026-01-01 10:00:00.25", "timestamp_ntz", "2026-01-01T10:00:00.250000"),
        (" on ", "string", " on "),
    ],
)  # fmt: skip
def test_literal_of_the_type_has_one_form(text: str, type_: str, canonical: str) -> None:
    assert canonical_literal(text, parse_type(type_)) == canonical


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("010", "int"), ("+1", "int"), ("1_000", "int"), (" 1", "int"), ("1.0", "int"), ("1e3", "bigint"),
        ("0x1F", "int"), ("١", "int"), ("128", "tinyint"), ("9" * 30, "bigint"), ("", "int"),
        ("1,5", "decimal(4,2)"), (".5", "decimal(4,2)"), ("5.", "decimal(4,2)"), ("1e2", "decimal(4,2)"),
        ("0.125", "decimal(4,2)"), ("100", "decimal(4,2)"), ("05", "decimal(4,2)"), ("1", "decimal(2,2)"),
        ("inf", "double"), ("nan", "double"), ("1e999", "double"), ("1e39", "float"), ("1.", "double"),
        ("True", "boolean"), ("1", "boolean"), ("2026-2-1", "date"), ("2026-02-30", "date"), ("20260201", "date"),
        ("0000-01-01", "date"), ("2026-01-01", "timestamp"), ("2026-01-01T10:00:00", "timestamp"),
        ("2026-01-01T24:00:00Z", "timestamp"), ("2026-01-01T10:00:00+19:00", "timestamp"),
        ("2026-01-01T10:00:00+01:60", "timestamp"), ("0001-01-01T00:00:00+01:00", "timestamp"),
        ("2026-01-01T10:00:00Z", "timestamp_ntz"), ("2026-01-01T10:00:00.1234567", "timestamp_ntz"),
        ("aGk=", "binary"), ("[1]", "array<int>"), ("1\n", "int"), ("2026-01-01\n", "date"),
    ],
)  # fmt: skip
def test_literal_in_another_form_is_refused(text: str, type_: str) -> None:
    with pytest.raises(ValueError, match=r"expected|cannot be written"):
        canonical_literal(text, parse_type(type_))


def test_values_compare_in_the_order_of_their_type() -> None:
    decimal = parse_type("decimal(10,2)")
    assert literal_value("9.5", decimal) < literal_value("10", decimal)  # type: ignore[operator]
    timestamp = parse_type("timestamp")
    early, late = "2026-01-01T10:00:00+02:00", "2026-01-01T09:00:00Z"
    assert literal_value(early, timestamp) < literal_value(late, timestamp)  # type: ignore[operator]


@given(st.text(max_size=40), st.sampled_from([*PRIMITIVES, parse_type("decimal(10,2)"), parse_type("array<int>")]))
def test_any_text_is_a_literal_or_a_value_error(text: str, type_: FieldType) -> None:
    try:
        canonical = canonical_literal(text, type_)
    except ValueError:
        return
    assert canonical_literal(canonical, type_) == canonical
