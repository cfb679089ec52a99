"""The joins of a Spark Connect client's plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from invaract_orchestration.candidate.plan.expressions import (
    Alias,
    Attribute,
    Comparison,
    Expression,
    Function,
    all_of,
    passed,
    reference,
)
from invaract_orchestration.candidate.plan.nodes import Join, JoinKind, Plan, Project
from invaract_orchestration.candidate.plan.sql.scope import Session
from invaract_orchestration.engines.spark.connect_expressions import ConnectReader
from invaract_orchestration.engines.spark.connect_frames import Frame, plan_ids

_JOINS: tuple[JoinKind, ...] = ("inner", "inner", "full", "left", "right", "anti", "semi", "cross")
ReaderOver = Callable[[Frame], ConnectReader]


def joined(node: Any, left: Frame, right: Frame, session: Session, reader_over: ReaderOver) -> Frame:
    """A join: by a condition, by the names of columns, or without either."""
    if {a.id for a in left.plan.output} & {a.id for a in right.plan.output}:
        right = right.renewed(session)
    kind = _JOINS[int(node.how)]
    both = Frame(
        left.plan,
        (*left.columns, *right.columns),
        {**right.qualifiers, **left.qualifiers},
        {**right.origins, **left.origins, **_own(node.right, right), **_own(node.left, left)},
    )
    wanted = node.on if isinstance(node.on, list) else [] if node.on is None else [node.on]
    using = [one for one in wanted if isinstance(one, str)]
    pairs = [(_named(left, name, session.folded), _named(right, name, session.folded), name) for name in using]
    parts: list[Expression] = [Comparison("=", reference(a), reference(b)) for a, b, _ in pairs if a and b]
    if len(using) < len(wanted):
        probe = Frame(Join(left=left.plan, right=right.plan, kind="inner"), both.columns, both.qualifiers, both.origins)
        reader = reader_over(probe)
        parts.extend(reader.read(one) for one in wanted if not isinstance(one, str))
    plan = Join(left=left.plan, right=right.plan, kind=kind, condition=all_of(parts))
    if kind in ("semi", "anti"):
        first = tuple(a for a, _, _ in pairs if a is not None)
        return left.over(plan, (*first, *(a for a in left.columns if a not in first)))
    columns = both.columns
    joined: Plan = plan
    if using:
        joined, columns = _merged(plan, left, right, pairs, kind, session)
    return Frame(joined, columns, both.qualifiers, both.origins)


def _merged(
    plan: Join,
    left: Frame,
    right: Frame,
    pairs: list[tuple[Attribute | None, Attribute | None, str]],
    kind: JoinKind,
    session: Session,
) -> tuple[Plan, tuple[Attribute, ...]]:
    found = [(a, b, name) for a, b, name in pairs if a is not None and b is not None]
    gone = {one.id for a, b, _ in found for one in (a, b)}
    rest = tuple(a for a in (*left.columns, *right.columns) if a.id not in gone)
    if kind != "full":
        return plan, (*((b if kind == "right" else a) for a, b, _ in found), *rest)
    items = [Alias(session.attribute(name, a.type), Function("coalesce", (reference(a), reference(b)))) for a, b, name in found]
    wide = Project(child=plan, items=(*items, *(passed(a) for a in plan.output)))
    return wide, (*(item.attribute for item in items), *rest)


def lateral(node: Any, left: Frame, right: Frame, reader_over: ReaderOver) -> Frame:
    """A lateral join; its right side was read with the left one around it."""
    kind = _JOINS[int(node.how)]
    both = Frame(
        Join(left=left.plan, right=right.plan, kind=kind, lateral=True),
        (*left.columns, *right.columns),
        {**right.qualifiers, **left.qualifiers},
        {**right.origins, **left.origins},
    )
    if node.on is not None:
        condition = reader_over(both).read(node.on)
        both.plan = Join(left=left.plan, right=right.plan, kind=kind, condition=condition, lateral=True)
    return both


def _own(node: Any, frame: Frame) -> dict[int, tuple[Attribute, ...]]:
    """A frame's own columns by its own ids: of two sides, that which is a frame goes before one that derives from it."""
    return dict.fromkeys(plan_ids(node), frame.columns)


def _named(frame: Frame, name: str, folded: Callable[[str], str]) -> Attribute | None:
    return next((a for a in frame.columns if folded(a.name) == folded(name)), None)
