"""Connections of the audit store and the storage; a password is never shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

POSTGRES = {"conn_type": "invaract", "host": "127.0.0.1", "port": 5999, "schema": "audit", "login": "gate"}


@pytest.fixture
def connection(airflow_home: Path) -> Any:
    def build(**fields: Any) -> Any:
        from airflow.providers.common.compat.sdk import Connection

        return Connection(conn_id="audit", **fields)

    return build


def test_connection_names_store_lake_and_engine(connection: Any) -> None:
    from airflow_plugin.places import settings_of

    found = settings_of(connection(**POSTGRES, password="p/w@", extra='{"lake_root": "/lake", "engine": "duckdb"}'))

    assert found == {
        "audit_url": "postgresql://gate:p%2Fw%40@127.0.0.1:5999/audit", "lake_root": "/lake", "engine": "duckdb",
    }  # fmt: skip


def test_connection_with_a_file_is_a_sqlite_store(connection: Any) -> None:
    from airflow_plugin.places import settings_of

    assert settings_of(connection(conn_type="invaract", extra='{"audit_path": "/a/audit.db"}')) == {
        "audit_url": "sqlite:////a/audit.db"
    }


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"conn_type": "postgres", "password": "CANARY-PW"}, "expected type invaract, found postgres"),
        ({"conn_type": "invaract", "extra": '{"lake": "CANARY-PW"}'}, "extra 'lake' is not known"),
    ],
)
def test_connection_that_is_none_of_ours_is_refused_without_its_secrets(
    fields: dict[str, str], message: str, connection: Any
) -> None:
    from airflow_plugin.exceptions import GateMisused
    from airflow_plugin.places import settings_of

    with pytest.raises(GateMisused, match=message) as caught:
        settings_of(connection(**fields))

    assert "CANARY-PW" not in str(caught.value)


def test_storage_is_a_folder_and_an_object_store_is_refused_by_name(connection: Any) -> None:
    from airflow_plugin.exceptions import GateMisused
    from airflow_plugin.places import lake_root_of

    assert lake_root_of(connection(conn_type="fs", extra='{"path": "/lake"}')) == "/lake"
    with pytest.raises(GateMisused, match="storage of type aws is not supported by the embedded engine"):
        lake_root_of(connection(conn_type="aws", password="CANARY-PW"))


def test_password_of_a_store_that_is_away_is_shown_nowhere(
    setup: Any, run_dag: Any, xcoms: Any, capfd: Any, airflow_home: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_AUDIT", "invaract://gate:CANARY-PW@127.0.0.1:1/audit")
    setup.lake.land("p.csv", "id,v", "A1,1")

    ran = run_dag("gate_connected", conf=setup.conf("p"))

    assert ran.tasks == {"gate": "failed"}
    shown = "".join(capfd.readouterr())
    assert "GateUnavailable" in shown
    assert "CANARY-PW" not in shown
    assert not any(b"CANARY-PW" in p.read_bytes() for p in airflow_home.rglob("*") if p.is_file())
    assert setup.lake.version("reporting/batch") is None


def test_form_of_a_connection_says_whether_the_store_answers(airflow_home: Path, tmp_path: Path, monkeypatch: Any) -> None:
    from airflow_plugin.hooks import InvaractHook
    from invaract_orchestration.stores import open_store

    open_store(f"sqlite:///{tmp_path}/audit.db").close()
    monkeypatch.setenv("AIRFLOW_CONN_HERE", json.dumps({"conn_type": "invaract", "extra": {"audit_path": f"{tmp_path}/audit.db"}}))
    monkeypatch.setenv("AIRFLOW_CONN_AWAY", "invaract://gate:CANARY-PW@127.0.0.1:1/audit")

    is_there, said = InvaractHook("here").test_connection()
    is_away, why = InvaractHook("away").test_connection()

    assert (is_there, said) == (True, "The audit store answers: 0 contracts are known")
    assert not is_away
    assert "127.0.0.1:1" in why
    assert "CANARY-PW" not in why


def test_settings_come_from_the_connection_then_the_configuration_then_the_environment(
    lake: Any, airflow_home: Path, monkeypatch: Any
) -> None:
    from airflow_plugin.hooks import InvaractHook

    monkeypatch.setenv("AIRFLOW__INVARACT__THREADS", "3")
    monkeypatch.setenv("AIRFLOW__INVARACT__MEMORY_LIMIT", "1GB")
    monkeypatch.setenv("AIRFLOW_CONN_AUDIT", '{"conn_type": "invaract", "extra": {"threads": 2}}')

    plain, connected = InvaractHook().settings(), InvaractHook("audit").settings()

    assert (plain.threads, plain.memory_limit, plain.lake_root) == (3, "1GB", lake.root)
    assert (connected.threads, connected.memory_limit, connected.lake_root) == (2, "1GB", lake.root)
