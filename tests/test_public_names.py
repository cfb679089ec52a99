"""What the package offers, and that it costs nothing until it is used."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import airflow_plugin
import invaract_orchestration

ROOT = Path(__file__).parents[1]


def test_every_public_name_is_there() -> None:
    assert invaract_orchestration.__all__ == [
        "load_contract", "Contract", "open_gate", "Gate", "GateResult", "track_checkpoints", "errors",
    ]  # fmt: skip
    assert [n for n in invaract_orchestration.__all__ if not hasattr(invaract_orchestration, n)] == []


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Gaet'"):
        invaract_orchestration.Gaet  # noqa: B018


@pytest.mark.parametrize("package", ["invaract_orchestration", "dagster_defs", "airflow_plugin"])
def test_package_says_that_it_has_types(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_version_is_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert version("invaract-orchestration") == airflow_plugin.__version__ == project["version"]


def test_import_loads_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import invaract_orchestration; print(sorted(set(sys.modules) - before))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = [m for m in eval(printed) if m.startswith("invaract_orchestration") or "." not in m]
    assert [m for m in loaded if m in {"pydantic", "sqlglot", "duckdb", "yaml", "sqlalchemy", "pyarrow"}] == []
    assert [m for m in loaded if m.startswith("invaract_orchestration.")] == []
