"""`make up`: Airflow, Dagster and the audit pages as processes of this machine, over the demonstration's lake, until Ctrl-C.

Everything is kept in `.cache/up`, the lake is the demonstration's. AIRFLOW_PORT, DAGSTER_PORT and INVARACT_UI_PORT choose other
ports; they are served to this machine alone.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(sys.executable).parent
_GRACE = 20.0
"""Seconds that everything has to stop by itself."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Service:
    """One of the processes; it is ready when `health` answers."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    url: str
    health: str


class Stopped(BaseException):
    """Ctrl-C, or another signal that ends this."""


def main() -> int:
    """Start all, say where they are, and stop all when asked to or when one of them ends."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--folder", type=Path, default=ROOT / ".cache" / "up", help="where logs and settings are kept")
    arguments.add_argument("--lake", type=Path, default=None, help="the lake; by default the demonstration's, made if missing")
    given = arguments.parse_args()
    running: dict[Service, subprocess.Popen[bytes]] = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)  # before anything is started; a shell may have had SIGINT ignored
    try:
        lake = given.lake or _demonstration()
        services = _services(given.folder.absolute(), lake.absolute())
        for service in services:
            running[service] = _start(service, given.folder)
        if _wait_until_ready(running):
            _say(services, given.folder)
        return _watch(running, given.folder)
    except Stopped:
        return 0
    finally:
        _end(running)


def _stop(*_: object) -> None:
    raise Stopped


def _demonstration() -> Path:
    lake = ROOT / ".demo" / "lake"
    if not (lake / "_invaract" / "audit.db").exists():
        subprocess.run([PROGRAMS / "invaract", "demo"], cwd=ROOT, check=True)
    return lake


def _services(folder: Path, lake: Path) -> list[Service]:
    common = {
        "INVARACT_LAKE_ROOT": str(lake),
        "INVARACT_AUDIT_URL": f"sqlite:///{lake / '_invaract' / 'audit.db'}",
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONWARNINGS": "ignore",
        "PYTHONUNBUFFERED": "1",
    }
    return [_airflow(folder / "airflow", common), _dagster(folder / "dagster", common), _pages(common)]


def _airflow(home: Path, common: Mapping[str, str]) -> Service:
    port = _port("AIRFLOW_PORT", 8080)
    url = f"http://127.0.0.1:{port}"
    home.mkdir(parents=True, exist_ok=True)
    passwords, key = home / "passwords.json", home / "jwt_secret"
    _keep(passwords, json.dumps({"admin": secrets.token_urlsafe(12)}))
    _keep(key, secrets.token_hex(64))
    bundle = {
        "name": "invaract",
        "classpath": "airflow.dag_processing.bundles.local.LocalDagBundle",
        "kwargs": {"path": str(ROOT / "airflow_plugin" / "example_dags")},
    }
    environment = {
        **common,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API_AUTH__JWT_SECRET": key.read_text(encoding="utf-8"),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PARALLELISM": "2",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin",
        "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps([bundle]),
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(_port("AIRFLOW_LOG_PORT", 8793)),
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(_port("AIRFLOW_TRIGGER_LOG_PORT", 8794)),
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }
    command = (str(PROGRAMS / "airflow"), "standalone")
    return Service(
        name="airflow", command=command, environment=environment, url=url, health=f"{url}/api/v2/monitor/health"
    )


def _dagster(home: Path, common: Mapping[str, str]) -> Service:
    port = _port("DAGSTER_PORT", 3000)
    home.mkdir(parents=True, exist_ok=True)
    settings = "telemetry: {enabled: false}\nnux: {enabled: false}\nconcurrency: {runs: {max_concurrent_runs: 2}}\n"
    (home / "dagster.yaml").write_text(settings, encoding="utf-8")
    command = (str(PROGRAMS / "dagster"), "dev", "-m", "dagster_defs.definitions", "-h", "127.0.0.1", "-p", str(port))
    url = f"http://127.0.0.1:{port}"
    return Service(
        name="dagster", command=command, environment={**common, "DAGSTER_HOME": str(home)}, url=url, health=f"{url}/server_info"
    )


def _pages(common: Mapping[str, str]) -> Service:
    port = _port("INVARACT_UI_PORT", 8399)
    url = f"http://127.0.0.1:{port}"
    command = (str(PROGRAMS / "invaract"), "ui", "--port", str(port))
    return Service(name="audit", command=command, environment=common, url=url, health=f"{url}/healthz")


def _port(variable: str, default: int) -> int:
    port = int(os.environ.get(variable) or default)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            sys.exit(f"port {port} is taken\nHint: {variable}=another make up")
    return port


def _keep(path: Path, text: str) -> None:
    """Write a secret once, for its owner alone."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")


def _start(service: Service, folder: Path) -> subprocess.Popen[bytes]:
    with (folder / f"{service.name}.log").open("wb") as log:
        return subprocess.Popen(
            service.command, cwd=ROOT, env=os.environ | service.environment, stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip


def _wait_until_ready(running: Mapping[Service, subprocess.Popen[bytes]]) -> bool:
    """Whether all of them answer; false when one ended instead."""
    waiting = dict(running)
    while waiting and all(process.poll() is None for process in running.values()):
        for service in [s for s in waiting if _answers(s.health)]:
            del waiting[service]
            sys.stdout.write(f"{service.name} is ready\n")
            sys.stdout.flush()
        time.sleep(0.5)
    return not waiting


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _say(services: list[Service], folder: Path) -> None:
    password = json.loads((folder / "airflow" / "passwords.json").read_text(encoding="utf-8"))["admin"]
    notes = {"airflow": f"log in as admin with {password}; audits: Browse, Contract audits"}
    for service in services:
        sys.stdout.write(f"{service.name:8} {service.url}  {notes.get(service.name, '')}".rstrip() + "\n")
    sys.stdout.write(f"logs are in {folder}; Ctrl-C stops everything\n")
    sys.stdout.flush()


def _watch(running: Mapping[Service, subprocess.Popen[bytes]], folder: Path) -> int:
    while True:
        for service, process in running.items():
            if process.poll() is not None:
                log = folder / f"{service.name}.log"
                sys.stderr.write(f"{service.name} ended with {process.returncode}: see {log}\n")
                return 1
        time.sleep(0.5)


def _end(running: Mapping[Service, subprocess.Popen[bytes]]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for process in running.values():
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    end = time.monotonic() + _GRACE
    for process in running.values():
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.1, end - time.monotonic()))
    for process in running.values():
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the process's whole session, also what it left behind
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
