"""Whether a transformation's plan has the shape that its contract asks for, judged before any row is read."""

from invaract_orchestration.checks.plan_shape.finding import PlanFinding, broken, kept, unverifiable
from invaract_orchestration.checks.plan_shape.judge import judge_plan_rule

__all__ = ["PlanFinding", "broken", "judge_plan_rule", "kept", "unverifiable"]
