"""A contract's pandera schema judges a real PySpark frame as the contract says."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract

TEXT = """
contract: orders
version: "2.1.0"
fields:
- {name: id, type: bigint, required: true, min: 1}
- {name: status, type: string, allowed: [open, closed], max_length: 6}
- {name: code, type: string, pattern: "[A-Z]{2}", required: true}
- {name: note, type: string, not_blank: whitespace, min_length: 2}
- {name: day, type: date, min: 2026-01-01}
- {name: amount, type: "decimal(10,2)", max: 99.5}
- {name: tags, type: array<string>}
- {name: share, type: double, may_be_absent: true}
keys: [[id, day]]
"""
GOOD: dict[str, Any] = {
    "id": 1, "status": "open", "code": "AA", "note": "né", "day": date(2026, 1, 1), "amount": Decimal("1.50"), "tags": ["a"], "share": 0.5,
}  # fmt: skip
TYPES = {
    "id": "bigint", "status": "string", "code": "string", "note": "string", "day": "date", "amount": "decimal(10,2)", "tags": "array<string>",
    "share": "double",
}  # fmt: skip


@pytest.fixture
def contract() -> Contract:
    return load_contract_text(TEXT)


def errors(spark: Any, contract: Contract, rows: list[dict[str, Any]], types: dict[str, str] = TYPES) -> set[str]:
    """The columns that the schema complains of, or `schema` where it is of none."""
    layout = ", ".join(f"{name} {kind}" for name, kind in types.items())
    frame = spark.createDataFrame([tuple(row[name] for name in types) for row in rows], layout)
    judged = contract.to_pandera("pyspark").validate(frame)
    told = judged.pandera.errors
    return {e["column"] or "schema" for kinds in told.values() for found in kinds.values() for e in found}


def test_frame_that_keeps_the_contract_has_no_errors(spark: Any, contract: Contract) -> None:
    assert errors(spark, contract, [GOOD, GOOD | {"id": 2, "status": None, "note": None, "amount": None, "tags": None}]) == set()


@pytest.mark.parametrize(("column", "value"), [
    ("id", 0), ("id", None), ("status", "new"), ("code", "b"), ("code", "AAx"), ("code", "AA\n"), ("code", None), ("note", "\u00a0\u2003"),
    ("note", "é"), ("day", date(2025, 12, 31)), ("amount", Decimal("99.51")),
])  # fmt: skip
def test_row_that_breaks_a_rule_is_an_error_of_its_column(spark: Any, contract: Contract, column: str, value: Any) -> None:
    types = TYPES
    assert errors(spark, contract, [GOOD, GOOD | {"id": 2} | {column: value}], types) == {column}


def test_keys_are_asked_of_the_frame(spark: Any, contract: Contract) -> None:
    assert errors(spark, contract, [GOOD, GOOD | {"note": "other"}]) != set()
    assert errors(spark, contract, [GOOD, GOOD | {"day": date(2026, 1, 2)}]) == set()


def test_other_type_missing_column_and_extra_column_are_errors(spark: Any, contract: Contract) -> None:
    assert "amount" in errors(spark, contract, [GOOD], TYPES | {"amount": "decimal(10,3)"})
    assert errors(spark, contract, [GOOD], {n: t for n, t in TYPES.items() if n != "day"}) != set()
    assert errors(spark, contract, [GOOD | {"more": "x"}], TYPES | {"more": "string"}) != set()
    assert errors(spark, contract, [GOOD], {n: t for n, t in TYPES.items() if n != "share"}) == set()


def test_schema_of_a_pyspark_model_becomes_a_contract_and_comes_back(spark: Any) -> None:
    import pandera.pyspark as pa
    from pyspark.sql import types as t

    fields = {"id": pa.Field(ge=1), "code": pa.Field(str_matches="^[A-Z]+$", nullable=True)}
    model = type("Orders", (pa.DataFrameModel,), fields | {"__annotations__": {"id": t.LongType, "code": t.StringType}})
    found = Contract.from_pandera(model, contract="orders")
    assert [(f.name, str(f.type), f.required, f.min, f.pattern) for f in found.fields] == [
        ("id", "bigint", True, "1", None), ("code", "string", False, None, "[A-Z]+"),
    ]  # fmt: skip
    assert Contract.from_pandera(found.to_pandera("pyspark")).fields == found.fields
