"""How a gate's answer fails a task: bad data never retries, a gate that could not judge does.

    AirflowException
    ├── AirflowFailException         no retry
    │   ├── ContractBlocked          the batch was rejected; holds the result
    │   └── GateMisused              the contract or the call is wrong, and stays wrong on every try
    └── GateUnavailable              could not judge, could not publish or could not record; the task's retries apply
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException

if TYPE_CHECKING:
    from invaract_orchestration.audit.result import GateResult


class ContractBlocked(AirflowFailException):
    """The batch was rejected and the target is as it was; `result` is the gate's result, for callbacks."""

    def __init__(self, sentence: str, result: GateResult | None = None) -> None:
        super().__init__(sentence)
        self.result = result


class GateMisused(AirflowFailException):
    """The contract cannot be used, or the call makes no sense; trying again cannot help."""


class GateUnavailable(AirflowException):
    """The gate could not judge, publish or record; `result` is null when it did not get as far as an attempt."""

    def __init__(self, sentence: str, result: GateResult | None = None) -> None:
        super().__init__(sentence)
        self.result = result
