"""Whether a table was set back to a version before a commit since: its transaction ids stay, its rows do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Files = Callable[[int], frozenset[str] | None]
"""The data files of a version, or none where it cannot be read any more."""


def restored_before(history: list[dict[str, Any]], version: int, files: Files) -> int | None:
    """The version before `version` that the table's content comes from now; null when it comes from that one or a later one.

    A restore continues the version that it went back to, so a further one may bring a commit back. -1 stands for a version
    that is not known.
    """
    entries = {entry["version"]: entry for entry in history}
    at = max(entries, default=version)
    while at > version:
        to = _restored_to(entries[at], entries, files) if at in entries else None
        at = at - 1 if to is None else to
    return at if at < version else None


def _restored_to(entry: dict[str, Any], entries: dict[int, dict[str, Any]], files: Files) -> int | None:
    """The version that a commit restored; null when it restored none."""
    if str(entry.get("operation", "")).upper() != "RESTORE":
        return None
    said = str((entry.get("operationParameters") or {}).get("version") or "0")
    if said.isdigit() and said != "0":
        return int(said)
    # A moment is written in the zone of whoever restored, and looked up by the log files' own times: the files tell for sure.
    # So they do for version 0, which some writers give beside a moment.
    now = files(entry["version"])
    before = sorted((v for v in entries if v < entry["version"]), reverse=True)
    return next((v for v in before if now is not None and files(v) == now), -1)
