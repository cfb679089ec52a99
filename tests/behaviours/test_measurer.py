"""What every measurer counts on a candidate: in plain Python, on DuckDB, on Spark and on Spark Connect."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from invaract_orchestration.candidate.candidate import Candidate, CandidateFile, candidate_digest
from invaract_orchestration.checks.measurements import KeyCount, Measurer
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.delta.publisher import DeltaPublisher
from invaract_orchestration.errors import GateError, NotSupported
from tests.behaviours.plain_measurer import PlainMeasurer
from tests.spark.conftest import QUIET
from tests.spark.lakes import ENGINES, engine_of

pytestmark = [pytest.mark.filterwarnings(quiet) for quiet in QUIET]
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
FIELDS = """
- {name: id, type: bigint}
- {name: code, type: string, normalize: [STEPS]}
- {name: share, type: double}
- {name: amount, type: "decimal(38,10)"}
- {name: day, type: date}
"""
ROWS = pa.table({
    "id": pa.array([1, 2, 2, None, 9223372036854775807], pa.int64()), "code": ["a", " A", "a", None, "é"],
    "share": [0.0, -0.0, float("nan"), float("nan"), None],
    "amount": pa.array([Decimal("1.5"), Decimal("9999999999999999999999999999.9999999999"), Decimal("1.5"), None, Decimal(0)], pa.decimal128(38, 10)),
    "day": pa.array([date(2026, 1, 31), date(2026, 1, 31), date(1, 1, 1), date(9999, 12, 31), None], pa.date32()),
})  # fmt: skip


@pytest.fixture(params=["plain", *(pytest.param(e, marks=[] if e == "duckdb" else [pytest.mark.spark]) for e in ENGINES)])
def measurer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Measurer]:
    def place(name: str, _: Path | None = None) -> str:
        return str(tmp_path / name.replace(".", "/"))

    if request.param == "plain":
        yield PlainMeasurer(place)
        return
    with engine_of(request.param).open(tmp_path / "scratch", place) as session:
        yield session


def contract(tmp_path: Path, rules: str = "", keys: str = "", steps: str = "", mode: str = "append") -> Contract:
    text = f"contract: demo\nfields: {FIELDS.replace('STEPS', steps)}\npublish: {{target: ./t, mode: {mode}}}\n{keys}\n"
    return load_contract_text(f"{text}quality: {{dataset_rules: [{rules}]}}\n" if rules else text).placed(tmp_path)


def candidate(tmp_path: Path, table: pa.Table = ROWS, files: int = 2) -> Candidate:
    """The rows in some files, of which nothing is known but their number."""
    made = []
    for number in range(files):
        part = table.slice(number * table.num_rows // files, (number + 1) * table.num_rows // files - number * table.num_rows // files)
        path = tmp_path / f"part-{number}.parquet"
        pq.write_table(part, path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        made.append(CandidateFile(path=str(path), size=path.stat().st_size, rows=part.num_rows, digest=digest))
    own = load_contract_text(f"contract: demo\nfields: {FIELDS.replace('STEPS', '')}")
    columns = tuple((f.name, f.type) for f in own.fields)
    return Candidate(
        location=str(tmp_path), columns=columns, spelled={}, files=tuple(made), digest=candidate_digest(columns, tuple(made))
    )


def counted(found: KeyCount) -> tuple[int, int, int, int, int]:
    return found.rows, found.null_rows, found.duplicate_rows, found.duplicate_keys, found.in_target


@pytest.mark.parametrize(("key", "steps", "expected"), [
    ("[id]", "", (5, 1, 2, 1, 0)), ("[code]", "", (5, 1, 2, 1, 0)), ("[code]", "trim, lower", (5, 1, 3, 1, 0)), ("[share]", "", (5, 1, 4, 2, 0)),
    ("[amount]", "", (5, 1, 2, 1, 0)), ("[day]", "", (5, 1, 2, 1, 0)), ("[id, code]", "", (5, 1, 0, 0, 0)), ("[day, share]", "", (5, 1, 2, 1, 0)),
])  # fmt: skip
def test_key_counts_nulls_and_repetitions(
    measurer: Measurer, tmp_path: Path, key: str, steps: str, expected: tuple[int, ...]
) -> None:
    own = contract(tmp_path, keys=f"keys: [{{columns: {key}}}]", steps=steps)
    assert counted(measurer.count_key(own, candidate(tmp_path), own.keys[0], None)) == expected


def test_key_across_the_target_counts_what_it_holds_already(measurer: Measurer, tmp_path: Path) -> None:
    own = contract(tmp_path, keys="keys: [{columns: [code], across: target}]", steps="trim, lower")
    write_deltalake(str(tmp_path / "t"), pa.table({"code": ["A ", None, "x"]}))
    state = DeltaPublisher().inspect(str(tmp_path / "t"))
    assert counted(measurer.count_key(own, candidate(tmp_path), own.keys[0], state)) == (5, 1, 3, 1, 3)


def test_key_of_no_rows_is_counted(measurer: Measurer, tmp_path: Path) -> None:
    own = contract(tmp_path, keys="keys: [[id]]")
    assert counted(measurer.count_key(own, candidate(tmp_path, ROWS.slice(0, 0), files=1), own.keys[0], None)) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(("rule", "value"), [
    ("{name: r, row_count: {min: 1}}", 5), ("{name: r, null_share: {column: code, max: 0.5}}", 0.2), ("{name: r, null_share: {column: share, max: 0.5}}", 0.2),
    ("{name: r, covers: {column: id, reference: ids.csv}}", 1), ("{name: r, covers: {column: code, reference: ids.csv, reference_column: word}}", 2),
    ("{name: r, references: {columns: [code], table: other, key: [k]}}", 2), ("{name: r, references: {columns: [id, code], table: other, key: [n, k]}}", 3),
])  # fmt: skip
def test_dataset_rule_is_measured(measurer: Measurer, tmp_path: Path, rule: str, value: float) -> None:
    (tmp_path / "ids.csv").write_text("id,word\n1,a\n2,A\n3,é\n,\n9223372036854775807,x\n")
    write_deltalake(str(tmp_path / "other"), pa.table({"k": ["a", "A", None], "n": pa.array([1, 2, 3], pa.int64())}))
    own = contract(tmp_path, rule)
    fact = measurer.measure_dataset(own, candidate(tmp_path), own.quality.dataset_rules[0], None, NOW)
    assert fact.value == value


@pytest.mark.parametrize("content", [None, "id,word\n"])
def test_reference_without_values_is_no_measurement(measurer: Measurer, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "ids.csv").write_text(content)
    own = contract(tmp_path, "{name: r, covers: {column: id, reference: ids.csv}}")
    with pytest.raises(GateError):
        measurer.measure_dataset(own, candidate(tmp_path), own.quality.dataset_rules[0], None, NOW)


@pytest.mark.parametrize(("sql", "bound", "is_within"), [
    ("select count(*) from candidate", "equal_to: 5", True), ("select sum(amount) from candidate where amount < 100", "equal_to: 3", True),
    ("select max(id) * 2 from candidate", "greater_than: 0", None),  # more than 64 bits is null, not wrapped around
    ("select sum(id) from candidate", "greater_than: 0", None), ("select max(id) + 1 from candidate", "less_than: 0", None),
    ("select count(*) from candidate where id * 4 > 0", "equal_to: 3", True), ("select 1 / (count(*) - 5) from candidate", "greater_than: 0", None),
    ("select max(id) / (select count(*) - 5 from candidate) from candidate", "greater_than: 0", None),
    ("select count(distinct code) from candidate where share = 0", "equal_to: 2", True), ("select avg(share) from candidate where share = 0", "equal_to: 0", True),
    ("select count(*) from candidate where cast(code as int) is null", "equal_to: 5", True), ("select max(share) from candidate", "greater_than: 5", False),
    ("select count_if(day = current_date()) from candidate", "equal_to: 2", True), ("select max(length(code)) from candidate", "equal_to: 2", True),
    ("select count_if(id > 0) from candidate where id > 100 and id < 100", "equal_to: 0", True),
    ("select count(*) from candidate having some(id = 1) and not every(id = 1)", "equal_to: 5", True), ("select mean(id) from candidate where id < 3", "less_than: 2", True),
    ("select count_if(round(id, -1) is null) from candidate", "equal_to: 2", True), ("select count(*) from candidate where abs(id - 1) = 1", "equal_to: 2", True),
    ("select sum(case when id > 1 then 1 else 0 end) / count(*) from candidate", "equal_to: 0.6", True),
    ("with big as (select id from candidate where id > 1) select count(*) from big", "at_least: 3", True), ("select min(id) from candidate where id < 0", "equal_to: 0", None),
])  # fmt: skip
def test_query_gives_one_number_or_null_where_it_cannot_be_computed(
    measurer: Measurer, tmp_path: Path, sql: str, bound: str, is_within: bool | None
) -> None:
    own = contract(tmp_path, f'{{name: r, sql: "{sql}", must_be: {{{bound}}}}}')
    rule = own.quality.dataset_rules[0]
    if isinstance(measurer, PlainMeasurer):
        with pytest.raises(NotSupported):
            measurer.measure_dataset(own, candidate(tmp_path), rule, None, NOW)
        return
    assert measurer.measure_dataset(own, candidate(tmp_path), rule, None, NOW).is_within is is_within


CONDITIONS = ["id > 1", "code IS NOT NULL", "share >= 0", "amount > 0", "day <= current_date()", "id + 1 > 0", "true"]


def test_conditions_of_the_target_are_counted_in_one_scan(measurer: Any, tmp_path: Path) -> None:
    if isinstance(measurer, PlainMeasurer):
        with pytest.raises(NotSupported):
            measurer.count_violations(candidate(tmp_path), CONDITIONS, NOW)
    else:
        assert tuple(measurer.count_violations(candidate(tmp_path), CONDITIONS, NOW)) == (2, 1, 1, 2, 2, 2, 0)
    assert tuple(measurer.count_violations(candidate(tmp_path), [], NOW)) == ()
