"""Where the steps of a frame were written: the line of a SQL text, or of the Python file that PySpark notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

from invaract_orchestration.candidate.plan.nodes import Plan

_MOST_NODES = 500  # each costs some calls to the JVM; the outermost steps come first
_MOST_DEEP = 4
_JUDGED = frozenset({"Filter", "Join", "LateralJoin", "Aggregate"})
_PLACED = _JUDGED | {"Union", "Window", "Generate", "Project", "Distinct"}
_FILE = re.compile(r"(.+):(\d+)")
_CELL = re.compile(r"line (\d+) in (cell.*)")


class WrittenAt(NamedTuple):
    """A line, and the Python file (without its folder) or notebook cell that it is of; no file: of the SQL text."""

    line: int
    file: str | None = None


def placed(plan: Plan, at: WrittenAt | None) -> Plan:
    """The node with its line, where that is known."""
    return plan if at is None or plan.line is not None else replace(plan, line=at.line, file=at.file)


def call_site(text: str) -> WrittenAt | None:
    """The place that PySpark noted, `file:line` or the cell of a notebook; the innermost of several."""
    first = text.partition("\n")[0]
    cell = _CELL.fullmatch(first)
    if cell is not None:
        return WrittenAt(int(cell[1]), cell[2])
    file = _FILE.fullmatch(first)
    return None if file is None else WrittenAt(int(file[2]), PurePath(file[1].replace("\\", "/")).name)


def lines_of(plan: Any, nodes: list[dict[str, Any]]) -> dict[int, WrittenAt]:
    """The places of a plan of the JVM, by the position of the node in the pre-order list that its JSON is."""
    found: dict[int, WrittenAt] = {}
    for at, kind, one in _outermost(plan, nodes):
        place = _place(one, kind) if kind in _PLACED else None
        if place is not None:
            found[at] = place
    return found


def _outermost(plan: Any, nodes: list[dict[str, Any]]) -> Iterator[tuple[int, str, Any]]:
    """The first nodes of the list beside those of the JVM."""
    stack = [plan]
    for at, node in enumerate(nodes[:_MOST_NODES]):
        one = stack.pop()
        yield at, _kind(node), one
        if int(node.get("num-children", 0)):
            children = one.children()
            stack.extend(children.apply(n) for n in range(children.size() - 1, -1, -1))


def _kind(node: dict[str, Any]) -> str:
    return str(node.get("class", "")).rpartition(".")[2]


def _place(node: Any, kind: str) -> WrittenAt | None:
    own = node.origin().line()
    if own.isDefined():
        line = int(own.get())
        if kind == "Filter":  # the parser puts the whole SELECT's first line on it
            inner = node.condition().origin().line()
            line = int(inner.get()) if inner.isDefined() else line
        return WrittenAt(line)
    if kind not in _JUDGED:
        return None
    expressions = node.expressions()
    for at in range(min(expressions.size(), _MOST_DEEP)):
        place = _python_place(expressions.apply(at))
        if place is not None:
            return place
    return None


def _python_place(expression: Any) -> WrittenAt | None:
    one = expression
    for _ in range(_MOST_DEEP):
        noted = one.origin().pysparkErrorContext()
        if noted.isDefined():
            return call_site(str(noted.get()._2()))
        children = one.children()
        if not children.size():
            return None
        one = children.apply(0)
    return None
