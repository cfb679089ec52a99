"""A run of the demonstration in words; every fact comes from the run's own events."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg


def lines_of(job: str, partition: str, result: dg.ExecuteInProcessResult) -> Iterator[str]:
    """What a run published, and what it blocked and why."""
    yield f"{job} {partition}: {'succeeded' if result.success else 'blocked'}"
    for event in result.get_asset_materialization_events():
        told = event.materialization.metadata
        version = told.get("invaract/table_version")
        if version is not None and event.asset_key is not None:
            rows = told.get("invaract/rows_inserted")
            count = f"{rows.value:,} rows" if rows is not None else "rows"
            yield f"   {event.asset_key.to_user_string()} published {count}, table version {version.value}"
    for check in result.get_asset_check_evaluations():
        if not check.passed and check.severity == dg.AssetCheckSeverity.ERROR and "invaract/found" in check.metadata:
            yield f"   {check.asset_key.to_user_string()} {check.metadata['invaract/check'].value}: {check.description}"
