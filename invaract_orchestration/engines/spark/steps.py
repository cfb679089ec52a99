"""The steps of a contract as views of the session: defined over empty relations first, then over the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlglot import exp

from invaract_orchestration.candidate.step_input import ROW, Columns, step_error
from invaract_orchestration.candidate.step_plan import Chain, StepPlan, link_view
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.step_columns import SOURCE
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.session import translated
from invaract_orchestration.engines.spark.step_words import step_text
from invaract_orchestration.engines.spark.types import column_types, spark_type


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkViews:
    """See `StepViews`."""

    spark: Any
    now: datetime

    def begin(self, name: str, columns: Columns, *, has_row: bool) -> None:
        """See `StepViews.begin`."""
        row = [f"CAST(NULL AS BIGINT) AS {ROW}"] if has_row else []
        nulls = ", ".join([*(f"CAST(NULL AS {spark_type(t)}) AS {q.name(n)}" for n, t in columns.items()), *row])
        with translated("preparing the steps"):
            self.spark.sql(f"SELECT {nulls} WHERE false").createOrReplaceTempView(name)

    def define(self, name: str, tree: exp.Query, tables: Mapping[str, str]) -> Columns:
        """See `StepViews.define`."""
        text = step_text(tree, self.now, tables)
        try:
            frame = self.spark.sql(text)
            found = column_types(frame)
        except Exception as error:  # noqa: BLE001  # Spark raises classes of py4j, grpc and its own; their texts may hold values
            hint = "try its SQL by itself; names and types matter"
            raise step_error(f"the query cannot be run ({type(error).__name__})", hint) from None
        if len({n for n, _, _ in found}) != len(found):
            raise step_error("a column would be there twice")
        known: dict[str, ft.FieldType] = {}
        for column, type_, _ in found:
            if isinstance(type_, str) and type_ != "void":
                raise step_error(f"column {column!r} would be of the type {type_}, which a contract cannot name", "cast it")
            known[column] = ft.STRING if isinstance(type_, str) else type_
        if any(type_ == "void" for _, type_, _ in found):
            chosen = [
                f"CAST({q.name(n)} AS STRING) AS {q.name(n)}" if isinstance(t, str) else q.name(n) for n, t, _ in found
            ]
            frame = frame.selectExpr(*chosen)
        frame.createOrReplaceTempView(name)
        return {n: t for n, t in known.items() if n != ROW}


def define_again(views: SparkViews, plan: StepPlan, chain: Chain) -> None:
    """A chain's views over what its first relation is now: Spark keeps in a view what its tables were when it was defined."""
    links = {n.lower(): link_view(n) for n in plan.links}
    for step in chain.steps:
        views.define(step.view, step.tree, {SOURCE: step.before, **links})
    before = chain.steps[-1].view if chain.steps else chain.begins
    views.define(chain.view, chain.tree, {SOURCE: before})
