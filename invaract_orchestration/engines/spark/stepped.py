"""Writing the candidate of a contract with steps: the records, the checks before and after, and what fails on the way.

Each phase is one query over the phase before, kept in the session's scratch folder, so that nothing is computed twice with
another answer. What failed is known by the hidden number of its record, and kept with the original text.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from invaract_orchestration.candidate.candidate import Candidate, FailingRows, Materialised, Stages, StepCount, Tally
from invaract_orchestration.candidate.step_input import ROW
from invaract_orchestration.candidate.step_plan import ARRIVED, GOOD, Chain, StepPlan
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.checks.phase_counts import LISTS, Asking, PhaseCounts, failing_checks, step_counts, stepped_tallies
from invaract_orchestration.checks.phased import phased_checks
from invaract_orchestration.checks.row_rules import RowCheck
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.failing import FailingWriter, list_of
from invaract_orchestration.engines.spark.files import write_candidate
from invaract_orchestration.engines.spark.folders import path_of
from invaract_orchestration.engines.spark.row_conditions import null_condition, row_condition
from invaract_orchestration.engines.spark.rows import WITH_NULLS, Rows, as_payload
from invaract_orchestration.engines.spark.session import PrivateSession, translated
from invaract_orchestration.engines.spark.steps import SparkViews, define_again

_STAGED = "invaract_staged"
_ASKING = Asking(name=q.name, row_condition=row_condition, null_condition=null_condition)
_KEPT = pa.schema(
    [
        ("source_file", pa.string()), ("record_number", pa.int64()), ("phase", pa.string()),
        ("rule_ids", pa.list_(pa.string())), ("payload", pa.string()),
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedWriter:
    """Runs the steps of one batch."""

    session: PrivateSession
    request: CandidateRequest
    plan: StepPlan
    rows: Rows
    scratch: Path

    def materialise(self) -> Materialised:
        """The candidate, with everything counted on the way."""
        early, late = phased_checks(self.request.contract, self.plan)
        views = SparkViews(spark=self.session.spark, now=self.request.now)
        self._hold_records()
        unreadable = self._number(f"SELECT count(*) FROM {_STAGED} WHERE size(broken) > 0")
        read = self._number(f"SELECT count(*) FROM {_STAGED}")
        define_again(views, self.plan, self.plan.pre)
        counts = step_counts(self.plan.pre, self._rows_of)
        self._check(self.plan.pre, early)
        self._go_on(early)
        define_again(views, self.plan, self.plan.post)
        counts += step_counts(self.plan.post, self._rows_of)
        self._check(self.plan.post, late)
        candidate = self._write(late)
        stages = self._stages(unreadable, counts, early, late)
        failing = self._keep(early, late)
        return Materialised(
            candidate=candidate, read=read, tallies=self._tallies(early, late, read), failing=failing,
            set_aside=failing.rows if failing else 0, stages=stages,
        )  # fmt: skip

    # -- the phases

    def _hold(self, frame: Any, view: str) -> None:
        """Keep a frame's rows in the scratch folder, and call them by a name."""
        folder = str(self.scratch / f"{view}-{uuid.uuid4().hex}")
        frame.write.mode("error").parquet(folder)
        self.session.spark.read.schema(frame.schema).parquet(q.path(folder)).createOrReplaceTempView(view)

    def _hold_records(self) -> None:
        writer = FailingWriter(
            session=self.session, request=self.request, rows=self.rows, conditions=[], scratch=self.scratch
        )
        broken = list_of([(check, when) for check, when, _ in writer.form_lists()])
        chosen = ["f", "n", "p", f"{broken} AS broken", *self.rows.values.values()]
        with translated("reading the source"):
            self._hold(self.rows.numbered().selectExpr(*chosen, f"monotonically_increasing_id() AS {ROW}"), _STAGED)
        columns = ", ".join(f"{value} AS {q.name(name)}" for name, value in self.rows.values.items())
        self._view(ARRIVED, f"SELECT {columns}, {ROW} FROM {_STAGED} WHERE size(broken) = 0")

    def _view(self, name: str, sql: str) -> None:
        self.session.spark.sql(sql).createOrReplaceTempView(name)

    def _check(self, chain: Chain, checks: Sequence[RowCheck]) -> None:
        """Hold a phase's rows with what each of them broke."""
        asked = _ASKING.lists(self.request.contract, chain, checks, self.request.now)
        lists = [f"{list_of(entries)} AS {name}" for name, entries in zip(LISTS, asked, strict=True)]
        with translated(f"running the steps of phase {chain.phase}"):
            frame = self.session.spark.table(chain.view)
            columns = [q.name(n) for n in frame.columns]
            self._hold(frame.selectExpr(*columns, *lists), f"invaract_checked_{chain.phase}")

    def _go_on(self, early: Sequence[RowCheck]) -> None:
        columns = ", ".join([*(q.name(n) for n in self.plan.pre.columns), *([ROW] if self.plan.pre.has_row else [])])
        fails = self._fails(self.plan.pre, early)
        self._view(GOOD, f"SELECT {columns} FROM invaract_checked_pre WHERE NOT ({fails})")

    def _write(self, late: Sequence[RowCheck]) -> Candidate:
        spelled = self.request.spelled
        chosen = ", ".join(
            f"{q.name(f.name)} AS {q.name(spelled.get(f.name, f.name))}" for f in self.request.contract.fields
        )
        good = f"SELECT {chosen} FROM invaract_checked_post WHERE NOT ({self._fails(self.plan.post, late)})"
        return write_candidate(self.session.spark.sql(good), self.request)

    def _fails(self, chain: Chain, checks: Sequence[RowCheck]) -> str:
        """Whether a row broke a check that is an error."""
        errors = failing_checks(chain, checks)
        return f"arrays_overlap({LISTS[0]}, {q.texts(errors)})" if errors else "false"

    # -- the numbers

    def _number(self, sql: str) -> int:
        with translated("counting rows"):
            (row,) = self.session.spark.sql(sql).collect()
        return int(row[0])

    def _rows_of(self, relation: str) -> int:
        return self._number(f"SELECT count(*) FROM {q.name(relation)}")

    def _stages(
        self, unreadable: int, counts: tuple[StepCount, ...], early: Sequence[RowCheck], late: Sequence[RowCheck]
    ) -> Stages:
        def checked(chain: Chain, checks: Sequence[RowCheck]) -> tuple[int, int]:
            fails = self._fails(chain, checks)
            sql = f"SELECT count(*), count_if({fails}) FROM invaract_checked_{chain.phase}"
            with translated("counting rows"):
                (row,) = self.session.spark.sql(sql).collect()
            return int(row[0]), int(row[1])

        pre_out, pre_failing = checked(self.plan.pre, early)
        post_out, post_failing = checked(self.plan.post, late)
        return Stages(
            unreadable=unreadable, pre_in=self._number(f"SELECT count(*) FROM {ARRIVED}"), pre_out=pre_out,
            pre_failing=pre_failing, post_in=self._number(f"SELECT count(*) FROM {GOOD}"), post_out=post_out,
            post_failing=post_failing, steps=counts,
        )  # fmt: skip

    def _tallies(self, early: Sequence[RowCheck], late: Sequence[RowCheck], read: int) -> dict[str, Tally]:
        asked = tuple((c, own, self._counted(c)) for c, own in ((self.plan.pre, early), (self.plan.post, late)))
        structure = [check for check, _ in self.rows.structure]
        return stepped_tallies(self.request.contract, asked, self._listed("broken", _STAGED), structure, read)

    def _counted(self, chain: Chain) -> PhaseCounts:
        table = f"invaract_checked_{chain.phase}"
        broken, undecided, nulls = (self._listed(name, table) for name in LISTS)
        return PhaseCounts(rows=self._rows_of(table), broken=broken, undecided=undecided, nulls=nulls)

    def _listed(self, column: str, table: str) -> dict[str, int]:
        sql = f"SELECT c, count(*) FROM (SELECT explode({column}) AS c FROM {table}) GROUP BY c"
        with translated("counting rows"):
            return {row[0]: int(row[1]) for row in self.session.spark.sql(sql).collect()}

    # -- the failing rows

    def _keep(self, early: Sequence[RowCheck], late: Sequence[RowCheck]) -> FailingRows | None:
        parts = [f"SELECT f, n, 'pre' AS phase, broken AS rule_ids, p AS payload FROM {_STAGED} WHERE size(broken) > 0"]
        parts += [self._failing(self.plan.pre, early), self._failing(self.plan.post, late)]
        folder = self.scratch / uuid.uuid4().hex
        with translated("keeping the failing rows"):
            self.session.spark.sql(" UNION ALL ".join(parts)).write.mode("error").parquet(str(folder))
        try:
            return self._together(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _together(self, folder: Path) -> FailingRows | None:
        path = self.scratch / f"failing-{uuid.uuid4().hex}.parquet"
        rows = 0
        with pq.ParquetWriter(path, _KEPT) as writer:
            path.chmod(0o600)
            for part in sorted(p for p in folder.glob("*.parquet") if not p.name.startswith(".")):
                for batch in pq.ParquetFile(part).iter_batches():
                    rows += batch.num_rows
                    files = [self.rows.names.get(path_of(f), "") if f else "" for f in batch.column("f").to_pylist()]
                    columns = [
                        pa.array(files, pa.string()), batch.column("n").cast(pa.int64()), batch.column("phase"),
                        batch.column("rule_ids").cast(pa.list_(pa.string())), batch.column("payload"),
                    ]  # fmt: skip
                    writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=_KEPT))
        return FailingRows(location=str(path), rows=rows) if rows else None

    def _failing(self, chain: Chain, checks: Sequence[RowCheck]) -> str:
        """The rows of a phase that failed: the original record with the columns that steps have made by then."""
        made = [n for n in chain.columns if n.lower() not in self.plan.arrived]
        own = self._packed(chain, list(chain.columns))
        table = f"invaract_checked_{chain.phase}"
        fails = self._fails(chain, checks)
        if not chain.has_row:
            return f"SELECT '', CAST(NULL AS BIGINT), '{chain.phase}', {LISTS[0]}, {own} FROM {table} WHERE {fails}"
        merged = _merged("r.p", self._packed(chain, made)) if made else "r.p"
        return (
            f"SELECT coalesce(r.f, ''), r.n, '{chain.phase}', c.{LISTS[0]}, CASE WHEN r.p IS NULL THEN {own} ELSE {merged} END "
            f"FROM {table} c LEFT JOIN {_STAGED} r ON r.{ROW} = c.{ROW} WHERE {fails}"
        )

    def _packed(self, chain: Chain, names: list[str]) -> str:
        table = "c." if chain.has_row else ""  # beside the records, whose columns may have the same names
        parts = ", ".join(f"{q.text(n)}, {as_payload(table + q.name(n), chain.columns[n])}" for n in names)
        return f"to_json(named_struct({parts}), {WITH_NULLS})"


_END, _BEGINNING = r"\s*\}\s*\z", r"\A\s*\{\s*\z"


def _merged(record: str, made: str) -> str:
    """One JSON object of two."""
    head = f"regexp_replace({record}, {q.text(_END)}, '')"
    comma = f"CASE WHEN {head} RLIKE {q.text(_BEGINNING)} THEN '' ELSE ', ' END"
    return f"concat({head}, {comma}, substring({made}, 2))"
