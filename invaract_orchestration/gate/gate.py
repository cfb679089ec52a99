"""The publication gate, and what a caller says about one attempt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from invaract_orchestration.audit.log import AuditLog, WaiverLog
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.candidate.engine import Engine
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.gate.flow import Flow
from invaract_orchestration.gate.opening import Opening
from invaract_orchestration.publish.publisher import Publisher


def _silent(_: str) -> None:
    return None


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The publication gate with its engine, publisher and audit. `wiring.open_gate` builds one from the settings."""

    engine: Engine
    publisher: Publisher
    audit: AuditLog
    waivers: WaiverLog
    lake_root: Path
    clock: Callable[[], datetime] = _utc_now
    tell: Callable[[str], None] = _silent
    """Called with a line for people at each step; never with a value of the data."""

    def run(self, contract: Contract, **call: Any) -> GateResult:
        """Check a batch and publish it when every blocking check is kept.

        Args:
            contract: the agreement, from `load_contract`.
            call: what `Call` takes, such as `parameters`, `source` or `submission_id`.

        Returns:
            The result; bad data is a `rejected` result and no exception, and neither is a gate that could not judge.

        Raises:
            UsageError: the call makes no sense as it is, such as a missing parameter.
            ContractError: a contract that was made in Python does not fit together; `load_contract` raises it for a file.
        """
        return Flow(Opening(gate=self, contract=contract, kind="run", call=Call(**call))).result()

    def check(self, contract: Contract, **call: Any) -> GateResult:
        """Every step but publishing; nothing is kept in the quarantine. Takes what `run` takes."""
        return Flow(Opening(gate=self, contract=contract, kind="check", call=Call(**call))).result()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a caller says about one attempt.

    `source` is the place of the files and `target` that of the table, instead of the contract's. `frame` are rows handed in,
    and `transform` Spark SQL, instead of the contract's source; a ready lazy frame as `transform` is one handed in. A function
    as `transform`, called with the session and the checked good rows of the source (or with the session alone), gives what is
    published. `parameters` are texts for the contract's `{name}`s, `context` says by whom and where this runs.
    """

    source: str | PathLike[str] | None = None
    frame: Any = None
    transform: str | Callable[..., Any] | Any = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    target: str | PathLike[str] | None = None
    environment: str | None = None
    submission_id: str | None = None
    supersede: bool = False
    context: Mapping[str, str] = field(default_factory=dict)
