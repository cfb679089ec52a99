"""The rules on row changes, judged on the statement with which each mode publishes."""

from __future__ import annotations

from typing import Any

import pytest

from invaract_orchestration.candidate.compiled import CompiledPlan
from invaract_orchestration.candidate.plan.nodes import Read
from invaract_orchestration.checks.plan_rules import judge_plan_rules
from invaract_orchestration.contract.load import load_contract_text

CONTRACT = """
contract: orders
version: "1.0.0"
source: {{format: csv, location: in/*.csv}}
fields:
  - {{name: order_id, type: bigint, required: true}}
  - {{name: amount, type: int}}
  - {{name: day, type: date}}
publish: {{target: lake.gold.orders, {publish}}}
rules: [{rule}]
"""
MATCH = "{type: merge_condition, columns: [order_id]}"
MATCH_OF_THE_TABLE = "{type: merge_condition, columns: [gold.orders.order_id]}"
NO_BARE_DELETE = "{type: forbid_unconditional_delete}"
SETS_ALL = "{type: allowed_update_columns, columns: [order_id, orders.amount, day]}"
SETS_SOME = "{type: allowed_update_columns, columns: [amount]}"
SETS_ANOTHER_TABLES = "{type: allowed_update_columns, columns: [order_id, customers.amount, day]}"
CLOSES = "{type: allowed_update_columns, columns: [valid_to, is_current]}"
MERGE = "mode: merge, keys: [order_id]"
VERSIONS = "mode: scd2, keys: [order_id]"
PARTITIONS = "mode: replace_partitions, partition_by: [day]"


def outcome(publish: str, rule: str) -> Any:
    contract = load_contract_text(CONTRACT.format(publish=publish, rule=rule))
    compiled = CompiledPlan(plan=Read(dataset="in", columns=()), inputs={})
    return [one.outcome for one in judge_plan_rules(contract, compiled) if one.check.startswith("plan|")][-1]


@pytest.mark.parametrize(
    ("publish", "rule", "expected"),
    [
        (MERGE, MATCH, "kept"),
        (MERGE, MATCH_OF_THE_TABLE, "kept"),
        ("mode: merge, keys: [day]", MATCH, "broken"),
        (VERSIONS, MATCH, "kept"),
        ("mode: append", MATCH, "broken"),
        ("mode: append", NO_BARE_DELETE, "kept"),
        ("mode: overwrite", NO_BARE_DELETE, "broken"),
        (MERGE, NO_BARE_DELETE, "kept"),
        (VERSIONS, NO_BARE_DELETE, "kept"),
        (PARTITIONS, NO_BARE_DELETE, "kept"),
        ("mode: replace_where, where: 'amount > 3'", NO_BARE_DELETE, "kept"),
        ("mode: replace_where, where: 'amount = amount'", NO_BARE_DELETE, "broken"),
        (MERGE, SETS_ALL, "kept"),
        (MERGE, SETS_SOME, "broken"),
        (MERGE, SETS_ANOTHER_TABLES, "broken"),
        (VERSIONS, CLOSES, "kept"),
        (VERSIONS, SETS_SOME, "broken"),
        (PARTITIONS, SETS_SOME, "kept"),
    ],
)
def test_publishing_statement_has_its_outcome(publish: str, rule: str, expected: str) -> None:
    assert outcome(publish, rule) == expected
