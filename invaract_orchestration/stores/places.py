"""What a row is called in the chain and in findings, and what its digest is made over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table

from invaract_orchestration.audit.chain import canonical_json, row_digest


def key_of(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row's primary key."""
    return {column.name: row[column.name] for column in table.primary_key.columns}


def place_of(table: Table, row: Mapping[str, Any]) -> str:
    """The table's name and the row's key."""
    return f"{table.name} {'/'.join(str(value) for value in key_of(table, row).values())}"


def attempt_digest(row: Mapping[str, Any], context: Mapping[str, str]) -> str:
    """An attempt's digest counts its context as a part of it."""
    return row_digest({**row, "context": canonical_json(dict(context))})
