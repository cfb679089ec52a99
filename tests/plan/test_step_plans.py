"""Rules on the steps that a contract declares: the plan of a step is what it says, not how the gate writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from invaract_orchestration.cli import app, console

ARRIVES = {
    "order_id": "int", "customer_id": "int", "amount": "decimal(12,2)", "region": "string", "status": "string",
}  # fmt: skip
LINK = {"name": "cust", "location": "cust.csv", "format": "csv", "fields": {"customer_id": "int"}}
GROUP = {"type": "required_group_by"}
FILTER = {"type": "required_filter_columns"}
JOIN = {"type": "required_join_columns"}
CROSS = {"type": "forbid_cross_join"}
ROLLUP = {"rollup": {"group_by": ["customer_id"], "aggregations": {"total": "sum(amount)"}}}
BY_KEY = {"join": {"reference": "cust", "on": ["customer_id"], "key": ["customer_id"], "fields": ["name"]}}
DEDUPLICATE = {"deduplicate": {"on": ["customer_id", "region"], "sort_by": ["order_id"]}}
PIVOT = {"pivot": {"id_vars": ["customer_id"], "pivot_col": "region", "value_cols": ["amount"], "values": ["EU"], "agg": "sum"}}
TOTALS = {"customer_id": "int", "total": "decimal(22,2)"}
NAMES = {"order_id": "int", "name": "string"}
RENAMED = [{"rename": {"mappings": {"status": "state"}}}, {"filter": {"sql": "state = 'a'"}}]
COMMA = "SELECT s.order_id, c.name FROM source s, cust c WHERE s.customer_id = c.customer_id"
WITHOUT_ON = "SELECT s.order_id, c.name FROM source s JOIN cust c WHERE s.customer_id = c.customer_id"


@pytest.mark.parametrize(
    ("steps", "fields", "rule", "columns", "outcome"),
    [
        ([{"filter": {"sql": "status <> 'gone'"}}], {"order_id": "int"}, FILTER, "status", "kept"),
        ([{"filter": {"sql": "status <> 'gone'"}}], {"order_id": "int"}, FILTER, "region", "broken"),
        (RENAMED, {"order_id": "int"}, FILTER, "status", "broken"),
        ([ROLLUP], TOTALS, GROUP, "customer_id", "kept"),
        ([ROLLUP], TOTALS, GROUP, "region", "broken"),
        ([PIVOT], {"customer_id": "int", "EU": "decimal(22,2)"}, GROUP, "customer_id", "kept"),
        ([DEDUPLICATE], {"order_id": "int"}, GROUP, "customer_id", "broken"),
        ([DEDUPLICATE], {"order_id": "int"}, FILTER, "customer_id", "broken"),
        ([DEDUPLICATE], {"order_id": "int"}, FILTER, "region", "broken"),
        ([BY_KEY], NAMES, JOIN, "customer_id", "kept"),
        ([BY_KEY], NAMES, CROSS, None, "kept"),
        ([{"sql": COMMA}], NAMES, CROSS, None, "kept"),
        ([{"sql": COMMA}], NAMES, JOIN, "customer_id", "kept"),
        ([{"sql": COMMA.partition(" WHERE")[0]}], NAMES, CROSS, None, "broken"),
        ([{"sql": WITHOUT_ON}], NAMES, CROSS, None, "kept"),
        ([{"sql": WITHOUT_ON.replace(" JOIN", " CROSS JOIN")}], NAMES, CROSS, None, "broken"),
        ([{"sql": WITHOUT_ON.replace("WHERE", "ON true WHERE")}], NAMES, CROSS, None, "broken"),
    ],
)
def test_declared_steps_have_the_outcome_of_what_they_say(
    steps: list[dict[str, Any]], fields: dict[str, str], rule: dict[str, Any], columns: str | None, outcome: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    contract = {
        "contract": "orders", "version": "1.0.0",
        "source": {"location": "o.csv", "fields": [{"name": n, "type": t} for n, t in ARRIVES.items()]},
        "fields": [{"name": n, "type": t} for n, t in fields.items()],
        "links": [LINK], "transformations": steps,
        "rules": [rule if columns is None else {**rule, "columns": [columns]}],
        "publish": {"target": "./out", "mode": "overwrite"},
    }  # fmt: skip
    Path("o.csv").write_text("order_id,customer_id,amount,region,status\n1,10,5.00,EU,a\n", encoding="utf-8")
    Path("cust.csv").write_text("customer_id,name\n10,ann\n", encoding="utf-8")
    Path("orders.yaml").write_text(yaml.safe_dump(contract, sort_keys=False), encoding="utf-8")
    console._console.cache_clear()  # it holds the streams of the test before
    app.call(("explain", "orders.yaml", "--output", "json"))
    (judged,) = json.loads(capsys.readouterr().out)["rules"]
    assert judged["outcome"] == outcome
