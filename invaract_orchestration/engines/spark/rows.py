"""The rows of a batch as one data frame, with each field's typed value and whether its text was in the declared form.

The frame's columns are named by position (v0, t0, ...), so no name of the data can clash with one of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any
from urllib.parse import unquote

from invaract_orchestration.checks.row_rules import DUPLICATE_KEY, MALFORMED
from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.spark import csv_lines, json_forms
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.frames import typed_frames
from invaract_orchestration.engines.spark.session import PrivateSession
from invaract_orchestration.engines.spark.text_forms import Reading, read_text
from invaract_orchestration.engines.spark.types import spark_type
from invaract_orchestration.intake.batch import Batch, BatchFile

RECORD, HEADER, BLANK, DOUBT = "record", "header", "blank", "doubt"
_PLACE = ("f", "n", "p")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Two readings of a batch. `quick` gives the columns `k` (what a line is), v0.. and t0..; `numbered` gives f (file), n
    (number in the file), p (the original as JSON), the columns of `structure`, v0.. and t0.. for every record, good or not.
    """

    quick: Callable[[], Any] | None
    """None where only the other reading is sure."""
    numbered: Callable[[], Any]
    values: dict[str, str]
    """Field name to the column that holds its typed value."""
    rights: tuple[tuple[str, str, str], ...]
    """(check id, field name, column) of the form of each value; empty for typed sources."""
    structure: tuple[tuple[str, str], ...]
    """(check id, column) of the structure of each record."""
    headers: int = 0
    """How many lines of the quick reading are headers."""
    is_text: bool
    counts_malformed_apart: bool = False
    """Whether a record that is none is not asked any other check."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Spark's name of a file to its name in the batch."""

    def guard(self) -> str:
        """The condition that every row is structurally right and every value in its form."""
        return q.all_of([c for _, c in self.structure] + [c for _, _, c in self.rights])


def rows_of(session: PrivateSession, contract: Contract, batch: Batch, frame: Any) -> Rows:
    """The readings of a batch; `frame` is the table's, query's or handed-in frame. Raises NotSupported for what a format cannot
    hold.
    """
    match batch.source.format:
        case "csv":
            return _csv(session, contract, batch)
        case "json":
            return _json(session, contract, batch)
    return _typed(session, contract, batch, frame)


# -- delimited text


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that are read in the same way."""

    files: tuple[BatchFile, ...]
    layouts: tuple[csv_lines.Layout, ...]

    @property
    def separator(self) -> str:
        return self.layouts[0].separator


def _csv(session: PrivateSession, contract: Contract, batch: Batch) -> Rows:
    groups = _grouped(batch)
    folders = _Folders.of(contract, batch)
    readings = [read_text(f"r{i}", f.type, f, contract.timezone) for i, f in enumerate(contract.fields)]
    is_sure = batch.source.options.encoding != "utf-16" and all(la.header is not None for g in groups for la in g.layouts)

    def quick() -> Any:
        return reduce(_union, [_typed_texts(_quick_csv(session, contract, batch, g, folders), readings, ("k",)) for g in groups])

    def numbered() -> Any:
        kept = (*_PLACE, "s0")
        return reduce(_union, [_typed_texts(_csv_records(session, contract, batch, g, folders), readings, kept) for g in groups])

    return Rows(
        quick=quick if is_sure else None, numbered=numbered, headers=len(batch.files),
        values={f.name: f"v{i}" for i, f in enumerate(contract.fields)},
        rights=tuple(
            (f"{f.name}|type", f.name, f"t{i}") for i, f in enumerate(contract.fields) if readings[i].is_right != "true"
        ),
        structure=((MALFORMED, "s0"),), is_text=True, counts_malformed_apart=True, names=folders.names,
    )  # fmt: skip


def _grouped(batch: Batch) -> tuple[_Group, ...]:
    found: dict[Any, list[tuple[BatchFile, csv_lines.Layout]]] = {}
    for file in batch.files:
        layout = csv_lines.layout_of(file, batch.source.options)
        found.setdefault((file.names, file.feeds, layout.separator), []).append((file, layout))
    return tuple(_Group(tuple(f for f, _ in pairs), tuple(la for _, la in pairs)) for pairs in found.values())


def _quick_csv(session: PrivateSession, contract: Contract, batch: Batch, group: _Group, folders: _Folders) -> Any:
    """What each line is by itself, and its cells where it is a record without doubt."""
    options = batch.source.options
    lines = folders.joined(session, csv_lines.read_lines(session.spark, [f.file.path for f in group.files], group.separator))
    headers = [la.header for la in group.layouts if la.header is not None]
    bare = f"CASE WHEN endswith(raw, {q.text(chr(13))}) THEN left(raw, char_length(raw) - 1) ELSE raw END"
    width, names = _width(batch, group), group.files[0].names
    lines = lines.selectExpr(
        "*", f"{csv_lines.is_header('raw', headers)} AS is_header", f"{csv_lines.is_text('raw', options.encoding)} AS is_text",
        f"{csv_lines.line_text(bare, options.encoding)} AS line",
    )  # fmt: skip
    lines = lines.selectExpr("*", f"{csv_lines.Cells(options).split('line')} AS cs")
    is_blank = "line = ''" if width > 1 else "false"
    is_record = f"is_text AND coalesce(size(cs) = {width}, false){_trailing(width, names)}"
    kind = (
        f"CASE WHEN is_header THEN '{HEADER}' WHEN {is_blank} THEN '{BLANK}' WHEN {is_record} THEN '{RECORD}' ELSE '{DOUBT}' END"
    )
    return lines.selectExpr(f"{kind} AS k", *_raw(contract, batch, group, folders))


def _csv_records(session: PrivateSession, contract: Contract, batch: Batch, group: _Group, folders: _Folders) -> Any:
    """Every record with its number, whether it is well formed, and its original text."""
    options = batch.source.options
    cells, paths = csv_lines.Cells(options), [f.file.path for f in group.files]
    if options.encoding == "utf-16":
        lines, encoding = csv_lines.read_whole(session.spark, paths, "UTF-16"), "utf-16"
    else:
        lines, encoding = csv_lines.read_lines(session.spark, paths, chr(10)), options.encoding
    records = csv_lines.read_records(lines, cells, encoding).where("n > 0")
    width, names = _width(batch, group), group.files[0].names
    if width > 1:
        records = _numbered_without_blanks(records)
    records = folders.joined(session, records).selectExpr("*", f"{cells.split('line')} AS cs")
    is_record = f"is_text AND coalesce(size(cs) = {width}, false){_trailing(width, names)}"
    packed = ", ".join(f"{q.text(n)}, {cells.value(f'cs[{j}]')}" for j, n in enumerate(names))
    original = f"to_json(CASE WHEN s0 THEN named_struct({packed}) END, {_WITH_NULLS})"
    return records.selectExpr("*", f"({is_record}) AS s0").selectExpr(
        "f", "n", f"CASE WHEN s0 THEN {original} ELSE to_json(named_struct('line', line)) END AS p", "s0",
        *_raw(contract, batch, group, folders),
    )  # fmt: skip


_WITH_NULLS = "map('ignoreNullFields', 'false')"


def _numbered_without_blanks(records: Any) -> Any:
    """Blank lines are no records and have no number."""
    window = "OVER (PARTITION BY f ORDER BY n)"
    return records.where("line <> ''").selectExpr("f", "is_text", "line", f"CAST(row_number() {window} AS BIGINT) AS n")


def _width(batch: Batch, group: _Group) -> int:
    return len(group.files[0].names) + (1 if batch.source.options.trailing_delimiter == "accept" else 0)


def _trailing(width: int, names: tuple[str, ...]) -> str:
    return f" AND cs[{width - 1}] = ''" if width > len(names) else ""


def _raw(contract: Contract, batch: Batch, group: _Group, folders: _Folders) -> list[str]:
    """The text of each field, null where its column is absent."""
    cells, feeds = csv_lines.Cells(batch.source.options), group.files[0].feeds
    return [
        f"{cells.value(f'cs[{feeds.index(f.name)}]') if f.name in feeds else folders.value(f.name)} AS r{i}"
        for i, f in enumerate(contract.fields)
    ]


def _typed_texts(frame: Any, readings: list[Reading], kept: tuple[str, ...]) -> Any:
    values = [f"{r.value} AS v{i}" for i, r in enumerate(readings)]
    rights = [f"(r{i} IS NULL OR coalesce({r.is_right}, false)) AS t{i}" for i, r in enumerate(readings)]
    return frame.selectExpr(*kept, *values, *rights)


def _union(left: Any, right: Any) -> Any:
    return left.unionAll(right)


# -- JSON


def _json(session: PrivateSession, contract: Contract, batch: Batch) -> Rows:
    folders = _Folders.of(contract, batch)
    from_folders = [f.name for f in contract.fields if f.name in folders.columns]
    readings = []
    for i, spec in enumerate(contract.fields):
        if spec.name in from_folders:
            read = read_text(f"r{i}", spec.type, spec, contract.timezone)
            right = f"r{i} IS NULL OR coalesce({read.is_right}, false)"
            readings.append(json_forms.JsonReading(read.value, (((spec.name,), right),)))
        else:
            readings.append(json_forms.read_json(f"o{i}", spec.type, spec, contract.timezone, (spec.name,)))
    flat = [(path, right) for r in readings for path, right in r.rights]

    def numbered() -> Any:
        return opened(("f", "n", "p", "s0", "s1"))

    def quick() -> Any:
        return opened(("k",))

    def opened(kept: tuple[str, ...]) -> Any:
        records = json_records(session, batch, is_numbered="n" in kept)
        records = folders.joined(session, records).selectExpr(
            "*", "(j IS NOT NULL AND is_object) AS s0", "NOT repeats AS s1",
            "CASE WHEN line IS NULL THEN to_json(j) WHEN is_object OR repeats THEN line ELSE to_json(named_struct('line', line)) "
            "END AS p",
        )  # fmt: skip
        records = records.selectExpr(
            "*", f"{json_forms.members('CASE WHEN is_object THEN j END')} AS o",
            f"CASE WHEN s0 AND s1 THEN '{RECORD}' ELSE '{DOUBT}' END AS k",
        )  # fmt: skip
        members = [
            f"{folders.value(f.name)} AS r{i}" if f.name in from_folders else f"o[{q.text(f.name)}] AS o{i}"
            for i, f in enumerate(contract.fields)
        ]
        values = [f"CAST({readings[i].value} AS {spark_type(f.type)}) AS v{i}" for i, f in enumerate(contract.fields)]
        rights = [f"({right}) AS t{k}" for k, (_, right) in enumerate(flat)]
        return records.selectExpr(*kept, *members).selectExpr(*kept, *values, *rights)

    return Rows(
        quick=quick, numbered=numbered, values={f.name: f"v{i}" for i, f in enumerate(contract.fields)},
        rights=tuple((".".join(path) + "|type", path[0], f"t{k}") for k, (path, _) in enumerate(flat)),
        structure=((MALFORMED, "s0"), (DUPLICATE_KEY, "s1")), is_text=True, names=folders.names,
    )  # fmt: skip


def json_records(session: PrivateSession, batch: Batch, *, is_numbered: bool) -> Any:
    """Records of JSON files: `line` (their text, none in an array), `j` (variant), is_object, repeats, `f` and the number `n`.

    Blank lines are no records, but they count as lines.
    """
    paths = [b.file.path for b in batch.files]
    if batch.source.options.shape == "array":
        whole = session.spark.read.option("recursiveFileLookup", "true").text([q.path(p) for p in paths], wholetext=True)
        items = "TRY_CAST(try_parse_json(value) AS ARRAY<VARIANT>)"
        failed = f"CAST(raise_error({q.text('invaract: malformed array')}) AS ARRAY<VARIANT>)"
        frame = whole.selectExpr(f"coalesce({items}, {failed}) AS items", "_metadata.file_path AS f")
        frame = frame.selectExpr("f", "posexplode(items) AS (n, j)")
        return frame.selectExpr(
            "f", "CAST(n + 1 AS BIGINT) AS n", "CAST(NULL AS STRING) AS line", "j", f"{json_forms.is_object('j')} AS is_object",
            "false AS repeats",
        )  # fmt: skip
    lines = csv_lines.read_lines(session.spark, paths, "\n")
    if is_numbered:
        lines = lines.selectExpr("*", "CAST(row_number() OVER (PARTITION BY f ORDER BY b, m) AS BIGINT) AS n")
    blanks = q.text(" \t\r")
    lines = lines.selectExpr("*", f"trim(BOTH {blanks} FROM raw) AS line").where("line <> ''")
    lines = lines.selectExpr("*", f"CASE WHEN is_valid_utf8(line) THEN {json_forms.record('line')} END AS j")
    repeats = f"CASE WHEN j IS NULL AND is_valid_utf8(line) THEN {json_forms.repeats_a_key('line')} ELSE false END"
    return lines.selectExpr("*", f"{json_forms.is_object('j')} AS is_object", f"{repeats} AS repeats")


# -- typed sources


def _typed(session: PrivateSession, contract: Contract, batch: Batch, frame: Any) -> Rows:
    folders = _Folders.of(contract, batch)
    fields = contract.fields
    present = {f.name for f in fields} - batch.absent - set(folders.columns)

    def chosen() -> Any:
        packed = ", ".join(f"{q.text(f.name)}, v{i}" for i, f in enumerate(fields))
        parts = []
        for native in typed_frames(session.spark, contract, batch, frame):
            place = ["_metadata.file_path AS f", "_metadata.row_index + 1 AS n"] if batch.files else ["'' AS f", "0L AS n"]
            own = native.selectExpr(*place, *(f"{q.name(s.name)} AS v{i}" for i, s in enumerate(fields) if s.name in present))
            columns = [f"v{i}" if s.name in present else f"{folders.value(s.name, s.type)} AS v{i}" for i, s in enumerate(fields)]
            plain = folders.joined(session, own).selectExpr("f", "n", *columns)
            parts.append(plain.selectExpr("f", "n", f"to_json(named_struct({packed}), {_WITH_NULLS}) AS p", *casts))
        return reduce(_union, parts)

    casts, rights = _typed_casts(contract, folders)
    return Rows(
        quick=lambda: chosen().drop("f", "n", "p").selectExpr(f"'{RECORD}' AS k", "*"), numbered=chosen,
        values={f.name: f"v{i}" for i, f in enumerate(fields)}, rights=rights, structure=(), is_text=False,
        names=folders.names,
    )  # fmt: skip


def _typed_casts(contract: Contract, folders: _Folders) -> tuple[list[str], tuple[tuple[str, str, str], ...]]:
    casts, rights, oks = [], [], []
    for i, spec in enumerate(contract.fields):
        if spec.name in folders.columns:
            read = read_text(f"v{i}", spec.type, spec, contract.timezone)
            casts.append(f"{read.value} AS v{i}")
            oks.append(f"(v{i} IS NULL OR coalesce({read.is_right}, false)) AS t{i}")
        elif contract.schema_policy.type_changes == "accept":
            cast = f"TRY_CAST(v{i} AS {spark_type(spec.type)})"
            casts.append(f"{cast} AS v{i}")
            oks.append(f"(v{i} IS NULL OR coalesce({cast} = v{i}, false)) AS t{i}")
        else:
            casts.append(f"v{i}")
            continue
        rights.append((f"{spec.name}|type", spec.name, f"t{i}"))
    return [*casts, *oks], tuple(rights)


# -- columns that folders say


@dataclass(frozen=True, slots=True)
class _Folders:
    """The columns in the folder names of files, and their values by file."""

    columns: tuple[str, ...]
    files: tuple[BatchFile, ...]

    @classmethod
    def of(cls, contract: Contract, batch: Batch) -> _Folders:
        fed = {name for file in batch.files for name in file.feeds}
        names = dict.fromkeys(n for file in batch.files for n, _ in file.file.partition)
        return cls(tuple(n for n in names if contract.field(n) is not None and n not in fed), batch.files)

    @property
    def names(self) -> dict[str, str]:
        """The path of a file to its name in the batch."""
        return {str(b.file.path): b.file.name for b in self.files}

    def value(self, name: str, type_: FieldType | None = None) -> str:
        """The text that the folders say for a column; null for any other, of the given type."""
        if name in self.columns:
            return f"d{self.columns.index(name)}"
        return f"CAST(NULL AS {spark_type(type_) if type_ else 'STRING'})"

    def joined(self, session: PrivateSession, frame: Any) -> Any:
        """The frame with the values of each row's file."""
        if not self.columns:
            return frame
        rows = [
            [str(b.file.path), *(dict(b.file.partition).get(c) for c in self.columns)] for b in self.files
        ]  # fmt: skip
        values = ", ".join("(" + ", ".join("CAST(NULL AS STRING)" if v is None else q.text(v) for v in row) + ")" for row in rows)
        names = ", ".join(["df", *(f"d{i}" for i in range(len(self.columns)))])
        table = session.spark.sql(f"SELECT * FROM VALUES {values} AS t({names})").hint("broadcast")
        return frame.selectExpr("*", f"{PATH_OF.format('f')} AS df").join(table, "df")


PATH_OF = "url_decode(replace(regexp_replace({}, '^file:/*', '/'), '+', '%2B'))"
"""The path in the name that Spark gives a file."""


def path_of(uri: str) -> str:
    """The same for a name that was read."""
    return "/" + unquote(uri).removeprefix("file:").lstrip("/") if uri else ""


def column_types(contract: Contract) -> dict[str, FieldType]:
    """Field name to type."""
    return {f.name: f.type for f in contract.fields}
