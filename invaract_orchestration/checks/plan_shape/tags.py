"""forbid_tag_in_output: no output column derives from an input field that carries one of the tags."""

from __future__ import annotations

from invaract_orchestration.candidate.plan.lineage import output_lineage
from invaract_orchestration.candidate.plan.nodes import Plan, UnknownPlan
from invaract_orchestration.candidate.plan.sensitivity import Tags, tags_of
from invaract_orchestration.candidate.plan.traverse import post_order
from invaract_orchestration.checks.plan_shape.finding import PlanFinding, broken, kept, quoted, unverifiable
from invaract_orchestration.contract.plan_rules import ForbidTagInOutput


def judge_tags(rule: ForbidTagInOutput, plan: Plan, tags: Tags) -> PlanFinding:
    """Broken by a tagged output column; unverifiable where a column's past is hidden."""
    lineage = output_lineage(plan)
    forbidden = {tag.lower() for tag in rule.tags}
    carried = {name: {t for t in tags_of(one, tags) if t.lower() in forbidden} for name, one in lineage.items()}
    tainted = {name: found for name, found in carried.items() if found}
    if tainted:
        said = "; ".join(f"{name!r} carries {quoted(found)}" for name, found in sorted(tainted.items()))
        return broken(
            f"{len(tainted)} output column{'s' * (len(tainted) > 1)} with a forbidden tag: {said}",
            hint="leave the column out, or derive it from fields without the tag",
            at=plan,
        )
    unseen = next((node for node in post_order(plan) if isinstance(node, UnknownPlan) and node.hides), None)
    if unseen is not None and not lineage:
        return unverifiable("the plan is hidden, so the tags of its output are not known", at=unseen)
    hidden = sorted(name for name, one in lineage.items() if one.hidden)
    if hidden:
        return unverifiable(f"the past of {quoted(hidden)} is hidden, so its tags are not known", at=plan)
    return kept(f"no output column carries {quoted(rule.tags)}")
