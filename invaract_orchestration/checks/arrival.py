"""What arrived against what was agreed: the header of every file, or the schema of a typed source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from invaract_orchestration.checks.header import check_headers, match_columns
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.checks.schema_match import ObservedSchema, check_schema
from invaract_orchestration.checks.transform_source import judge_csv, judge_json, judge_json_keys, judge_result, judge_typed
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import NotSupported
from invaract_orchestration.intake.batch import Batch, BatchFile
from invaract_orchestration.intake.csv_header import FileHeader, read_header

Lineage = Mapping[str, tuple[tuple[str, str], ...]]


def judge_arrival(
    contract: Contract, batch: Batch, session: Any, now: datetime, lineage: Lineage | None = None
) -> tuple[Batch, tuple[CheckResult, ...]]:
    """The batch with what each column feeds, and the results; no row is read for it. With a function as transformation it is the
    function's result that is judged, and `lineage` says which columns it is made of.

    Raises:
        InputUnreadable: a header or a schema cannot be read.
    """
    if batch.transform is not None:
        return _judge_result(contract, batch, session, now, lineage or {})
    if batch.source.format == "csv":
        headers = _headers(batch)
        files = tuple(
            BatchFile(file=h.file, names=h.names, feeds=tuple(match_columns(contract, h))) for h in headers
        )
        return replace(batch, files=files), check_headers(contract, headers)
    observed: tuple[ObservedSchema, ...] = session.observe(contract, batch, now)
    results = check_schema(contract, observed)
    found = {c.name for schema in observed for c in schema.columns}
    absent = frozenset(f.name for f in contract.fields if f.name not in found)
    return replace(batch, absent=absent), results


def judge_source(
    contract: Contract, batch: Batch, session: Any, now: datetime
) -> tuple[Batch, tuple[CheckResult, ...]]:
    """The batch with the rows that a function will get, where it gets some, and what is wrong with their columns. No job is
    started for it.

    Raises:
        InputUnreadable: a header or a schema cannot be read.
    """
    if batch.transform is None or not batch.transform.takes_rows:
        return batch, ()
    own = replace(batch, transform=None)
    if batch.source.format == "json":
        return replace(batch, arriving=judge_json(contract, own)), ()
    if batch.source.format == "csv":
        arriving, results = judge_csv(contract, own, _headers(own))
    else:
        arriving, results = judge_typed(contract, own, session.observe(contract, own, now))
    return replace(batch, arriving=arriving), results


def _judge_result(
    contract: Contract, batch: Batch, session: Any, now: datetime, lineage: Lineage
) -> tuple[Batch, tuple[CheckResult, ...]]:
    keys: tuple[CheckResult, ...] = ()
    if batch.arriving is not None and batch.source.format == "json":
        arriving, keys = judge_json_keys(contract, batch.arriving, session, now, lineage)
        batch = replace(batch, arriving=arriving)
    judged, results = judge_result(contract, batch, session.observe(contract, batch, now))
    return judged, keys or results


def _headers(batch: Batch) -> list[FileHeader]:
    headers = [read_header(b.file, batch.source.options) for b in batch.files]
    if any(h.encoding == "utf-16-be" for h in headers):
        raise NotSupported("a file is UTF-16 with the high byte first", hint="deliver it as UTF-8")
    return headers
