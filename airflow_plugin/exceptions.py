"""How a gate's answer fails a task: bad data never retries, a gate that could not judge does.

    AirflowException
    ├── AirflowFailException         no retry
    │   ├── ContractBlocked          the batch was rejected; holds the result
    │   └── GateMisused              the contract or the call is wrong, and stays wrong on every try
    └── GateUnavailable              could not judge, could not publish or could not record; the task's retries apply
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def translated_errors() -> Iterator[None]:
    """The gate's errors as Airflow's. The cause is not chained: only the gate's own sentences are known to hold no value."""
    from invaract_orchestration.errors import ContractError, InvaractError, MissingExtra, UsageError

    try:
        yield
    except (ContractError, UsageError, MissingExtra) as error:
        raise GateMisused(str(error)) from None
    except InvaractError as error:
        raise GateUnavailable(str(error)) from None
