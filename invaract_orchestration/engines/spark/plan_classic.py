"""The plan of a frame of classic Spark: the analysed plan of Catalyst, before any optimisation and without running it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from invaract_orchestration.candidate.plan.diagnostics import Diagnostic, Translation
from invaract_orchestration.candidate.plan.nodes import Plan, UnknownPlan
from invaract_orchestration.engines.spark.catalyst_expand import add_rows
from invaract_orchestration.engines.spark.catalyst_leaves import Behind, CatalystLeaves
from invaract_orchestration.engines.spark.catalyst_nodes import CatalystNodes
from invaract_orchestration.engines.spark.plan_lines import lines_of

_DEEP_STACK = 1 << 29


def translate_classic(frame: Any, *, behind: Behind | None = None) -> Translation:
    """The plan of a DataFrame of a classic session. Never raises: what cannot be read is an opaque leaf.

    A checkpoint that was taken under `track_checkpoints()` is seen through. `behind` knows what made the rows at a place.
    """
    try:
        is_case_sensitive = str(frame.sparkSession.conf.get("spark.sql.caseSensitive")) == "true"
        return replace(_translated(frame._jdf.queryExecution().analyzed(), behind), case_sensitive=is_case_sensitive)
    except Exception as error:  # noqa: BLE001 - a gate must end in a verdict, here "unverifiable"
        lost = Diagnostic(code="plan.translator_failed", message=f"the plan cannot be read: {type(error).__name__}")
        return Translation(plan=UnknownPlan(description="a frame", source_type="spark"), diagnostics=(lost,))


def _translated(analysed: Any, own: Behind | None) -> Translation:
    nodes = CatalystNodes()

    def seen_through(plan: Any) -> Plan:
        found = _translated(plan, own)
        nodes.diagnostics.extend(found.diagnostics)
        return found.plan

    nodes.leaves = CatalystLeaves(analysed, seen_through, own)
    text = _json_of(analysed)
    told = json.loads(text)
    add_rows(analysed, text, told)
    plan = nodes.plan(told, lines_of(analysed, told))
    return Translation(plan=plan, diagnostics=tuple(dict.fromkeys(nodes.diagnostics)))


def _json_of(plan: Any) -> str:
    """Catalyst's JSON. It is made recursively, so it is made on a thread of the JVM with a large stack of its own."""
    try:
        return _on_deep_thread(plan)
    except Exception:  # noqa: BLE001 - a JVM without java.beans: the usual stack is enough for all but the deepest plans
        return str(plan.toJSON())


def _on_deep_thread(plan: Any) -> str:
    from pyspark import SparkContext  # only classic sessions get here

    jvm: Any = SparkContext._jvm
    callable_class = jvm.java.lang.Class.forName("java.util.concurrent.Callable")
    call = jvm.java.beans.EventHandler.create(callable_class, plan, "toJSON")
    task = jvm.java.util.concurrent.FutureTask(call)
    jvm.java.lang.Thread(None, task, "deep-plan", _DEEP_STACK).start()
    return str(task.get())
