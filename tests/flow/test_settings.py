"""Settings of a deployment: one that cannot be used is told by its name, and nothing is left of the attempt."""

from __future__ import annotations

from pathlib import Path

import pytest

from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.errors import UsageError
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate

CONTRACT = """
contract: numbers
version: "1.0.0"
source: {location: numbers.csv}
fields: [{name: id, type: int}]
publish: {target: lake.numbers}
"""


@pytest.mark.parametrize("value", ["lots", "4", "4 potatoes"])
def test_memory_limit_that_the_engine_does_not_take_is_told_by_its_name(tmp_path: Path, value: str) -> None:
    (tmp_path / "c.yaml").write_text(CONTRACT)
    (tmp_path / "numbers.csv").write_text("id\n1\n")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path), "INVARACT_MEMORY_LIMIT": value})) as gate:
        result = gate.run(load_contract(tmp_path / "c.yaml"))
    assert (result.state, result.code, result.exit_code) == ("failed", "engine.setting", 3)
    assert result.message == f"INVARACT_MEMORY_LIMIT: expected a number with a unit, found {value!r}"
    assert list(tmp_path.rglob("scratch")) == []
    assert not (tmp_path / "lake" / "numbers").exists()


@pytest.mark.parametrize(("value", "kept"), [("2GB", "1.8 GiB"), ("2 GiB", "2.0 GiB")])
def test_memory_limit_is_the_engines(tmp_path: Path, value: str, kept: str) -> None:
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path), "INVARACT_MEMORY_LIMIT": value, "INVARACT_THREADS": "1"})) as gate:
        with gate.engine.open(tmp_path / "scratch", lambda name, base: name) as session:
            found = session.connection.execute("SELECT current_setting('memory_limit'), current_setting('threads')").fetchone()
        assert not (tmp_path / "scratch").exists()
    assert found == (kept, 1)


@pytest.mark.parametrize("value", ["0", "-1", "two", "", "\u00b2", "\u0662", "9" * 20, "9" * 5000])
def test_number_of_threads_that_is_none_is_a_usage_error(value: str) -> None:
    with pytest.raises(UsageError, match="INVARACT_THREADS: expected a whole number from 1 to 999999"):
        read_settings({"INVARACT_THREADS": value})
