"""What arrived against what was agreed: the header of every file, or the schema of a typed source."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from invaract_orchestration.checks.header import check_headers, match_columns
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.checks.schema_match import ObservedSchema, check_schema
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import NotSupported
from invaract_orchestration.intake.batch import Batch, BatchFile
from invaract_orchestration.intake.csv_header import read_header


def judge_arrival(
    contract: Contract, batch: Batch, session: Any, now: datetime
) -> tuple[Batch, tuple[CheckResult, ...]]:
    """The batch with what each column feeds, and the results; no row is read for it.

    Raises:
        InputUnreadable: a header or a schema cannot be read.
    """
    if batch.source.format == "csv":
        headers = [read_header(b.file, batch.source.options) for b in batch.files]
        if any(h.encoding == "utf-16-be" for h in headers):
            raise NotSupported("a file is UTF-16 with the high byte first", hint="deliver it as UTF-8")
        files = tuple(
            BatchFile(file=h.file, names=h.names, feeds=tuple(match_columns(contract, h))) for h in headers
        )
        return replace(batch, files=files), check_headers(contract, headers)
    observed: tuple[ObservedSchema, ...] = session.observe(contract, batch, now)
    results = check_schema(contract, observed)
    found = {c.name for schema in observed for c in schema.columns}
    absent = frozenset(f.name for f in contract.fields if f.name not in found)
    return replace(batch, absent=absent), results
