"""Reading input files and values by plain Python, so that what the gate published can be compared with what arrived."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal as Number
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq

from invaract_orchestration.contract.field_types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGERS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    FieldType,
)  # fmt: skip
from invaract_orchestration.contract.model import Contract, FieldSpec
from tests.cases.sketch import Case, NotUnderstood


class Wrong(Exception):
    """A text that is no value of its type."""


def csv_records(text: str, delimiter: str = ",", quote: str = '"') -> list[list[str | None]]:
    """Records of RFC 4180 text; an unquoted empty cell is null, a quoted one is an empty text."""
    records: list[list[str | None]] = []
    cells: list[str | None] = []
    cell, is_quoted, in_quotes, at = "", False, False, 0
    while at < len(text):
        c = text[at]
        if in_quotes:
            if c == quote and text[at + 1 : at + 2] == quote:
                cell, at = cell + quote, at + 1
            elif c == quote:
                in_quotes = False
            else:
                cell += c
        elif c == quote and not cell:
            in_quotes = is_quoted = True
        elif c == delimiter or c in "\r\n":
            cells.append(cell if cell or is_quoted else None)
            cell, is_quoted = "", False
            if c in "\r\n":
                records.append(cells)
                cells = []
                at += text[at : at + 2] == "\r\n"
        else:
            cell += c
        at += 1
    if cell or is_quoted or cells:
        records.append([*cells, cell if cell or is_quoted else None])
    return [r for r in records if r != [None]]


def value_of(text: str | None, type_: FieldType, spec: FieldSpec | None = None, zone: str = "UTC") -> Any:
    """The value that a text is written for. Raises Wrong for a text that is none."""
    if text is None:
        return None
    try:
        return _value(text, type_, spec, zone)
    except (ValueError, ArithmeticError) as error:
        raise Wrong from error


def _value(text: str, type_: FieldType, spec: FieldSpec | None, zone: str) -> Any:
    if type_ == STRING:
        return text
    if type_ == BOOLEAN:
        return {"true": True, "false": False}[text]
    if type_ in INTEGERS:
        return int(text)
    if isinstance(type_, Decimal):
        return Number(text)
    if type_ in (FLOAT, DOUBLE):
        return float(text)
    if type_ == DATE:
        return date.fromisoformat(text)
    if type_ in (TIMESTAMP, TIMESTAMP_NTZ):
        when = datetime.fromisoformat(text)
        if type_ == TIMESTAMP_NTZ or when.tzinfo is not None:
            return when
        return when.replace(tzinfo=ZoneInfo((spec and spec.source_timezone) or zone))
    raise NotUnderstood(f"a {type_} in text")


def table_row(row: Mapping[str, str], types: Mapping[str, FieldType]) -> dict[str, Any]:
    """A row of a seed; an empty cell is null."""
    return {name: value_of(text or None, types[name]) for name, text in row.items()}


def arrived_rows(case: Case, contract: Contract) -> list[dict[str, Any]] | None:
    """The rows of the input by column name, each cell by its type where it is written in it; none where there are no files."""
    rows: list[dict[str, Any]] = []
    for path in case.inputs:
        folders = dict(p.split("=", 1) for p in path.relative_to(case.folder / "input").parts[:-1] if "=" in p)
        for row in _rows(path, contract):
            rows.append(_typed(row | folders, contract))
    return rows if case.inputs else None


def _rows(path: Path, contract: Contract) -> list[dict[str, Any]]:
    source = contract.source
    assert source is not None
    if source.format == "parquet":
        return list(pq.read_table(path, partitioning=None).to_pylist())
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
    text = raw.decode("utf-8-sig" if source.options.encoding == "utf-8" else source.options.encoding)
    if source.format == "json":
        if source.options.shape == "array":
            return list(json.loads(text, parse_float=Number))
        return [json.loads(line, parse_float=Number) for line in text.splitlines() if line.strip()]
    header, *records = csv_records(text, source.options.delimiter, source.options.quote)
    return [dict(zip([n or "" for n in header], r, strict=False)) for r in records if len(r) == len(header)]


def _typed(row: dict[str, Any], contract: Contract) -> dict[str, Any]:
    typed = {}
    for spec in contract.fields:
        cell = row.get(spec.name)
        try:
            typed[spec.name] = value_of(cell, spec.type, spec) if isinstance(cell, str) else cell
        except (Wrong, KeyError):
            typed[spec.name] = Wrong
    return typed


def comparable(row: Mapping[str, Any]) -> str:
    """A row as a text in which equal values are equal, whatever type a reader gave them."""
    return repr([(name.lower(), _plain(value)) for name, value in sorted(row.items())])


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | Number | float):
        number = Number(repr(value)) if isinstance(value, float) else Number(value)
        return "NaN" if number.is_nan() else format(number.normalize() + 0, "f")
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return re.sub(r"^datetime\.", "", repr(value))
