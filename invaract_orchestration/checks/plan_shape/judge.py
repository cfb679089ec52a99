"""One rule, one plan, one finding."""

from __future__ import annotations

from typing import assert_never

from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.plan.sensitivity import Tags
from invaract_orchestration.checks.plan_shape.columns import Names
from invaract_orchestration.checks.plan_shape.cross_join import judge_cross_join
from invaract_orchestration.checks.plan_shape.custom import judge_custom
from invaract_orchestration.checks.plan_shape.filter_columns import judge_filter_columns
from invaract_orchestration.checks.plan_shape.finding import PlanFinding
from invaract_orchestration.checks.plan_shape.group_by import judge_group_by
from invaract_orchestration.checks.plan_shape.join_columns import judge_join_columns
from invaract_orchestration.checks.plan_shape.row_level import (
    judge_merge_condition,
    judge_unconditional_delete,
    judge_update_columns,
)
from invaract_orchestration.checks.plan_shape.tags import judge_tags
from invaract_orchestration.contract.plan_rules import (
    AllowedUpdateColumns,
    CustomPlanRule,
    ForbidCrossJoin,
    ForbidTagInOutput,
    ForbidUnconditionalDelete,
    MergeCondition,
    PlanRule,
    RequiredFilterColumns,
    RequiredGroupBy,
    RequiredJoinColumns,
)

_NO_TAGS: Tags = {}


def judge_plan_rule(rule: PlanRule, plan: Plan, *, case_sensitive: bool = False, tags: Tags = _NO_TAGS) -> PlanFinding:
    """Whether the plan keeps the rule. `tags` are the sensitivity tags of the input fields, by `table.column`."""
    match rule:
        case RequiredGroupBy():
            return judge_group_by(rule, plan, Names.of(plan, case_sensitive=case_sensitive))
        case ForbidCrossJoin():
            return judge_cross_join(rule, plan)
        case RequiredJoinColumns():
            return judge_join_columns(rule, plan, Names.of(plan, case_sensitive=case_sensitive))
        case RequiredFilterColumns():
            return judge_filter_columns(rule, plan, Names.of(plan, case_sensitive=case_sensitive))
        case MergeCondition():
            return judge_merge_condition(rule, plan, Names.of(plan, case_sensitive=case_sensitive))
        case ForbidUnconditionalDelete():
            return judge_unconditional_delete(rule, plan)
        case AllowedUpdateColumns():
            return judge_update_columns(rule, plan, case_sensitive=case_sensitive)
        case ForbidTagInOutput():
            return judge_tags(rule, plan, tags)
        case CustomPlanRule():
            return judge_custom(rule, plan)
        case _:
            assert_never(rule)
