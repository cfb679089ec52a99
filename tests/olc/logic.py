"""Functions that make rows, as the cases with external logic ask for them: one text for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXTRACT = (
    "SELECT id, note, CAST(regexp_extract(note, 'temperature=([0-9]+)', 1) AS INT) AS temperature, "
    "regexp_extract(note, 'status=([a-z]+)', 1) AS status FROM rows"
)
ENRICH = (
    "SELECT r.trip_id, r.driver_id, r.fare, d.driver_name FROM rows r LEFT JOIN drivers d ON r.driver_id = d.driver_id"
)


def extract(session: Any, rows: Any) -> Any:
    """Numbers and words out of a note."""
    return _queried(session, EXTRACT, {"rows": rows})


def enrich(session: Any, rows: Any, links: Mapping[str, Any] | None = None) -> Any:
    """The name of the driver of each trip."""
    return _queried(session, ENRICH, {"rows": rows, "drivers": (links or {})["drivers"]})


def _queried(session: Any, sql: str, frames: Mapping[str, Any]) -> Any:
    """A query over frames by their names: views of the session on the embedded engine, arguments of the query on Spark."""
    if hasattr(session, "createDataFrame"):
        for name in frames:
            sql = sql.replace(f"FROM {name}", f"FROM {{{name}}}").replace(f"JOIN {name}", f"JOIN {{{name}}}")
        return session.sql(sql, **frames)
    for name, frame in frames.items():
        frame.create_view(name, replace=True)
    return session.sql(sql)
