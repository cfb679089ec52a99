"""A real Airflow in a folder of its own, migrated once: DAGs run by `dag.test()` in this process.

Airflow reads its configuration when it is first imported, so no test module here imports it at its top.
"""

from __future__ import annotations

import json
import os
import secrets
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.airflow.standalone import Standalone, run_standalone

HERE = Path(__file__).parent
PASSWORD = "CANARY-PW"
"""Of the served Airflow's connection to a store that is not there; it must be shown nowhere."""
EXAMPLES = HERE.parents[1] / "airflow_plugin" / "example_dags"


SERVED = ExitStack()
"""A folder that is a package could end it by its scope, but one called `airflow` would stand in for Airflow itself."""


@pytest.hookimpl(trylast=True)  # after what the test itself has to end
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Its processes would take a core from the tests after these."""
    if nextitem is None or not nextitem.path.is_relative_to(HERE):
        SERVED.close()


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
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(64),
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

    def count(self, table: str) -> int:
        from deltalake import DeltaTable

        return int(DeltaTable(self.root / table).to_pyarrow_table().num_rows)

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
        bag = _bag(_dag_bag(), dag_id)
        ended = bag.dags[dag_id].test(run_conf=call.pop("conf", None), **call)
        return _ran(ended)

    return run


@pytest.fixture
def run_flights(run_dag: Callable[..., Ran], lake: Lake) -> Callable[..., Ran]:
    """Run the example on a month of flights; its DAG file is read again with the test's lake in the environment."""
    return lambda **conf: run_dag("flights_monthly", conf=conf)


def _dag_bag() -> Any:
    try:
        from airflow.dag_processing.dagbag import DagBag
    except ModuleNotFoundError:  # Airflow 3.1
        from airflow.models.dagbag import DagBag
    return DagBag


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


CONTRACT = """
contract: batch
version: "1.0.0"
source: {format: csv, location: "landing/{part}.csv"}
fields:
  - {name: id, type: string, required: true}
  - {name: v, type: int, required: true}
keys: [[id]]
publish: {target: reporting.batch, mode: append}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A contract's file with what a DAG run needs to know of it."""

    contract: Path
    lake: Lake

    def conf(self, part: str, **more: Any) -> dict[str, Any]:
        source = f"{self.lake.landing}/{{part}}.csv"
        return {
            "contract": str(self.contract), "source": source, "parameters": {"part": part},
            "folder": str(self.lake.root.parent), **more,
        }  # fmt: skip


@pytest.fixture
def setup(lake: Lake, tmp_path: Path) -> Setup:
    path = tmp_path / "batch.yaml"
    path.write_text(CONTRACT)
    return Setup(contract=path, lake=lake)


@pytest.fixture
def attempts(lake: Lake) -> Callable[[], list[Any]]:
    """The audit's attempts, newest first."""

    def read() -> list[Any]:
        from invaract_orchestration.wiring import open_audit

        with open_audit(read_only=True) as store:
            return [store.attempt(view.attempt.attempt_id) for view in store.attempts()]

    return read


@pytest.fixture
def events(airflow_home: Path) -> Callable[[str], list[dict[str, Any]]]:
    """The extras of an asset's events since the test began, oldest first."""
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session
    from sqlalchemy import func, select

    with create_session() as session:
        start = session.scalar(select(func.max(AssetEvent.id))) or 0

    def read(name: str) -> list[dict[str, Any]]:
        query = select(AssetEvent.extra).join(AssetModel, AssetModel.id == AssetEvent.asset_id)
        with create_session() as session:
            found = session.scalars(query.where(AssetModel.name == name, AssetEvent.id > start).order_by(AssetEvent.id))
            return list(found)

    return read


@pytest.fixture
def xcoms(airflow_home: Path) -> Callable[..., dict[str, Any]]:
    """The XComs of a task by key, as Airflow stored them."""

    def read(ran: Ran, task_id: str = "gate") -> dict[str, Any]:
        from airflow.models.xcom import XComModel
        from airflow.utils.session import create_session
        from sqlalchemy import select

        query = select(XComModel.key, XComModel.value).where(XComModel.run_id == ran.run_id, XComModel.task_id == task_id)
        with create_session() as session:
            return dict(session.execute(query).all())

    return read


@contextmanager
def serve_airflow(folder: Path, database: str | None = None) -> Iterator[tuple[Standalone, Setup]]:
    """A whole Airflow with a lake of its own, an admin and a viewer, lineage to a file, and other people's plugins."""
    home, lake = folder / "airflow", Lake(root=folder / "lake")
    home.mkdir()
    (folder / "batch.yaml").write_text(CONTRACT)
    (home / "passwords.json").write_text(json.dumps({"admin": "admin", "viewer": "viewer"}))
    transport = {"type": "file", "log_file_path": str(home / "lineage.jsonl"), "append": True}
    environment = airflow_environment(home) | {
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(HERE / "plugins"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin,viewer:viewer",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
        "AIRFLOW_CONN_AUDIT": f"invaract://gate:{PASSWORD}@127.0.0.1:1/audit",
        "INVARACT_LAKE_ROOT": str(lake.root),
    }
    if database is not None:
        for name in ("SQL_ALCHEMY_CONN", "SQL_ALCHEMY_CONN_ASYNC"):
            environment[f"AIRFLOW__DATABASE__{name}"] = database.replace("postgresql://", "postgresql+psycopg://")
    with run_standalone(home, environment) as airflow:
        yield airflow, Setup(contract=folder / "batch.yaml", lake=lake)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> tuple[Standalone, Setup]:
    """One whole Airflow on SQLite for all tests that need no other; it ends with the last test of this folder."""
    return SERVED.enter_context(serve_airflow(tmp_path_factory.mktemp("served")))
