"""`make up` and the services of docker compose: parsed, and as far as that goes without Docker, run."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.airflow.standalone import free_port, wait_for

ROOT = Path(__file__).parents[2]
SERVED = ("postgres", "airflow", "dagster", "audit", "spark-master", "spark-worker")


def outside_airflow() -> dict[str, str]:
    """This process's environment without the Airflow of the other tests: what is started here must not write to its database."""
    return {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "docker-compose.yml").read_text()))


def test_services_are_the_ones_that_are_told(compose: dict[str, Any]) -> None:
    profiles = {name: service.get("profiles") for name, service in compose["services"].items()}

    assert profiles == dict.fromkeys(SERVED) | {"demo": ["demo"], "test": ["test"]}


@pytest.mark.parametrize("name", SERVED)
def test_service_is_watched_and_stops_by_itself(name: str, compose: dict[str, Any]) -> None:
    service = compose["services"][name]

    assert service["init"] is True
    assert service["healthcheck"]["retries"] >= 5
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    if name in ("airflow", "dagster", "audit", "postgres"):
        assert service["stop_signal"] == "SIGINT"


def test_lake_is_shared_by_all_that_read_or_write_it(compose: dict[str, Any]) -> None:
    assert {n for n, s in compose["services"].items() if "lake:/lake" in s["volumes"]} == set(compose["services"]) - {"postgres"}


def test_no_secret_has_a_value_or_a_default(compose: dict[str, Any]) -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    wanted = re.findall(r"\$\{(\w+)([^}]*)\}", text)

    assert {name for name, _ in wanted} == {
        "POSTGRES_PASSWORD", "AIRFLOW_DB_PASSWORD", "AUDIT_DB_PASSWORD", "AIRFLOW_JWT_SECRET", "AIRFLOW_FERNET_KEY",
        "INVARACT_UI_TOKEN",
    }  # fmt: skip
    assert {rest for _, rest in wanted} == {":?run deploy/new_secrets.py"}
    given = {k: v for s in compose["services"].values() for k, v in s.get("environment", {}).items()}
    secret = {k: v for k, v in given.items() if re.search("PASSWORD|SECRET|TOKEN|KEY", k)}
    assert [k for k, v in secret.items() if not v.startswith(("${", "/run/secrets/"))] == []


def test_secrets_are_new_each_time_and_never_overwritten(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        (tmp_path / name / "deploy").mkdir(parents=True)
        shutil.copy(ROOT / "deploy" / "new_secrets.py", tmp_path / name / "deploy")
        for _ in range(2):
            subprocess.run([sys.executable, tmp_path / name / "deploy" / "new_secrets.py"], check=True, capture_output=True)
            made.append((tmp_path / name / ".env").read_text())

    assert made[0] == made[1] != made[2] == made[3]
    assert (tmp_path / "a" / ".env").stat().st_mode & 0o077 == 0


def test_secret_that_a_file_from_before_has_not_is_added_and_the_others_stay(tmp_path: Path) -> None:
    from cryptography.fernet import Fernet

    (tmp_path / "deploy").mkdir()
    shutil.copy(ROOT / "deploy" / "new_secrets.py", tmp_path / "deploy")
    (tmp_path / "deploy" / "airflow_passwords.json").write_text("kept")
    (tmp_path / ".env").write_text("# mine\nPOSTGRES_PASSWORD=kept\nINVARACT_UI_TOKEN=kept")
    subprocess.run([sys.executable, tmp_path / "deploy" / "new_secrets.py"], check=True, capture_output=True)
    lines = (tmp_path / ".env").read_text().splitlines()
    assert lines[:3] == ["# mine", "POSTGRES_PASSWORD=kept", "INVARACT_UI_TOKEN=kept"]
    found = dict(line.split("=", 1) for line in lines[3:])
    assert set(found) == {"AIRFLOW_DB_PASSWORD", "AUDIT_DB_PASSWORD", "AIRFLOW_JWT_SECRET", "AIRFLOW_FERNET_KEY"}
    assert Fernet(found["AIRFLOW_FERNET_KEY"]).encrypt(b"a")
    assert (tmp_path / "deploy" / "airflow_passwords.json").read_text() == "kept"


def test_every_command_is_one_that_exists(compose: dict[str, Any]) -> None:
    programs = Path(sys.executable).parent
    commands = [s["command"] for s in compose["services"].values() if "command" in s]

    assert [c[0] for c in commands if not ((programs / c[0]).exists() or shutil.which(c[0]))] == []
    scripts = [part for c in commands for part in c if part.startswith("/opt/invaract/")]
    scripts += [p for s in compose["services"].values() for p in s.get("healthcheck", {"test": []})["test"]]
    named = [p.removeprefix("/opt/invaract/") for p in scripts if p.startswith("/opt/invaract/")]
    assert [n for n in named if not (ROOT / n).is_file()] == []


def test_audit_service_runs_and_is_guarded_by_its_token(compose: dict[str, Any], tmp_path: Path) -> None:
    port = str(free_port())
    command = [port if part == "8399" else part for part in compose["services"]["audit"]["command"]]
    environment = outside_airflow() | {"INVARACT_LAKE_ROOT": str(tmp_path), "INVARACT_UI_TOKEN": "a-token-of-this-test"}
    environment.pop("INVARACT_AUDIT_URL", None)
    process = subprocess.Popen([Path(sys.executable).with_name(command[0]), *command[1:]], env=environment)
    try:
        wait_for(lambda: is_healthy(f"http://127.0.0.1:{port}/healthz"), 120, "the pages")
        assert status(f"http://127.0.0.1:{port}/") == 401
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (0, 130, -signal.SIGINT)


@pytest.mark.slow
@pytest.mark.spark
def test_spark_services_run_and_the_worker_registers(compose: dict[str, Any], tmp_path: Path) -> None:
    ports = {name: str(free_port()) for name in ("7077", "8081", "8082")}
    address = f"spark://127.0.0.1:{ports['7077']}"
    swaps = ports | {"spark-master": "127.0.0.1", "spark://spark-master:7077": address, "2g": "512m", "2": "1", "/tmp/spark-work": str(tmp_path)}
    started = []
    try:
        for name in ("spark-master", "spark-worker"):
            command = [swaps.get(part, part) for part in compose["services"][name]["command"]]
            command[1] = str(ROOT / "deploy" / "spark.sh")
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            environment = outside_airflow() | {"PATH": path, "SPARK_LOCAL_IP": "127.0.0.1"}
            started.append(subprocess.Popen(command, env=environment, start_new_session=True))
            page = f"http://127.0.0.1:{ports['8081' if name == 'spark-master' else '8082']}/"
            wait_for(lambda page=page: is_healthy(page), 120, name)  # type: ignore[misc]
        wait_for(lambda: alive_workers(f"http://127.0.0.1:{ports['8081']}/json/") == 1, 180, "the worker")
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


@pytest.mark.slow
def test_make_up_serves_all_three_and_leaves_nothing_behind(tmp_path: Path) -> None:
    names = ("AIRFLOW_PORT", "DAGSTER_PORT", "INVARACT_UI_PORT", "AIRFLOW_LOG_PORT", "AIRFLOW_TRIGGER_LOG_PORT")
    ports = {name: str(free_port()) for name in names}
    places = f"ARGS=--folder {tmp_path / 'up'} --lake {tmp_path / 'lake'}"
    installed = ("-o", ".venv/.all", f"BIN={Path(sys.executable).parent}")  # what runs this test is good enough
    (tmp_path / "lake" / "_invaract").mkdir(parents=True)
    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(
            ["make", "-C", ROOT, "up", *installed, places], env=outside_airflow() | ports, stdout=out, stderr=out, start_new_session=True
        )
        try:
            wait_for(lambda: "Ctrl-C stops everything" in (tmp_path / "out").read_text(), 400, "all to be ready")
            children = descendants(process.pid)
            pages = [status(f"http://127.0.0.1:{ports[name]}/") for name in names[:3]]
        finally:
            os.killpg(process.pid, signal.SIGINT)  # to all of its group, as a terminal does on Ctrl-C
            process.wait(120)

    assert pages == [200, 200, 200]
    assert len(children) >= 3
    assert [pid for pid in children if Path(f"/proc/{pid}").exists() and not is_zombie(pid)] == []


def is_healthy(address: str) -> bool:
    script = ROOT / "deploy" / "is_healthy.py"
    return subprocess.run([sys.executable, script, address], capture_output=True, check=False).returncode == 0


def status(address: str) -> int:
    import httpx

    return httpx.get(address, follow_redirects=True, timeout=30).status_code


def alive_workers(address: str) -> int:
    import httpx

    return int(httpx.get(address, timeout=30).json()["aliveworkers"])


def descendants(pid: int) -> list[int]:
    import psutil

    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


def is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
