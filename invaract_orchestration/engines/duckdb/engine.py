"""The embedded engine: DuckDB over files, no server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import duckdb

from invaract_orchestration.candidate.candidate import Candidate, Materialised
from invaract_orchestration.candidate.compiled import compile_plan
from invaract_orchestration.candidate.plan.diagnostics import Translation
from invaract_orchestration.candidate.step_plan import StepPlan, compile_steps
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.checks.measurements import DatasetFact, KeyCount
from invaract_orchestration.checks.schema_match import ObservedSchema
from invaract_orchestration.contract.field_types import FieldType, Struct
from invaract_orchestration.contract.model import Contract, DatasetRule, Key
from invaract_orchestration.engines.duckdb.candidate import Writer, rows_digest
from invaract_orchestration.engines.duckdb.infer_json import json_types
from invaract_orchestration.engines.duckdb.links import hold_links
from invaract_orchestration.engines.duckdb.measure import Measure
from invaract_orchestration.engines.duckdb.observe import observe, relation_schema
from invaract_orchestration.engines.duckdb.query_inputs import table_schemas
from invaract_orchestration.engines.duckdb.raw_records import rewritten
from invaract_orchestration.engines.duckdb.session import UnevenLineEnds, connect, register_text_functions
from invaract_orchestration.engines.duckdb.steps import DuckDBViews
from invaract_orchestration.engines.duckdb.transform import Made, make_relation
from invaract_orchestration.engines.duckdb.transformed import materialise_transformed
from invaract_orchestration.intake.batch import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckDBEngine:
    """Opens a private database for each attempt. `memory_limit` is DuckDB's, such as `4GB`; beyond it rows spill to disk."""

    memory_limit: str | None = None
    threads: int | None = None

    @property
    def identity(self) -> str:
        """Name and version."""
        return f"duckdb {duckdb.__version__}"

    def locate(self, name: str) -> str | None:
        """See `Engine.locate`: there is no catalog."""
        return None

    @contextmanager
    def open(self, scratch: Path, table_place: Callable[[str, Path | None], str]) -> Iterator[DuckDBSession]:
        """A session that ends, with all of its temporary data, when the block does."""
        scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with closing(connect(scratch, self.memory_limit, self.threads)) as connection:
                register_text_functions(connection)
                yield DuckDBSession(connection=connection, table_place=table_place, scratch=scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckDBSession:
    """See `EngineSession` and `Measurer`."""

    connection: duckdb.DuckDBPyConnection
    table_place: Callable[[str, Path | None], str]
    scratch: Path
    relations: dict[int, Made] = field(default_factory=dict)

    def observe(self, contract: Contract, batch: Batch, now: datetime) -> tuple[ObservedSchema, ...]:
        """See `EngineSession.observe`."""
        if batch.transform is not None:
            return (relation_schema(self._made(batch).relation, "the transformation's result"),)
        try:
            return observe(self.connection, contract, batch, now)
        except UnevenLineEnds:
            return observe(self.connection, contract, rewritten(batch, self.scratch), now)

    def table_schemas(self, batch: Batch) -> dict[str, Struct]:
        """See `EngineSession.table_schemas`."""
        return table_schemas(self.connection, batch)

    def frame_plan(self, batch: Batch) -> Translation | None:
        """See `EngineSession.frame_plan`: what made rows that are handed in is not to be seen here."""
        return None if batch.transform is None else self._made(batch).plan

    def materialise(self, request: CandidateRequest) -> Materialised:
        """See `EngineSession.materialise`."""
        if request.batch.transform is not None:
            return materialise_transformed(self.connection, request, self._made(request.batch), self.scratch)
        return Writer(connection=self.connection, request=request, scratch=self.scratch).materialise()

    def json_types(self, batch: Batch) -> dict[str, FieldType | None]:
        """See `EngineSession.json_types`."""
        return json_types(self.connection, batch)

    def compile_steps(self, contract: Contract, source: Contract, batch: Batch, now: datetime) -> StepPlan:
        """See `EngineSession.compile_steps`."""
        links = hold_links(self.connection, batch, now)
        return compile_steps(contract, source, links, DuckDBViews(connection=self.connection, now=now))

    def rows_digest(self, candidate: Candidate) -> str:
        """See `EngineSession.rows_digest`."""
        return rows_digest(self.connection, candidate)

    def count_key(self, contract: Contract, candidate: Candidate, key: Key, target: TargetState | None) -> KeyCount:
        """See `Measurer.count_key`."""
        return self._measure(contract).count_key(contract, candidate, key, target)

    def measure_dataset(
        self, contract: Contract, candidate: Candidate, rule: DatasetRule, target: TargetState | None, now: datetime
    ) -> DatasetFact:
        """See `Measurer.measure_dataset`."""
        return self._measure(contract).measure_dataset(contract, candidate, rule, target, now)

    def count_violations(self, candidate: Candidate, conditions: Sequence[str], now: datetime) -> Sequence[int]:
        """See `Measurer.count_violations`."""
        return Measure(connection=self.connection, table_place=str).count_violations(candidate, conditions, now)

    def _made(self, batch: Batch) -> Made:
        """What the batch's function gave; it is called once."""
        key = id(batch.transform)
        if key not in self.relations:
            source = None
            if batch.arriving is not None:
                contract, own = batch.arriving.contract, batch.arriving.batch
                source = compile_plan(contract, own, self.table_schemas(own), None, first_id=1 << 40).plan
            self.relations[key] = make_relation(self.connection, batch, source)
        return self.relations[key]

    def _measure(self, contract: Contract) -> Measure:
        return Measure(connection=self.connection, table_place=lambda name: self.table_place(name, contract.base))
