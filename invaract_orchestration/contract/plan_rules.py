"""The rules on the shape of a transformation's plan, as a contract's `rules` list spells them.

Each entry is told apart by its `type`. What a rule means is judged in `checks.plan_shape`; here stands only what can be
written. Every rule is closed: an unknown key is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Scope = Literal["any", "final", "every_branch"]
"""Where a required fact must stand: on some node, on the outermost nodes of its kind, or in each UNION branch."""


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in names:
        if not name.strip():
            raise ValueError("a name is blank")
        if name.lower() in seen:
            raise ValueError(f"{name!r} is there twice")
        seen.add(name.lower())
    return names


Names = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_distinct)]


class _PlanRule(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str | None = Field(default=None, min_length=1, description="The rule's id in reports; its type by default.")
    severity: Literal["error", "warn"] = Field(default="error", description="warn is recorded and never blocks.")


class RequiredGroupBy(_PlanRule):
    """Some single aggregation groups by every listed column; more keys are fine."""

    type: Literal["required_group_by"]
    columns: Names
    scope: Scope = "any"
    allow_expressions: bool = Field(
        default=False, description="A key built from the column counts, not only the column."
    )


class ForbidCrossJoin(_PlanRule):
    """No join pairs every row of one input with every row of another."""

    type: Literal["forbid_cross_join"]
    allow_single_row: bool = Field(
        default=False, description="An input of at most one row by construction is no offence."
    )


class RequiredJoinColumns(_PlanRule):
    """One join guarantees an equality between its two inputs on every listed column."""

    type: Literal["required_join_columns"]
    columns: Names
    scope: Scope = "any"


class RequiredFilterColumns(_PlanRule):
    """Every listed column is read by at least one filter of the main plan."""

    type: Literal["required_filter_columns"]
    columns: Names
    scope: Scope = "any"


class MergeCondition(_PlanRule):
    """Every MERGE matches target and source rows by an equality on every listed column."""

    type: Literal["merge_condition"]
    columns: Names


class ForbidUnconditionalDelete(_PlanRule):
    """No DELETE, nor a MERGE's DELETE of target rows without a match, takes every row it meets."""

    type: Literal["forbid_unconditional_delete"]


class AllowedUpdateColumns(_PlanRule):
    """An UPDATE, alone or as part of a MERGE, sets only the listed columns."""

    type: Literal["allowed_update_columns"]
    columns: Names


class ForbidTagInOutput(_PlanRule):
    """No output column derives from an input field that carries one of the listed sensitivity tags."""

    type: Literal["forbid_tag_in_output"]
    tags: Names


class CustomPlanRule(_PlanRule):
    """A rule of the user's own: an entry point of the group `invaract.plan_rules`."""

    type: Literal["custom"]
    rule: str = Field(min_length=1, description="The name of the entry point.")
    options: dict[str, Any] = Field(default_factory=dict, description="Handed to the rule as they are.")


PlanRule = Annotated[
    RequiredGroupBy
    | ForbidCrossJoin
    | RequiredJoinColumns
    | RequiredFilterColumns
    | MergeCondition
    | ForbidUnconditionalDelete
    | AllowedUpdateColumns
    | ForbidTagInOutput
    | CustomPlanRule,
    Field(discriminator="type"),
]
