"""Whether consumers know of a publication already: one asset event per submission, whatever is retried or cleared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import Asset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from invaract_orchestration.audit.records import Attempt, PublicationRecord


def is_announced(outlet: Any, publication: PublicationRecord) -> bool:
    """Whether the asset has an event with the publication's submission.

    A worker that was killed after the commit has announced nothing, so its retry does; a task that is cleared and run again
    has nothing new to say. Events are looked up from the time of the commit on.
    """
    from airflow.sdk.execution_time.context import InletEventsAccessors

    if not isinstance(outlet, Asset):
        return False
    found: Any = InletEventsAccessors([outlet])[outlet]
    since = publication.committed_at
    later = found.after(since.isoformat()) if hasattr(found, "after") else found  # Airflow 3.1 gives all of them
    known = ((event.extra or {}).get("submission_id") for event in later if event.timestamp >= since)
    return any(submission_id == publication.submission_id for submission_id in known)


def is_left_to(first: Attempt, origin: Mapping[str, str]) -> bool:
    """Whether the attempt that published is of the same task in another run, at work just now: that one announces it."""
    from invaract_orchestration.audit.reconcile import is_run_by_another

    is_same_task = all(first.context.get(name) == origin[name] for name in ("dag_id", "task_id"))
    return is_same_task and is_run_by_another(first)
