"""Templates: everything that is put into one is escaped."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from invaract_orchestration.ui import charts, diagrams, wording

_HERE = Path(__file__).parent
STATIC = _HERE / "static"


def build_environment() -> Environment:
    """The templates with all that they call."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "number": wording.number, "percent": wording.percent, "size": wording.size, "moment": wording.moment,
        "short_id": wording.short_id, "short_place": wording.short_place, "path": lambda text: quote(str(text), safe=""),
        "seconds": lambda value: "–" if value is None else wording.duration(timedelta(seconds=value)),
    }  # fmt: skip
    environment.globals |= {
        "charts": charts, "diagrams": diagrams, "kinds": charts.KINDS, "outcomes": wording.OUTCOMES,
        "plural": wording.plural, "age": wording.age, "query": query_text, "state_choices": wording.STATE_CHOICES,
        "assets": _assets(),
    }  # fmt: skip
    return environment


def query_text(given: dict[str, Any], **changed: Any) -> str:
    """A query of the same names with some changed; null leaves one out."""
    merged = {name: value for name, value in {**given, **changed}.items() if value not in (None, "", (), [])}
    return "?" + urlencode(merged, doseq=True) if merged else ""


def _assets() -> str:
    """A word that changes with the static files, so that browsers may keep them."""
    digest = hashlib.sha256()
    for file in sorted(STATIC.iterdir()):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:10]
