"""What a DAG file loads when Airflow parses it, in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("duckdb", "deltalake", "pyarrow", "pyspark", "dagster", "fastapi", "pandas", "polars", "sqlglot", "yaml")
MODULES = [
    *(f"airflow_plugin.{name}" for name in ("operators", "sensors", "decorators", "hooks", "links", "plugin")),
    "airflow_plugin.example_dags.flights_monthly",
]
LIST_LOADED = """
import sys
before = set(sys.modules)
import airflow.sdk, airflow.providers.common.compat.sdk as compat
compat.BaseOperator, compat.Asset, compat.AirflowSkipException, compat.BaseSensorOperator, compat.BaseOperatorLink
known = set(sys.modules)
import {module}
heavy = {heavy!r}
print(sorted(n for n in set(sys.modules) - known if n.partition('.')[0] in heavy or n.startswith('invaract_orch')))
"""


@pytest.mark.parametrize("module", MODULES)
def test_parsing_loads_nothing_heavy(module: str, airflow_home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIST_LOADED.format(module=module, heavy=HEAVY)], capture_output=True, text=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore"}, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
