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
    """The text of a file, how many rows it holds, and how many records were left out as they are no record of the format."""

    text: str
    rows: int
    left_out: int
    suffix: str


def export_rows(contract: Contract, rows: Iterable[Mapping[str, Any]]) -> Export:
    """The rows' original values as CSV or JSON lines, as the contract's source says.

    A null stays an unquoted empty value and an empty text a quoted one. A line that is no record (`row|malformed`) cannot be
    written as one; it is counted and left out.

    Raises:
        NotSupported: the source is not of text files.
    """
    source = contract.source or Source()
    records = [json.loads(row["payload"]) for row in rows if "row|malformed" not in row["rule_ids"]]
    malformed = sum(1 for row in rows if "row|malformed" in row["rule_ids"])
    if source.format == "json":
        return Export(
            text="".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), rows=len(records), left_out=malformed,
            suffix=".jsonl",
        )  # fmt: skip
    if source.format == "csv":
        return Export(text=_csv(source, records), rows=len(records), left_out=malformed, suffix=".csv")
    raise NotSupported(
        f"rows of a source of format {source.format} cannot be released from the quarantine",
        hint="export them with `invaract quarantine show`, and deliver them again at their source",
    )


def _csv(source: Source, records: list[dict[str, str | None]]) -> str:
    names = list(dict.fromkeys(name for record in records for name in record))
    options = source.options

    def cell(value: str | None) -> str:
        if value is None:
            return options.null_values[0] if options.null_values else ""
        quoted = value.replace(options.quote, options.escape + options.quote)
        return f"{options.quote}{quoted}{options.quote}"

    lines: list[list[str | None]] = [[*names], *([record.get(n) for n in names] for record in records)]
    return "".join(options.delimiter.join(map(cell, line)) + "\n" for line in lines)
