"""What an engine does otherwise than the embedded one, by engine and test, with the reason; each is a strict xfail."""

from __future__ import annotations

GAPS: dict[tuple[str, str], str] = {}
