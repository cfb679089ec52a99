"""The distributed engine: Spark, classic or Connect, over the same files and tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from invaract_orchestration.candidate.candidate import Candidate, Materialised
from invaract_orchestration.candidate.compiled import compile_plan
from invaract_orchestration.candidate.plan.diagnostics import Translation
from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.step_plan import StepPlan, compile_steps
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.checks.measurements import DatasetFact, KeyCount
from invaract_orchestration.checks.schema_match import ObservedSchema
from invaract_orchestration.contract.field_types import FieldType, Struct
from invaract_orchestration.contract.model import Contract, DatasetRule, Key
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.candidate import Writer, rows_digest
from invaract_orchestration.engines.spark.catalog import CatalogTables
from invaract_orchestration.engines.spark.frames import handed_in, input_frame, query_frame, table_frame
from invaract_orchestration.engines.spark.keys import count_key
from invaract_orchestration.engines.spark.left_behind import ignored
from invaract_orchestration.engines.spark.linked_files import linked
from invaract_orchestration.engines.spark.measure import Measure
from invaract_orchestration.engines.spark.observe import frame_schema, observe
from invaract_orchestration.engines.spark.plan_classic import translate_classic
from invaract_orchestration.engines.spark.plan_connect import translate_connect
from invaract_orchestration.engines.spark.session import PrivateSession, private_session, running, translated, user_session
from invaract_orchestration.engines.spark.step_links import hold_links, json_types, link_frame
from invaract_orchestration.engines.spark.steps import SparkViews
from invaract_orchestration.engines.spark.transform import Made, make_frame
from invaract_orchestration.engines.spark.transformed import materialise_transformed
from invaract_orchestration.engines.spark.types import column_types
from invaract_orchestration.errors import MissingExtra
from invaract_orchestration.intake.batch import Batch

_BEHIND = 1 << 40
"""Where the ids of columns begin in the plan of the rows that a function gets, so that they are not those of its own plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkEngine:
    """Works in a private session beside the user's: the one given, else the active one, else a remote or a new one.

    `remote` is a Connect server such as `sc://host:15002`, `master` where a session that has to be started runs, and `jars`
    a folder of JARs for it.
    """

    session: Any = None
    remote: str | None = None
    master: str = "local[*]"
    jars: str | None = None
    tables: CatalogTables = field(default_factory=CatalogTables, repr=False, compare=False)
    opened: list[Any] = field(default_factory=list, repr=False, compare=False)
    """The one session with the remote server, once it is asked for."""

    @property
    def identity(self) -> str:
        """Name and version."""
        try:
            found = version("pyspark")
        except PackageNotFoundError:
            raise MissingExtra("the Spark engine", "spark") from None
        return f"spark {found}"

    @property
    def base(self) -> Any:
        """The session to work beside."""
        if self.session is not None or self.remote is None:
            return running(self.session or user_session(None, self.master, self.jars))
        if not self.opened:
            self.opened.append(user_session(self.remote, self.master, self.jars))
        return running(self.opened[0])

    def locate(self, name: str) -> str | None:
        """See `Engine.locate`."""
        return self.tables.locate(self.base, name, is_given=self.session is not None)

    @contextmanager
    def open(self, scratch: Path, table_place: Callable[[str, Path | None], str]) -> Iterator[SparkSession]:
        """A session that ends, with all of its temporary data, when the block does."""
        scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            base = self.base
            with private_session(base) as own:
                session = SparkSession(base=base, private=own, table_place=table_place, scratch=scratch)
                try:
                    yield session
                finally:
                    session.forget()
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSession:
    """See `EngineSession` and `Measurer`."""

    base: Any
    private: PrivateSession
    table_place: Callable[[str, Path | None], str]
    scratch: Path
    views: list[str] = field(default_factory=list)
    frames: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def observe(self, contract: Contract, batch: Batch, now: datetime) -> tuple[ObservedSchema, ...]:
        """See `EngineSession.observe`."""
        batch = linked(batch, self.scratch)
        frame = self._frame(batch, now)
        if batch.transform is not None:
            return (frame_schema(frame, "the transformation's result"),)
        return observe(self.private, contract, batch, frame)

    def table_schemas(self, batch: Batch) -> dict[str, Struct]:
        """See `EngineSession.table_schemas`."""
        found = {}
        for table in linked(batch, self.scratch).tables:
            with translated(f"reading the input {table.name}"):
                columns = column_types(input_frame(self.private.spark, table))
            found[table.name] = Struct(tuple((n, t) for n, t, _ in columns if not isinstance(t, str)))
        return found

    def frame_plan(self, batch: Batch) -> Translation | None:
        """See `EngineSession.frame_plan`."""
        if batch.transform is not None:
            return self._made(batch).plan
        if batch.frame is None:
            return None
        is_classic = hasattr(batch.frame, "_jdf")
        return translate_classic(batch.frame) if is_classic else translate_connect(batch.frame, first_id=_BEHIND)

    def materialise(self, request: CandidateRequest) -> Materialised:
        """See `EngineSession.materialise`."""
        request = replace(request, batch=linked(request.batch, self.scratch))
        frame = self._frame(request.batch, request.now)
        if request.batch.transform is not None:
            own = request.batch.arriving
            source = self._frame(own.batch, request.now) if own is not None else None
            made = self._made(request.batch)
            return materialise_transformed(self.private, request, made, (source, frame), self.scratch)
        with translated("reading the source"):
            return Writer(session=self.private, request=request, scratch=self.scratch, frame=frame).materialise()

    def json_types(self, batch: Batch) -> dict[str, FieldType | None]:
        """See `EngineSession.json_types`."""
        return json_types(self.private, linked(batch, self.scratch))

    def compile_steps(self, contract: Contract, source: Contract, batch: Batch, now: datetime) -> StepPlan:
        """See `EngineSession.compile_steps`."""
        links = hold_links(self.private, linked(batch, self.scratch), now)
        return compile_steps(contract, source, links, SparkViews(spark=self.private.spark, now=now))

    def rows_digest(self, candidate: Candidate) -> str:
        """See `EngineSession.rows_digest`."""
        return rows_digest(self.private, candidate)

    def count_key(self, contract: Contract, candidate: Candidate, key: Key, target: TargetState | None) -> KeyCount:
        """See `Measurer.count_key`."""
        return count_key(self.private, contract, candidate, key, target)

    def measure_dataset(
        self, contract: Contract, candidate: Candidate, rule: DatasetRule, target: TargetState | None, now: datetime
    ) -> DatasetFact:
        """See `Measurer.measure_dataset`."""
        measure = Measure(session=self.private, table_place=lambda name: self.table_place(name, contract.base))
        return measure.measure_dataset(contract, candidate, rule, now)

    def count_violations(self, candidate: Candidate, conditions: Sequence[str], now: datetime) -> Sequence[int]:
        """See `Measurer.count_violations`."""
        return Measure(session=self.private, table_place=str).count_violations(candidate, conditions, now)

    def forget(self) -> None:
        """Drop what other sessions could see of this one."""
        for view in self.views:
            with ignored():
                self.private.spark.catalog.dropGlobalTempView(view)

    def _frame(self, batch: Batch, now: datetime) -> Any:
        """The frame of a table, a query or a caller, built once; none for files."""
        if batch.files and batch.transform is None:
            return None
        key = (batch.table, batch.table_version, batch.query, id(batch.frame), id(batch.transform))
        if key not in self.frames:
            with translated("reading the source's schema"):
                self.frames[key] = self._built(batch, now)
        return self.frames[key]

    def _made(self, batch: Batch) -> Made:
        """What the batch's function gave; it is called once."""
        key = ("made", id(batch.transform))
        if key not in self.frames:
            self.frames[key] = make_frame(self.base, batch, self.scratch, self._source_plan(batch), self._links(batch))
        made: Made = self.frames[key]
        return made

    def _links(self, batch: Batch) -> dict[str, Any]:
        """The rows of the batch's links in the user's session, for a function that takes them."""
        found: dict[str, Any] = {}
        for rows in linked(batch, self.scratch).links if batch.transform is not None and batch.transform.takes_links else ():
            folder = str(self.scratch / f"link-{rows.link.name}")
            with translated(f"reading the link {rows.link.name}"):
                frame = link_frame(self.private, rows, datetime.now(UTC))
                frame.write.mode("overwrite").parquet(folder)
                found[rows.link.name] = self.base.read.schema(frame.schema).parquet(q.path(folder))
        return found

    def _source_plan(self, batch: Batch) -> Plan | None:
        """The plan of the rows that a function gets."""
        if batch.arriving is None:
            return None
        contract, own = batch.arriving.contract, batch.arriving.batch
        return compile_plan(contract, own, self.table_schemas(own), self.frame_plan(own), first_id=_BEHIND).plan

    def _built(self, batch: Batch, now: datetime) -> Any:
        spark = self.private.spark
        if batch.transform is not None:
            return handed_in(spark, self._made(batch).frame, self.views)
        if batch.table is not None:
            return table_frame(spark, batch.table, batch.table_version)
        if batch.query is not None:
            return query_frame(spark, batch, now)
        return handed_in(spark, batch.frame, self.views)
