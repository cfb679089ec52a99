"""A first contract for data that somebody has: commented YAML that loads as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from invaract_orchestration.contract.field_types import Decimal
from invaract_orchestration.contract.model import FieldSpec, SourceOptions

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z", re.ASCII)
_NOT_PLAIN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})

_HEAD = """\
# The agreement about one published table. An unknown key is an error, so a typo never turns a check off.
contract: {name}
version: "1.0.0"
status: active  # draft: checked, never published
# owner: {{team: my team, contact: me@example.org}}

source:
  format: {format}
  location: {location}  # a path, a folder or a glob, from this file on; {{day}} would be a parameter
{options}
fields:  # in the order of the file{rows}
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
_POLICY = """
schema_policy:
  type_changes: accept  # a moment in nanoseconds is taken where it is a whole microsecond, and else fails its row
"""
_PUBLISH = """
publish:
  target: {target}  # a name is a table of the lake; a path has a slash
  mode: overwrite  # a delivery replaces the one before; also append (with a {{parameter}} in source.location for each
                   # delivery), replace_partitions, replace_where, merge
"""
_NO_PUBLISH = """
# publish:
#   target: path/to/table
#   mode: overwrite       # append, replace_partitions, replace_where, merge
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftColumn:
    """A column as it was found. `note` stands beside it as a comment and holds no value of the data."""

    spec: FieldSpec
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDraft:
    """What is known of a file without a contract; `rows` are those that were looked at."""

    format: str
    columns: tuple[DraftColumn, ...]
    options: SourceOptions = field(default_factory=SourceOptions)
    rows: int | None = None
    has_nanoseconds: bool = False


def draft_contract(name: str, found: FileDraft, location: str, target: str | None = None) -> str:
    """YAML of a contract for such files, all fields optional, with the most used choices as comments.

    `name` is made a contract id: letters, digits, `_`, `.` and `-`.
    """
    head = _HEAD.format(
        name=contract_id(name), format=found.format, location=_text(location), options=_options(found.options),
        rows="" if found.rows is None else f"; types from {found.rows:,} rows",
    )  # fmt: skip
    entries = [(_entry(column.spec), column.note) for column in found.columns]
    width = max((len(entry) for entry, note in entries if note), default=0)
    fields = "".join(f"{entry:<{width}}  # {note}\n" if note else f"{entry}\n" for entry, note in entries)
    publish = _NO_PUBLISH if target is None else _PUBLISH.format(target=_text(target))
    return head + (fields or "  []\n") + _TAIL + (_POLICY if found.has_nanoseconds else "") + publish


def _options(options: SourceOptions) -> str:
    said = options.model_dump(exclude_defaults=True)
    parts = [f"{key}: {_scalars(value)}" for key, value in said.items()]
    return f"  options: {{{', '.join(parts)}}}\n" if parts else ""


def _entry(spec: FieldSpec) -> str:
    type_ = f'"{spec.type}"' if isinstance(spec.type, Decimal) else _text(str(spec.type))
    said = spec.model_dump(exclude_defaults=True, exclude={"name", "type"})
    more = "".join(f", {key}: {_scalars(value)}" for key, value in said.items())
    return f"  - {{name: {_text(spec.name)}, type: {type_}{more}}}"


def _scalars(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_scalars(each) for each in value) + "]"
    return str(value).lower() if isinstance(value, bool | int | float) else _text(str(value))


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
