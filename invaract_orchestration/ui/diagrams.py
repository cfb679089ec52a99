"""The plan and the lineage as pictures, drawn here as SVG. What is too large for a picture stays text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from invaract_orchestration.ui.answers import LineageEdge, PlanStep
from invaract_orchestration.ui.wording import plural

_MOST_STEPS, _MOST_EDGES = 40, 80
_LINE, _PAD, _GAP_X, _GAP_Y = 17, 10, 44, 16
_LETTER, _SMALL_LETTER, _MOST_LETTERS, _MOST_LINES = 8.4, 7.2, 44, 6


@dataclass(slots=True)
class _Box:
    step: PlanStep
    lines: list[str]
    depth: int = 0
    x: float = 0
    y: float = 0

    @property
    def width(self) -> float:
        small = max((len(line) for line in self.lines), default=0) * _SMALL_LETTER
        return max(len(_cut(self.step.title)) * _LETTER, small) + 2 * _PAD

    @property
    def height(self) -> float:
        return (len(self.lines) + 1) * _LINE + 1.4 * _PAD


def plan_diagram(steps: Sequence[PlanStep]) -> Markup:
    """The plan from its sources at the left to its result at the right; empty when it is too large."""
    if not steps or len(steps) > _MOST_STEPS:
        return Markup("")
    boxes = {step.number: _Box(step, _shortened(step.details)) for step in steps}
    for step in steps:  # parents stand before their inputs
        for below in step.inputs:
            boxes[below].depth = boxes[step.number].depth + 1
    width = _place_columns(boxes)
    height = _place_rows(steps, boxes)
    lines = [_arrow(boxes[below], boxes[step.number]) for step in steps for below in step.inputs]
    story = f"Plan of {plural(len(steps), 'step')}, sources at the left: " + ", ".join(s.title for s in reversed(steps))
    return _svg(width, height, story, [*lines, *(_drawn(box) for box in boxes.values())])


def _shortened(details: Sequence[str]) -> list[str]:
    kept = [_cut(line) for line in details[:_MOST_LINES]]
    return kept + ([f"… {len(details) - _MOST_LINES} more"] if len(details) > _MOST_LINES else [])


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


def _place_columns(boxes: Mapping[int, _Box]) -> float:
    """Each depth is a column as wide as its widest box, the deepest at the left; the width of all."""
    left = 1.0
    for depth in range(max(box.depth for box in boxes.values()), -1, -1):
        column = [box for box in boxes.values() if box.depth == depth]
        widest = max(box.width for box in column)
        for box in column:
            box.x = left + widest - box.width
        left += widest + _GAP_X
    return left - _GAP_X + 1


def _place_rows(steps: Sequence[PlanStep], boxes: Mapping[int, _Box]) -> float:
    """Sources stand below each other, every other box in the middle of its inputs, and no two overlap; the height of all."""
    below_of: dict[int, float] = {}
    for step in reversed(steps):  # inputs stand after their parent
        box = boxes[step.number]
        middle = [boxes[each].y + boxes[each].height / 2 for each in step.inputs]
        wanted = sum(middle) / len(middle) - box.height / 2 if middle else max(below_of.values(), default=1.0)
        box.y = max(wanted, below_of.get(box.depth, 1.0))
        below_of[box.depth] = box.y + box.height + _GAP_Y
    return max(below_of.values()) - _GAP_Y + 1


def _arrow(start: _Box, end: _Box) -> Markup:
    x1, y1, x2, y2 = start.x + start.width, start.y + start.height / 2, end.x - 6, end.y + end.height / 2
    middle = (x1 + x2) / 2
    return Markup(
        '<path class="edge" d="M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}"/>'
        '<path class="tip" d="M{:.1f} {:.1f}l-7 -3.5v7z"/>'
    ).format(x1, y1, middle, y1, middle, y2, x2, y2, end.x - 1, y2)


def _drawn(box: _Box) -> Markup:
    lines = [
        Markup('<text class="small" x="{:.1f}" y="{:.1f}">{}</text>').format(
            box.x + _PAD, box.y + _PAD + 8 + (number + 1) * _LINE, line
        )
        for number, line in enumerate(box.lines)
    ]
    return Markup(
        '<g><title>{}</title><rect class="box" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="6"/>'
        '<text class="title" x="{:.1f}" y="{:.1f}">{}</text>{}</g>'
    ).format(
        "\n".join((box.step.title, *box.step.details)), box.x, box.y, box.width, box.height, box.x + _PAD,
        box.y + _PAD + 8, _cut(box.step.title), Markup("").join(lines),
    )  # fmt: skip


def lineage_diagram(edges: Sequence[LineageEdge], tags: Mapping[str, Sequence[str]]) -> Markup:
    """Source columns at the left, columns of the result at the right; empty when there are too many."""
    if not edges or len(edges) > _MOST_EDGES:
        return Markup("")
    sources = sorted({edge.source for edge in edges if edge.source is not None})
    columns = list(dict.fromkeys(edge.column for edge in edges))
    left_wide = max([len(_cut(name)) for name in sources] or [0]) * _LETTER + 2 * _PAD
    labels = {name: _cut(name + "".join(f" [{tag}]" for tag in tags.get(name, ()))) for name in columns}
    right_wide = max(len(label) for label in labels.values()) * _LETTER + 2 * _PAD
    right = left_wide + 210
    row = 30
    height = row * max(len(sources), len(columns))
    offset = {True: (height - row * len(sources)) / 2, False: (height - row * len(columns)) / 2}
    at_left = {name: offset[True] + row * number + row / 2 for number, name in enumerate(sources)}
    at_right = {name: offset[False] + row * number + row / 2 for number, name in enumerate(columns)}
    parts = [_flow(edge, left_wide, at_left[edge.source], right, at_right[edge.column]) for edge in edges if edge.source]
    parts += [_name(name, 1, y, left_wide - 1) for name, y in at_left.items()]
    parts += [_name(labels[name], right, y, right_wide) for name, y in at_right.items()]
    parts += [_through(edges, name, right, y) for name, y in at_right.items()]
    story = f"Lineage of {plural(len(columns), 'column')}; the table below says the same"
    return _svg(right + right_wide + 1, height, story, parts)


def _flow(edge: LineageEdge, x1: float, y1: float, x2: float, y2: float) -> Markup:
    middle = (x1 + x2) / 2
    shape = '<path class="edge {}" d="M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}"><title>{}</title></path>'
    told = f"{edge.column} is {edge.kind} from {edge.source}"
    return Markup(shape).format(edge.kind, x1, y1, middle, y1, middle, y2, x2, y2, told)


def _name(label: str, x: float, y: float, width: float) -> Markup:
    return Markup(
        '<rect class="box" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="22" rx="5"/><text x="{:.1f}" y="{:.1f}">{}</text>'
    ).format(x, y - 11, width, x + _PAD, y + 4.5, label)


def _through(edges: Sequence[LineageEdge], column: str, x: float, y: float) -> Markup:
    """The functions on the way, written where the lines end."""
    names = list(dict.fromkeys(name for edge in edges if edge.column == column for name in edge.through))
    if not names:
        return Markup("")
    shape = '<text class="small halo" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>'
    return Markup(shape).format(x - 8, y - 4, _cut(", ".join(names)))


def _svg(width: float, height: float, label: str, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg role="img" aria-label="{}" width="{:.0f}" height="{:.0f}" viewBox="0 0 {:.0f} {:.0f}">{}</svg>').format(
        label, width, height, width, height, Markup("").join(parts)
    )
