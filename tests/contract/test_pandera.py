"""Contracts as pandera schemas and back: the same rules on small frames."""

from __future__ import annotations

from datetime import date
from typing import Any

import pandas as pd
import pandera.pandas as pandas_schemas
import pandera.polars as polars_schemas
import pandera.pyspark as spark_schemas
import polars as pl
import pyspark.sql.types as spark_types
import pytest
from pandera.errors import SchemaError, SchemaErrors

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import UsageError

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning"), pytest.mark.filterwarnings("ignore::UserWarning")]
TEXT = """
contract: orders
version: "2.1.0"
fields:
- {name: id, type: bigint, required: true, min: 1}
- {name: status, type: string, allowed: [open, closed], max_length: 6}
- {name: code, type: string, pattern: "[A-Z]{2}", unique: true, required: true}
- {name: note, type: string, not_blank: whitespace}
- {name: day, type: date, min: 2026-01-01}
- {name: amount, type: "decimal(10,2)", max: 99.5}
- {name: share, type: double, may_be_absent: true}
keys: [[id, day]]
quality:
  row_rules: [{name: sane, sql: "id > 0"}]
"""


@pytest.fixture
def contract() -> Contract:
    return load_contract_text(TEXT)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyspark"])
def test_contract_comes_back_from_a_schema_as_it_was(contract: Contract, backend: Any) -> None:
    back = Contract.from_pandera(contract.to_pandera(backend))
    assert back.fields == contract.fields
    assert (back.contract, back.version, back.keys) == ("orders", "2.1.0", contract.keys)
    assert back.schema_policy.extra_fields == "reject"


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyspark"])
def test_rules_that_a_frame_cannot_be_asked_are_named(contract: Contract, backend: Any) -> None:
    assert contract.to_pandera(backend).metadata["invaract"]["not_carried"] == ["sane"]


GOOD = {
    "id": [1, 2], "status": ["open", None], "code": ["AA", "BB"], "note": ["\u00a0x", None], "day": [date(2026, 1, 1), date(2026, 1, 2)],
    "share": [0.5, None],
}  # fmt: skip
BAD = [
    ("id", [0, 2]), ("status", ["new", None]), ("code", ["AA", "b"]), ("code", ["AA", "AA"]),
    ("day", [date(2025, 12, 31), date(2026, 1, 2)]), ("code", ["AAx", "BB"]), ("code", ["AA\n", "BB"]), ("note", ["\u200b\u00a0", None]),
]  # fmt: skip


def polars_frame(values: dict[str, list[Any]]) -> pl.DataFrame:
    return pl.DataFrame(values).with_columns(amount=pl.lit("1.50").cast(pl.Decimal(10, 2)))


def test_polars_frame_is_judged_as_the_contract_says(contract: Contract) -> None:
    schema = contract.to_pandera("polars")
    schema.validate(polars_frame(GOOD))
    for column, values in BAD:
        with pytest.raises((SchemaError, SchemaErrors)):
            schema.validate(polars_frame(GOOD | {column: values}))


def test_pandas_frame_is_judged_as_the_contract_says(contract: Contract) -> None:
    from decimal import Decimal

    schema = contract.to_pandera("pandas")

    def frame(values: dict[str, list[Any]]) -> pd.DataFrame:
        return pd.DataFrame(values).assign(amount=[Decimal("1.50"), Decimal("2.00")])

    schema.validate(frame(GOOD))
    for column, values in BAD:
        with pytest.raises((SchemaError, SchemaErrors)):
            schema.validate(frame(GOOD | {column: values}))


def test_schema_of_ones_own_becomes_a_contract() -> None:
    class Orders(polars_schemas.DataFrameModel):
        id: int = polars_schemas.Field(gt=0, unique=True)
        status: str = polars_schemas.Field(isin=["a", "b"], nullable=True)

        class Config:
            strict = True

    found = Contract.from_pandera(Orders, contract="orders")
    assert [(f.name, str(f.type), f.required, f.unique, f.min, f.allowed) for f in found.fields] == [
        ("id", "bigint", True, True, "1", None), ("status", "string", False, False, None, ("a", "b")),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pandas_schemas.Column("float64", pandas_schemas.Check.gt(0)), "exclusive bound"),
        (pandas_schemas.Column("int64", pandas_schemas.Check(lambda s: s > 0)), "which a contract cannot carry"),
        (pandas_schemas.Column(str, pandas_schemas.Check.str_matches("a")), "without both ends"),
        (pandas_schemas.Column("complex128"), "no name in a contract"),
        (pandas_schemas.Column("int64", coerce=True), "coerce"),
    ],
)
def test_what_a_contract_cannot_say_is_refused_by_name(column: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Contract.from_pandera(pandas_schemas.DataFrameSchema({"c": column}, name="x"))


def test_schema_without_a_name_needs_one() -> None:
    with pytest.raises(UsageError, match="has no name"):
        Contract.from_pandera(pandas_schemas.DataFrameSchema({"c": pandas_schemas.Column("int64")}))


MODULES: dict[str, tuple[Any, Any, Any]] = {
    "pandas": (pandas_schemas, "int64", str), "polars": (polars_schemas, pl.Int64, pl.String),
    "pyspark": (spark_schemas, spark_types.LongType(), spark_types.StringType()),
}  # fmt: skip


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyspark"])
def test_of_two_checks_of_a_kind_the_stricter_one_counts(backend: str) -> None:
    module, number, text = MODULES[backend]
    check = pandas_schemas.Check
    columns = {
        "a": module.Column(number, [check.gt(5), check.ge(1), check.in_range(0, 9), check.le(20)]),
        "b": module.Column(text, [check.isin(["x", "y"]), check.isin(["y", "z"])]),
        "c": module.Column(text, [check.str_length(3, 9), check.str_length(1, 20)]),
    }
    fields = Contract.from_pandera(module.DataFrameSchema(columns), contract="c").fields
    assert [(f.min, f.max, f.allowed, f.min_length, f.max_length) for f in fields] == [
        ("6", "9", None, None, None), (None, None, ("y",), None, None), (None, None, None, 3, 9),
    ]  # fmt: skip


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyspark"])
@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ([pandas_schemas.Check.isin(["a"]), pandas_schemas.Check.eq("b")], "checks that leave no value"),
        ([pandas_schemas.Check.str_matches("^a$"), pandas_schemas.Check.str_matches("^b$")], "two patterns"),
        ([pandas_schemas.Check(lambda s: s != "a", name="isin")], "the check 'isin', which a contract cannot carry"),
        ([pandas_schemas.Check.isin(["a"], raise_warning=True)], "a check that only warns"),
        ([pandas_schemas.Check.isin(["a"], ignore_na=False)], "a check that a null fails"),
    ],
)
def test_check_that_a_contract_would_lose_is_refused(backend: str, checks: list[Any], message: str) -> None:
    module, _, text = MODULES[backend]
    schema = module.DataFrameSchema({"a": module.Column(text, checks, nullable=True)})
    with pytest.raises(UsageError, match=message):
        Contract.from_pandera(schema, contract="c")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyspark"])
@pytest.mark.parametrize("option", ["coerce", "add_missing_columns", "drop_invalid_rows"])
def test_schema_that_changes_the_data_is_refused(backend: str, option: str) -> None:
    module, number, _ = MODULES[backend]
    schema = module.DataFrameSchema({"a": module.Column(number)}, **{option: True})
    with pytest.raises(UsageError, match=f"the pandera schema has {option}"):
        Contract.from_pandera(schema, contract="c")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyspark"])
def test_schema_that_was_changed_since_it_was_made_is_refused(contract: Contract, backend: Any) -> None:
    more, fewer, other = (contract.to_pandera(backend) for _ in range(3))
    more.columns["id"].checks.append(pandas_schemas.Check.le(5))
    fewer.columns["status"].checks.clear()
    other.columns["share"].nullable = False
    for schema, name in ((more, "id"), (fewer, "status"), (other, "share")):
        with pytest.raises(UsageError, match=f"pandera column '{name}' was made of a contract and says something else now"):
            Contract.from_pandera(schema)


def test_schema_that_filters_columns_accepts_others() -> None:
    schema = pandas_schemas.DataFrameSchema({"a": pandas_schemas.Column("int64")}, strict="filter")
    assert Contract.from_pandera(schema, contract="c").schema_policy.extra_fields == "accept"


def test_name_that_is_none_is_refused_in_words() -> None:
    schema = pandas_schemas.DataFrameSchema({"a": pandas_schemas.Column("int64")})
    with pytest.raises(UsageError, match="'a b' is not a name here"):
        Contract.from_pandera(schema, contract="a b")
