"""Rules of the user's own: entry points of the group `invaract.plan_rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from typing import Any

from invaract_orchestration.candidate.plan.nodes import Plan, UnknownPlan
from invaract_orchestration.candidate.plan.traverse import post_order
from invaract_orchestration.checks.plan_shape.finding import PlanFinding, kept, unverifiable
from invaract_orchestration.contract.plan_rules import CustomPlanRule

GROUP = "invaract.plan_rules"
OwnRule = Callable[..., Iterable[PlanFinding]]
_WORST = ("kept", "unverifiable", "broken")


def judge_custom(rule: CustomPlanRule, plan: Plan) -> PlanFinding:
    """The worst of what the user's rule finds; none: kept, if nothing is hidden. A rule that fails decides nothing."""
    found = {point.value: point for point in entry_points(group=GROUP) if point.name == rule.rule}
    if len(found) != 1:
        said = "is not installed" if not found else f"is named by several packages: {', '.join(sorted(found))}"
        return unverifiable(
            f"the plan rule {rule.rule!r} {said}", hint=f"install the one package whose {GROUP} names it"
        )
    try:
        judge: OwnRule = next(iter(found.values())).load()
        findings = list(judge(plan, **_options(rule)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the user's code raises, the rule could not be judged
        return unverifiable(
            f"the plan rule {rule.rule!r} failed with {type(error).__name__}", hint="mend the rule's own code"
        )
    if not all(isinstance(one, PlanFinding) and one.outcome in _WORST for one in findings):
        return unverifiable(f"the plan rule {rule.rule!r} gave no PlanFinding", hint="return PlanFinding values")
    hidden = next((node for node in post_order(plan) if isinstance(node, UnknownPlan) and node.hides), None)
    if not findings and hidden is not None:
        return unverifiable(f"{rule.rule} found nothing in sight, and a step hides what it is made of", at=hidden)
    return max(findings, key=lambda one: _WORST.index(one.outcome), default=kept(f"{rule.rule} found nothing"))


def _options(rule: CustomPlanRule) -> dict[str, Any]:
    return dict(rule.options)
