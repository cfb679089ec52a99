"""A step of a client's plan, translated: its plan, the columns that can be seen, and what the names of the client mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from invaract_orchestration.candidate.plan.expressions import Alias, Attribute, ColumnReference, Expression, passed, reference
from invaract_orchestration.candidate.plan.nodes import Plan, Project
from invaract_orchestration.candidate.plan.rule_names import split_name
from invaract_orchestration.candidate.plan.sql.scope import Relation, Scope, Session, stepped_into
from invaract_orchestration.candidate.plan.sql.values import expression_type


@dataclass(slots=True)
class Frame:
    """`columns` are the visible ones in order, `origins` those of each client plan below by its id."""

    plan: Plan
    columns: tuple[Attribute, ...]
    qualifiers: dict[int, tuple[str, ...]] = field(default_factory=dict)
    origins: dict[int, tuple[Attribute, ...]] = field(default_factory=dict)

    def scope(self, session: Session, around: Frame | None) -> Scope:
        """The names that an expression over the frame can read."""
        by_alias: dict[tuple[str, ...], list[Attribute]] = {}
        for attribute in self.columns:
            by_alias.setdefault(self.qualifiers.get(attribute.id, ()), []).append(attribute)
        relations = [Relation(alias, tuple(columns)) for alias, columns in by_alias.items()]
        parent = None if around is None else around.scope(session, None)
        return Scope(session, relations, parent=parent)

    def column(self, name: str, plan_id: int | None, scope: Scope, around: Frame | None) -> Expression | None:
        """The column of a name, of a certain frame below where the client says which."""
        parts, folded = split_name(name), scope.session.folded
        below: list[Attribute] = []
        for frame, is_outer in ((self, False), (around, True)):
            if plan_id is None or frame is None or plan_id not in frame.origins:
                continue
            there = {a.id for a in frame.plan.output}
            named = [a for a in frame.origins[plan_id] if folded(a.name) == folded(parts[0])]
            seen = next((a for a in named if a.id in there), None)
            if seen is not None:
                return stepped_into(reference(seen, outer=is_outer), parts[1:])
            below.extend(named)
        found = scope.resolve(parts)
        # a filter and a sort may read what a select between left out
        return found or (stepped_into(reference(below[0]), parts[1:]) if below else None)

    def starred(self, node: Any) -> tuple[Attribute, ...] | None:
        """The columns that a client's `*` stands for; null where it names none of the inputs."""
        if node._plan_id is not None and node._plan_id in self.origins:
            return self.origins[node._plan_id]
        target = str(node._unparsed_target or "").removesuffix(".*").lower()
        found = tuple(a for a in self.columns if not target or self.qualifiers.get(a.id) == (target,))
        return found if found or not target else None

    def shown(self) -> Plan:
        """The plan with the visible columns alone, in their order: what a step gets that reads whole rows."""
        if self.columns == self.plan.output:
            return self.plan
        return Project(child=self.plan, items=tuple(passed(a) for a in self.columns))

    def over(self, plan: Plan, columns: tuple[Attribute, ...] | None = None) -> Frame:
        """The frame of the next step, with what is remembered of the columns that are still there."""
        return Frame(plan, plan.output if columns is None else columns, dict(self.qualifiers), dict(self.origins))

    def renewed(self, session: Session) -> Frame:
        """The same frame under new column ids, for the second side of a join."""
        fresh = {a.id: session.attribute(a.name, a.type) for a in self.plan.output}
        items = tuple(Alias(fresh[a.id], reference(a)) for a in self.plan.output)

        def changed(columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
            return tuple(Attribute(fresh[a.id].id, a.name, a.type) if a.id in fresh else a for a in columns)

        return Frame(
            Project(child=self.plan, items=items),
            changed(self.columns),
            {fresh[i].id: alias for i, alias in self.qualifiers.items() if i in fresh},
            {plan_id: changed(columns) for plan_id, columns in self.origins.items()},
        )


def item_of(name: str, expression: Expression, session: Session) -> Alias:
    """The expression put out under a name; a column that keeps its name keeps its id."""
    is_plain = isinstance(expression, ColumnReference) and not expression.path and not expression.outer
    if is_plain and isinstance(expression, ColumnReference) and session.folded(expression.name) == session.folded(name):
        return Alias(Attribute(expression.id, name, expression.type), expression)
    return Alias(session.attribute(name, expression_type(expression)), expression)


def plan_ids(node: Any) -> set[int]:
    """The ids by which a client's columns mean a step."""
    found = (getattr(node, "_root_plan_id", None), getattr(node, "_plan_id", None))
    return {int(one) for one in found if one is not None}
