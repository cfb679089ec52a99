"""What Spark has to plan for written text grows with its columns, and with nothing else: no expression is planned more often than
it is written, and nothing is inferred from combinations of columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.classic.dataframe import DataFrame

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.engines.spark.json_forms import read_json
from invaract_orchestration.engines.spark.rows import Held
from tests.spark.lakes import EngineLake

FIELDS = [
    ("type: int, required: true, min: 0, max: 9", "1"), ("type: string, required: true, max_length: 6, pattern: '[a-z]+'", "a"),
    ("type: 'decimal(10,2)', min: 1, max: 5", "1.50"), ("type: date, min: '2019-01-01'", "2020-01-01"),
    ("type: timestamp, required: true", "2020-01-01T10:00:00Z"), ("type: double, min: 1", "1.5"),
    ("type: timestamp, timezone: none, source_timezone: Europe/Vienna", "2020-01-01T10:00:00"), ("type: boolean", "true"),
    ("type: timestamp, timezone: any", "2020-01-01T10:00"), ("type: binary", "YWE="),
]  # fmt: skip
"""Fields of each kind that a text can hold, and a text of each."""
WRITES = 3
"""The candidate in doubt, the failing rows, the good ones."""
LARGEST = {"csv": 250, "json": 240}
"""Nodes of the largest plan for one column more, on an average of the kinds above."""


@contextmanager
def planned(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, bool]]]:
    """Of each frame that is written in the block: the nodes of its optimized plan, and whether Spark infers from its filters."""
    found: list[tuple[int, bool]] = []
    write = vars(DataFrame)["write"].fget

    def looked_at(frame: Any) -> Any:
        plan = frame._jdf.queryExecution().optimizedPlan()
        infers = frame.sparkSession.conf.get("spark.sql.constraintPropagation.enabled") == "true"
        found.append((plan.toJSON().count('"class":'), infers))
        return write(frame)

    with monkeypatch.context() as patch:
        patch.setattr(DataFrame, "write", property(looked_at))
        yield found


def text_of(form: str, rows: list[list[str]]) -> str:
    if form == "csv":
        return "\n".join(",".join(row) for row in [[f"c{i}" for i in range(len(rows[0]))], *rows]) + "\n"
    plain = ("1", "1.50", "1.5", "true")
    records = [", ".join(f'"c{i}": {v if v in plain else json.dumps(v)}' for i, v in enumerate(row)) for row in rows]
    return "".join(f"{{{record}}}\n" for record in records)


def run(lake: EngineLake, form: str, columns: int, wrong: str) -> Any:
    kinds = [FIELDS[i % len(FIELDS)] for i in range(columns)]
    good = [text for _, text in kinds]
    lake.put({f"a.{form}": text_of(form, [good, [wrong, *good[1:]]])})
    fields = "\n".join(f"{{name: c{i}, {declared}}}" for i, (declared, _) in enumerate(kinds))
    any_there = " or ".join(f"c{i} is not null" for i in range(columns))
    quality = f"quality: {{on_row_failure: quarantine, row_rules: [{{name: some, sql: '{any_there}'}}]}}"
    return lake.check(lake.contract(fields, source=f"format: {form}", more=quality))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "json"])
def test_plan_of_written_text_grows_with_its_columns_alone(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    sizes = []
    for columns in (10, 20, 30):
        folder = tmp_path / str(columns)
        folder.mkdir()
        with planned(monkeypatch) as plans:
            result = run(EngineLake(root=folder), form, columns, "x")
        assert (result.state, result.counts.good, result.counts.quarantined) == ("judged", 1, 1)
        assert len(plans) == WRITES
        sizes.append(plans)
    for first, second, third in zip(*sizes, strict=True):
        assert third[0] - second[0] <= (second[0] - first[0]) * 1.05
        assert (third[0] - second[0]) / 10 <= LARGEST[form]
        assert not (first[1] or second[1] or third[1])


@pytest.mark.parametrize("engine", ["spark", "spark-connect"])
def test_sixty_typed_columns_with_a_wrong_value_are_judged(tmp_path: Path, engine: str) -> None:
    result = run(EngineLake(root=tmp_path, engine=engine), "csv", 60, "x")
    assert (result.state, result.counts.good, result.counts.quarantined) == ("judged", 1, 1)
    assert {c.check: c.failed for c in result.checks if c.outcome == "broken"} == {"c0|type": 1}


@pytest.mark.parametrize(("declared", "most"), [
    ("int", 150), ("'decimal(10,2)'", 250), ("double", 300), ("date", 350), ("timestamp", 750), ("timestamp, timezone: none", 1_300),
    ("timestamp, timezone: any", 2_500), ("binary", 300), ("'struct<a: int, b: struct<c: date, d: array<timestamp>>>'", 3_000),
])  # fmt: skip
def test_held_reading_says_in_few_words_what_it_says_in_place(declared: str, most: int) -> None:
    source = "contract: demo\nsource: {format: json, location: in}\npublish: {target: ./t}\n"
    spec = load_contract_text(f"{source}fields:\n- {{name: a, type: {declared}}}\n").fields[0]
    held = Held("x0")
    plain = read_json("o0", "w0", spec.type, spec, "Europe/Vienna", ("a",))
    short = read_json("o0", "w0", spec.type, spec, "Europe/Vienna", ("a",), hold=held)
    assert [in_place(r, held) for _, r in short.rights] == [r for _, r in plain.rights]
    assert in_place(short.value, held) == plain.value
    assert len(short.value) + sum(len(r) for _, r in short.rights) + sum(len(sql) for _, sql in held.steps) <= most


def in_place(sql: str, held: Held) -> str:
    """An expression with what its columns hold instead of them."""
    return re.sub(r"\bx0_([0-9]+)\b", lambda found: in_place(held.steps[int(found[1])][1], held), sql)
