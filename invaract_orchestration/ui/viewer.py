"""Who is looking, and what of the audit they may see."""

from __future__ import annotations

from dataclasses import dataclass

from invaract_orchestration.audit.browse import EVERYTHING, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Somebody whom the host has let in. `name` is null where nobody needs one, as on one's own machine."""

    name: str | None = None
    scope: Scope = EVERYTHING


def everyone() -> Viewer:
    """The dependency of pages that nobody else can reach: anyone sees everything."""
    return Viewer()
