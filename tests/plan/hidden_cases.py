"""Plans with a part that cannot be seen into, and the outcome of a rule on each."""

from __future__ import annotations

from typing import Any

from invaract_orchestration.candidate.plan.expressions import (
    AggregateCall,
    Alias,
    Attribute,
    Comparison,
    Function,
    Literal,
    UnknownExpression,
    passed,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import (
    Aggregate,
    Filter,
    Generate,
    Join,
    Plan,
    Project,
    Read,
    Sample,
    Union,
    UnknownPlan,
)

A, B, C, D = (Attribute(n, name) for n, name in enumerate("abcd"))
SEEN = Read(dataset="t", columns=(A, B))
OTHER = Read(dataset="u", columns=(C, D))
HIDDEN_LEAF = UnknownPlan(description="a checkpoint", source_type="spark", columns=(A, B))
HIDDEN_OTHER = UnknownPlan(description="a checkpoint", source_type="spark", columns=(C, D))
GROUP = {"type": "required_group_by", "columns": ["a"]}
FILTER = {"type": "required_filter_columns", "columns": ["a"]}
JOIN = {"type": "required_join_columns", "columns": ["a"]}
CROSS = {"type": "forbid_cross_join"}
NO_PII = {"type": "forbid_tag_in_output", "tags": ["pii"]}  # which t.a carries


def filtered(child: Plan, column: Attribute = A) -> Plan:
    return Filter(child=child, condition=Comparison(">", reference(column), Literal(0)))


def grouped(child: Plan, *keys: Attribute) -> Plan:
    total = Alias(Attribute(9, "n"), AggregateCall("COUNT"))
    return Aggregate(child=child, keys=tuple(map(reference, keys)), items=(*map(passed, keys), total))


def joined(left: Plan, right: Plan, one: Attribute = A, other: Attribute = C) -> Plan:
    return Join(left=left, right=right, kind="inner", condition=Comparison("=", reference(one), reference(other)))


def united(*branches: Plan) -> Plan:
    return Union(branches=branches, columns=branches[0].output)


def step(child: Plan, *, hides: bool) -> Plan:
    return UnknownPlan(description="step", source_type="test", inputs=(child,), columns=child.output, hides=hides)


def with_scope(rule: dict[str, Any], scope: str) -> dict[str, Any]:
    return {**rule, "scope": scope}


HIDDEN: list[tuple[dict[str, Any], Plan, str]] = [
    (GROUP, HIDDEN_LEAF, "unverifiable"),
    (GROUP, grouped(HIDDEN_LEAF, B), "unverifiable"),
    (GROUP, grouped(HIDDEN_LEAF, A), "kept"),
    (GROUP, step(SEEN, hides=False), "broken"),
    (GROUP, step(SEEN, hides=True), "unverifiable"),
    (with_scope(GROUP, "final"), grouped(HIDDEN_LEAF, B), "broken"),
    (with_scope(GROUP, "final"), joined(grouped(SEEN, A), HIDDEN_OTHER), "unverifiable"),
    (with_scope(GROUP, "final"), joined(grouped(SEEN, A), OTHER), "kept"),
    (with_scope(GROUP, "final"), joined(grouped(SEEN, B), HIDDEN_OTHER, B), "broken"),
    (with_scope(GROUP, "final"), HIDDEN_LEAF, "unverifiable"),
    (with_scope(GROUP, "final"), SEEN, "broken"),
    (with_scope(GROUP, "every_branch"), HIDDEN_LEAF, "unverifiable"),
    (with_scope(GROUP, "every_branch"), grouped(SEEN, A), "kept"),
    (with_scope(FILTER, "every_branch"), united(filtered(SEEN), HIDDEN_LEAF), "unverifiable"),
    (with_scope(FILTER, "every_branch"), united(SEEN, HIDDEN_LEAF), "broken"),
    (with_scope(FILTER, "every_branch"), united(HIDDEN_LEAF, SEEN), "broken"),
    (with_scope(FILTER, "every_branch"), united(filtered(SEEN), filtered(HIDDEN_LEAF)), "kept"),
    (with_scope(FILTER, "every_branch"), united(filtered(SEEN), united(SEEN, filtered(SEEN))), "broken"),
    (with_scope(FILTER, "every_branch"), filtered(united(SEEN, HIDDEN_LEAF)), "kept"),
    (with_scope(FILTER, "any"), united(SEEN, HIDDEN_LEAF), "unverifiable"),
    (with_scope(FILTER, "final"), filtered(HIDDEN_LEAF, B), "broken"),
    (with_scope({**FILTER, "columns": ["a", "b"]}, "every_branch"), filtered(united(filtered(SEEN, B), SEEN)), "broken"),
    (
        with_scope({**FILTER, "columns": ["a", "b"]}, "every_branch"),
        filtered(united(filtered(SEEN, B), filtered(SEEN, B))),
        "kept",
    ),
    (with_scope(FILTER, "every_branch"), united(joined(SEEN, HIDDEN_OTHER), joined(filtered(SEEN), OTHER)), "unverifiable"),
    (JOIN, joined(HIDDEN_LEAF, OTHER, B, D), "unverifiable"),
    (JOIN, joined(SEEN, HIDDEN_OTHER), "kept"),
    (with_scope(JOIN, "every_branch"), united(joined(SEEN, OTHER), joined(SEEN, OTHER, B, D)), "broken"),
    (CROSS, HIDDEN_LEAF, "unverifiable"),
    (CROSS, step(SEEN, hides=False), "kept"),
    (CROSS, step(SEEN, hides=True), "unverifiable"),
    (
        CROSS,
        UnknownPlan(description="cogroup", source_type="code", inputs=(SEEN, OTHER), columns=(A,), hides=False),
        "unverifiable",
    ),
    (CROSS, Join(left=HIDDEN_LEAF, right=OTHER, kind="cross"), "broken"),
    (CROSS, Join(left=SEEN, right=HIDDEN_OTHER, kind="inner", lateral=True), "broken"),
    (CROSS, filtered(Join(left=Sample(child=SEEN), right=OTHER, kind="inner")), "broken"),
    (
        CROSS,
        Filter(
            child=Generate(
                child=Join(left=SEEN, right=OTHER, kind="inner"),
                generator=Function("explode", (reference(B),)),
                columns=(Attribute(8, "e"),),
            ),
            condition=Comparison("=", reference(A), reference(C)),
        ),
        "kept",
    ),
    (
        CROSS,
        Filter(
            child=Sample(child=Join(left=SEEN, right=OTHER, kind="inner")), condition=Comparison("=", reference(A), reference(C))
        ),
        "broken",
    ),
    (NO_PII, SEEN, "broken"),
    (NO_PII, OTHER, "kept"),
    (NO_PII, HIDDEN_LEAF, "unverifiable"),
    (NO_PII, UnknownPlan(description="a checkpoint", source_type="spark"), "unverifiable"),
    (NO_PII, joined(OTHER, HIDDEN_LEAF, C, A), "unverifiable"),
    (NO_PII, joined(SEEN, HIDDEN_OTHER), "broken"),
    (NO_PII, step(OTHER, hides=False), "kept"),
    (NO_PII, step(OTHER, hides=True), "unverifiable"),
    (NO_PII, step(SEEN, hides=False), "broken"),
    (NO_PII, Project(child=OTHER, items=(Alias(A, UnknownExpression("column x")),)), "unverifiable"),
    (NO_PII, Project(child=OTHER, items=(Alias(A, UnknownExpression("odd", (reference(C),))),)), "kept"),
    (NO_PII, UnknownPlan(description="step", source_type="code", inputs=(OTHER,), hides=False), "kept"),
]
