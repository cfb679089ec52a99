"""Words and numbers as people read them: states, ages, times, counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from invaract_orchestration.audit.log import AttemptView

Tone = Literal["good", "aside", "bad", "unsure", "busy", "idle"]


@dataclass(frozen=True, slots=True)
class Word:
    """A state in words, and how it is shown; the tone picks colour and sign, and the label says the same."""

    label: str
    tone: Tone


_STATES: dict[str, Word] = {
    "published": Word("Published", "good"),
    "no_op": Word("Nothing to publish", "idle"),
    "rejected": Word("Rejected", "bad"),
    "conflict": Word("Conflict", "bad"),
    "failed": Word("Failed", "bad"),
    "unknown": Word("Unknown", "unsure"),
    "received": Word("Running: received", "busy"),
    "materialised": Word("Running: candidate written", "busy"),
    "judged": Word("Running: judged", "busy"),
    "publishing": Word("Running: publishing", "busy"),
}

STATE_CHOICES: tuple[tuple[str, str], ...] = (
    ("published", "Published"), ("no_op", "Nothing to publish"), ("rejected", "Rejected"), ("conflict", "Conflict"),
    ("failed", "Failed"), ("unknown", "Unknown"), ("received", "Received"), ("materialised", "Candidate written"),
    ("judged", "Judged"), ("publishing", "Publishing"),
)  # fmt: skip

OUTCOMES: dict[str, Word] = {
    "kept": Word("Kept", "good"), "broken": Word("Broken", "bad"), "unverifiable": Word("Unverifiable", "unsure"),
}  # fmt: skip


def state_word(state: str, *, kind: str = "run", quarantined: int | None = None, passed: bool | None = None) -> Word:
    """A state as a person would say it; `check` ends well with `judged`."""
    if state == "published" and quarantined:
        return Word("Published, rows set aside", "aside")
    if kind == "check" and state == "judged" and passed:
        return Word("Check passed", "aside" if quarantined else "good")
    return _STATES.get(state) or Word(state, "unsure")


def word_of(view: AttemptView) -> Word:
    """The state of an attempt."""
    counts = view.outcome.counts if view.outcome else None
    passed = None if view.outcome is None or view.verdict is None else view.verdict.passed
    return state_word(
        view.state, kind=view.attempt.kind, quarantined=counts.quarantined if counts else None, passed=passed
    )  # fmt: skip


def number(value: int | None) -> str:
    """Digits in groups of three; a dash for what is not known."""
    return "–" if value is None else f"{value:,}"


def percent(part: float | None) -> str:
    """A share of one; never rounded up to all of it, nor down to nothing."""
    if part is None:
        return "–"
    if part in (0, 1):
        return f"{part:.0%}"
    return f"{min(max(part * 100, 0.1), 99.9):.1f}".removesuffix(".0") + "%"


def size(octets: int) -> str:
    """Bytes in a unit that fits."""
    amount = float(octets)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def moment(at: datetime, *, precise: bool = False) -> str:
    """A time in UTC."""
    utc = at.astimezone(UTC)
    if precise:
        return f"{utc:%Y-%m-%d %H:%M:%S}.{utc.microsecond // 1000:03d}"
    return f"{utc:%Y-%m-%d %H:%M}"


def age(at: datetime, now: datetime) -> str:
    """How long ago."""
    passed = now - at
    if passed < timedelta(seconds=60):
        return "just now"
    return f"{duration(passed)} ago"


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def duration(length: timedelta) -> str:
    """A length of time in its one or two greatest units."""
    seconds = max(length.total_seconds(), 0.0)
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds >= 60 * 86_400:
        return f"{seconds / 86_400:.0f} d"
    for position, (unit, sign) in enumerate(_UNITS):
        if seconds >= unit:
            whole, rest = divmod(int(seconds), unit)
            below = _UNITS[position + 1] if position + 1 < len(_UNITS) else (1, "s")
            lesser = rest // below[0]
            return f"{whole} {sign} {lesser} {below[1]}" if lesser and whole < 10 else f"{whole} {sign}"
    return "0 s"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def short_id(text: str, length: int = 12) -> str:
    """The start of an id or a digest, enough to tell it from others."""
    return text.removeprefix("sha256:")[:length]


def short_place(place: str) -> str:
    """The last two parts of a path; a name stays as it is."""
    parts = [part for part in place.rstrip("/").split("/") if part]
    return place if "/" not in place or len(parts) < 3 else "…/" + "/".join(parts[-2:])
