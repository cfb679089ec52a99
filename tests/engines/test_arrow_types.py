"""Types of Parquet columns, read from footers without an engine."""

from __future__ import annotations

import pyarrow as pa
import pytest

from invaract_orchestration.engines.arrow_types import field_type


@pytest.mark.parametrize(
    ("native", "said"),
    [
        (pa.string_view(), "string"), (pa.large_string(), "string"), (pa.dictionary(pa.int8(), pa.string()), "string"),
        (pa.binary_view(), "binary"), (pa.int16(), "smallint"), (pa.decimal128(38, 10), "decimal(38,10)"),
        (pa.decimal256(50, 2), "decimal256(50, 2)"), (pa.uint32(), "uint32"), (pa.timestamp("us", "UTC"), "timestamp"),
        (pa.timestamp("ms"), "timestamp_ntz"), (pa.timestamp("ns"), "timestamp_ntz in nanoseconds"), (pa.list_(pa.int32()), "array<int>"),
        (pa.map_(pa.string(), pa.int64()), "map<string,bigint>"), (pa.struct([("a b", pa.bool_())]), "struct<`a b`:boolean>"),
        (pa.list_(pa.uint8()), "list<item: uint8>"),
    ],
)  # fmt: skip
def test_type_of_a_footer_is_the_one_that_is_read(native: pa.DataType, said: str) -> None:
    assert str(field_type(native)) == said


def test_old_timestamp_of_spark_is_an_instant() -> None:
    assert str(field_type(pa.timestamp("ns"), is_instant=True)) == "timestamp"
