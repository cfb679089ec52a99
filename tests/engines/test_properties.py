"""What holds for every batch: counts are exact, no order matters, cheap evidence never says more than a scan would."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from invaract_orchestration.audit.result import GateResult
from tests.engines.lake import Lake, broken

QUICK = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SCHEMA = pa.schema(
    [("k", pa.int64()), ("i", pa.int32()), ("d", pa.float64()), ("m", pa.decimal128(6, 2)), ("t", pa.date32()), ("s", pa.string())]
)  # fmt: skip


@dataclass(frozen=True)
class Bounds:
    """The rules of one contract."""

    low: int
    high: int
    required: bool

    def fields(self) -> str:
        need = ", required: true" if self.required else ""
        return f"""
            {{name: k, type: bigint, unique: true}}
            {{name: i, type: int, min: {self.low}, max: {self.high}{need}}}
            {{name: d, type: double, min: {self.low}, max: {self.high}.5{need}}}
            {{name: m, type: "decimal(6,2)", min: {self.low}.25, max: {self.high}.75}}
            {{name: t, type: date, min: 2026-01-{self.low + 5:02d}, max: 2026-01-{self.high + 15:02d}}}
            {{name: s, type: string, allowed: ["it's", b], pattern: "[a-z']+", not_blank: true, max_length: 4{need}}}
        """


BOUNDS = st.builds(Bounds, st.integers(0, 4), st.integers(5, 9), st.booleans())
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "k": st.one_of(st.none(), st.integers(0, 6)),
            "i": st.one_of(st.none(), st.integers(-1, 11)),
            "d": st.one_of(st.none(), st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.0, 3.0, 9.5, 9.6, 4.0])),
            "m": st.one_of(st.none(), st.integers(-100, 1100).map(lambda n: Decimal(n) / 100)),
            "t": st.one_of(st.none(), st.integers(1, 31).map(lambda n: date(2026, 1, n))),
            "s": st.one_of(st.none(), st.sampled_from(["it's", "b", "B", "", " ", "\u00a0", "abcde", "b\n"])),
        }
    ),
    min_size=1, max_size=12,
)  # fmt: skip


def expected_failures(rows: list[dict[str, Any]], bounds: Bounds) -> dict[str, int]:
    """How many rows break each check, counted one row and one rule at a time."""
    low, high = bounds.low, bounds.high

    def count(column: str, is_kept: Any) -> int:
        return sum(row[column] is not None and not is_kept(row[column]) for row in rows)

    found = {
        "i|min": count("i", lambda v: v >= low), "i|max": count("i", lambda v: v <= high),
        "d|min": count("d", lambda v: v >= low), "d|max": count("d", lambda v: v <= high + 0.5),
        "m|min": count("m", lambda v: v >= low + Decimal("0.25")), "m|max": count("m", lambda v: v <= high + Decimal("0.75")),
        "t|min": count("t", lambda v: v.day >= low + 5), "t|max": count("t", lambda v: v.day <= high + 15),
        "s|allowed": count("s", lambda v: v in ("it's", "b")),
        "s|pattern": count("s", lambda v: v != "" and all(c in "abcdefghijklmnopqrstuvwxyz'" for c in v)),
        "s|not_blank": count("s", lambda v: v.strip(" \u00a0\n") != ""), "s|max_length": count("s", lambda v: len(v) <= 4),
    }  # fmt: skip
    if bounds.required:
        found |= {f"{c}|required": sum(row[c] is None for row in rows) for c in "ids"}
    keys = [row["k"] for row in rows]
    found["k|unique"] = sum(k is None or keys.count(k) > 1 for k in keys)
    return {check: failed for check, failed in found.items() if failed}


def judged(rows: list[dict[str, Any]], bounds: Bounds, *, files: int = 1, as_csv: bool = False) -> GateResult:
    """The verdict over rows in files, without a publication."""
    lake = Lake(Path(tempfile.mkdtemp(prefix="rows-")))
    for number in range(files):
        part = rows[number::files]
        content = _csv(part) if as_csv else _parquet(part)
        lake.put({f"part-{number}.{'csv' if as_csv else 'parquet'}": content})
    return lake.check(lake.contract(bounds.fields(), source="format: csv" if as_csv else "format: parquet"))


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), sink)
    return sink.getvalue().to_pybytes()


def _csv(rows: list[dict[str, Any]]) -> str:
    def cell(value: Any) -> str:
        if value is None:
            return ""
        text = "NaN" if value != value else str(value)
        return '"' + text.replace('"', '""') + '"'

    return "\n".join([",".join(SCHEMA.names), *(",".join(cell(row[n]) for n in SCHEMA.names) for row in rows), ""])


def finite(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same rows as a text can hold them: infinity is no number there."""
    return [row | {"d": None if row["d"] is not None and math.isinf(row["d"]) else row["d"]} for row in rows]


@QUICK
@given(rows=ROWS, bounds=BOUNDS)
def test_every_count_of_typed_rows_is_that_of_a_plain_count(rows: list[dict[str, Any]], bounds: Bounds) -> None:
    result = judged(rows, bounds)
    assert broken(result) == expected_failures(rows, bounds)
    assert all(c.rows in (None, len(rows)) for c in result.checks)


@QUICK
@given(rows=ROWS, bounds=BOUNDS)
def test_every_count_of_written_rows_is_that_of_a_plain_count(rows: list[dict[str, Any]], bounds: Bounds) -> None:
    result = judged(finite(rows), bounds, as_csv=True)
    assert broken(result) == expected_failures(finite(rows), bounds)


@QUICK
@given(rows=ROWS, bounds=BOUNDS)
def test_evidence_that_is_cheaper_than_a_scan_is_only_given_for_kept(rows: list[dict[str, Any]], bounds: Bounds) -> None:
    failures = expected_failures(rows, bounds)
    for check in judged(rows, bounds).checks:
        if check.evidence in ("statistics", "write"):
            assert check.check not in failures


@QUICK
@given(rows=ROWS, bounds=BOUNDS, data=st.data(), files=st.integers(1, 3))
def test_order_of_rows_and_split_into_files_do_not_matter(
    rows: list[dict[str, Any]], bounds: Bounds, data: st.DataObject, files: int
) -> None:
    shuffled = data.draw(st.permutations(rows))
    one, other = judged(rows, bounds), judged(shuffled, bounds, files=files)
    assert (one.state, broken(one)) == (other.state, broken(other))


@QUICK
@given(rows=ROWS, bounds=BOUNDS)
def test_one_more_violating_row_raises_its_counter_by_one(rows: list[dict[str, Any]], bounds: Bounds) -> None:
    before = broken(judged(rows, bounds))
    bad = {"k": 99, "i": bounds.low - 1, "d": float(bounds.low), "m": None, "t": None, "s": "b"}
    after = broken(judged([*rows, bad], bounds))
    assert after.pop("i|min") == (before.pop("i|min", None) or 0) + 1
    assert after == before


@QUICK
@given(rows=ROWS, bounds=BOUNDS)
def test_batch_that_is_there_twice_breaks_its_key_in_every_row(rows: list[dict[str, Any]], bounds: Bounds) -> None:
    assert broken(judged([*rows, *rows], bounds))["k|unique"] == 2 * len(rows)


@QUICK
@given(rows=ROWS, bounds=BOUNDS)
def test_one_more_null_never_turns_broken_into_kept(rows: list[dict[str, Any]], bounds: Bounds) -> None:
    empty = dict.fromkeys(SCHEMA.names)
    before, after = broken(judged(rows, bounds)), broken(judged([*rows, empty], bounds))
    assert before.keys() <= after.keys()


@QUICK
@given(rows=ROWS, bounds=BOUNDS)
def test_every_row_is_published_or_set_aside(rows: list[dict[str, Any]], bounds: Bounds) -> None:
    lake = Lake(Path(tempfile.mkdtemp(prefix="aside-")))
    keyed = [row | {"k": number} for number, row in enumerate(rows)]
    lake.put({"x.csv": _csv(finite(keyed))})
    result = lake.run(lake.contract(bounds.fields(), source="format: csv", more="quality: {on_row_failure: quarantine}"))
    published = {row["k"] for row in lake.rows()}
    aside = {number - 1 for _, number, _ in lake.aside()}
    failing = {
        number for number, row in enumerate(finite(keyed)) if set(expected_failures([row], bounds)) - {"k|unique"}
    }  # fmt: skip
    assert aside == failing
    assert published == (set(range(len(rows))) - failing if result.state == "published" else set())


CANARY = "CANARY-7731"


@settings(max_examples=15, deadline=None)
@given(column=st.sampled_from(["k", "i", "d", "m", "t", "s"]), where=st.sampled_from(["cell", "short", "long", "quote"]))
def test_bad_cell_shows_in_the_quarantine_alone(column: str, where: str) -> None:
    lake = Lake(Path(tempfile.mkdtemp(prefix="canary-")))
    said: list[str] = []
    cells = [CANARY if name == column else "1" for name in SCHEMA.names]
    line = {"cell": ",".join(cells), "short": CANARY, "long": ",".join([*cells, CANARY]), "quote": f'"{CANARY}"x,1,1,1,1,1'}[where]
    lake.put({"x.csv": f"{','.join(SCHEMA.names)}\n{line}\n"})
    contract = lake.contract(Bounds(0, 9, required=True).fields(), source="format: csv")
    result = replace(lake.gate, tell=said.append).run(contract)
    assert result.state == "rejected"
    assert any(CANARY in payload for payload in lake.payloads())
    audit = repr([vars(view) if hasattr(view, "__dict__") else view for view in lake.audit.attempts()])
    assert CANARY not in repr(result) + "".join(said) + audit
    kept = [p for p in lake.root.rglob("*") if p.is_file() and "__quarantine" not in str(p) and "in" not in p.parts[-2:-1]]
    assert not any(CANARY.encode() in p.read_bytes() for p in kept)
