"""MERGE, UPDATE and DELETE, and tags in the output."""

from __future__ import annotations

from typing import Any

import pytest

from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import PlanFinding, judge_plan_rule
from invaract_orchestration.contract.field_types import Struct, parse_type
from tests.plan.cases import RULES

SCHEMAS = {
    "gold.orders": Struct((("order_id", parse_type("bigint")), ("amount", parse_type("int")), ("day", parse_type("date")))),
    "batch": Struct((("order_id", parse_type("bigint")), ("amount", parse_type("int")), ("email", parse_type("string")))),
}
MATCH = {"type": "merge_condition", "columns": ["order_id"]}
NO_BARE_DELETE = {"type": "forbid_unconditional_delete"}
ONLY_AMOUNT = {"type": "allowed_update_columns", "columns": ["amount"]}
MERGE = "MERGE INTO gold.orders t USING batch s ON "


def judged(rule: dict[str, Any], sql: str) -> PlanFinding:
    return judge_plan_rule(RULES.validate_python(rule), translate_sql(sql, SCHEMAS).plan)


@pytest.mark.parametrize(
    ("rule", "sql", "outcome"),
    [
        (MATCH, MERGE + "t.order_id = s.order_id WHEN MATCHED THEN DELETE", "kept"),
        (MATCH, MERGE + "t.order_id = s.order_id AND t.day = current_date() WHEN MATCHED THEN DELETE", "kept"),
        (MATCH, MERGE + "t.order_id = s.order_id OR t.amount = s.amount WHEN MATCHED THEN DELETE", "broken"),
        (MATCH, MERGE + "t.amount = s.amount WHEN MATCHED THEN DELETE", "broken"),
        (MATCH, MERGE + "t.order_id = 7 AND s.order_id = 7 WHEN MATCHED THEN DELETE", "broken"),
        (MATCH, "INSERT INTO gold.orders SELECT order_id, amount, current_date() FROM batch", "broken"),
        (MATCH, "CALL system.publish()", "unverifiable"),
        (NO_BARE_DELETE, "DELETE FROM gold.orders", "broken"),
        (NO_BARE_DELETE, "TRUNCATE TABLE gold.orders", "broken"),
        (NO_BARE_DELETE, "DELETE FROM gold.orders WHERE 1 = 1", "broken"),
        (NO_BARE_DELETE, "DELETE FROM gold.orders WHERE order_id = order_id", "broken"),
        (NO_BARE_DELETE, "DELETE FROM gold.orders WHERE amount < 0", "kept"),
        (NO_BARE_DELETE, MERGE + "t.order_id = s.order_id WHEN NOT MATCHED BY SOURCE THEN DELETE", "broken"),
        (
            NO_BARE_DELETE,
            MERGE + "t.order_id = s.order_id WHEN NOT MATCHED BY SOURCE AND t.amount < 0 THEN DELETE",
            "kept",
        ),
        (NO_BARE_DELETE, MERGE + "t.order_id = s.order_id WHEN MATCHED THEN DELETE", "kept"),
        (NO_BARE_DELETE, "SELECT order_id FROM batch", "kept"),
        (ONLY_AMOUNT, "UPDATE gold.orders SET amount = 0 WHERE amount < 0", "kept"),
        (ONLY_AMOUNT, "UPDATE gold.orders SET amount = 0, day = current_date()", "broken"),
        (ONLY_AMOUNT, MERGE + "t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET t.AMOUNT = s.amount", "kept"),
        (ONLY_AMOUNT, MERGE + "t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET *", "broken"),
        (ONLY_AMOUNT, "MERGE INTO away USING batch s ON true WHEN MATCHED THEN UPDATE SET *", "unverifiable"),
        (ONLY_AMOUNT, MERGE + "t.order_id = s.order_id WHEN NOT MATCHED THEN INSERT *", "kept"),
    ],
)
def test_row_level_statement_has_its_outcome(rule: dict[str, Any], sql: str, outcome: str) -> None:
    assert judged(rule, sql).outcome == outcome


def test_update_finding_names_the_column_and_the_line() -> None:
    finding = judged(ONLY_AMOUNT, "UPDATE\n gold.orders SET day = current_date()")
    assert finding.reason == "the statement updates 'day'; allowed 'amount'"
    assert finding.line == 2


@pytest.mark.parametrize(
    ("sql", "outcome"),
    [
        ("SELECT order_id, upper(email) AS e FROM batch", "broken"),
        ("SELECT order_id FROM batch WHERE email = 'x'", "kept"),
        ("SHOW TABLES", "unverifiable"),
    ],
)
def test_tag_in_the_output_is_judged(sql: str, outcome: str) -> None:
    rule = RULES.validate_python({"type": "forbid_tag_in_output", "tags": ["PII"]})
    finding = judge_plan_rule(rule, translate_sql(sql, SCHEMAS).plan, tags={"batch.email": ["pii"]})
    assert finding.outcome == outcome


def test_custom_rule_that_is_not_installed_is_unverifiable() -> None:
    finding = judged({"type": "custom", "rule": "no_such_rule"}, "SELECT order_id FROM batch")
    assert finding.outcome == "unverifiable"
    assert finding.reason == "the plan rule 'no_such_rule' is not installed"
