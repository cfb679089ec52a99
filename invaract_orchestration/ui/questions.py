"""What a request asks for: filters and pages, read from its query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import MAXYEAR, UTC, date, datetime, timedelta
from typing import Annotated

from fastapi import Query
from pydantic import WithJsonSchema

from invaract_orchestration.audit.browse import RunFilter

CONTEXT_NAMES = ("dag_id", "run_id", "task_id", "map_index", "asset", "partition")
"""Names of an attempt's context that it can be looked for by."""

_ID = 200
_TEXT = 500

DAYS = (7, 30, 90)

Text = Annotated[str | None, Query(max_length=_TEXT)]
Days = Annotated[int, Query(ge=1, le=366, description="How many days back, today included.")]
Limit = Annotated[int, Query(ge=1, le=200)]
Before = Annotated[str | None, Query(max_length=_ID, description="The `older` of the page before.")]
After = Annotated[str | None, Query(max_length=_ID, description="The `newer` of the page before.")]


_DAY = WithJsonSchema({"type": "string", "format": "date"})


@dataclass(frozen=True, slots=True)
class Question:
    """A filter as it was asked, and what was wrong with it in words for people."""

    wanted: RunFilter
    given: dict[str, str | list[str]]
    notes: tuple[str, ...]


def ask(
    contract: Text = None, target: Text = None, state: Annotated[list[str] | None, Query(max_length=20)] = None,
    kind: Text = None, environment: Text = None, search: Text = None, dag_id: Text = None, run_id: Text = None,
    task_id: Text = None, map_index: Text = None, asset: Text = None, partition: Text = None,
    since: Annotated[
        str | None, _DAY, Query(alias="from", max_length=40, description="A day, or a time in UTC; started then or later.")
    ] = None,
    until: Annotated[
        str | None, _DAY, Query(alias="to", max_length=40, description="A day, which is included, or a time, which is not.")
    ] = None,
) -> Question:  # fmt: skip
    """A filter from a query. What cannot be used is told and left out, so that a page still shows."""
    given = {
        "contract": contract, "target": target, "kind": kind, "environment": environment, "search": search, "dag_id": dag_id,
        "run_id": run_id, "task_id": task_id, "map_index": map_index, "asset": asset, "partition": partition,
        "from": since, "to": until,
    }  # fmt: skip
    told = {name: text.strip() for name, text in given.items() if text and text.strip()}
    if told.get("map_index") in ("-1", "{MAP_INDEX}"):  # what Airflow makes of a link to a task that is not mapped
        del told["map_index"]
    states = tuple(dict.fromkeys(each for each in state or () if each))
    notes: list[str] = []
    wanted = RunFilter(
        contract=told.get("contract"), target=told.get("target"), states=states, kind=told.get("kind"),
        environment=told.get("environment"), search=told.get("search"),
        context={name: told[name] for name in CONTEXT_NAMES if name in told},
        since=_moment("from", told.get("from"), notes), until=_moment("to", told.get("to"), notes, is_end=True),
    )  # fmt: skip
    return Question(wanted=wanted, given={**told, **({"state": list(states)} if states else {})}, notes=tuple(notes))


def _moment(name: str, text: str | None, notes: list[str], *, is_end: bool = False) -> datetime | None:
    if text is None:
        return None
    try:
        if len(text) == len("2026-11-30"):
            day = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
            return day + timedelta(days=1) if is_end and day.year < MAXYEAR else day
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        notes.append(f"“{name}” is not a day such as 2026-11-30 or a time such as 2026-11-30T08:00; it was left out")
        return None
