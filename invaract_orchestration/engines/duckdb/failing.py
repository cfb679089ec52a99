"""Keeping failing rows: their original text, where they stood and what they broke, in the candidate's restricted place."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import sqlglot
from sqlglot import exp

from invaract_orchestration.candidate.candidate import Candidate, FailingRows
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.checks.row_rules import MALFORMED, RowCheck
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.raw_records import blank_lines, unmarked
from invaract_orchestration.engines.duckdb.row_conditions import null_condition, row_condition
from invaract_orchestration.engines.duckdb.rows import REJECT_SCANS, REJECTS, Rows, as_payload, column_types
from invaract_orchestration.engines.duckdb.session import translated
from invaract_orchestration.intake.batch import Batch

_TABLE = "invaract_failing"
STAGED = _TABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """What was kept aside, and per check id how many rows broke it, could not be asked, and had no value."""

    kept: FailingRows
    malformed: int
    broken: Mapping[str, int]
    undecided: Mapping[str, int]
    nulls: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingWriter:
    """Finds the failing rows of a batch, from its source or from a candidate that holds all of its rows."""

    connection: duckdb.DuckDBPyConnection
    request: CandidateRequest
    rows: Rows
    conditions: list[tuple[RowCheck, str]]
    scratch: Path

    def from_source(self) -> Failing:
        """Read the source again, numbered; lines that are no record are kept too."""
        relation = self.rows.read("keep", True)
        broken, undecided = self._lists()
        columns = _lookup(self.rows.values)
        wrong = dict(undecided)  # a value in a wrong form is no null, although it has no typed value
        nulls = [
            (c.check, f"({n}) AND NOT ({wrong.get(c.check, 'false')})")
            for c, _ in self.conditions
            if (n := null_condition(c, columns))
        ]
        self._collect(relation, "f, n, p", broken, undecided, nulls)
        malformed = self._add_malformed() if self.rows.is_text else 0
        return self._keep(malformed)

    def stage(self) -> None:
        """Hold every record in the session, in the table STAGED: where it stood, its original text, the forms that it broke, and
        its values. Lines that are no record are there too, without values.
        """
        broken, _ = self._lists()
        values = ", ".join(self.rows.values.values())
        self._collect(self.rows.read("keep", True), f"f, n, p, {values}", broken, [], [], keeps_all=True)
        if self.rows.is_text:
            self._add_malformed()

    def from_candidate(self, whole: Candidate, columns: Callable[[str], str | None]) -> Failing:
        """Take the failing rows from a candidate whose source gives no second reading."""
        types = column_types(self.request.contract)
        fields = self.request.contract.fields
        packed = ", ".join(f"{q.text(f.name)}, {as_payload(columns(f.name) or '', f.type)}" for f in fields)
        paths = q.paths(f.path for f in whole.files)
        relation = (
            f"(SELECT *, json_object({packed}) AS invaract_p, 0 AS invaract_n "
            f"FROM read_parquet({paths}, hive_partitioning=false))"
        )
        broken = [
            (c.check, f"NOT ({row_condition(c, columns, types, self.request.now)})", c.severity == "error")
            for c, _ in self.conditions
        ]
        nulls = [(c.check, null_condition(c, columns)) for c, _ in self.conditions]
        self._collect(
            relation, "'' AS f, invaract_n AS n, invaract_p AS p", broken, [], [(c, n) for c, n in nulls if n],
            "invaract_p",
        )  # fmt: skip
        return self._keep(0)

    def _lists(self) -> tuple[list[tuple[str, str, bool]], list[tuple[str, str]]]:
        """(check, broken when, is error) and (check, undecided when): a check of a value in a wrong form is undecided."""
        broken = [(check, f"NOT {column}", True) for check, column in self.rows.structure]
        structured = q.all_of(column for _, column in self.rows.structure)
        broken += [(check, f"{structured} AND NOT {column}", True) for check, _, column in self.rows.rights]
        undecided = []
        for check, condition in self.conditions:
            read = _columns_read(check, list(self.rows.values))
            forms = [column for _, field, column in self.rows.rights if field in read]
            askable = q.all_of([structured, *forms])
            broken.append((check.check, f"({askable}) AND NOT ({condition})", check.severity == "error"))
            if askable != "true":
                undecided.append((check.check, f"NOT ({askable})"))
        return broken, undecided

    def _collect(
        self, relation: str, place: str, broken: list[tuple[str, str, bool]], undecided: list[tuple[str, str]],
        nulls: list[tuple[str, str]], payload: str = "p", *, keeps_all: bool = False,
    ) -> None:  # fmt: skip
        # A constant would let the optimizer leave out the reading, and with it the lines that are no record.
        failing = " OR ".join([*(f"({when})" for _, when, is_error in broken if is_error), f"{payload} IS NULL"])
        if keeps_all:
            failing = f"{payload} IS NULL OR true"
        self.connection.execute(f"DROP TABLE IF EXISTS {REJECTS}; DROP TABLE IF EXISTS {REJECT_SCANS}")
        self.connection.execute("SET preserve_insertion_order = true")
        try:
            with translated("reading the failing rows"):
                self.connection.execute(
                    f"CREATE OR REPLACE TEMP TABLE {_TABLE} AS SELECT {place}, "
                    f"{list_of((c, w) for c, w, _ in broken)} AS broken, {list_of(undecided)} AS undecided, "
                    f"{list_of(nulls)} AS nulls FROM {relation} WHERE {failing}"
                )
        finally:
            self.connection.execute("SET preserve_insertion_order = false")
        self._number_by_file()

    def _number_by_file(self) -> None:
        """Row numbers of the whole read become numbers within their file."""
        if not self.rows.is_text or len(self.request.batch.files) < 2:
            return
        counts = dict(
            self.connection.execute(
                f"SELECT f, count(*) FROM {self.rows.read('skip', False)} GROUP BY f"
            ).fetchall()
        )  # fmt: skip
        before, bases = 0, []
        for path in _reading_order(self.rows.read("skip", False), [str(b.file.path) for b in self.request.batch.files]):
            bases.append((path, before))
            before += counts.get(path, 0)
        self.connection.execute("CREATE OR REPLACE TEMP TABLE invaract_bases (b_file VARCHAR, base BIGINT)")
        self.connection.executemany("INSERT INTO invaract_bases VALUES (?, ?)", bases)
        self.connection.execute(f"UPDATE {_TABLE} SET n = n - base FROM invaract_bases WHERE f = b_file")

    def _add_malformed(self) -> int:
        """Lines that are no record join the failing rows, and the numbers of the others make room for them."""
        header = 1 if self.request.batch.source.format == "csv" else 0
        tables = {row[0] for row in self.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        if REJECTS not in tables:
            return 0
        self._register_blank_lines()
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE invaract_malformed AS SELECT f, m, line, "
            f"row_number() OVER (PARTITION BY f ORDER BY m) AS j FROM (SELECT s.file_path AS f, "
            f"e.line - {header} - (SELECT count(*) FROM invaract_blank WHERE blank_file = s.file_path AND blank < e.line) AS m, "
            f"any_value(e.csv_line) AS line FROM {REJECTS} e JOIN {REJECT_SCANS} s USING (scan_id, file_id) GROUP BY ALL)"
        )
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_TABLE} AS SELECT x.* REPLACE (x.n + coalesce(r.j, 0) AS n) "
            f"FROM {_TABLE} x ASOF LEFT JOIN "
            "(SELECT f, m - j AS g, max(j) AS j FROM invaract_malformed GROUP BY 1, 2) r ON x.f = r.f AND x.n > r.g"
        )
        text = _original("line", self.request.batch)
        (added,) = self.connection.execute(
            f"INSERT INTO {_TABLE} BY NAME SELECT f, m AS n, json_object('line', {text}) AS p, [{q.text(MALFORMED)}] AS broken, "
            "[] AS undecided, [] AS nulls FROM invaract_malformed"
        ).fetchall()
        return int(added[0])

    def _register_blank_lines(self) -> None:
        """Blank lines are no records: rows are numbered without them, and lines that are no record have to be too."""
        self.connection.execute("CREATE OR REPLACE TEMP TABLE invaract_blank (blank_file VARCHAR, blank BIGINT)")
        if self.request.batch.source.format != "csv":
            return
        bad = {row[0] for row in self.connection.execute(f"SELECT DISTINCT file_path FROM {REJECT_SCANS}").fetchall()}
        for file in self.request.batch.files:
            path = str(file.file.path)
            blanks = blank_lines(file, self.request.batch.source.options) if path in bad else []
            if blanks:
                self.connection.execute("INSERT INTO invaract_blank SELECT ?, unnest(?)", [path, blanks])

    def _keep(self, malformed: int) -> Failing:
        path = self.scratch / f"failing-{uuid.uuid4().hex}.parquet"
        names = {str(b.file.path): b.file.name for b in self.request.batch.files}
        self.connection.execute("CREATE OR REPLACE TEMP TABLE invaract_names (n_file VARCHAR, name VARCHAR)")
        self.connection.executemany("INSERT INTO invaract_names VALUES (?, ?)", [*names.items(), ("", "")])
        with translated("keeping the failing rows"):
            self.connection.execute(
                f"COPY (SELECT name AS source_file, CAST(n AS BIGINT) AS record_number, broken AS rule_ids, "
                f"CAST(p AS VARCHAR) AS payload FROM {_TABLE} JOIN invaract_names ON f = n_file "
                f"ORDER BY 1, 2) TO {q.text(str(path))} (FORMAT parquet)"
            )
        path.chmod(0o600)
        (total,) = self.connection.execute(f"SELECT count(*) FROM {_TABLE}").fetchall()
        return Failing(
            kept=FailingRows(location=str(path), rows=total[0]), malformed=malformed, broken=self._counts("broken"),
            undecided=self._counts("undecided"), nulls=self._counts("nulls"),
        )  # fmt: skip

    def _counts(self, column: str) -> dict[str, int]:
        rows = self.connection.execute(
            f"SELECT c, count(*) FROM (SELECT unnest({column}) AS c FROM {_TABLE}) GROUP BY c"
        ).fetchall()
        return dict(rows)


def _original(line: str, batch: Batch) -> str:
    """The text as it was written, without the blank lines before it and the mark of a copy's records."""
    text = f"ltrim({line}, chr(10) || chr(13))"
    return unmarked(text, batch) if batch.source.format == "csv" else text


def _reading_order(relation: str, paths: list[str]) -> list[str]:
    """The files in the order in which the relation names them: that is the order of its rows."""
    return sorted(paths, key=lambda path: relation.find(q.paths([path])[1:-1]))


def list_of(entries: object) -> str:
    """A list of the names whose condition is true, of (name, condition) pairs."""
    parts = [f"CASE WHEN {when} THEN {q.text(check)} END" for check, when in entries]  # type: ignore[attr-defined]
    return f"list_filter([{', '.join(parts)}]::VARCHAR[], lambda x: x IS NOT NULL)" if parts else "[]::VARCHAR[]"


def _lookup(values: Mapping[str, str]) -> Callable[[str], str | None]:
    known = {name.lower(): column for name, column in values.items()}
    return lambda name: known.get(name.lower())


def _columns_read(check: RowCheck, names: list[str]) -> set[str]:
    if check.rule is None:
        return {check.path[0]}
    tree = sqlglot.parse_one(check.rule.sql, read="spark")
    first = {part.parts[0].name.lower() for part in tree.find_all(exp.Column)}
    dotted = {".".join(p.name for p in part.parts).lower() for part in tree.find_all(exp.Column)}
    return {n for n in names if n.lower() in first | dotted}
