"""The rows of a batch as one SQL relation, with each field's typed value and whether its text was in the declared form.

The relation's columns are named by position (v0, t0, ...), so no name of the data can clash with one of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb

from invaract_orchestration.checks.row_rules import DUPLICATE_KEY, MALFORMED
from invaract_orchestration.contract.field_types import BOOLEAN, INTEGERS, STRING, TIMESTAMP, FieldType
from invaract_orchestration.contract.model import Contract, SourceOptions
from invaract_orchestration.engines.duckdb import json_forms
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.parquet_files import Part, parts_of
from invaract_orchestration.engines.duckdb.text_forms import read_text
from invaract_orchestration.engines.duckdb.types import duckdb_type
from invaract_orchestration.engines.duckdb.valid_values import valid_value
from invaract_orchestration.errors import NotSupported
from invaract_orchestration.intake.batch import Batch, BatchFile

_MAX_LINE = 16 * 1024 * 1024
_BUFFER = 2 * _MAX_LINE
"""Bytes; left to itself the reader takes sixteen times the longest line for each of its buffers."""
_MAX_OBJECT = 64 * 1024 * 1024
FRAME = "invaract_frame"
FOLDERS = "invaract_folders"
REJECTS = "invaract_rejects"
REJECT_SCANS = "invaract_reject_scans"

BadLines = Literal["refuse", "skip", "keep"]
"""What a line that is no record does: it ends the reading, is left out, or is left out and kept in the table of rejects."""
_BAD_LINES: dict[BadLines, str] = {
    "refuse": "ignore_errors=false", "skip": "ignore_errors=true",
    "keep": f"store_rejects=true, rejects_table='{REJECTS}', rejects_scan='{REJECT_SCANS}', rejects_limit=0",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """`read` gives a relation with the columns `f` (file), `n` (row number, when numbered), `p` (the original as JSON), v0.. and
    t0...
    """

    read: Callable[[BadLines, bool], str]
    """The relation, by what a bad line does and whether rows are numbered."""
    values: dict[str, str]
    """Field name to the column that holds its typed value."""
    rights: tuple[tuple[str, str, str], ...]
    """(check id, field name, column) of the form of each value; empty for typed sources."""
    structure: tuple[tuple[str, str], ...]
    """(check id, column) of the structure of each record."""
    is_text: bool

    def guard(self) -> str:
        """The condition that every row is structurally right and every value in its form."""
        return q.all_of([c for _, c in self.structure] + [c for _, _, c in self.rights])


def rows_of(connection: duckdb.DuckDBPyConnection, contract: Contract, batch: Batch) -> Rows:
    """The relation for a batch. Raises NotSupported for what a format cannot hold."""
    match batch.source.format:
        case "csv":
            return _csv(contract, batch)
        case "json":
            return _json(contract, batch)
    return _typed(contract, batch, parts_of(connection, contract, batch))


def _csv(contract: Contract, batch: Batch) -> Rows:
    fields = contract.fields
    groups: dict[tuple[tuple[str, ...], tuple[str | None, ...]], list[BatchFile]] = {}
    for file in batch.files:
        groups.setdefault((file.names, file.feeds), []).append(file)
    folders = _folder_names(contract, batch)

    def source(bad: BadLines) -> str:
        parts = []
        for (names, feeds), files in groups.items():
            raw = [
                f"c{feeds.index(f.name)}" if f.name in feeds else _folder_value(f.name, folders) for f in fields
            ]  # a column that is absent is null
            own = [(n, f"c{j}") for j, n in enumerate(names)] + [(n, _folder_value(n, folders)) for n in folders]
            payload = ", ".join(f"{q.text(n)}, {value}" for n, value in own)
            reader = read_csv([str(b.file.path) for b in files], len(names), batch.source.options, bad)
            rows = f"SELECT {reader[0]}, f FROM {reader[1]}"
            columns = ", ".join(f"{r} AS r{i}" for i, r in enumerate(raw))
            parts.append(f"SELECT f, {columns}, json_object({payload}) AS p FROM ({rows})" + _folder_join(folders))
        return " UNION ALL ".join(parts)

    readings = [read_text(f"r{i}", f.type, f, contract.timezone) for i, f in enumerate(fields)]
    values = ", ".join(f"{r.value} AS v{i}" for i, r in enumerate(readings))
    rights = ", ".join(f"(r{i} IS NULL OR coalesce({r.is_right}, false)) AS t{i}" for i, r in enumerate(readings))

    def read(bad: BadLines, is_numbered: bool) -> str:
        if not is_numbered:
            return f"(SELECT f, p, {values}, {rights} FROM ({source(bad)}))"
        return f"(SELECT f, p, n, {values}, {rights} FROM (SELECT *, row_number() OVER () AS n FROM ({source(bad)})))"

    return Rows(
        read=read,
        values={f.name: f"v{i}" for i, f in enumerate(fields)},
        rights=tuple((f"{f.name}|type", f.name, f"t{i}") for i, f in enumerate(fields) if readings[i].is_right != "true"),
        structure=(),
        is_text=True,
    )


def read_csv(paths: Sequence[str], width: int, options: SourceOptions, bad: BadLines = "refuse") -> tuple[str, str]:
    """(columns, table function) that read delimited files strictly as text; lines of another width are refused."""
    if options.escape != options.quote and any(options.escape in text for text in options.null_values):
        raise NotSupported(
            f"a text of source.options.null_values that holds the escape {options.escape!r} cannot be read by the engine duckdb",
            hint="leave source.options.escape out where no quoted value has a quote in it, or take the engine spark",
        )
    read = width + 1 if options.trailing_delimiter == "accept" else width
    names = "{" + ", ".join(f"'c{i}': 'VARCHAR'" for i in range(read)) + "}"
    encoding = {"utf-8": "utf-8", "latin-1": "latin-1", "utf-16": "utf-16"}[options.encoding]
    arguments = (
        f"{q.paths(paths)}, auto_detect=false, header=true, delim={q.text(options.delimiter)}, "
        f"quote={q.text(options.quote)}, escape={q.text(options.escape)}, columns={names}, encoding='{encoding}', "
        f"nullstr={q.texts(options.null_values or ('',))}, allow_quoted_nulls=false, strict_mode=true, "
        f"null_padding=false, {_BAD_LINES[bad]}, filename='f', hive_partitioning=false, max_line_size={_MAX_LINE}, "
        f"buffer_size={_BUFFER}"
    )
    return ", ".join(f"c{i}" for i in range(width)), f"read_csv({arguments})"


def _json(contract: Contract, batch: Batch) -> Rows:
    fields = contract.fields
    folders = _folder_names(contract, batch)
    from_folders = [f for f in fields if f.name in folders]
    readings = []
    for i, spec in enumerate(fields):
        if spec in from_folders:
            reading = read_text(f"r{i}", spec.type, spec, contract.timezone)
            rights = (((spec.name,), f"r{i} IS NULL OR coalesce({reading.is_right}, false)"),)
            readings.append(json_forms.JsonReading(reading.value, rights))
        else:
            member = f"o.{q.name(spec.name)}"
            readings.append(json_forms.read_json(member, spec.type, spec, contract.timezone, (spec.name,)))
    flat = [(path, right) for r in readings for path, right in r.rights]
    values = ", ".join(f"{r.value} AS v{i}" for i, r in enumerate(readings))
    oks = ", ".join(f"({right}) AS t{k}" for k, (_, right) in enumerate(flat))
    raw = "".join(f", {_folder_value(f.name, folders)} AS r{i}" for i, f in enumerate(fields) if f in from_folders)
    exact = json_forms.exact_line("line", fields)
    names = [f.name for f in fields]

    def read(bad: BadLines, is_numbered: bool) -> str:
        number = ", n" if is_numbered else ""
        parsed = f"SELECT *, coalesce({json_forms.is_record('line')}, false) AS s0 FROM ({json_lines(batch, bad, is_numbered)})"
        keyed = f"SELECT *, (NOT s0 OR {json_forms.has_each_key_once('CASE WHEN s0 THEN line END')}) AS s1 FROM ({parsed})"
        opened = (
            f"SELECT *, {json_forms.members(f'CASE WHEN s0 THEN {exact} END', names)} AS o{raw} FROM ({keyed})"
            + _folder_join(folders)
        )
        return f"(SELECT f, CASE WHEN s0 THEN line ELSE to_json(line) END AS p{number}, s0, s1, {values}, {oks} FROM ({opened}))"

    return Rows(
        read=read,
        values={f.name: f"v{i}" for i, f in enumerate(fields)},
        rights=tuple((".".join(path) + "|type", path[0], f"t{k}") for k, (path, _) in enumerate(flat)),
        structure=((MALFORMED, "s0"), (DUPLICATE_KEY, "s1")),
        is_text=True,
    )


def json_lines(batch: Batch, bad: BadLines = "refuse", is_numbered: bool = False) -> str:
    """A query for the records of JSON files as text: `line` and `f`, and with numbers `n`. Blank lines are no records, but they
    count as lines.
    """
    paths = q.paths(b.file.path for b in batch.files)
    number = ", row_number() OVER () AS n" if is_numbered else ""
    if batch.source.options.shape == "array":
        return (
            f"SELECT CAST(json AS VARCHAR) AS line, filename AS f{number} FROM read_json_objects({paths}, format='array', "
            f"filename=true, hive_partitioning=false, maximum_object_size={_MAX_OBJECT})"
        )
    return (
        f"SELECT * FROM (SELECT line, f{number} FROM read_csv({paths}, auto_detect=false, header=false, delim='\\x00', quote='', "
        f"escape='', columns={{'line': 'VARCHAR'}}, nullstr='', {_BAD_LINES[bad]}, filename='f', hive_partitioning=false, "
        f"max_line_size={_MAX_LINE}, buffer_size={_BUFFER})) "
        "WHERE trim(line, ' \t\r') <> ''"
    )


def _typed(contract: Contract, batch: Batch, parts: Sequence[Part]) -> Rows:
    fields = contract.fields
    folders = _folder_names(contract, batch)
    is_judged = [f.name in folders or contract.schema_policy.type_changes == "accept" for f in fields]
    relation = "(" + " UNION ALL ".join(_typed_part(contract, part, folders) for part in parts) + ")"
    return Rows(
        read=lambda _bad, _is_numbered: relation,
        values={f.name: f"v{i}" for i, f in enumerate(fields)},
        rights=tuple((f"{f.name}|type", f.name, f"t{i}") for i, f in enumerate(fields) if is_judged[i]),
        structure=(),
        is_text=False,
    )


def _typed_part(contract: Contract, part: Part, folders: list[str]) -> str:
    """Rows of one part as they are read; a timestamp in nanoseconds is one of its type where it is a whole microsecond."""
    fields, batch = contract.fields, part.batch
    if batch.files:
        source, extra, number = _parquet(batch, {f.name.lower() for f in fields})
    else:
        source, extra, number = FRAME, "''", "0"
    present = {f.name for f in fields} - batch.absent - set(folders)
    is_read = bool(batch.files) or batch.table is not None  # by a reader that looks at texts
    columns = []
    for i, spec in enumerate(fields):
        own = q.name(spec.name)
        if spec.name in present and spec.name in part.fine:
            columns.append(f"{own} AS v{i}")
        elif spec.name in present:
            if spec.type == TIMESTAMP and batch.files:
                own = f"CAST({own} AS TIMESTAMPTZ)"  # one of 96 bits has no zone in the reader's eyes
            columns.append(f"{valid_value(own, spec.type, is_read=is_read)} AS v{i}")
        elif spec.name in folders:
            columns.append(f"{_folder_value(spec.name, folders)} AS v{i}")
        else:
            columns.append(f"CAST(NULL AS {duckdb_type(spec.type)}) AS v{i}")
    chosen = f"SELECT {', '.join(columns)}, {extra} AS f, {number} AS n FROM {source}" + _folder_join(folders, extra)
    packed = ", ".join(f"{q.text(f.name)}, {as_payload(f'v{i}', f.type)}" for i, f in enumerate(fields))
    casts, oks = [], []
    for i, spec in enumerate(fields):
        if spec.name in folders:
            read = read_text(f"v{i}", spec.type, spec, contract.timezone)
            cast, is_same = read.value, read.is_right
        elif spec.name in part.fine:
            is_same = f"epoch_ns(v{i}) % 1000 = 0"  # compared with microseconds it is an error, and cast it is rounded
            cast = f"CASE WHEN {is_same} THEN CAST(v{i} AS {duckdb_type(spec.type)}) END"
        elif contract.schema_policy.type_changes == "accept":
            cast = f"TRY_CAST(v{i} AS {duckdb_type(spec.type)})"
            is_same = f"{cast} = v{i}"
        else:
            casts.append(f"v{i}")
            continue
        casts.append(f"{cast} AS v{i}")
        oks.append(f", (v{i} IS NULL OR coalesce({is_same}, false)) AS t{i}")
    return f"SELECT f, json_object({packed}) AS p, n, {', '.join(casts)}{''.join(oks)} FROM ({chosen})"


def _parquet(batch: Batch, names: set[str]) -> tuple[str, str, str]:
    """(relation, file, number of the row in its file) of Parquet files."""
    file, numbering = "invaract: file", "file_row_number"
    how = f"filename={q.text(file)}, hive_partitioning=false, union_by_name=true"
    paths = [b.file.path for b in batch.files]
    if numbering not in names:
        return f"read_parquet({q.paths(paths)}, {how}, file_row_number=true)", q.name(file), f"{numbering} + 1"
    own = "invaract: number"  # the data has a column of that name itself
    each = (f"SELECT *, row_number() OVER () AS {q.name(own)} FROM read_parquet({q.paths([p])}, {how})" for p in paths)
    return f"({' UNION ALL BY NAME '.join(each)})", q.name(file), q.name(own)


def as_payload(value: str, type_: FieldType) -> str:
    """A typed value as it is kept with a failing row: JSON of its own where that holds every digit, else its text."""
    return value if type_ in (*INTEGERS, BOOLEAN, STRING) else f"CAST({value} AS VARCHAR)"


def _folder_names(contract: Contract, batch: Batch) -> list[str]:
    """Columns that stand in the folder names of the files."""
    fed = {name for file in batch.files for name in file.feeds}
    names = dict.fromkeys(n for file in batch.files for n, _ in file.file.partition)
    return [n for n in names if contract.field(n) is not None and n not in fed]


def _folder_value(name: str, folders: list[str]) -> str:
    return f"folders[{folders.index(name) + 1}]" if name in folders else "CAST(NULL AS VARCHAR)"


def _folder_join(folders: list[str], file: str = "f") -> str:
    return f" JOIN {FOLDERS} ON {file} = folder_file" if folders else ""


def register_folders(connection: duckdb.DuckDBPyConnection, contract: Contract, batch: Batch) -> None:
    """The table of folder values by file, which the relation joins where there are any."""
    names = _folder_names(contract, batch)
    if not names:
        return
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {FOLDERS} (folder_file VARCHAR, folders VARCHAR[])")
    connection.executemany(
        f"INSERT INTO {FOLDERS} VALUES (?, ?)",
        [(str(b.file.path), [dict(b.file.partition).get(n) for n in names]) for b in batch.files],
    )


def column_types(contract: Contract) -> dict[str, FieldType]:
    """Field name to type."""
    return {f.name: f.type for f in contract.fields}
