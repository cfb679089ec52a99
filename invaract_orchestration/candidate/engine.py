"""What the gate needs of an engine for one attempt."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from invaract_orchestration.candidate.candidate import Candidate, Materialised
from invaract_orchestration.candidate.plan.diagnostics import Translation
from invaract_orchestration.candidate.step_plan import StepPlan
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.contract.field_types import FieldType, Struct
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.intake.batch import Batch


class EngineSession(Protocol):
    """An engine's session for one attempt: it reads the source, writes the candidate and counts on it (see `Measurer`)."""

    def observe(self, contract: Contract, batch: Batch, now: datetime) -> tuple[Any, ...]:
        """The schemas (ObservedSchema) that typed sources and JSON records really have; empty for CSV. Moves no data."""

    def table_schemas(self, batch: Batch) -> dict[str, Struct]:
        """The columns of every table that the batch's query reads, by the table's name there. Moves no data."""

    def frame_plan(self, batch: Batch) -> Translation | None:
        """The plan of a frame that was handed in; none where the engine cannot tell, or there is no frame. Moves no data."""

    def json_types(self, batch: Batch) -> dict[str, FieldType | None]:
        """The keys of a batch's JSON records, each with the type that all of its values have: string where they are of several
        kinds, none where none of them is known.
        """

    def compile_steps(self, contract: Contract, source: Contract, batch: Batch, now: datetime) -> StepPlan:
        """The steps of a contract over the columns of `source` and the batch's links. Reads links alone. Raises GateError."""

    def materialise(self, request: CandidateRequest) -> Materialised:
        """Write the good rows as the candidate, and keep failing rows beside it. With `on_row_failure: reject` the candidate may
        still hold failing rows: it is never published then.

        Raises:
            InputUnreadable: a file or table is not what it should be.
            EngineFailure: anything else.
        """

    def rows_digest(self, candidate: Candidate) -> str:
        """A digest of the candidate's rows, whatever their order and files; it costs a scan of all columns."""


class Engine(Protocol):
    """Where sessions come from. `identity` names engine and version, as verdicts are bound to it."""

    @property
    def identity(self) -> str:
        """Name and version, such as `duckdb 2.0.1`."""

    def locate(self, name: str) -> str | None:
        """The folder of the table that the engine's catalog has, or would make, under a name; none where it has no catalog, and
        names are folders below the lake's root. Reads no table.

        Raises:
            GateError: the catalog has no such database, or no Delta table under that name but something else.
        """

    def open(self, scratch: Path, table_place: Callable[[str, Path | None], str]) -> AbstractContextManager[Any]:
        """A session that spills below `scratch`."""

