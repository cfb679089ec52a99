"""What the routes share: the reader, the clock, and who is asking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jinja2 import Environment

from invaract_orchestration.audit.browse import AuditPages


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The app's surroundings. `authorize` is a dependency of FastAPI that gives the `Viewer`, or refuses."""

    reader: AuditPages
    authorize: Callable[..., Any]
    clock: Callable[[], datetime]
    templates: Environment
    base_path: str
