"""The plan of a frame of Spark Connect: the client's own plan, resolved as far as the server tells."""

from __future__ import annotations

from typing import Any

from invaract_orchestration.candidate.plan.diagnostics import Diagnostic, Translation
from invaract_orchestration.candidate.plan.nodes import UnknownPlan
from invaract_orchestration.candidate.plan.sql.parse import on_deep_stack
from invaract_orchestration.candidate.plan.sql.scope import Session
from invaract_orchestration.engines.spark.catalyst_leaves import Behind
from invaract_orchestration.engines.spark.connect_nodes import ConnectNodes
from invaract_orchestration.engines.spark.connect_tables import ConnectTables


def translate_connect(frame: Any, *, behind: Behind | None = None, first_id: int = 0) -> Translation:
    """The plan of a DataFrame of a Connect session. Never raises: what cannot be read is an opaque leaf.

    The server is asked for the columns of tables and files, never to run or analyse the whole plan. `behind` knows what made
    the rows at a place; the ids of columns begin after `first_id`.
    """
    try:
        return on_deep_stack(lambda: _translated(frame, behind, first_id))
    except Exception as error:  # noqa: BLE001 - a gate must end in a verdict, here "unverifiable"
        lost = Diagnostic(code="plan.translator_failed", message=f"the plan cannot be read: {type(error).__name__}")
        return Translation(plan=UnknownPlan(description="a frame", source_type="spark_connect"), diagnostics=(lost,))


def _translated(frame: Any, behind: Behind | None, first_id: int) -> Translation:
    spark = frame.sparkSession
    is_case_sensitive = str(spark.conf.get("spark.sql.caseSensitive")) == "true"
    session = Session(
        "spark", {}, frozenset(), source=ConnectTables(spark).source, case_sensitive=is_case_sensitive, _last_id=first_id
    )
    made = ConnectNodes(session, spark, behind).frame(frame._plan)
    lost = tuple(dict.fromkeys(session.diagnostics))
    return Translation(plan=made.shown(), diagnostics=lost, case_sensitive=is_case_sensitive)
