"""A private lake for one case: its input, its target with the seed, and runs of the real gate on them."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from deltalake import DeltaTable, QueryBuilder, write_deltalake
from deltalake.schema import Field, Schema
from sqlglot import exp

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.contract.field_types import STRING
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.delta.quarantine import quarantined_rows
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.delta.types import delta_type
from invaract_orchestration.engines.duckdb.types import field_type
from invaract_orchestration.errors import ContractError
from invaract_orchestration.gate import Gate
from invaract_orchestration.settings import Settings
from invaract_orchestration.wiring import open_gate
from tests.cases.oracle import table_row
from tests.cases.python_job import JOB, built_frame, columns_of
from tests.cases.sketch import Case, NotUnderstood
from tests.cases.translate import Place, merge_keys, native_contract
from tests.spark.sessions import JARS, connect_url

Outcome = GateResult | ContractError


@dataclass(frozen=True)
class TargetFacts:
    """What a step says about the target before the first run."""

    not_null: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)
    generated: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()

    def merged(self, other: TargetFacts) -> TargetFacts:
        return TargetFacts(
            self.not_null + other.not_null, self.checks + other.checks, self.properties | other.properties,
            self.generated + other.generated, self.partition_by + other.partition_by,
        )  # fmt: skip


@dataclass(frozen=True)
class Snapshot:
    """A table as it is: everything that "unchanged" speaks of."""

    version: int | None = None
    schema: str = ""
    configuration: tuple[tuple[str, str | None], ...] = ()
    rows: tuple[dict[str, Any], ...] = ()


class Stage:
    """The sandbox of one case with one of its contracts."""

    def __init__(self, case: Case, contract: Path, root: Path, *, named_batches: bool, engine: str = "duckdb") -> None:
        self.case, self.root, self.sketch, self.engine = case, root, contract, engine
        self.lake, self.audit = root / "lake", root / "audit.db"
        self.named_batches = named_batches
        self.said: list[str] = []
        self.frame: Any = None
        """What a job in Python built."""
        root.mkdir(parents=True)
        if (case.folder / "input").is_dir():
            shutil.copytree(case.folder / "input", root / "input")
        (root / "contract.yaml").write_text(self._native(), encoding="utf-8")

    def _native(self) -> str:
        query = self.case.file("candidate.sql") or self.case.file("transform.sql")
        columns = self._tables_and_columns() if self.case.file("setup.sql") and query else ()
        if self.case.file(JOB):
            self.frame = built_frame(self.case, self.engine, self.root)
            columns = columns_of(self.frame)
        suffix = self.case.inputs[0].name.partition(".")[2] if self.case.inputs else "csv"
        place = Place(
            location=f"input/{{batch}}.{suffix}" if self.named_batches else "input",
            target="./lake/demo/target" if self.engine == "spark-connect" else "demo.target",  # a name is one of its catalog there
            sql=query.read_text(encoding="utf-8").strip().rstrip(";") if query else None,
            columns=columns,
        )  # fmt: skip
        return merge_keys(native_contract(self.sketch.read_text(encoding="utf-8"), place))

    def _tables_and_columns(self) -> tuple[tuple[str, str], ...]:
        """Make the tables of setup.sql in the lake; names and types of what the transformation gives of them."""
        setup, transform = self.case.folder / "setup.sql", self.case.folder / "transform.sql"
        with duckdb.connect() as connection:
            for statement in sqlglot.parse(setup.read_text(encoding="utf-8"), read="spark"):
                if isinstance(statement, exp.Create) and statement.expression is not None:
                    name = statement.this.name
                    connection.execute(f'CREATE TABLE "{name}" AS {statement.expression.sql(dialect="duckdb")}')
                    write_deltalake(str(self.lake / name), connection.table(name).to_arrow_table())
            query = sqlglot.transpile(transform.read_text(encoding="utf-8"), read="spark", write="duckdb")[0]
            relation = connection.sql(query)
            types = [str(field_type(t)) for t in relation.types]
            names = list(relation.columns)
        return tuple((n, "bigint" if t == "hugeint" else t) for n, t in zip(names, types, strict=True))

    @property
    def settings(self) -> Settings:
        remote = connect_url() if self.engine == "spark-connect" else None
        return Settings(
            lake_root=self.lake, audit_url=f"sqlite:///{self.audit}", engine=self.engine.partition("-")[0],
            spark_master="local[2]", spark_jars=JARS, spark_remote=remote,
        )  # fmt: skip

    @property
    def target(self) -> str:
        return str(self.lake / "demo" / "target")

    def contract(self) -> Contract:
        return load_contract(self.root / "contract.yaml")

    # -- the target

    def seed(self, facts: TargetFacts) -> None:
        """The table with the rows of target_seed.csv; columns the contract does not know are texts."""
        seed = self.case.file("target_seed.csv")
        if seed is None:
            if facts != TargetFacts():
                raise NotUnderstood("the target has facts but no seed")
            return
        contract = self.contract()
        names, *cells = list(csv.reader(io.StringIO(seed.read_text(encoding="utf-8"))))
        types = {n: next((f.type for f in contract.fields if f.name.lower() == n.lower()), STRING) for n in names}
        fields = [
            Field(n, delta_type(types[n]), nullable=n not in facts.not_null, metadata=_metadata(n, facts)) for n in names
        ]
        partitions = facts.partition_by or (contract.publish.partition_by if contract.publish else ())
        table = DeltaTable.create(
            self.target, Schema(fields), partition_by=list(partitions) or None, configuration=facts.properties or None,
            raise_if_key_not_exists=False,
        )  # fmt: skip
        rows = [table_row(dict(zip(names, row, strict=True)), types) for row in cells]
        schema = pa.schema(table.schema().to_arrow())
        write_deltalake(table, pa.Table.from_pylist(rows, schema=schema), mode="append")
        for number, check in enumerate(facts.checks):
            DeltaTable(self.target).alter.add_constraint({f"own_{number}": check})

    def snapshot(self) -> Snapshot:
        table = open_table(self.target)
        if table is None:
            return Snapshot()
        rows = pa.table(QueryBuilder().register("t", table).execute("SELECT * FROM t")).to_pylist()
        return Snapshot(
            version=table.version(), schema=json.dumps(json.loads(table.schema().to_json()), sort_keys=True),
            configuration=tuple(sorted(table.metadata().configuration.items())),
            rows=tuple(sorted(rows, key=repr)),
        )  # fmt: skip

    def quarantined(self) -> list[dict[str, Any]]:
        return list(quarantined_rows(f"{self.target}__quarantine").to_pylist())

    # -- runs

    @contextmanager
    def gate(self, change: Callable[[Gate], Gate] = lambda gate: gate) -> Any:
        with open_gate(self.settings, tell=self.said.append) as gate:
            yield change(gate)

    def run(
        self, *, submission_id: str | None = None, batch: str | None = None, frame: Any = None,
        change: Callable[[Gate], Gate] = lambda gate: gate,
    ) -> Outcome:  # fmt: skip
        try:
            contract = self.contract()
        except ContractError as error:
            return error
        with self.gate(change) as gate:
            result: GateResult = gate.run(contract, **self.call(submission_id, batch, frame))
        return result

    def call(self, submission_id: str | None, batch: str | None, frame: Any = None) -> dict[str, Any]:
        call: dict[str, Any] = {"submission_id": submission_id}
        if submission_id is None and (frame is not None or (self.case.file("candidate.sql") or self.case.file("transform.sql"))):
            call["submission_id"] = "batch-1"
        if frame is not None:
            call["frame"] = frame
        elif self.named_batches:
            call["parameters"] = {"batch": batch or self.case.inputs[0].name.partition(".")[0]}
        return call


def _metadata(name: str, facts: TargetFacts) -> dict[str, Any] | None:
    return {"delta.generationExpression": "'x'"} if name in facts.generated else None


