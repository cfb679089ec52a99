"""A batch as it arrived: its files with the columns found in each, or the table or query it is read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from invaract_orchestration.contract.model import Contract, Source
from invaract_orchestration.intake.links import LinkRows
from invaract_orchestration.intake.listing import ListedFile
from invaract_orchestration.intake.query_tables import QueryTable
from invaract_orchestration.intake.transform import Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFile:
    """One file: its column names in order (empty for JSON), and the field that each feeds (null: none, it is ignored)."""

    file: ListedFile
    names: tuple[str, ...] = ()
    feeds: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What is read for one submission. Exactly one of files, table, query and frame is there.

    `table` is a Delta table's place with its `table_version`; `query` is Spark SQL
    text over `tables`; `frame` is a native lazy frame of the
    engine, handed in by a caller.
    """

    source: Source
    files: tuple[BatchFile, ...] = ()
    table: str | None = None
    table_version: int | None = None
    query: str | None = None
    tables: tuple[QueryTable, ...] = ()
    frame: Any = None
    links: tuple[LinkRows, ...] = ()
    """Rows of reference for the steps."""
    absent: frozenset[str] = frozenset()
    """Fields that the batch does not have and may be without; they are null."""
    transform: Transform | None = None
    """A function of the caller's. What is published is its result."""
    arriving: Arriving | None = None
    """The rows that the function gets; none for one that finds its rows itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """The source's side of a transformation: the batch as it is read, and what its rows are checked against."""

    contract: Contract
    batch: Batch
