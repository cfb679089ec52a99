"""A transformation given as a function: called once, on rows that are still to come, and evaluated once when they are there.

It runs in the user's own session, with the settings, views and functions that are there. Its frame is judged as a plan before
a job is started, so a function that starts one by itself is refused.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from invaract_orchestration.candidate.compiled import put_out
from invaract_orchestration.candidate.plan.diagnostics import Translation
from invaract_orchestration.candidate.plan.expressions import Attribute
from invaract_orchestration.candidate.plan.nodes import Plan, UnknownPlan
from invaract_orchestration.engines.delta.pending import fill_pending, open_pending
from invaract_orchestration.engines.spark.catalyst_leaves import Behind
from invaract_orchestration.engines.spark.jobs import jobs_watched
from invaract_orchestration.engines.spark.plan_checkpoints import track_checkpoints
from invaract_orchestration.engines.spark.plan_classic import translate_classic
from invaract_orchestration.engines.spark.plan_connect import translate_connect
from invaract_orchestration.engines.spark.session import is_connect, translated
from invaract_orchestration.errors import EngineFailure, GateError
from invaract_orchestration.intake.batch import Batch
from invaract_orchestration.intake.transform import Transform, raised

_JOBS_HINT = (
    "build the frame and return it: no count(), collect(), show(), write or eager checkpoint, and a schema for what is read as "
    "text; where your code has to look at data first, run it yourself and hand in the frame that it gives"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a function gave: its frame, its plan, and the rows that it was given, with their table (none: it finds its own)."""

    frame: Any
    plan: Translation
    rows: Any = None
    place: Path | None = None

    def fill(self, candidate: Any) -> None:
        """The checked good rows are there, in a candidate below `place`. Raises EngineFailure when they would not be seen."""
        if self.place is None:
            return
        fill_pending(self.place, candidate.files)
        with translated("giving the transformation its rows"):
            seen = self.rows.count()
        if seen != candidate.rows:
            raise EngineFailure(f"the transformation would see {seen} rows of {candidate.rows}")


def make_frame(
    base: Any, batch: Batch, folder: Path, source: Plan | None, links: Mapping[str, Any] | None = None
) -> Made:  # fmt: skip
    """Call the batch's function in the session `base`. `source` is the plan of the rows that it gets, `links` are the frames of
    the contract's links for a function that takes them.

    Raises:
        GateError: the function raises, starts a job, or returns no lazy frame of the session.
    """
    transform = batch.transform
    assert transform is not None  # only such batches get here
    arguments, place = [base], None
    if batch.arriving is not None:
        place = folder / f"rows-{uuid.uuid4().hex}"
        open_pending(place, [(f.name, f.type) for f in batch.arriving.contract.fields])
        with translated("giving the transformation its rows"):
            arguments.append(base.read.format("delta").load(str(place)))
    with track_checkpoints():
        frame = _called(base, transform, arguments, {"links": links} if links else {})
        _require_frame(base, transform, frame)
        plan = _plan(frame, arguments[1:], _behind(place, source))
    return Made(frame=frame, plan=plan, rows=arguments[1] if place else None, place=place)


def _called(base: Any, transform: Transform, arguments: list[Any], named: Mapping[str, Any]) -> Any:
    failed = None
    with jobs_watched(base) as jobs:
        try:
            frame = transform.function(*arguments, **named)
            if is_connect(frame):
                frame.schema  # noqa: B018  # a name that is not there shows only when the server is asked
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it is, its text may hold values
            failed = raised(transform, error)
    if jobs.started:
        raise GateError(
            f"the transformation {transform.name} started a job, and it is judged before any data is read",
            code="transform.started_jobs", hint=_JOBS_HINT,
        )  # fmt: skip
    if failed is not None:
        raise failed
    return frame


def _require_frame(base: Any, transform: Transform, frame: Any) -> None:
    from pyspark.sql import DataFrame  # only where Spark is

    found = f"{type(frame).__module__}.{type(frame).__qualname__}"
    if not isinstance(frame, DataFrame) or is_connect(frame) != is_connect(base):
        raise GateError(
            f"the transformation {transform.name} returned {found}, and not a DataFrame of its session", code="transform.result",
            hint="return the lazy frame that the function builds from the session and the rows it is given",
        )  # fmt: skip
    if frame.isStreaming:
        raise GateError(
            f"the transformation {transform.name} returned a streaming DataFrame", code="transform.result",
            hint="a submission is one closed batch: read it with spark.read",
        )  # fmt: skip


def _plan(frame: Any, rows: list[Any], behind: Behind | None) -> Translation:
    """The plan of what a function built. Where the source is not found behind the rows, nothing is said of any of it."""
    translate = translate_connect if is_connect(frame) else translate_classic
    seen: list[bool] = []

    def known(dataset: str, columns: tuple[Attribute, ...]) -> Plan | None:
        found = None if behind is None else behind(dataset, columns)
        seen.append(found is not None)
        return found

    for one in rows:
        translate(one, behind=known)
    if behind is not None and not any(seen):
        return Translation(plan=UnknownPlan(description="the rows of a transformation", source_type="frame"))
    return translate(frame, behind=behind)


def _behind(place: Path | None, source: Plan | None) -> Behind | None:
    """What the gate knows of the rows' table: the plan of the source that they come from."""
    if place is None or source is None:
        return None

    def found(dataset: str, columns: tuple[Attribute, ...]) -> Plan | None:
        if not dataset.rstrip("/").endswith(place.name):
            return None
        return put_out(source, columns)

    return found
