"""Where an attempt came from, as the audit records it: never part of what a submission is."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context


def origin_of(context: Context) -> dict[str, str]:
    """DAG, task, run, map index, try number and dates of the running task; what it does not have is left out."""
    ti = context["ti"]
    known = {
        "orchestrator": "airflow",
        "dag_id": ti.dag_id,
        "task_id": ti.task_id,
        "run_id": ti.run_id,
        "map_index": None if ti.map_index is None or ti.map_index < 0 else ti.map_index,
        "try_number": ti.try_number,
        "logical_date": _iso(context.get("logical_date")),
        "partition_key": context.get("partition_key"),
    }
    return {name: str(value) for name, value in known.items() if value is not None}


def frame_id(context: Context) -> str:
    """The id of a batch that comes without files: DAG, task, map index, and partition or logical date (or else the run).

    No two batches have one: an id whose parts could be read in another way, or that an id cannot hold, ends in a digest.
    """
    from invaract_orchestration.intake.parameters import UnsafeName, check_identifier

    known = origin_of(context)
    when = known.get("partition_key") or known.get("logical_date") or known["run_id"]
    parts = (known["dag_id"], known["task_id"], when, known.get("map_index", ""))
    text = ".".join(filter(None, parts))
    try:
        if not any("." in part for part in parts if part is not when):
            return check_identifier("batch id", text)
    except UnsafeName:
        pass
    return f"f-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]}"


def _iso(date: object) -> str | None:
    return date.isoformat() if hasattr(date, "isoformat") else None
