"""What docker compose starts, started here by the services' own commands and health checks, on a real PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.airflow.standalone import free_port, wait_for
from tests.airflow.test_deployment import ROOT, outside_airflow
from tests.postgres_server import PASSWORD, PostgresServer, postgres_server  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

PROGRAMS = Path(sys.executable).parent
SKIPPED = shutil.ignore_patterns("__pycache__", "airflow_passwords.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compose:
    """The services as compose would start them, with this machine's places and ports for those of the containers."""

    services: dict[str, Any]
    folder: Path
    words: dict[str, str]
    """What stands in the file, and what takes its place here."""

    def translate(self, text: str) -> str:
        return re.sub("|".join(re.escape(word) for word in self.words), lambda found: self.words[found[0]], text)

    def command(self, name: str) -> list[str]:
        first, *rest = (self.translate(part) for part in self.services[name]["command"])
        return [str(PROGRAMS / first), *rest]

    def environment(self, name: str) -> dict[str, str]:
        given = {key: self.translate(str(value)) for key, value in self.services[name]["environment"].items()}
        homes = {"AIRFLOW_HOME": str(self.folder / "airflow"), "DAGSTER_HOME": str(self.folder / "dagster")}
        network = {f"AIRFLOW__LOGGING__{part}_LOG_SERVER_PORT": str(free_port()) for part in ("WORKER", "TRIGGER")}
        network |= {"AIRFLOW__API__HOST": "127.0.0.1", "AIRFLOW__API__PORT": self.words["8080"]}  # a container has its own
        path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        return outside_airflow() | homes | network | {"PATH": path, "PYTHONWARNINGS": "ignore"} | given

    def is_healthy(self, name: str) -> bool:
        _, *check = (self.translate(part) for part in self.services[name]["healthcheck"]["test"])
        return subprocess.run(check, env=self.environment(name), capture_output=True, check=False).returncode == 0

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """The service, from its being healthy until its own stop signal has ended it."""
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                self.command(name), env=self.environment(name), cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
            try:
                wait_for(lambda: self.is_healthy(name) or process.poll() is not None, 300, f"{name} to be healthy")
                assert process.poll() is None, (self.folder / f"{name}.log").read_text()[-3000:]
                yield
                process.send_signal(getattr(signal, self.services[name]["stop_signal"]))
                process.wait(60)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def address(self, port: str) -> str:
        return f"http://127.0.0.1:{self.words[port]}"


@pytest.fixture
def compose(postgres_server: PostgresServer, tmp_path: Path) -> Compose:  # noqa: F811
    """New secrets, and the databases that the server's first start makes."""
    (tmp_path / "deploy").mkdir()
    (tmp_path / "dagster").mkdir()
    shutil.copy(ROOT / "deploy" / "new_secrets.py", tmp_path / "deploy")
    subprocess.run([sys.executable, tmp_path / "deploy" / "new_secrets.py"], check=True, capture_output=True)
    secrets = dict(line.split("=", 1) for line in (tmp_path / ".env").read_text().splitlines())
    login = {"POSTGRES_USER": "invaract", "PGHOST": "127.0.0.1", "PGPORT": str(postgres_server.port), "PGPASSWORD": PASSWORD}
    for name in ("airflow", "audit"):
        postgres_server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        postgres_server.execute(f"DROP ROLE IF EXISTS {name}")
    path = f"{postgres_server.programs}{os.pathsep}{os.environ['PATH']}"
    script = ["sh", ROOT / "deploy" / "postgres" / "databases.sh"]
    subprocess.run(script, env={**os.environ, **secrets, **login, "PATH": path}, check=True)
    ports = {number: str(free_port()) for number in ("8080", "3000", "8399")}
    words = {f"${{{name}:?run deploy/new_secrets.py}}": value for name, value in secrets.items()} | {
        "postgres:5432": f"127.0.0.1:{postgres_server.port}", "/run/secrets/airflow_passwords": str(tmp_path / "deploy" / "airflow_passwords.json"),
        "/opt/invaract": str(ROOT), "0.0.0.0": "127.0.0.1", "/lake": str(tmp_path / "lake"), **ports,
    }  # fmt: skip
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return Compose(services=services, folder=tmp_path, words=words)


def test_services_run_on_one_database_and_show_what_the_demonstration_did(
    compose: Compose, postgres_server: PostgresServer  # noqa: F811
) -> None:
    check = compose.services["postgres"]["healthcheck"]["test"][2:]
    ready = [postgres_server.programs / "pg_isready", "--port", str(postgres_server.port), *check]
    assert subprocess.run(ready, capture_output=True, check=False).returncode == 0

    done = subprocess.run(
        compose.command("demo"), env=compose.environment("demo"), cwd=compose.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]

    with compose.running("audit"):
        token = compose.environment("audit")["INVARACT_UI_TOKEN"]
        url = f"{compose.address('8399')}/api/overview"
        assert httpx.get(url).status_code == 401
        found = read(url, token)
        assert "nyc_flights" in found

    with compose.running("dagster"):
        assert httpx.get(f"{compose.address('3000')}/server_info").json()["dagster_version"]

    with compose.running("airflow"):
        url = compose.address("8080")
        password = json.loads((compose.folder / "deploy" / "airflow_passwords.json").read_text())["admin"]
        answer = httpx.post(f"{url}/auth/token", json={"username": "admin", "password": password}, timeout=60)
        token = answer.json()["access_token"]
        assert httpx.get(f"{url}/invaract/").status_code == 401
        assert read(f"{url}/invaract/api/overview", token) == found
        dags = httpx.get(f"{url}/api/v2/dags", headers={"Authorization": f"Bearer {token}"}, timeout=60).json()["dags"]
        assert {dag["dag_id"] for dag in dags} >= {"flights_monthly", "punctuality"}


def read(url: str, token: str) -> list[str]:
    """The contracts of an overview."""
    answer = httpx.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
    assert answer.status_code == 200, answer.text
    return [contract["contract"] for contract in answer.json()["contracts"]]


def test_command_of_the_tests_runs_in_what_the_image_holds(compose: Compose, tmp_path: Path) -> None:
    image = tmp_path / "image"
    copied = [line.split()[1:] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("COPY ")]
    for *sources, _ in (parts for parts in copied if not parts[0].startswith("--")):
        for source in sources:
            place = image / source
            place.parent.mkdir(parents=True, exist_ok=True)
            whole = (ROOT / source).is_dir()
            shutil.copytree(ROOT / source, place, ignore=SKIPPED) if whole else shutil.copy(ROOT / source, place)
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept == {source for *sources, _ in copied for source in sources if not source.startswith("--chown") and "/" not in source}
    command = [*compose.command("test"), "-q", "-m", "not spark and not postgres and not slow"]

    done = subprocess.run(
        [*command, "tests/docs", "tests/airflow/test_deployment.py", "tests/airflow/test_provider.py"],
        env=compose.environment("test"), cwd=image, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
