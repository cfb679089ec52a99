"""The rows of delimited text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from invaract_orchestration.checks.row_rules import MALFORMED
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.spark import csv_lines
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.folders import Folders
from invaract_orchestration.engines.spark.rows import (
    BLANK,
    DOUBT,
    HEADER,
    PLACE,
    RECORD,
    WITH_NULLS,
    Held,
    Rows,
    union,
    with_held,
)
from invaract_orchestration.engines.spark.session import PrivateSession
from invaract_orchestration.engines.spark.text_forms import read_text
from invaract_orchestration.intake.batch import Batch, BatchFile


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that are read in the same way."""

    files: tuple[BatchFile, ...]
    layouts: tuple[csv_lines.Layout, ...]

    @property
    def separator(self) -> str:
        return self.layouts[0].separator


def csv_rows(session: PrivateSession, contract: Contract, batch: Batch) -> Rows:
    """The readings of CSV files."""
    groups = _grouped(batch)
    folders = Folders.of(contract, batch)
    held = [Held(f"x{i}") for i in range(len(contract.fields))]
    readings = [read_text(f"r{i}", f.type, f, contract.timezone, held[i]) for i, f in enumerate(contract.fields)]
    is_sure = batch.source.options.encoding != "utf-16" and all(la.header is not None for g in groups for la in g.layouts)

    def typed(frame: Any, kept: tuple[str, ...]) -> Any:
        values = [f"{r.value} AS v{i}" for i, r in enumerate(readings)]
        rights = [f"(r{i} IS NULL OR coalesce({r.is_right}, false)) AS t{i}" for i, r in enumerate(readings)]
        return with_held(frame, held).selectExpr(*kept, *values, *rights)

    def quick() -> Any:
        return reduce(union, [typed(_quick_csv(session, contract, batch, g, folders), ("k",)) for g in groups])

    def numbered() -> Any:
        return reduce(union, [typed(_csv_records(session, contract, batch, g, folders), (*PLACE, "s0")) for g in groups])

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


def _quick_csv(session: PrivateSession, contract: Contract, batch: Batch, group: _Group, folders: Folders) -> Any:
    """What each line is by itself, and its cells where it is a record without doubt."""
    options = batch.source.options
    lines = csv_lines.read_lines(session.spark, [f.file.path for f in group.files], group.separator)
    lines = folders.joined(session.spark, lines)
    headers = [la.header for la in group.layouts if la.header is not None]
    bare = f"CASE WHEN endswith(raw, {q.text(chr(13))}) THEN left(raw, char_length(raw) - 1) ELSE raw END"
    width, names = _width(batch, group), group.files[0].names
    lines = lines.selectExpr(
        "*", f"{csv_lines.is_header('raw', headers)} AS is_header", f"{csv_lines.is_text('raw', options.encoding)} AS is_text",
        f"{csv_lines.line_text(bare, options.encoding)} AS line",
    )  # fmt: skip
    cells = csv_lines.Cells(options)
    lines = lines.selectExpr("*", f"{cells.split('line')} AS cs")
    is_blank = "line = ''" if width > 1 else "false"
    is_record = f"is_text AND coalesce(size(cs) = {width}, false){_trailing(width, names)}"
    kind = (
        f"CASE WHEN is_header THEN '{HEADER}' WHEN {is_blank} THEN '{BLANK}' WHEN {is_record} THEN '{RECORD}' ELSE '{DOUBT}' END"
    )
    return lines.selectExpr(f"{kind} AS k", *_raw(contract, group, folders, lambda j: cells.value(f"cs[{j}]")))


def _csv_records(session: PrivateSession, contract: Contract, batch: Batch, group: _Group, folders: Folders) -> Any:
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
    records = folders.joined(session.spark, records).selectExpr("*", f"{cells.split('line')} AS cs")
    is_record = f"is_text AND coalesce(size(cs) = {width}, false){_trailing(width, names)}"
    records = records.selectExpr("*", f"({is_record}) AS s0", *(f"{cells.value(f'cs[{j}]')} AS c{j}" for j in range(len(names))))
    texts = [(n, f"c{j}") for j, n in enumerate(names)] + [(n, folders.value(n)) for n in folders.columns]
    packed = ", ".join(f"{q.text(n)}, {value}" for n, value in texts)
    original = f"to_json(named_struct({packed}), {WITH_NULLS})"
    return records.selectExpr(
        "f", "n", f"CASE WHEN s0 THEN {original} ELSE to_json(named_struct('line', line)) END AS p", "s0",
        *_raw(contract, group, folders, lambda j: f"c{j}"),
    )  # fmt: skip


def _numbered_without_blanks(records: Any) -> Any:
    """Blank lines are no records and have no number."""
    window = "OVER (PARTITION BY f ORDER BY n)"
    return records.where("line <> ''").selectExpr("f", "is_text", "line", f"CAST(row_number() {window} AS BIGINT) AS n")


def _width(batch: Batch, group: _Group) -> int:
    return len(group.files[0].names) + (1 if batch.source.options.trailing_delimiter == "accept" else 0)


def _trailing(width: int, names: tuple[str, ...]) -> str:
    return f" AND cs[{width - 1}] = ''" if width > len(names) else ""


def _raw(contract: Contract, group: _Group, folders: Folders, cell: Callable[[int], str]) -> list[str]:
    """The text of each field, null where its column is absent."""
    feeds = group.files[0].feeds
    return [
        f"{cell(feeds.index(f.name)) if f.name in feeds else folders.value(f.name)} AS r{i}"
        for i, f in enumerate(contract.fields)
    ]
