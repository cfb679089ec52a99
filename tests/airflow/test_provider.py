"""What Airflow shows of the package, by Airflow's own commands and schema."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module, resources
from pathlib import Path

import pytest

from airflow_plugin.get_provider_info import get_provider_info


def test_provider_info_keeps_airflows_schema(airflow_home: Path) -> None:
    import jsonschema

    schema = json.loads((resources.files("airflow") / "provider_info.schema.json").read_text())

    jsonschema.validate(get_provider_info(), schema)


def test_provider_info_names_what_exists(airflow_home: Path) -> None:
    info = get_provider_info()
    names = [info["connection-types"][0]["hook-class-name"], info["task-decorators"][0]["class-name"]]
    names += [info["plugins"][0]["plugin-class"], *info["extra-links"]]
    for kind in ("operators", "sensors", "hooks", "triggers"):
        import_module(info[kind][0]["python-modules"][0])

    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("providers", "list", "-o", "plain"), "invaract-orchestration"),
        (("plugins", "-o", "plain"), "airflow_plugin.plugin:InvaractPlugin"),
    ],
)
def test_airflow_lists_the_package(command: tuple[str, ...], shown: str, airflow_home: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("airflow"), *command], capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore", "COLUMNS": "500"},
    )  # fmt: skip

    assert shown in done.stdout
