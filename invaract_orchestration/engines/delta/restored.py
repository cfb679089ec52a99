"""Whether a table was set back to a version before a commit since: its transaction ids stay, its rows do not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def restored_before(history: list[dict[str, Any]], version: int) -> int | None:
    """The version before `version` that the table's content comes from now; null when it comes from that one or a later one.

    A restore continues the version that it went back to, so a further one may bring a commit back.
    """
    entries = {entry["version"]: entry for entry in history}
    at = max(entries, default=version)
    while at > version:
        to = _restored_to(entries[at], history) if at in entries else None
        at = at - 1 if to is None else to
    return at if at < version else None


def _restored_to(entry: dict[str, Any], history: list[dict[str, Any]]) -> int | None:
    """The version that a commit restored; null when it restored none."""
    if str(entry.get("operation", "")).upper() != "RESTORE":
        return None
    said = {name: str(value) for name, value in (entry.get("operationParameters") or {}).items() if value is not None}
    if said.get("version", "").isdigit():
        return int(said["version"])
    moment = _milliseconds(said.get("timestamp") or said.get("datetime") or "")
    before = [e for e in history if e["version"] < entry["version"]]
    return max((e["version"] for e in before if moment is not None and e["timestamp"] <= moment), default=-1)


def _milliseconds(text: str) -> float | None:
    """A moment as it stands in a log: a number of milliseconds, or a date and time."""
    if text.isdigit():
        return float(text)
    try:
        moment = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000
