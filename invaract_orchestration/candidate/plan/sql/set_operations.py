"""UNION, INTERSECT and EXCEPT: by position or by name, with the casts that bring the sides to one type."""

from __future__ import annotations

from typing import Literal as OneOf

from invaract_orchestration.candidate.plan.expressions import Alias, Attribute, Cast, Expression, Literal, reference
from invaract_orchestration.candidate.plan.nodes import Distinct, Plan, Project, SetOperation, Union, UnknownPlan
from invaract_orchestration.candidate.plan.sql.scope import Session
from invaract_orchestration.candidate.plan.type_widening import common_type
from invaract_orchestration.contract.field_types import FieldType

SetWord = OneOf["UNION", "INTERSECT", "EXCEPT"]


class SetOperations:
    """Combines plans."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def combined(
        self, word: SetWord, left: Plan, right: Plan, *, is_distinct: bool, is_by_name: bool, line: int | None = None
    ) -> Plan:
        """The set operation of two plans; sides of different widths make an unknown step."""
        if is_by_name:
            left, right = self._by_name(left, right)
        if word == "UNION":
            united = self.united(left, right, line=line)
            return Distinct(child=united, line=line) if is_distinct else united
        if len(left.output) != len(right.output):
            return self._unlike(left, right, line)
        left, right, columns = self._aligned(left, right)
        return SetOperation(operator=word, left=left, right=right, columns=columns, line=line)

    def united(self, left: Plan, right: Plan, *, line: int | None = None, again: Plan | None = None) -> Plan:
        """UNION ALL by position. `again`: what the right side of a recursive query reads for the whole."""
        if len(left.output) != len(right.output):
            return self._unlike(left, right, line)
        left, right, columns = self._aligned(left, right)
        return Union(branches=(left, right), columns=columns, line=line, again=again)

    def _unlike(self, left: Plan, right: Plan, line: int | None) -> Plan:
        self._session.lose("plan.set_operation_width", "the sides of a set operation differ in width")
        return UnknownPlan(description="set operation", source_type="sql", inputs=(left, right), columns=left.output, line=line)

    def _aligned(self, left: Plan, right: Plan) -> tuple[Plan, Plan, tuple[Attribute, ...]]:
        """Both sides with the types in which they meet, and the columns that they make."""
        pairs = list(zip(left.output, right.output, strict=True))
        types = [common_type(a.type, b.type) if a.type and b.type else a.type or b.type for a, b in pairs]
        columns = tuple(self._session.attribute(a.name, t) for (a, _), t in zip(pairs, types, strict=True))
        known = [bool(a.type and b.type) for a, b in pairs]
        return self._cast_to(left, types, known), self._cast_to(right, types, known), columns

    def _cast_to(self, plan: Plan, types: list[FieldType | None], known: list[bool]) -> Plan:
        if all(not is_known or a.type == t for a, t, is_known in zip(plan.output, types, known, strict=True)):
            return plan
        items = []
        for a, t, is_known in zip(plan.output, types, known, strict=True):
            value: Expression = reference(a)
            is_changed = is_known and a.type != t
            attribute = self._session.attribute(a.name, t) if is_changed else a
            items.append(Alias(attribute, Cast(value, t, a.type) if is_changed else value))
        return Project(child=plan, items=tuple(items), line=plan.line)

    def _by_name(self, left: Plan, right: Plan) -> tuple[Plan, Plan]:
        names = list({a.name.lower(): a.name for a in (*left.output, *right.output)}.values())

        def ordered(plan: Plan) -> Plan:
            own = {a.name.lower(): a for a in reversed(plan.output)}
            items = tuple(
                Alias(own[n.lower()], reference(own[n.lower()]))
                if n.lower() in own
                else Alias(self._session.attribute(n), Literal(None))
                for n in names
            )
            return Project(child=plan, items=items, line=plan.line)

        return ordered(left), ordered(right)
