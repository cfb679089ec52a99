"""A real PostgreSQL server for the tests marked `postgres`: started once, on a loopback port, stopped at the end.

Its programs come from Debian's package `postgresql`, which is installed when it is missing and that is possible.
"""

from __future__ import annotations

import functools
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, NullPool, create_engine, make_url

PASSWORD = f"canary-{secrets.token_hex(8)}"
"""Of the server's user; it must never show up in a message."""


class ServerMissingError(Exception):
    """There is no PostgreSQL here, and why it could not be had."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running server; `folder` is its own temporary one."""

    programs: Path
    folder: Path
    port: int

    def url(self, database: str, password: str = PASSWORD) -> str:
        return f"postgresql://invaract:{password}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of an empty database of its own."""
        name = f"audit_{uuid.uuid4().hex}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def execute(self, statement: str, database: str = "postgres") -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)

    def stop(self) -> None:
        _run(self.programs / "pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def shut_down(self) -> None:
        _run(self.programs / "pg_ctl", "-D", self.folder / "data", "-m", "fast", "-w", "stop")

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off"
        log = self.folder / "log"
        _run(self.programs / "pg_ctl", "-D", self.folder / "data", "-o", options, "-l", log, "-w", "start")

    def freeze(self) -> None:
        """Let the server hang: it accepts connections and answers nothing, until `thaw`."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        postmaster = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for process in (postmaster, *map(int, children)):
            os.kill(process, number)


def engine_of(url: str) -> Engine:
    """An engine of a test's own for any store, without a pool."""
    return create_engine(make_url(url.replace("postgresql://", "postgresql+psycopg://")), poolclass=NullPool)


@pytest.fixture
def postgres_server(request: pytest.FixtureRequest) -> PostgresServer:
    """The session's server; without one the test is skipped, in CI it fails."""
    try:
        return _server(request.config)
    except ServerMissingError as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """The URL of an empty database."""
    return postgres_server.new_database()


@functools.cache
def _server(config: pytest.Config) -> PostgresServer:
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="invaract-postgres-"))
    server = PostgresServer(programs=programs, folder=folder, port=_free_port())
    secret = folder / "password"
    secret.write_text(PASSWORD)
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        for path in (folder, secret):
            os.chown(path, owner.pw_uid, owner.pw_gid)
    login = ("-U", "invaract", "-A", "scram-sha-256", f"--pwfile={secret}")
    _run(programs / "initdb", "-D", folder / "data", *login, "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
    config.add_cleanup(server.stop)
    server.start()
    return server


def _programs() -> Path:
    found = _installed()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        quietly = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (("update",), ("install", "-y", "postgresql")):
            subprocess.run(["apt-get", "-qq", *command], env=quietly, capture_output=True, check=False)
        found = _installed()
    if found is None:
        raise ServerMissingError("PostgreSQL is not installed and could not be: `apt-get install postgresql`")
    return found


def _installed() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if folders:
        return folders[-1].parent
    in_path = shutil.which("initdb")
    return Path(in_path).resolve().parent if in_path else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _run(*command: str | Path) -> None:
    """Run one of the server's programs as a user that the server accepts: it refuses root."""
    as_owner = ("runuser", "-u", "postgres", "--") if os.geteuid() == 0 else ()
    done = subprocess.run(
        [*as_owner, *map(str, command)], cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise ServerMissingError(f"PostgreSQL could not be started: {done.stdout.strip()[-500:]}")
