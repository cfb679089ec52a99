"""The plan and the lineage that an attempt recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from invaract_orchestration.audit.records import Event
from invaract_orchestration.ui.answers import LineageEdge, PlanAnswer, PlanStep

_NODE = re.compile(r"[A-Z][A-Za-z]*(\(.*\))?", re.DOTALL)
_INDENT = 3
_BRANCHES = ("├─ ", "└─ ", "│  ", "   ")


def plan_of(events: Iterable[Event]) -> PlanAnswer | None:
    """The last plan that was recorded; null without one."""
    recorded = [event.detail for event in events if event.detail.get("plan")]
    if not recorded:
        return None
    text = str(recorded[-1]["plan"])
    tags = _mapping(recorded[-1].get("tags"))
    return PlanAnswer(
        text=text,
        digest=None if recorded[-1].get("plan_digest") is None else str(recorded[-1]["plan_digest"]),
        steps=_steps(text),
        lineage=_edges(_mapping(recorded[-1].get("lineage"))),
        tags={name: _texts(each) for name, each in tags.items()},
    )


def _steps(text: str) -> list[PlanStep]:
    """The tree's lines as nodes, each with its own details; none when a line does not fit the form."""
    steps: list[PlanStep] = []
    above: dict[int, PlanStep] = {}
    for line in text.splitlines():
        depth, told = _depth(line)
        if not _NODE.fullmatch(told):
            if depth - 1 not in above:
                return []
            above[depth - 1].details.append(told)
            continue
        step = PlanStep(number=len(steps), title=told, details=[], inputs=[])
        if depth - 1 in above:
            above[depth - 1].inputs.append(step.number)
        elif steps:
            return []
        above = {level: each for level, each in above.items() if level < depth} | {depth: step}
        steps.append(step)
    return steps


def _depth(line: str) -> tuple[int, str]:
    depth = 0
    while line.startswith(_BRANCHES):
        depth, line = depth + 1, line[_INDENT:]
    return depth, line


def _edges(lineage: Mapping[str, Any]) -> list[LineageEdge]:
    edges: list[LineageEdge] = []
    for column, told in lineage.items():
        each = told if isinstance(told, dict) else {}
        kind, through = str(each.get("kind", "computed")), _texts(each.get("through"))
        sources = _texts(each.get("sources")) or [None]
        edges += [LineageEdge(column=column, source=source, kind=kind, through=through) for source in sources]
    return edges


def _mapping(text: str | int | None) -> Mapping[str, Any]:
    try:
        found = json.loads(str(text))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _texts(value: Any) -> list[Any]:
    return [str(each) for each in value] if isinstance(value, list) else []
