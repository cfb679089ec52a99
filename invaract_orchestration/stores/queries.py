"""Rows as plain dictionaries by column name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.sql import Executable

Stored = Mapping[str, Any]


def fetch(connection: Connection, query: Executable) -> list[Stored]:
    """All rows of a query."""
    return [dict(row) for row in connection.execute(query).mappings()]
