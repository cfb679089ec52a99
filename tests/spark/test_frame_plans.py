"""A frame that is handed in is judged by its own plan, before a row of it is read."""

from __future__ import annotations

from typing import Any

from tests.spark.lakes import EngineLake

RULES = "rules: [{type: forbid_cross_join}, {type: required_group_by, columns: [id]}]\n"


def test_frame_with_a_cross_join_is_rejected_by_its_plan(spark: Any, lake: EngineLake) -> None:
    one, other = spark.range(3), spark.range(2).withColumnRenamed("id", "n")
    contract = lake.contract("{name: id, type: bigint}\n{name: n, type: bigint}", more=RULES)
    result = lake.run(contract, frame=one.crossJoin(other), submission_id="crossed")
    assert result.state == "rejected"
    assert {c.check: c.outcome for c in result.checks if c.stage == "plan"} == {
        "plan|forbid_cross_join": "broken", "plan|required_group_by": "broken",
    }  # fmt: skip


def test_frame_that_keeps_its_rules_is_published(spark: Any, lake: EngineLake) -> None:
    grouped = spark.range(4).groupBy("id").count()
    contract = lake.contract("{name: id, type: bigint}\n{name: count, type: bigint}", more=RULES)
    result = lake.run(contract, frame=grouped, submission_id="grouped")
    assert result.state == "published", result.message
