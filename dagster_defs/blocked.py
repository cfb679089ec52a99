"""What to do about a blocked gate: tell somebody, or start an asset of your own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from dagster_defs.events import BLOCKED
from dagster_defs.names import VERDICT, check_name


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedGate:
    """A batch that was rejected: which asset and partition, why, and where to look. Holds no value of the data."""

    asset: str
    partition: str | None
    contract: str
    message: str
    reasons: tuple[str, ...]
    submission_id: str | None
    attempt_id: str
    page: str | None
    run_id: str


def blocked_gate_sensor(
    name: str, *, on_blocked: Callable[[dg.RunFailureSensorContext, BlockedGate], None],
    monitored_jobs: Sequence[Any] | None = None, minimum_interval_seconds: int | None = None,
    default_status: dg.DefaultSensorStatus = dg.DefaultSensorStatus.STOPPED,
) -> dg.SensorDefinition:  # fmt: skip
    """A sensor that calls `on_blocked` once for every rejected batch of a failed run, and for no other failure."""

    @dg.run_failure_sensor(
        name=name, monitored_jobs=monitored_jobs, minimum_interval_seconds=minimum_interval_seconds,
        default_status=default_status, description="Rejected batches of gated assets.",
    )  # fmt: skip
    def sensor(context: dg.RunFailureSensorContext) -> None:
        for blocked in blocked_gates(context.get_step_failure_events(), context.dagster_run.run_id):
            on_blocked(context, blocked)

    return sensor


def blocked_gates(events: Sequence[dg.DagsterEvent], run_id: str) -> Iterator[BlockedGate]:
    """The rejected batches among a run's failed steps."""
    for event in events:
        data = event.step_failure_data.user_failure_data
        told = data.metadata.get(BLOCKED) if data is not None else None
        for entry in told.value if isinstance(told, dg.JsonMetadataValue) else ():  # type: ignore[union-attr]
            if isinstance(entry, Mapping):
                yield BlockedGate(**{**entry, "reasons": tuple(entry["reasons"]), "run_id": run_id})


def gate_blocked_condition(candidate: Any = None) -> dg.AutomationCondition[Any]:
    """True once when a batch was rejected upstream: for an asset that tells, collects or repairs.

    With the `candidate`'s key its verdict alone counts. Without, any check that can block counts, also one whose failing rows
    were set aside.
    """
    failed = dg.AutomationCondition.any_checks_match(dg.AutomationCondition.check_failed(), blocking_only=True)
    if candidate is not None:
        verdict = dg.AssetCheckKey(dg.AssetKey.from_coercible(candidate), check_name(VERDICT))
        failed = failed.allow(dg.AssetSelection.checks(verdict))
    return dg.AutomationCondition.any_deps_match(failed).newly_true()
