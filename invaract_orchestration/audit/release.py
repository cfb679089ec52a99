"""Quarantined rows as a file again, in the form of the contract's source, to be submitted under the current contract."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from invaract_orchestration.contract.model import Contract, Source
from invaract_orchestration.errors import NotSupported


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The bytes of a file, how many rows it holds, and how many records were left out as they are no record of the format."""

    content: bytes
    rows: int
    left_out: int
    suffix: str


def export_rows(contract: Contract, rows: Iterable[Mapping[str, Any]]) -> Export:
    """The rows' original values as CSV or JSON, written as the contract's source is read: its encoding, quotes and shape.

    A null stays an unquoted empty value and an empty text a quoted one. A line that is no record (`row|malformed`) cannot be
    written as one; it is counted and left out.

    Raises:
        NotSupported: the source is not of text files, or its encoding does not have a letter of the rows.
    """
    source = contract.source or Source()
    if source.format not in ("json", "csv"):
        raise NotSupported(
            f"rows of a source of format {source.format} cannot be released from the quarantine",
            hint="export them with `invaract quarantine show`, and deliver them again at their source",
        )
    kept = list(rows)
    records = [json.loads(row["payload"]) for row in kept if "row|malformed" not in row["rule_ids"]]
    text = _json(source, records) if source.format == "json" else _csv(source, records)
    try:
        content = text.encode(source.options.encoding)
    except UnicodeEncodeError:
        raise NotSupported(
            f"a letter of the rows cannot be written in the encoding of the contract's source, {source.options.encoding}",
            hint="deliver the rows again at their source, or declare source.options.encoding: utf-8",
        ) from None
    return Export(
        content=content, rows=len(records), left_out=len(kept) - len(records),
        suffix=".jsonl" if source.format == "json" else ".csv",
    )  # fmt: skip


def _json(source: Source, records: list[dict[str, Any]]) -> str:
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    if source.options.shape == "array":
        return "[\n" + ",\n".join(lines) + "\n]\n"
    return "".join(f"{line}\n" for line in lines)


def _csv(source: Source, records: list[dict[str, str | None]]) -> str:
    names = list(dict.fromkeys(name for record in records for name in record))
    options = source.options

    def cell(value: str | None) -> str:
        if value is None:
            return options.null_values[0] if options.null_values else ""
        escaped = value if options.escape == options.quote else value.replace(options.escape, options.escape * 2)
        return f"{options.quote}{escaped.replace(options.quote, options.escape + options.quote)}{options.quote}"

    end = (options.delimiter if options.trailing_delimiter == "accept" else "") + "\n"
    lines: list[list[str | None]] = [[*names], *([record.get(n) for n in names] for record in records)]
    return "".join(options.delimiter.join(map(cell, line)) + end for line in lines)
