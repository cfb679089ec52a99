"""A first contract for data that somebody has: commented YAML that loads as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from invaract_orchestration.contract.field_types import FieldType

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z", re.ASCII)
_NOT_PLAIN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})

_HEAD = """\
# The agreement about one published table. An unknown key is an error, so a typo never turns a check off.
contract: {name}
version: "1.0.0"
status: active            # draft: checked, never published
# owner: {{team: my team, contact: me@example.org}}

source:
  format: {format}
  location: {location}    # a path, a folder or a glob, from this file on; {{day}} would be a parameter

fields:                   # in the order of the file
"""
_TAIL = """
# A field may also have: unique: true, not_blank: true, min: 0, max: 100, allowed: [a, b], pattern: '[A-Z]{3}',
# max_length: 20, format: dd/MM/yyyy, severity: warn. Every check but required lets a null pass.

# keys: [[first_column, second_column]]    # the values together are there once

quality:
  on_row_failure: reject  # quarantine: set failing rows aside and publish the rest
#   row_rules:
#     - {name: not_future, sql: "day <= current_date()"}
#   dataset_rules:
#     - {name: volume, row_count: {min: 1}}
"""
_PUBLISH = """
publish:
  target: {target}
  mode: append            # overwrite, replace_partitions, replace_where, merge
"""
_NO_PUBLISH = """
# publish:
#   target: path/to/table
#   mode: append          # overwrite, replace_partitions, replace_where, merge
"""


def draft_contract(
    name: str,
    columns: Sequence[tuple[str, FieldType]],
    location: str = "landing/*.csv",
    target: str | None = None,
    format: str = "csv",  # noqa: A002 it is the contract's own word
) -> str:
    """YAML of a contract with these columns, all optional, with the most used choices as comments.

    `name` is made a contract id: letters, digits, `_`, `.` and `-`.
    """
    head = _HEAD.format(name=contract_id(name), format=format, location=_text(location))
    fields = "".join(f"  - {{name: {_text(column)}, type: {_text(str(type_))}}}\n" for column, type_ in columns)
    publish = _NO_PUBLISH if target is None else _PUBLISH.format(target=_text(target))
    return head + (fields or "  []\n") + _TAIL + publish


def contract_id(text: str) -> str:
    """A contract id as near as possible to a text, such as a file's name."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_.-")
    if not plain:
        return "contract"
    return (plain if plain[0].isalpha() else f"contract_{plain}")[:128]


def _text(text: str) -> str:
    """A YAML scalar for a text, in double quotes unless it is a plain word."""
    if _PLAIN.match(text) and text.lower() not in _NOT_PLAIN:
        return text
    return '"' + "".join(_escaped(c) for c in text) + '"'


def _escaped(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c.isprintable():
        return c
    return f"\\x{ord(c):02x}" if ord(c) < 0x100 else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"
