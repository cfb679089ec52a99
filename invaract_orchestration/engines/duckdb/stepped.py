"""Writing the candidate of a contract with steps: the records, the checks before and after, and what fails on the way.

Each phase is one query over the phase before. What failed is known by the hidden number of its record, and kept with the
original text.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from invaract_orchestration.candidate.candidate import Candidate, FailingRows, Materialised, Stages, StepCount, Tally
from invaract_orchestration.candidate.step_input import ROW
from invaract_orchestration.candidate.step_plan import ARRIVED, GOOD, Chain, StepPlan
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.checks.phase_counts import LISTS, Asking, PhaseCounts, failing_checks, step_counts, stepped_tallies
from invaract_orchestration.checks.phased import phased_checks
from invaract_orchestration.checks.row_rules import MALFORMED, RowCheck
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.failing import STAGED, FailingWriter, list_of
from invaract_orchestration.engines.duckdb.row_conditions import null_condition, row_condition
from invaract_orchestration.engines.duckdb.rows import Rows, as_payload
from invaract_orchestration.engines.duckdb.session import translated
from invaract_orchestration.engines.duckdb.steps import forget

_ASKING = Asking(name=q.name, row_condition=row_condition, null_condition=null_condition)


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedWriter:
    """Runs the steps of one batch. `write` writes a query's rows as the candidate."""

    connection: duckdb.DuckDBPyConnection
    request: CandidateRequest
    plan: StepPlan
    rows: Rows
    scratch: Path
    write: Callable[[str], Candidate]

    def materialise(self) -> Materialised:
        """The candidate, with everything counted on the way."""
        early, late = phased_checks(self.request.contract, self.plan)
        self._hold_records()
        unreadable = self._number(f"SELECT count(*) FROM {STAGED} WHERE len(broken) > 0")
        read = self._number(f"SELECT count(*) FROM {STAGED}")
        counts = step_counts(self.plan.pre, self._rows_of)
        self._check(self.plan.pre, early, "invaract_checked_pre")
        self._go_on(early)
        counts += step_counts(self.plan.post, self._rows_of)
        self._check(self.plan.post, late, "invaract_checked_post")
        candidate = self._write(late)
        stages = self._stages(unreadable, counts, early, late)
        failing = self._keep(early, late)
        return Materialised(
            candidate=candidate, read=read, tallies=self._tallies(early, late, read), failing=failing,
            set_aside=failing.rows if failing else 0, stages=stages,
        )  # fmt: skip

    # -- the phases

    def _hold_records(self) -> None:
        writer = FailingWriter(
            connection=self.connection, request=self.request, rows=self.rows, conditions=[], scratch=self.scratch
        )
        writer.stage()
        columns = ", ".join(f"{value} AS {q.name(name)}" for name, value in self.rows.values.items())
        forget(self.connection, ARRIVED)
        self.connection.execute(
            f"CREATE TEMP VIEW {ARRIVED} AS SELECT {columns}, rowid AS {ROW} FROM {STAGED} WHERE len(broken) = 0"
        )

    def _check(self, chain: Chain, checks: Sequence[RowCheck], table: str) -> None:
        """Hold a phase's rows with what each of them broke."""
        asked = _ASKING.lists(self.request.contract, chain, checks, self.request.now)
        lists = ", ".join(f"{list_of(entries)} AS {name}" for name, entries in zip(LISTS, asked, strict=True))
        forget(self.connection, table)
        with translated(f"running the steps of phase {chain.phase}"):
            self.connection.execute(f"CREATE TEMP TABLE {table} AS SELECT *, {lists} FROM {chain.view}")

    def _go_on(self, early: Sequence[RowCheck]) -> None:
        columns = ", ".join([*(q.name(n) for n in self.plan.pre.columns), *([ROW] if self.plan.pre.has_row else [])])
        forget(self.connection, GOOD)
        fails = self._fails(self.plan.pre, early)
        self.connection.execute(
            f"CREATE TEMP VIEW {GOOD} AS SELECT {columns} FROM invaract_checked_pre WHERE NOT ({fails})"
        )

    def _write(self, late: Sequence[RowCheck]) -> Candidate:
        spelled = self.request.spelled
        chosen = ", ".join(
            f"{q.name(f.name)} AS {q.name(spelled.get(f.name, f.name))}" for f in self.request.contract.fields
        )
        return self.write(f"SELECT {chosen} FROM invaract_checked_post WHERE NOT ({self._fails(self.plan.post, late)})")

    def _fails(self, chain: Chain, checks: Sequence[RowCheck]) -> str:
        """Whether a row broke a check that is an error."""
        errors = failing_checks(chain, checks)
        return f"list_has_any({LISTS[0]}, {q.texts(errors)}::VARCHAR[])" if errors else "false"

    # -- the numbers

    def _number(self, sql: str) -> int:
        with translated("counting rows"):
            (row,) = self.connection.execute(sql).fetchall()
        return int(row[0])

    def _rows_of(self, relation: str) -> int:
        return self._number(f"SELECT count(*) FROM {q.name(relation)}")

    def _stages(
        self, unreadable: int, counts: tuple[StepCount, ...], early: Sequence[RowCheck], late: Sequence[RowCheck]
    ) -> Stages:
        def checked(chain: Chain, checks: Sequence[RowCheck]) -> tuple[int, int]:
            table = f"invaract_checked_{chain.phase}"
            fails = self._fails(chain, checks)
            return self._number(f"SELECT count(*) FROM {table}"), self._number(f"SELECT count(*) FROM {table} WHERE {fails}")

        pre_out, pre_failing = checked(self.plan.pre, early)
        post_out, post_failing = checked(self.plan.post, late)
        return Stages(
            unreadable=unreadable, pre_in=self._number(f"SELECT count(*) FROM {ARRIVED}"), pre_out=pre_out,
            pre_failing=pre_failing, post_in=self._number(f"SELECT count(*) FROM {GOOD}"), post_out=post_out,
            post_failing=post_failing, steps=counts,
        )  # fmt: skip

    def _tallies(self, early: Sequence[RowCheck], late: Sequence[RowCheck], read: int) -> dict[str, Tally]:
        asked = tuple((c, own, self._counted(c)) for c, own in ((self.plan.pre, early), (self.plan.post, late)))
        structure = [*((MALFORMED,) if self.rows.is_text else ()), *(check for check, _ in self.rows.structure)]
        return stepped_tallies(self.request.contract, asked, self._listed("broken", STAGED), structure, read)

    def _counted(self, chain: Chain) -> PhaseCounts:
        table = f"invaract_checked_{chain.phase}"
        broken, undecided, nulls = (self._listed(name, table) for name in LISTS)
        return PhaseCounts(rows=self._rows_of(table), broken=broken, undecided=undecided, nulls=nulls)

    def _listed(self, column: str, table: str) -> dict[str, int]:
        sql = f"SELECT c, count(*) FROM (SELECT unnest({column}) AS c FROM {table}) GROUP BY c"
        return dict(self.connection.execute(sql).fetchall())

    # -- the failing rows

    def _keep(self, early: Sequence[RowCheck], late: Sequence[RowCheck]) -> FailingRows | None:
        path = self.scratch / f"failing-{uuid.uuid4().hex}.parquet"
        names = {str(b.file.path): b.file.name for b in self.request.batch.files}
        self.connection.execute("CREATE OR REPLACE TEMP TABLE invaract_names (n_file VARCHAR, name VARCHAR)")
        self.connection.executemany("INSERT INTO invaract_names VALUES (?, ?)", [*names.items(), ("", "")])
        original = "CAST(p AS VARCHAR) AS payload"
        parts = [f"SELECT f, n, 'pre' AS phase, broken AS rule_ids, {original} FROM {STAGED} WHERE len(broken) > 0"]
        parts += [self._failing(self.plan.pre, early), self._failing(self.plan.post, late)]
        every = " UNION ALL ".join(parts)
        with translated("keeping the failing rows"):
            (written,) = self.connection.execute(
                f"COPY (SELECT coalesce(name, '') AS source_file, CAST(n AS BIGINT) AS record_number, phase, rule_ids, payload "
                f"FROM ({every}) LEFT JOIN invaract_names ON f = n_file ORDER BY 1, 2) TO {q.text(str(path))} (FORMAT parquet)"
            ).fetchall()
        path.chmod(0o600)
        rows = int(written[0])
        return FailingRows(location=str(path), rows=rows) if rows else None

    def _failing(self, chain: Chain, checks: Sequence[RowCheck]) -> str:
        """The rows of a phase that failed: the original record with the columns that steps have made by then."""
        made = [n for n in chain.columns if n.lower() not in self.plan.arrived]
        own = self._packed(chain, list(chain.columns))
        table = f"invaract_checked_{chain.phase}"
        fails = self._fails(chain, checks)
        if not chain.has_row:
            return f"SELECT '' AS f, NULL AS n, '{chain.phase}', {LISTS[0]}, {own} FROM {table} WHERE {fails}"
        merged = f"{self._merged('CAST(r.p AS VARCHAR)', self._packed(chain, made))}" if made else "CAST(r.p AS VARCHAR)"
        return (
            f"SELECT coalesce(r.f, ''), r.n, '{chain.phase}', c.{LISTS[0]}, CASE WHEN r.p IS NULL THEN {own} ELSE {merged} END "
            f"FROM {table} c LEFT JOIN {STAGED} r ON r.rowid = c.{ROW} WHERE {fails}"
        )

    def _packed(self, chain: Chain, names: list[str]) -> str:
        table = "c." if chain.has_row else ""  # beside the records, whose columns may have the same names
        parts = ", ".join(f"{q.text(n)}, {as_payload(table + q.name(n), chain.columns[n])}" for n in names)
        return f"CAST(json_object({parts}) AS VARCHAR)"

    def _merged(self, record: str, made: str) -> str:
        """One JSON object of two."""
        head = f"regexp_replace({record}, '\\s*\\}}\\s*$', '')"
        comma = f"CASE WHEN regexp_full_match({head}, '\\s*\\{{\\s*') THEN '' ELSE ', ' END"
        return f"({head} || {comma} || substr({made}, 2))"

