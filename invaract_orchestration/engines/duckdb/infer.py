"""Names and types of a file that has no contract yet, in the forms that the gate will ask for.

A type is proposed only when every value is written in its declared form, by the same conditions that judge it later: so a file
keeps the contract that was drafted from it, unless the file itself is at fault.
"""

from __future__ import annotations

import codecs
import gzip
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import duckdb

from invaract_orchestration.contract.field_types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    NANOSECONDS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
)  # fmt: skip
from invaract_orchestration.contract.model import FieldSpec, SourceOptions
from invaract_orchestration.contract.template import DraftColumn, FileDraft
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.parquet_files import parquet_columns
from invaract_orchestration.engines.duckdb.rows import read_csv
from invaract_orchestration.engines.duckdb.session import translated
from invaract_orchestration.engines.duckdb.text_forms import read_text
from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.csv_header import FileHeader, read_header
from invaract_orchestration.intake.listing import ListedFile, list_files
from invaract_orchestration.intake.wording import quoted

ROWS = 1_000_000
"""Rows that are looked at."""
_DELIMITERS = (",", ";", "\t", "|")
_NULLS = ("NA", "N/A", "NULL", "null", "NaN", "nan", "None", "\\N", "-")
_DAY_FORMATS = ("dd/MM/yyyy", "MM/dd/yyyy", "dd.MM.yyyy", "dd-MM-yyyy", "yyyy/MM/dd")
_POINT, _COMMA = (r"-?(0|[1-9][0-9]*)(" + point + r"[0-9]+)?" for point in (r"\.", ","))
_EXPONENT = r"NaN|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"  # 007 is a name and no number
_WIDEST_WHOLE, _WIDEST = 18, 38


@dataclass(frozen=True, slots=True)
class _Column:
    """What was counted of one column of text."""

    rows: int
    values: int
    distinct: int
    scale: int
    whole: int
    fits: dict[str, bool]


def infer_columns(path: str | Path) -> FileDraft:
    """What a CSV, JSON or Parquet file holds, from its name's ending and its first million rows.

    Raises:
        InputUnreadable: the file is not there or cannot be read, or has no usable header.
    """
    file = list_files(str(path), base=Path.cwd()).files[0]
    name = file.name.lower().removesuffix(".gz")
    connection = duckdb.connect(":memory:")
    connection.execute("SET TimeZone = 'UTC'")
    try:
        if name.endswith((".parquet", ".pq")):
            found = _parquet(connection, file)
        elif name.endswith((".json", ".jsonl", ".ndjson")):
            from invaract_orchestration.engines.duckdb.infer_json import infer_json

            found = infer_json(connection, file)
        else:
            found = _csv(connection, file)
        return _with_folders(found, file)
    finally:
        connection.close()


def _with_folders(found: FileDraft, file: ListedFile) -> FileDraft:
    """The draft with the columns that folders such as `day=1` say, which come after those of the file."""
    named = {column.spec.name for column in found.columns}
    more = (n for n in file.folder_columns if n not in named)
    own = (DraftColumn(spec=FieldSpec(name=n, type=STRING), note="of a folder's name") for n in more)
    return replace(found, columns=(*found.columns, *own))


def _parquet(connection: duckdb.DuckDBPyConnection, file: ListedFile) -> FileDraft:
    with translated("reading the schema"):
        found = parquet_columns(connection, file.path)
        rows = connection.execute(f"SELECT count(*) FROM read_parquet({q.paths([file.path])})").fetchone()
    columns = []
    for name, type_ in found:
        if not isinstance(type_, str):
            own, note = type_, None
        elif type_ in NANOSECONDS:
            own, note = NANOSECONDS[type_], "found in nanoseconds"
        else:
            own, note = STRING, f"found {type_}, which a contract cannot name: cast it at its source"
        columns.append(DraftColumn(spec=FieldSpec(name=name, type=own), note=note))
    is_fine = any(type_ in NANOSECONDS for _, type_ in found)
    return FileDraft(format="parquet", columns=tuple(columns), rows=rows[0] if rows else 0, has_nanoseconds=is_fine)


def _csv(connection: duckdb.DuckDBPyConnection, file: ListedFile) -> FileDraft:
    header, options = _header(file)
    counted = _count(connection, file, header, options, ())
    relaxed = _count(connection, file, header, options, _NULLS)
    columns, needs_tokens = [], False
    for name, plain, other in zip(header.names, counted, relaxed, strict=True):
        spec = _spec(name, plain)
        if spec.type == STRING and other.values and (better := _spec(name, other)).type != STRING:
            spec, plain, needs_tokens = better, other, True
        columns.append(DraftColumn(spec=spec, note=_note(plain)))
    if needs_tokens:
        options = options.model_copy(update={"null_values": ("", *_present(connection, file, header, options))})
    return FileDraft(format="csv", columns=tuple(columns), options=options, rows=counted[0].rows)


def _header(file: ListedFile) -> tuple[FileHeader, SourceOptions]:
    """The header, with the encoding that reads it and the delimiter that makes the most columns of it."""
    encoding = _encoding(file)
    found = [
        (read_header(file, options), options)
        for options in (SourceOptions(delimiter=delimiter, encoding=encoding) for delimiter in _DELIMITERS)
    ]
    usable = [pair for pair in found if not pair[0].problems]
    if not usable:
        sentence = found[0][0].problems[0].sentence
        raise InputUnreadable(f"file {quoted(file.name)}: {sentence}", hint="a CSV file starts with a line of names")
    header, options = max(usable, key=lambda pair: len(pair[0].names))
    if header.trailing_delimiter:
        options = options.model_copy(update={"trailing_delimiter": "accept"})
        header = read_header(file, options)
    _refuse_unusable(header)
    return header, options


def _encoding(file: ListedFile) -> Literal["utf-8", "latin-1", "utf-16"]:
    opened = gzip.open if file.name.lower().endswith(".gz") else open
    try:
        with opened(file.path, "rb") as raw:
            if raw.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                return "utf-16"
        with opened(file.path, "rt", encoding="utf-8") as text:
            while text.read(1 << 20):
                pass
    except UnicodeDecodeError:
        return "latin-1"
    except (OSError, EOFError):
        return "utf-8"  # reading the header says what is wrong with the file
    return "utf-8"


def _refuse_unusable(header: FileHeader) -> None:
    folded = [n.strip().casefold() for n in header.names]
    twice = sorted({n for n, f in zip(header.names, folded, strict=True) if folded.count(f) > 1})
    if "" in folded or twice:
        what = f"the name {quoted(twice[0])} is there twice" if twice and twice[0].strip() else "a column has no name"
        raise InputUnreadable(
            f"file {quoted(header.file.name)}: {what} in the first line",
            hint="every column needs a name of its own; if the first line is data, put a line of names above it",
        )


def _text_relation(file: ListedFile, header: FileHeader, options: SourceOptions) -> str:
    columns, table = read_csv([str(file.path)], len(header.names), options, "skip")  # a bad line is for `check` to tell
    return f"(SELECT {columns} FROM {table} LIMIT {ROWS})"


def _forms(text: str) -> dict[str, str]:
    """For each candidate type, the condition that a text is written in its form."""
    plain = {"boolean": BOOLEAN, "bigint": BIGINT, "double": DOUBLE, "date": DATE, "timestamp": TIMESTAMP}
    plain |= {"timestamp_ntz": TIMESTAMP_NTZ}
    forms = {n: read_text(text, t, FieldSpec(name="x", type=t), "UTC").is_right for n, t in plain.items()}
    forms["double"] = f"({forms['double']}) AND regexp_full_match({text}, {q.text(_EXPONENT)})"
    forms["integer"] = f"regexp_full_match({text}, '-?[0-9]+')"
    forms["decimal"] = f"regexp_full_match({text}, {q.text(_POINT)})"
    forms["decimal_comma"] = f"regexp_full_match({text}, {q.text(_COMMA)})"
    for pattern in _DAY_FORMATS:
        spec = FieldSpec(name="x", type=DATE, format=pattern)
        forms[pattern] = read_text(text, DATE, spec, "UTC").is_right
    return forms


def _count(
    connection: duckdb.DuckDBPyConnection, file: ListedFile, header: FileHeader, options: SourceOptions,
    nulls: tuple[str, ...],
) -> list[_Column]:  # fmt: skip
    """One scan: of each column how many values there are, and which forms all of them have.

    The columns are brought under each other, and each value is looked at once: a query with as many conditions as a wide file
    has columns takes minutes to plan.
    """
    cells = ", ".join(f"c{i}" for i in range(len(header.names)))
    forms = _forms("v")
    fraction = "length(split_part(replace(v, ',', '.'), '.', 2))"
    whole = "length(ltrim(split_part(replace(v, ',', '.'), '.', 1), '-'))"
    parts = ["sum(n)", "coalesce(sum(n) FILTER (v IS NOT NULL), 0)", "count(v)"]
    parts += [f"coalesce(max({fraction}), 0)", f"coalesce(max({whole}), 0)"]
    parts += [f"coalesce(bool_and(coalesce({form}, false)) FILTER (v IS NOT NULL), false)" for form in forms.values()]
    under = f"SELECT unnest(range({len(header.names)})) AS i, unnest([{cells}]) AS c FROM {_text_relation(file, header, options)}"
    each = f"SELECT i, {_unless('c', nulls)} AS v, count(*) AS n FROM ({under}) GROUP BY ALL"
    with translated(f"reading {file.name}"):
        rows = connection.execute(f"SELECT i, {', '.join(parts)} FROM ({each}) GROUP BY i").fetchall()
    nothing = _Column(0, 0, 0, 0, 0, dict.fromkeys(forms, False))
    found = {
        i: _Column(int(all_), int(values), distinct, scale, whole_, dict(zip(forms, fits, strict=True)))
        for i, all_, values, distinct, scale, whole_, *fits in rows
    }
    return [found.get(i, nothing) for i in range(len(header.names))]


def _unless(text: str, nulls: tuple[str, ...]) -> str:
    return f"CASE WHEN {text} NOT IN {_tuple(nulls)} THEN {text} END" if nulls else text


def _tuple(texts: tuple[str, ...]) -> str:
    return "(" + ", ".join(q.text(t) for t in texts) + ")"


def _present(
    connection: duckdb.DuckDBPyConnection, file: ListedFile, header: FileHeader, options: SourceOptions
) -> list[str]:
    """Which of the usual spellings of null the file has."""
    cells = "[" + ", ".join(f"c{i}" for i in range(len(header.names))) + "]"
    with translated(f"reading {file.name}"):
        rows = connection.execute(
            f"SELECT DISTINCT c FROM (SELECT unnest({cells}) AS c FROM {_text_relation(file, header, options)}) "
            f"WHERE c IN {_tuple(_NULLS)} ORDER BY c"
        ).fetchall()
    return [row[0] for row in rows]


def _spec(name: str, column: _Column) -> FieldSpec:
    """The narrowest type that every value is written in; text where there is no value at all."""
    spec, fits = FieldSpec(name=name, type=STRING), column.fits
    if not column.values:
        return spec
    for type_ in (BOOLEAN, BIGINT):
        if fits[type_.name]:
            return typed(spec, type_)
    if column.scale and max(column.whole, _WIDEST_WHOLE - column.scale) + column.scale <= _WIDEST:
        number = Decimal(max(column.whole + column.scale, _WIDEST_WHOLE), column.scale)
        if fits["decimal"]:
            return typed(spec, number)
        if fits["decimal_comma"]:
            return typed(spec, number, decimal_separator=",")
    for type_ in (DOUBLE, DATE, TIMESTAMP, TIMESTAMP_NTZ):
        if fits[type_.name] and not fits["integer"]:
            return typed(spec, type_)
    formats = [pattern for pattern in _DAY_FORMATS if fits[pattern]]
    return typed(spec, DATE, format=formats[0]) if len(formats) == 1 else spec


def typed(spec: FieldSpec, type_: Any, **more: str) -> FieldSpec:
    """The same field with another type."""
    return spec.model_copy(update={"type": type_, **more})


def _note(column: _Column) -> str | None:
    """What the file itself would keep beside the type; whether it is meant is for a person to say."""
    if not column.rows:
        return None
    days = [p for p in _DAY_FORMATS if column.fits[p]] if column.values else []
    if len(days) > 1:
        return f"dates? then type: date, and one of format: {' or '.join(days)}"
    if not column.values:
        return "no value in this file"
    if column.values == column.rows:
        return "no nulls, no value twice: required, unique?" if column.distinct == column.rows > 1 else "no nulls: required?"
    return None
