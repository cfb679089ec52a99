"""What lint says of steps, and what a run makes of them: both say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from invaract_orchestration.checks.stepped_lint import lint_steps
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.settings import Settings
from invaract_orchestration.wiring import choose_engine, open_gate, utc_now

SOURCE = "source: {format: json, location: in.jsonl, fields: [{name: n, type: int}, {name: s, type: string}]}\n"


def contract(body: str, source: str = SOURCE) -> Contract:
    return load_contract_text('contract: c\nversion: "1.0.0"\npublish: {target: out/c}\n' + source + body)


def told(agreed: Contract, place: Path) -> list[str]:
    works, _ = choose_engine(engine="duckdb")
    with works.open(place / "lint", str) as session:
        return [f.message for f in lint_steps(agreed, session, utc_now())]


def ran(agreed: Contract, place: Path) -> str:
    (place / "in.jsonl").write_text('{"n": 1, "s": "a"}\n', encoding="utf-8")
    settings = Settings(lake_root=place / "lake", audit_url=f"sqlite:///{place / 'audit.db'}", engine="duckdb")
    with open_gate(settings) as gate:
        return gate.run(agreed.placed(place)).state


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("fields: [{name: n, type: int}]\ntransformations: [{trim: {fields: [n]}}]\n",
         "step 1 (trim): trim is for texts, and column 'n' is int"),
        ("fields: [{name: d, type: date}]\ntransformations: [{derive: {field: d, sql: upper(s)}}]\n",
         "schema|type: expected the types of the contract exactly: 1 field: 'd' date, found the result of the steps: "
         "'d' is string, expected date"),
        ("fields: [{name: n, type: int}]\ntransformations: [{sql: SELECT n + s AS n FROM source}]\n",
         "step 1 (sql): the query cannot be run (BinderException)"),
        ("fields: [{name: n, type: int}]\ntransformations: [{drop: {columns: [s]}}]\n"
         "quality: {row_rules: [{name: r, sql: n > 1 AND z > 1}]}\n",
         "check 'r' (PHS-001) cannot run in phase pre: unknown column 'z'"),
    ],
)  # fmt: skip
def test_steps_that_no_batch_can_be_run_with_are_told(tmp_path: Path, body: str, message: str) -> None:
    agreed = contract(body.replace(" AND z > 1", "")) if "z > 1" in body else contract(body)
    if "z > 1" in body:
        rules = (agreed.quality.row_rules[0].model_copy(update={"sql": "z > 1"}),)
        agreed = agreed.model_copy(update={"quality": agreed.quality.model_copy(update={"row_rules": rules})})
    assert told(agreed, tmp_path) == [message]
    assert ran(agreed, tmp_path) in ("failed", "rejected")


@pytest.mark.parametrize(
    "body",
    [
        "fields: [{name: n, type: int}, {name: s, type: string}]\ntransformations: [{trim: {fields: [s]}}]\n",
        "fields: [{name: k, type: bigint}]\ntransformations: [{rollup: {aggregations: {k: COUNT(*)}}}]\n",
        "fields: [{name: s, type: string}]\ntransformations: [{deduplicate: {on: [n], sort_by: [s]}}, {drop: {columns: [n]}}]\n",
    ],
)
def test_steps_that_run_are_told_nothing_of(tmp_path: Path, body: str) -> None:
    agreed = contract(body)
    assert told(agreed, tmp_path) == []
    assert ran(agreed, tmp_path) == "published"


def test_header_whose_order_nobody_can_know_is_told(tmp_path: Path) -> None:
    body = "fields: [{name: k, type: string}]\ntransformations: [{sql: 'SELECT upper(s) AS k FROM source'}]\n"
    agreed = contract(body, "source: {location: in.csv}\n")
    assert told(agreed, tmp_path) == ["the steps read 's', which no field declares, so the order of the header is not known"]


@pytest.mark.parametrize("policy", ["accept", "reject"])
def test_columns_that_only_the_data_tells_are_no_finding(tmp_path: Path, policy: str) -> None:
    source = f"source: {{format: json, location: in.jsonl}}\nschema_policy: {{extra_fields: {policy}}}\n"
    agreed = contract("fields: [{name: n, type: int}]\ntransformations: [{filter: {sql: s = 'a'}}]\n", source)
    assert told(agreed, tmp_path) == []
    assert ran(agreed, tmp_path) == "published"
