"""Charts as SVG, drawn here: no script, no style attribute. Colour never says anything alone: parts differ in pattern too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from markupsafe import Markup

from invaract_orchestration.ui.answers import Day, Step
from invaract_orchestration.ui.wording import duration, percent, plural

KINDS = (("published", "accepted"), ("rejected", "rejected"), ("failed", "failed"), ("running", "running"))

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 720, 168, 40, 22, 10
_SPARK_BAR, _SPARK_HEIGHT = 4, 26


def daily_chart(days: Sequence[Day]) -> Markup:
    """Attempts by day as stacked bars with an axis."""
    most = _nice(max((_total(day) for day in days), default=0))
    plot_width, plot_height = _WIDTH - _LEFT - 4, _HEIGHT - _BOTTOM - _TOP
    step = plot_width / max(len(days), 1)
    parts = [_axis(value, most, plot_height) for value in dict.fromkeys((0, most // 2, most))]
    for number, day in enumerate(days):
        left = _LEFT + number * step
        parts.append(_stack(day, left + step * 0.14, step * 0.72, _TOP, plot_height, most))
        if number % max(len(days) // 6, 1) == 0:
            place = Markup('<text class="axis" x="{:.1f}" y="{}" text-anchor="middle">{}</text>')
            parts.append(place.format(left + step / 2, _HEIGHT - 6, f"{day.day:%d %b}"))
    label = f"Runs by day: {_story(days)}"
    return _svg("chart", _WIDTH, _HEIGHT, label, parts)


def spark(days: Sequence[Day]) -> Markup:
    """Attempts by day without an axis: one shape for each kind, as a page holds many of these."""
    most = max((_total(day) for day in days), default=0) or 1
    shapes: dict[str, list[str]] = {"empty": []}
    for number, day in enumerate(days):
        left, below = number * (_SPARK_BAR + 1), float(_SPARK_HEIGHT)
        if not _total(day):
            shapes["empty"].append(f"M{left} {_SPARK_HEIGHT}v-1h{_SPARK_BAR}v1z")
        for name, _ in KINDS:
            if count := getattr(day, name):
                tall = max(_SPARK_HEIGHT * count / most, 0.8)
                shapes.setdefault(name, []).append(f"M{left} {below:.1f}v-{tall:.1f}h{_SPARK_BAR}v{tall:.1f}z")
                below -= tall
    shape = Markup('<path class="{}" d="{}"/>')
    parts = [shape.format(name, "".join(found)) for name, found in shapes.items() if found]
    story = f"Last {plural(len(days), 'day')}: {_story(days)}"
    return _svg("spark", len(days) * (_SPARK_BAR + 1), _SPARK_HEIGHT, story, parts)


def bar(value: int, most: int, label: str) -> Markup:
    """One bar beside the number it stands for, for a column of a table."""
    width = 100 * value / most if most else 0
    parts = [
        Markup('<rect class="track" x="0" y="0" width="100" height="8" rx="2"/>'),
        Markup('<rect class="fill" x="0" y="0" width="{:.1f}" height="8" rx="2"/>').format(max(width, 1.0)),
    ]
    return _svg("bar", 100, 8, label, parts, stretch=True)


def flow_chart(steps: Sequence[Step], ended_at: datetime | None) -> Markup:
    """How the time of an attempt was spent, as one line of parts; short ones stay visible."""
    lengths = [(step, step.seconds or 0.0) for step in steps if step.seconds is not None]
    total = sum(seconds for _, seconds in lengths)
    if not lengths or ended_at is None:
        return Markup("")
    least = total * 0.012
    widths = [max(seconds, least) for _, seconds in lengths]
    scale, left, parts = 720 / (sum(widths) or 1), 0.0, []
    for (step, seconds), width in zip(lengths, widths, strict=True):
        shape = Markup('<rect class="step {}" x="{:.1f}" y="0" width="{:.1f}" height="14" rx="2"><title>{}</title></rect>')
        told = f"{step.message}: {_seconds(seconds)}"
        parts.append(shape.format(step.state, left, max(width * scale - 2, 1.5), told))
        left += width * scale
    story = ", ".join(f"{step.message} {_seconds(seconds)}" for step, seconds in lengths)
    return _svg("flow", 720, 14, f"Time by step: {story}", parts, stretch=True)


def _stack(day: Day, left: float, width: float, top: float, height: float, most: int) -> Markup:
    below, parts = top + height, []
    for name, _ in KINDS:
        count = getattr(day, name)
        if count:
            tall = height * count / most if most else 0
            below -= tall
            shape = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')
            parts.append(shape.format(name, left, below, width, max(tall, 0.8)))
    told = ", ".join(f"{getattr(day, name):,} {word}" for name, word in KINDS if getattr(day, name)) or "no runs"
    return Markup("<g><title>{}: {}</title>{}</g>").format(f"{day.day:%Y-%m-%d}", told, Markup("").join(parts))


def _axis(value: int, most: int, height: int) -> Markup:
    y = _TOP + height - (height * value / most if most else 0)
    return Markup(
        '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
        '<text class="axis" x="{}" y="{:.1f}" text-anchor="end">{}</text>'
    ).format(_LEFT, _WIDTH, y, y, _LEFT - 6, y + 3.5, f"{value:,}")


def _svg(kind: str, width: float, height: float, label: str, parts: Iterable[Markup], *, stretch: bool = False) -> Markup:
    return Markup('<svg class="{}" role="img" aria-label="{}" viewBox="0 0 {} {}"{}>{}</svg>').format(
        kind, label, width, height, Markup(' preserveAspectRatio="none"') if stretch else "", Markup("").join(parts)
    )


def _story(days: Sequence[Day]) -> str:
    counts = [(sum(getattr(day, name) for day in days), word) for name, word in KINDS]
    told = ", ".join(f"{count:,} {word}" for count, word in counts if count) or "no runs"
    ended = sum(day.published + day.rejected + day.failed for day in days)
    share = sum(day.published for day in days) / ended if ended else None
    return told if share is None else f"{told}; {percent(share)} of those that ended were accepted"


def _total(day: Day) -> int:
    return day.published + day.rejected + day.failed + day.running


def _nice(most: int) -> int:
    """The least even number of one significant digit, or 12 and 15 times a power of ten, that holds all bars."""
    if most <= 4:
        return max(most + most % 2, 2)
    power: int = 10 ** (len(str(most)) - 1)
    choices = [round(power * factor) for factor in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)]
    return next(choice + choice % 2 for choice in choices if choice >= most)


def _seconds(seconds: float) -> str:
    return duration(timedelta(seconds=seconds))

