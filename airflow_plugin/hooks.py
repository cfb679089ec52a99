"""Where the audit store and the lake are: from a connection, Airflow's configuration, or the worker's environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.common.compat.sdk import BaseHook, conf

from airflow_plugin.exceptions import translated_errors
from airflow_plugin.places import lake_root_of, settings_of

if TYPE_CHECKING:
    from invaract_orchestration.gate import Gate
    from invaract_orchestration.settings import Settings
    from invaract_orchestration.stores.open import SqlAuditStore

OPTIONS = ("audit_url", "lake_root", "engine", "memory_limit", "threads", "ui_url")


class InvaractHook(BaseHook):
    """Opens the gate and the audit store.

    A connection of type `invaract` names a PostgreSQL store by host, port, schema, login and password, or a SQLite file by
    the extra `audit_path`; its extras `lake_root`, `engine`, `memory_limit`, `threads` and `ui_url` say the rest. What it
    leaves open comes from the section `[invaract]` of Airflow's configuration, then from the `INVARACT_*` environment.
    """

    conn_name_attr: ClassVar[str] = "invaract_conn_id"
    default_conn_name: ClassVar[str] = "invaract_default"
    conn_type: ClassVar[str] = "invaract"
    hook_name: ClassVar[str] = "Invaract audit store"

    def __init__(self, invaract_conn_id: str | None = None, storage_conn_id: str | None = None) -> None:
        super().__init__()
        self.invaract_conn_id = invaract_conn_id
        self.storage_conn_id = storage_conn_id

    @classmethod
    def get_ui_field_behaviour(cls) -> dict[str, Any]:
        """How the connection's form looks."""
        return {
            "hidden_fields": [],
            "relabeling": {"schema": "Database"},
            "placeholders": {"extra": '{"lake_root": "/lake", "ui_url": "http://127.0.0.1:8400"}'},
        }

    def settings(self) -> Settings:
        """The settings of the task; a password in them is masked in Airflow's logs."""
        given = self._configured()
        if self.invaract_conn_id:
            given |= settings_of(self.get_connection(self.invaract_conn_id))
        if self.storage_conn_id:
            given["lake_root"] = lake_root_of(self.get_connection(self.storage_conn_id))
        return _read(given)

    @contextmanager
    def gate(self, *, engine: str | None = None, tell: Callable[[str], None] = lambda _: None) -> Iterator[Gate]:
        """A gate; errors of the gate's own tree leave as Airflow's."""
        from invaract_orchestration.wiring import open_gate

        with translated_errors(), open_gate(self.settings(), engine=engine, tell=tell) as gate:
            yield gate

    @contextmanager
    def audit(self) -> Iterator[SqlAuditStore]:
        """The audit store, to be read."""
        from invaract_orchestration.wiring import open_audit

        with translated_errors(), open_audit(self.settings(), read_only=True) as store:
            yield store

    def test_connection(self) -> tuple[bool, str]:
        """Whether the audit store answers, for the connection's form."""
        from airflow.providers.common.compat.sdk import AirflowException

        try:
            with self.audit() as store:
                return True, f"The audit store answers: {len(store.statuses())} contracts are known"
        except AirflowException as error:
            return False, str(error)

    def _configured(self) -> dict[str, str]:
        found = {name: conf.get("invaract", name, fallback="") for name in OPTIONS}
        return {name: str(value) for name, value in found.items() if value}


def _read(given: Mapping[str, str]) -> Settings:
    from airflow.providers.common.compat.sdk import mask_secret

    from airflow_plugin.places import password_of
    from invaract_orchestration.settings import read_settings

    with translated_errors():
        settings = read_settings(os.environ | {f"INVARACT_{name.upper()}": value for name, value in given.items()})
        password = password_of(settings.audit_url)
    if password:
        mask_secret(password)
    return settings
