"""What Airflow's connections say about the audit store and the lake; no message quotes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_plugin.exceptions import GateMisused

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Connection

_EXTRAS = ("audit_path", "engine", "lake_root", "memory_limit", "threads", "ui_url")


def settings_of(connection: Connection) -> dict[str, str]:
    """The settings of a connection of type `invaract`, by name.

    Raises:
        GateMisused: the connection is of another type, or holds an extra that is not known.
    """
    if connection.conn_type != "invaract":
        raise GateMisused(
            f"connection {connection.conn_id}: expected type invaract, found {connection.conn_type}\n"
            "Hint: a connection of the lake's storage belongs to storage_conn_id"
        )
    extras: dict[str, Any] = dict(connection.extra_dejson)
    unknown = sorted(set(extras) - set(_EXTRAS))
    if unknown:
        raise GateMisused(
            f"connection {connection.conn_id}: extra {', '.join(map(repr, unknown))} is not known\n"
            f"Hint: known are {', '.join(_EXTRAS)}"
        )
    found = {name: str(extras[name]) for name in _EXTRAS if name != "audit_path" and extras.get(name) is not None}
    address = _audit_url(connection, extras.get("audit_path"))
    return found | ({"audit_url": address} if address else {})


def lake_root_of(connection: Connection) -> str:
    """The lake's root of a file connection (type `fs`, extra `path`).

    Raises:
        GateMisused: it is a connection to an object store, which the embedded engine does not reach, or has no path.
    """
    if connection.conn_type not in ("fs", "file"):
        raise GateMisused(
            f"connection {connection.conn_id}: storage of type {connection.conn_type} is not supported by the embedded engine\n"
            "Hint: mount the store and name its folder in a connection of type fs, extra path"
        )
    path = connection.extra_dejson.get("path")
    if not path:
        raise GateMisused(f"connection {connection.conn_id}: no path is named\nHint: say it in the extra path")
    return str(path)


def password_of(address: str) -> str | None:
    """The password in the address of an audit store, to be masked; null when there is none."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        password = make_url(address).password
    except (ArgumentError, ValueError):
        return None
    return None if password is None else str(password)


def _audit_url(connection: Connection, path: str | None) -> str | None:
    if path:
        return f"sqlite:///{path}"
    if not connection.host:
        return None
    from sqlalchemy import URL

    url = URL.create(
        "postgresql", username=connection.login, password=connection.password, host=connection.host,
        port=connection.port, database=connection.schema,
    )  # fmt: skip
    return url.render_as_string(hide_password=False)
