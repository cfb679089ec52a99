"""Writing the candidate: once, with the form of every value checked on the way, then measured from its own files.

Clean batches take one pass over the source. Only when a record is not in its declared form, or rows have to be set aside, is
the source read again: then the failing rows are kept with their original text, and the good ones are written.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from invaract_orchestration.candidate.candidate import (
    Candidate,
    CandidateFile,
    Materialised,
    Tally,
    candidate_digest,
)  # fmt: skip
from invaract_orchestration.candidate.files import file_digests, remove
from invaract_orchestration.candidate.step_plan import StepPlan
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.checks.proven import tallies_without_scan
from invaract_orchestration.checks.row_rules import MALFORMED, RowCheck, row_checks
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.failing import FailingWriter
from invaract_orchestration.engines.duckdb.raw_records import is_doubtful, rewritten
from invaract_orchestration.engines.duckdb.row_conditions import null_condition, row_condition
from invaract_orchestration.engines.duckdb.rows import FRAME, Rows, column_types, register_folders, rows_of
from invaract_orchestration.engines.duckdb.session import BREACH, DeclaredFormBreach, UnevenLineEnds, translated
from invaract_orchestration.engines.duckdb.statistics import column_statistics
from invaract_orchestration.engines.duckdb.stepped import SteppedWriter
from invaract_orchestration.errors import EngineFailure, InputUnreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes one batch's candidate through one connection."""

    connection: duckdb.DuckDBPyConnection
    request: CandidateRequest
    scratch: Path
    """Where failing rows stand until they are in the quarantine, or nowhere; it ends with the session."""

    def materialise(self) -> Materialised:
        """See `EngineSession.materialise`."""
        try:
            done = self._materialised()
        except UnevenLineEnds:
            return self._from_records()
        batch = self.request.batch
        read = done.read if done.failing is None else None
        malformed = done.tallies[MALFORMED].failed if MALFORMED in done.tallies else 0
        if batch.source.format != "csv" or not is_doubtful(self.connection, batch, read, malformed):
            return done
        remove(f.path for f in done.candidate.files)
        return self._from_records()

    def _from_records(self) -> Materialised:
        """The same from copies of the files, made record by record, in which nothing is left to the reader's leniency."""
        try:
            batch = rewritten(self.request.batch, self.scratch)
        except (UnicodeError, OSError, EOFError) as error:
            raise InputUnreadable(
                f"a file cannot be read as {self.request.batch.source.options.encoding} text ({type(error).__name__})",
                hint="check source.options.encoding, and that the file is whole",
            ) from None
        try:
            return replace(self, request=replace(self.request, batch=batch))._materialised()
        except UnevenLineEnds:
            raise InputUnreadable(
                "a file's lines cannot be told apart", hint="let every line end in the same way, and close every quote"
            ) from None

    def _materialised(self) -> Materialised:
        if self.request.plan is not None:
            return self._stepped(self.request.plan)
        if self.request.contract.is_stepped:
            raise EngineFailure("the contract has steps, and no plan of them was made")
        register_folders(self.connection, self.request.contract, self.request.batch)
        rows = rows_of(self.connection, self.request.contract, self.request.batch)
        if rows.rights and not rows.is_text and not self.request.batch.files:
            hold_frame(self.connection)
        checks = row_checks(self.request.contract)
        try:
            candidate = self._write(rows, f"CASE WHEN {rows.guard()} THEN true ELSE error({q.text(BREACH)}) END")
        except DeclaredFormBreach:
            return self._split(rows, checks)
        tallies = self._tally(candidate, rows, checks)
        failed = [c for c in checks if c.severity == "error" and tallies[c.check].failed]
        if not failed:
            return Materialised(candidate=candidate, read=candidate.rows, tallies=tallies, failing=None, set_aside=0)
        if self.request.contract.quality.on_row_failure == "quarantine":
            return self._split(rows, checks, candidate)
        failing = self._failing(rows, checks, candidate)
        return Materialised(
            candidate=candidate, read=candidate.rows, tallies=tallies, failing=failing.kept, set_aside=0
        )

    def _stepped(self, plan: StepPlan) -> Materialised:
        """The candidate of a contract with steps."""
        register_folders(self.connection, plan.source, self.request.batch)
        writer = SteppedWriter(
            connection=self.connection, request=self.request, plan=plan,
            rows=rows_of(self.connection, plan.source, self.request.batch), scratch=self.scratch, write=self._copy,
        )  # fmt: skip
        return writer.materialise()

    def _split(self, rows: Rows, checks: tuple[RowCheck, ...], whole: Candidate | None = None) -> Materialised:
        """Keep the failing rows aside and write the good ones as the candidate."""
        failing = self._failing(rows, checks, whole)
        if whole is not None and not rows.is_text:
            candidate = self._write_from(whole, checks)
        else:
            good = q.all_of([rows.guard(), *(c for _, c in self._conditions(rows, checks, only_errors=True))])
            candidate = self._write(rows, good, skips_malformed=True)
        if whole is not None:
            remove(f.path for f in whole.files)
        read = candidate.rows + failing.kept.rows
        counted = self._tally(candidate, rows, checks)
        tallies = {
            check: replace(
                tally,
                rows=read - failing.malformed,
                failed=tally.failed + failing.broken.get(check, 0),
                undecided=failing.undecided.get(check, 0),
                nulls=None if tally.nulls is None else tally.nulls + failing.nulls.get(check, 0),
                evidence="scan" if failing.broken.get(check) else tally.evidence,
            )
            for check, tally in counted.items()
        }
        for check, _ in ((MALFORMED, None), *rows.structure):
            tallies[check] = Tally(rows=read, failed=failing.broken.get(check, 0), evidence="scan")
        return Materialised(
            candidate=candidate, read=read, tallies=tallies, failing=failing.kept, set_aside=failing.kept.rows
        )

    # -- writing

    def _write(self, rows: Rows, keep: str, *, skips_malformed: bool = False) -> Candidate:
        contract = self.request.contract
        chosen = ", ".join(
            f"{rows.values[f.name]} AS {q.name(self.request.spelled.get(f.name, f.name))}" for f in contract.fields
        )
        relation = rows.read("skip" if skips_malformed else "refuse", False)
        if skips_malformed and any(None in file.feeds for file in self.request.batch.files):
            keep += " AND p IS NOT NULL"  # columns that feed nothing are parsed too, so that the same lines are left out
        return self._copy(f"SELECT {chosen} FROM {relation} WHERE {keep}")

    def _write_from(self, whole: Candidate, checks: tuple[RowCheck, ...]) -> Candidate:
        """The good rows of a candidate whose source cannot be read twice with the same answer."""
        columns = _spelled_columns(self.request.spelled, self.request.contract.fields)
        types = column_types(self.request.contract)
        good = q.all_of(
            row_condition(c, columns, types, self.request.now)
            for c in checks
            if c.severity == "error" and c.kind != "type"
        )
        return self._copy(f"SELECT * FROM {files_relation(whole)} WHERE {good}")

    def _copy(self, select: str) -> Candidate:
        request = self.request
        folder = Path(request.location) / uuid.uuid4().hex
        folder.mkdir(parents=True, mode=0o700)
        partition = ", ".join(q.name(request.spelled.get(n, n)) for n in request.partition_by)

        def copied(how: str) -> list[Any]:
            options = f"FORMAT parquet, {how}, FILENAME_PATTERN 'part-{{uuid}}', RETURN_STATS"
            return self.connection.execute(f"COPY ({select}) TO {q.text(str(folder))} ({options})").fetchall()

        laid_out = f"PARTITION_BY ({partition}), WRITE_PARTITION_COLUMNS true" if partition else "PER_THREAD_OUTPUT"
        try:
            with translated("writing the candidate"):
                written = copied(laid_out) or copied("PER_THREAD_OUTPUT")  # without rows there is no partition's file
        except BaseException:
            remove(folder.rglob("*.parquet"))
            raise
        files = _described(written)
        columns = tuple((request.spelled.get(f.name, f.name), f.type) for f in request.contract.fields)
        return Candidate(
            location=str(folder), columns=columns, spelled=request.spelled, files=files,
            digest=candidate_digest(columns, files),
        )  # fmt: skip

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
        columns = _spelled_columns(candidate.spelled, self.request.contract.fields)
        types = column_types(self.request.contract)
        counters = []
        for check in asked:
            counters.append(f"count(*) FILTER (WHERE NOT ({row_condition(check, columns, types, self.request.now)}))")
            counters.append(f"count(*) FILTER (WHERE {null_condition(check, columns) or 'false'})")
        with translated("checking the candidate's rows"):
            (found,) = self.connection.execute(
                f"SELECT count(*), {', '.join(counters)} FROM {files_relation(candidate)}"
            ).fetchall()
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
    ) -> list[tuple[RowCheck, str]]:
        columns = _value_columns(rows)
        types = column_types(self.request.contract)
        return [
            (c, row_condition(c, columns, types, self.request.now))
            for c in checks
            if c.kind != "type" and (c.severity == "error" or not only_errors)
        ]

    def _failing(self, rows: Rows, checks: tuple[RowCheck, ...], whole: Candidate | None) -> Any:
        conditions = self._conditions(rows, checks)
        writer = FailingWriter(
            connection=self.connection, request=self.request, rows=rows, conditions=conditions, scratch=self.scratch
        )  # fmt: skip
        if whole is not None and not rows.is_text and not self.request.batch.files:
            return writer.from_candidate(whole, _spelled_columns(whole.spelled, self.request.contract.fields))
        return writer.from_source()


def rows_digest(connection: duckdb.DuckDBPyConnection, candidate: Candidate) -> str:
    """See `EngineSession.rows_digest`: sums and exclusive-ors of the rows' hashes do not depend on their order."""
    columns = ", ".join(q.name(n) for n, _ in candidate.columns)
    with translated("taking the digest of the candidate's rows"):
        found = connection.execute(
            f"SELECT count(*), sum(h::HUGEINT), bit_xor(h), sum((h >> 32)::HUGEINT * (h & 4294967295)::HUGEINT) "
            f"FROM (SELECT hash({columns}) AS h FROM {files_relation(candidate)})"
        ).fetchone()
    names = [f"{n} {t}" for n, t in candidate.columns]
    return "rows:" + hashlib.sha256(repr((names, found)).encode()).hexdigest()


def files_relation(candidate: Candidate) -> str:
    """The candidate's rows as a relation over exactly its files."""
    if not candidate.files:
        raise EngineFailure("the candidate has no file")
    return f"read_parquet({q.paths(f.path for f in candidate.files)}, hive_partitioning=false)"


def hold_frame(connection: duckdb.DuckDBPyConnection) -> None:
    """Keep the rows of a frame, table or query in the session: it may be read twice, and gives its rows but once."""
    with translated("reading the source"):
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {FRAME}_rows AS SELECT * FROM {FRAME}")
        connection.execute(f"DROP VIEW IF EXISTS {FRAME}")
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {FRAME} AS SELECT * FROM {FRAME}_rows")


def _spelled_columns(spelled: Any, fields: Any) -> Callable[[str], str | None]:
    known = {f.name.lower(): q.name(spelled.get(f.name, f.name)) for f in fields}
    return lambda name: known.get(name.lower())


def _value_columns(rows: Rows) -> Callable[[str], str | None]:
    known = {name.lower(): column for name, column in rows.values.items()}
    return lambda name: known.get(name.lower())


def _described(written: list[Any]) -> tuple[CandidateFile, ...]:
    paths = [row[0] for row in written if row[1]] or [row[0] for row in written[:1]]
    for row in written:
        os.chmod(row[0], 0o600)  # noqa: PTH101
    digests = dict(zip(paths, file_digests(paths), strict=True))
    kept = [row for row in written if row[0] in digests]
    remove(row[0] for row in written if row[0] not in digests)
    return tuple(
        CandidateFile(
            path=path, rows=rows, size=size, digest=digests[path],
            partition=tuple((keys or {}).items()), statistics=column_statistics(statistics),
        )
        for path, rows, size, _, statistics, keys, *_ in kept
    )  # fmt: skip
