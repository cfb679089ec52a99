"""A real Airflow in a folder of its own, migrated once: DAGs run by `dag.test()` in this process.

Airflow reads its configuration when it is first imported, so no test module here imports it at its top.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "airflow_plugin" / "example_dags"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.airflow)
            item.add_marker(pytest.mark.filterwarnings("default"))  # Airflow's own are not ours to mend


def airflow_environment(home: Path) -> dict[str, str]:
    bundles = [
        {"name": name, "classpath": "airflow.dag_processing.bundles.local.LocalDagBundle", "kwargs": {"path": str(path)}}
        for name, path in (("examples", EXAMPLES), ("tests", HERE / "dags"))
    ]
    return {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(bundles),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(home / "logs"),
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }


@pytest.fixture(scope="session")
def airflow_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A migrated Airflow; its environment holds for the session."""
    home = tmp_path_factory.mktemp("airflow")
    before = dict(os.environ)
    os.environ.update(airflow_environment(home))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from airflow.utils.db import initdb

        initdb()
    yield home
    os.environ.clear()
    os.environ.update(before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A DAG run that ended, with the state of each task by id (`id[0]` for a mapped one)."""

    run_id: str
    state: str
    tasks: Mapping[str, str]
    tries: Mapping[str, int]


@dataclass(slots=True, kw_only=True)
class Lake:
    """A lake of the test's own, with a landing folder."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def land(self, place: str, *lines: str) -> Path:
        path = self.root / "landing" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        return path

    @property
    def landing(self) -> str:
        return str(self.root / "landing")

    def rows(self, table: str) -> list[dict[str, Any]]:
        from deltalake import DeltaTable

        found = DeltaTable(self.root / table).to_pyarrow_table().to_pylist()
        return sorted(found, key=lambda row: [str(v) for v in row.values()])

    def version(self, table: str) -> int | None:
        from deltalake import DeltaTable

        return DeltaTable(self.root / table).version() if (self.root / table / "_delta_log").exists() else None


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    root = tmp_path / "lake"
    monkeypatch.setenv("INVARACT_LAKE_ROOT", str(root))
    monkeypatch.delenv("INVARACT_AUDIT_URL", raising=False)
    return Lake(root=root)


@pytest.fixture
def run_dag(airflow_home: Path) -> Callable[..., Ran]:
    """Run one DAG of the examples or of `dags/` to its end."""

    def run(dag_id: str, **call: Any) -> Ran:
        from airflow.dag_processing.dagbag import DagBag

        bag = _bag(DagBag, dag_id)
        ended = bag.dags[dag_id].test(run_conf=call.pop("conf", None), **call)
        return _ran(ended)

    return run


def _bag(kind: Any, dag_id: str) -> Any:
    for folder in (EXAMPLES, HERE / "dags"):
        bag = kind(folder)
        assert not bag.import_errors, bag.import_errors
        if dag_id in bag.dags:
            return bag
    raise AssertionError(f"no DAG {dag_id}")


def _ran(ended: Any) -> Ran:
    instances = ended.get_task_instances()
    names = {ti: ti.task_id if ti.map_index < 0 else f"{ti.task_id}[{ti.map_index}]" for ti in instances}
    return Ran(
        run_id=ended.run_id,
        state=str(ended.state),
        tasks={names[ti]: str(ti.state) for ti in instances},
        tries={names[ti]: ti.try_number for ti in instances},
    )
