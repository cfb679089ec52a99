"""What cannot be computed is null and so a failure: also where an optimizer could do without computing it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.engines.duckdb.session import translated
from invaract_orchestration.errors import EngineFailure, InputUnreadable
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate


@pytest.mark.parametrize(
    ("sql", "failed"),
    [
        ("a * 4611686018427387904 > 0", 2), ("a + 9223372036854775807 > 0", 3), ("a + 9223372036854775807 > 0 OR a > 0", 0),
        ("a - -9223372036854775807 > 0", 3), ("a * 2 * 4611686018427387904 > 0", 3), ("a * 4 > 0", 1),
    ],
)  # fmt: skip
def test_overflow_in_a_row_rule_is_a_failure_that_no_rewriting_hides(tmp_path: Path, sql: str, failed: int) -> None:
    (tmp_path / "c.csv").write_text("a,b\n1,1\n2,1\n9223372036854775807,1\n")
    (tmp_path / "c.yaml").write_text(
        'contract: c\nversion: "1.0.0"\nsource: {location: c.csv}\nfields: [{name: a, type: bigint}, {name: b, type: int}]\n'
        f'quality: {{row_rules: [{{name: rule, sql: "{sql}"}}]}}\n'
    )
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path / "lake")})) as gate:
        result = gate.check(load_contract(tmp_path / "c.yaml"))
    assert {c.check: c.failed for c in result.checks}["rule"] == failed


@pytest.mark.parametrize("field", ["type: bigint, min: -9223372036854775808", "type: int, max: 2147483647"])
@pytest.mark.parametrize("last", [True, False])
def test_key_at_the_end_of_its_types_range_is_counted(tmp_path: Path, field: str, last: bool) -> None:
    bits = 63 if "bigint" in field else 31
    ends = [-(2**bits), -(2**bits) + 1] if not last else [2**bits - 1, 2**bits - 2]
    (tmp_path / "c.yaml").write_text(
        'contract: c\nversion: "1.0.0"\nsource: {location: "{name}.csv"}\n'
        f"fields: [{{name: a, {field}}}]\nkeys: [[a]]\npublish: {{target: lake.c}}\n"
    )
    for name, values in (("once", ends), ("twice", [*ends, ends[0]])):
        (tmp_path / f"{name}.csv").write_text("a\n" + "".join(f"{v}\n" for v in values))
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path / "lake")})) as gate:
        once, twice = (gate.run(load_contract(tmp_path / "c.yaml"), parameters={"name": n}) for n in ("once", "twice"))
    assert (once.state, once.counts.inserted) == ("published", 2), once.message
    assert (twice.state, {c.check: c.failed for c in twice.blocking}) == ("rejected", {"a|unique": 2})


def test_words_of_the_statement_say_nothing_of_what_went_wrong(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS a) TO '{file}' (FORMAT parquet)")
        with pytest.raises(EngineFailure, match="doing it: the engine failed with ConversionException"), translated("doing it"):
            connection.execute(f"SELECT -9223372036854775808::BIGINT, 'gzip' FROM read_parquet('{file}')").fetchall()
        file.write_bytes(b"PAR1 and no more")
        with pytest.raises(InputUnreadable, match="doing it: a file is not a Parquet file"), translated("doing it"):
            connection.execute(f"SELECT * FROM read_parquet('{file}')").fetchall()
