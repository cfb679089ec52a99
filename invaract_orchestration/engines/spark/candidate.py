"""Writing the candidate: once, with the form of every value looked at on the way, then measured from its own files.

Clean batches take one job over the source. What is seen while writing is counted in that job; only when a record is in doubt,
or rows have to be set aside, is the source read again, numbered: then failing rows are kept with their original text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from invaract_orchestration.candidate.candidate import Candidate, Materialised, Tally
from invaract_orchestration.candidate.files import remove
from invaract_orchestration.candidate.step_plan import StepPlan
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.checks.proven import tallies_without_scan
from invaract_orchestration.checks.row_rules import MALFORMED, RowCheck, row_checks
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.failing import Failing, FailingWriter
from invaract_orchestration.engines.spark.files import candidate_frame, spelled_columns, write_candidate
from invaract_orchestration.engines.spark.readings import rows_of
from invaract_orchestration.engines.spark.row_conditions import null_condition, row_condition
from invaract_orchestration.engines.spark.rows import BLANK, DOUBT, HEADER, RECORD, Rows, column_types, only
from invaract_orchestration.engines.spark.session import PrivateSession, observed, translated
from invaract_orchestration.engines.spark.stepped import SteppedWriter
from invaract_orchestration.errors import EngineFailure

_SEEN = {
    "lines": "count(*)", "headers": f"count_if(k = '{HEADER}')", "blanks": f"count_if(k = '{BLANK}')",
    "doubts": f"count_if(k = '{DOUBT}')",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes one batch's candidate through one session. `frame` is the native frame of a table, query or caller."""

    session: PrivateSession
    request: CandidateRequest
    scratch: Path
    """Where failing rows stand until they are in the quarantine, or nowhere; it ends with the session."""
    frame: Any = None

    def materialise(self) -> Materialised:
        """See `EngineSession.materialise`."""
        contract, batch = self.request.contract, self.request.batch
        frame = self.frame
        if self.request.plan is not None:
            return self._stepped(self.request.plan)
        if contract.is_stepped:
            raise EngineFailure("the contract has steps, and no plan of them was made")
        if frame is not None and batch.table is None and contract.schema_policy.type_changes == "accept":
            frame = hold_frame(self.session, contract, frame, self.scratch)
        rows = rows_of(self.session, contract, batch, frame)
        checks = row_checks(contract)
        candidate = self._write_whole(rows)
        if candidate is None:
            return self._split(rows, checks)
        tallies = self._tally(candidate, rows, checks)
        failed = [c for c in checks if c.severity == "error" and tallies[c.check].failed]
        if not failed:
            return Materialised(candidate=candidate, read=candidate.rows, tallies=tallies, failing=None, set_aside=0)
        if contract.quality.on_row_failure == "quarantine":
            return self._split(rows, checks, candidate)
        failing = self._failing(rows, checks, candidate)
        return Materialised(candidate=candidate, read=candidate.rows, tallies=tallies, failing=failing.kept, set_aside=0)

    def _stepped(self, plan: StepPlan) -> Materialised:
        """The candidate of a contract with steps."""
        rows = rows_of(self.session, plan.source, self.request.batch, self.frame)
        return SteppedWriter(
            session=self.session, request=self.request, plan=plan, rows=rows, scratch=self.scratch
        ).materialise()  # fmt: skip

    # -- writing

    def _write_whole(self, rows: Rows) -> Candidate | None:
        """The candidate of every row, or none when a line or a value was in doubt, or it is not known that none was."""
        if rows.quick is None:
            return None
        source = rows.quick()
        if not rows.is_text and not rows.rights:
            return write_candidate(self._chosen(source, rows), self.request)
        right = q.all_of(column for _, _, column in rows.rights)
        is_wrong = f"count_if(k = '{RECORD}' AND NOT ({right}))"
        watched, seen = self.session.observe(source, _SEEN | {"wrong": is_wrong})
        good = self._chosen(watched.where(f"k = '{RECORD}' AND {right}"), rows)
        with self.session.own_plans():
            candidate = write_candidate(good, self.request)
        counts = observed(seen, (*_SEEN, "wrong"))
        if counts is not None and counts["headers"] == rows.headers and not counts["doubts"] and not counts["wrong"]:
            read = counts["lines"] - counts["headers"] - counts["blanks"]
            if read == candidate.rows:
                return candidate
        remove(f.path for f in candidate.files)
        return None

    def _chosen(self, frame: Any, rows: Rows) -> Any:
        spelled = self.request.spelled
        return frame.selectExpr(
            *(f"{rows.values[f.name]} AS {q.name(spelled.get(f.name, f.name))}" for f in self.request.contract.fields)
        )

    def _split(self, rows: Rows, checks: tuple[RowCheck, ...], whole: Candidate | None = None) -> Materialised:
        """Keep the failing rows aside and write the good ones as the candidate."""
        failing = self._failing(rows, checks, whole)
        if whole is not None and not rows.is_text:
            candidate = self._write_from(whole, checks)
        else:
            good = q.all_of([rows.guard(), *(c for _, c in self._conditions(rows, checks, only_errors=True))])
            with self.session.own_plans():
                candidate = write_candidate(self._chosen(only(rows.numbered(), good), rows), self.request)
        if whole is not None:
            remove(f.path for f in whole.files)
        read = candidate.rows + failing.kept.rows
        counted = self._tally(candidate, rows, checks)
        tallies = {check: _with_failing(check, tally, failing, read) for check, tally in counted.items()}
        for check in (MALFORMED, *(c for c, _ in rows.structure)):
            tallies[check] = Tally(rows=read, failed=failing.broken.get(check, 0), evidence="scan")
        return Materialised(
            candidate=candidate, read=read, tallies=tallies, failing=failing.kept, set_aside=failing.kept.rows
        )

    def _write_from(self, whole: Candidate, checks: tuple[RowCheck, ...]) -> Candidate:
        """The good rows of a candidate whose source cannot be read twice with the same answer."""
        known = spelled_columns(self.request.spelled, self.request.contract.fields)
        types = column_types(self.request.contract)
        good = q.all_of(
            row_condition(c, lambda n: known.get(n.lower()), types, self.request.now)
            for c in checks
            if c.severity == "error" and c.kind != "type"
        )
        return write_candidate(candidate_frame(self.session.spark, whole).where(good), self.request)

    # -- measuring

    def _tally(self, candidate: Candidate, rows: Rows, checks: tuple[RowCheck, ...]) -> dict[str, Tally]:
        """Statistics where they prove a check, one scan of the candidate's files for all the others."""
        structure = (*(c for c, _ in rows.structure), *((MALFORMED,) if rows.is_text else ()))
        written = {check for check, _, _ in rows.rights}
        tallies, asked = tallies_without_scan(candidate, checks, structure=structure, written=written)
        tallies |= self._scan(candidate, asked)
        return {c.check: tallies.pop(c.check) for c in checks} | tallies

    def _scan(self, candidate: Candidate, asked: list[RowCheck]) -> dict[str, Tally]:
        if not asked:
            return {}
        known, types = spelled_columns(candidate.spelled, self.request.contract.fields), column_types(self.request.contract)

        def columns(name: str) -> str | None:
            return known.get(name.lower())

        counters = ["count(*)"]
        for check in asked:
            counters.append(f"count_if(NOT ({row_condition(check, columns, types, self.request.now)}))")
            counters.append(f"count_if({null_condition(check, columns) or 'false'})")
        with translated("checking the candidate's rows"):
            (found,) = candidate_frame(self.session.spark, candidate).selectExpr(
                *(f"{c} AS n{i}" for i, c in enumerate(counters))
            ).collect()
        total, counts = found[0], found[1:]
        if total != candidate.rows:
            raise EngineFailure("the candidate's files hold another number of rows than was written")
        return {
            c.check: Tally(
                rows=total, failed=counts[2 * i], evidence="scan",
                nulls=counts[2 * i + 1] if null_condition(c, columns) else None,
            )
            for i, c in enumerate(asked)
        }  # fmt: skip

    def _conditions(
        self, rows: Rows, checks: Iterable[RowCheck], *, only_errors: bool = False
    ) -> list[tuple[RowCheck, str]]:  # fmt: skip
        known = {name.lower(): column for name, column in rows.values.items()}
        types = column_types(self.request.contract)
        return [
            (c, row_condition(c, lambda n: known.get(n.lower()), types, self.request.now))
            for c in checks
            if c.kind != "type" and (c.severity == "error" or not only_errors)
        ]

    def _failing(self, rows: Rows, checks: tuple[RowCheck, ...], whole: Candidate | None) -> Failing:
        writer = FailingWriter(
            session=self.session, request=self.request, rows=rows, conditions=self._conditions(rows, checks),
            scratch=self.scratch,
        )  # fmt: skip
        if whole is not None and not rows.is_text and not self.request.batch.files:
            return writer.from_candidate(whole)
        return writer.from_source()


def hold_frame(session: PrivateSession, contract: Contract, frame: Any, scratch: Path) -> Any:
    """Keep the rows of a frame or query beside the candidate: values are judged one by one, which may take a second reading."""
    folder = str(scratch / "frame")
    chosen = [q.name(n) for n in frame.columns if contract.field(n) is not None]
    with translated("reading the source"):
        frame.selectExpr(*chosen).write.mode("error").parquet(folder)
        return session.spark.read.parquet(q.path(folder))


def _with_failing(check: str, tally: Tally, failing: Failing, read: int) -> Tally:
    """The tally of the good rows, with what the failing ones add to it."""
    return replace(
        tally, rows=read - failing.malformed, failed=tally.failed + failing.broken.get(check, 0),
        undecided=failing.undecided.get(check, 0),
        nulls=None if tally.nulls is None else tally.nulls + failing.nulls.get(check, 0),
        evidence="scan" if failing.broken.get(check) else tally.evidence,
    )  # fmt: skip


def rows_digest(session: PrivateSession, candidate: Candidate) -> str:
    """See `EngineSession.rows_digest`: sums and exclusive-ors of the rows' hashes do not depend on their order."""
    columns = ", ".join(f"to_json(struct({q.name(n)}))" if "map<" in str(t) else q.name(n) for n, t in candidate.columns)
    sums = "CAST(sum(CAST(h AS DECIMAL(38,0))) AS STRING)", "bit_xor(h)", "bit_xor(xxhash64(h, 1L))"
    with translated("taking the digest of the candidate's rows"):
        rows = candidate_frame(session.spark, candidate).selectExpr(f"xxhash64({columns}) AS h")
        (found,) = rows.selectExpr("count(*) AS n", *(f"{s} AS s{i}" for i, s in enumerate(sums))).collect()
    names = [f"{n} {t}" for n, t in candidate.columns]
    return "rows:" + hashlib.sha256(repr((names, list(found))).encode()).hexdigest()
