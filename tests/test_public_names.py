"""What the package offers, and that it costs nothing until it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import invaract_orchestration


def test_every_public_name_is_there() -> None:
    assert invaract_orchestration.__all__ == [
        "load_contract", "Contract", "open_gate", "Gate", "GateResult", "track_checkpoints", "errors",
    ]  # fmt: skip
    assert [n for n in invaract_orchestration.__all__ if not hasattr(invaract_orchestration, n)] == []


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Gaet'"):
        invaract_orchestration.Gaet  # noqa: B018


def test_import_loads_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import invaract_orchestration; print(sorted(set(sys.modules) - before))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = [m for m in eval(printed) if m.startswith("invaract_orchestration") or "." not in m]
    assert [m for m in loaded if m in {"pydantic", "sqlglot", "duckdb", "yaml", "sqlalchemy", "pyarrow"}] == []
    assert [m for m in loaded if m.startswith("invaract_orchestration.")] == []
