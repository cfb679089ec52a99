"""What the contract may import."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from invaract_orchestration.contract import digest, json_schema, lint, load, phases, template
heavy = {"duckdb", "deltalake", "pyarrow", "pyspark", "sqlalchemy", "pandas", "dagster", "airflow", "rich", "cyclopts"}
print(sorted(heavy & set(sys.modules)))
"""


def test_contract_modules_load_no_engine_and_no_framework() -> None:
    result = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
