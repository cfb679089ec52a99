"""Whether code that only has to build a frame starts a job.

On classic Spark the jobs of the thread are tagged and looked at: those with which a reader finds out about its columns, and Delta
about its log, are part of building a frame. A Connect client sends what it wants to be executed: what this thread sends is looked
at on its way.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from invaract_orchestration.engines.spark.session import is_connect

_HARMLESS = frozenset({
    "register_function", "register_table_function", "register_data_source", "create_dataframe_view", "get_resources_command",
    "remove_cached_remote_relation_command", "create_resource_profile_command", "streaming_query_listener_bus_command",
})  # fmt: skip
_WORKING = frozenset({
    "insert", "merge", "update", "delete", "create", "replace", "load", "cache", "analyze", "optimize", "copy", "vacuum",
    "restore", "refresh", "call", "truncate",
})  # fmt: skip

_LOADERS = frozenset({"load", "table"})
"""What jobs are called that find out about a table or its columns; with Delta they are queries over its log."""
_READERS = frozenset({"parquet", "orc", "json", "csv", "text", "xml", "sql"})
"""What jobs are called that find out about the columns of files. Those of writers are called so too, and belong to a query."""
_DELTA_LOG = "DatabricksLogging.scala"
"""Where jobs are said to come from that Delta starts by itself."""
_DELTA_LOG_ASIDE = "Delta: "
"""How those are described that it starts on a thread of its own, as when a plan is made for rows that are not read yet."""
_ASIDE = "$anonfun$withThreadLocalCaptured$1"
"""What jobs of such a thread are called; those of a broadcast are called so too, and are described by the user's action."""


@dataclass(slots=True)
class Jobs:
    """Whether a job was started; known when the block is over."""

    started: bool = False


@contextmanager
def jobs_watched(session: Any) -> Iterator[Jobs]:
    """Look for jobs that this thread starts in the block."""
    jobs = Jobs()
    with _sent(session, jobs) if is_connect(session) else _tagged(session, jobs):
        yield jobs


@contextmanager
def _tagged(session: Any, jobs: Jobs) -> Iterator[None]:
    context, tag = session.sparkContext, f"invaract-{uuid.uuid4().hex}"
    context.addJobTag(tag)
    try:
        yield
    finally:
        context.removeJobTag(tag)
        jobs.started = _has_worked(context._jsc.sc(), tag)


def _has_worked(context: Any, tag: str) -> bool:
    """Whether a job of the tag was more than a look; what cannot be looked at counts as one."""
    try:
        context.listenerBus().waitUntilEmpty()  # what was started is known a moment later
        return not all(_is_look_up(context.statusStore(), i) for i in context.statusTracker().getJobIdsForTag(tag))
    except Exception:  # noqa: BLE001  # Spark's own class, or the JVM is gone
        return True


def _is_look_up(store: Any, job_id: int) -> bool:
    """Whether a job of the JVM is that of a reader or a Delta log, and no action of the function's."""
    found = store.jobWithAssociatedSql(job_id)
    job, is_query = found._1(), found._2().isDefined()
    called, _, where = str(job.name()).partition(" at ")
    if where.startswith(_DELTA_LOG) or (called == _ASIDE and _described(job).startswith(_DELTA_LOG_ASIDE)):
        return not _writes(store, job)
    return called in _LOADERS or (called in _READERS and not is_query)


def _described(job: Any) -> str:
    return str(job.description().get()) if job.description().isDefined() else ""


def _writes(store: Any, job: Any) -> bool:
    stages = job.stageIds()
    return any(store.lastStageAttempt(stages.apply(at)).outputBytes() > 0 for at in range(stages.size()))


@contextmanager
def _sent(session: Any, jobs: Jobs) -> Iterator[None]:
    client = session.client
    stub = client._stub
    client._stub = _Watched(stub, jobs, threading.get_ident())
    try:
        yield
    finally:
        client._stub = stub


class _Watched:
    """A client's way to its server that notes what one thread wants to be executed."""

    def __init__(self, stub: Any, jobs: Jobs, thread: int) -> None:
        self._stub, self._jobs, self._thread = stub, jobs, thread

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stub, name)

    def ExecutePlan(self, request: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N802  # the name of the protocol
        if threading.get_ident() == self._thread and starts_job(request.plan):
            self._jobs.started = True
        return self._stub.ExecutePlan(request, *args, **kwargs)


def starts_job(plan: Any) -> bool:
    """Whether a plan of the Connect protocol does more than define names; what is not known does."""
    kind = plan.WhichOneof("op_type")
    if kind == "root":
        return bool(plan.root.WhichOneof("rel_type") != "catalog")
    if kind != "command":
        return True
    command = plan.command.WhichOneof("command_type")
    if command == "sql_command":
        text = plan.command.sql_command.input.sql.query or plan.command.sql_command.sql
        return _first_word(text) in _WORKING
    if command == "checkpoint_command":
        return bool(plan.command.checkpoint_command.eager)
    return command not in _HARMLESS


def _first_word(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if not line.lstrip().startswith("--")]
    words = " ".join(lines).lower().replace("(", " ").split()
    is_view = words[:1] == ["create"] and any(w in ("temporary", "temp") for w in words[:5])
    return "" if is_view or not words else words[0]
