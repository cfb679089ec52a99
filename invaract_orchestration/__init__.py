"""A publication gate for lakehouse tables: consumers read only data that kept its contract.

    from invaract_orchestration import load_contract, open_gate

    with open_gate() as gate:
        result = gate.run(load_contract("contracts/orders.yaml"), parameters={"day": "2026-11-30"})
    result.raise_if_blocked()

The names are loaded when they are first used, so that importing the package costs nothing where it is only parsed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from invaract_orchestration import errors
    from invaract_orchestration.audit.result import GateResult
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.contract.model import Contract
    from invaract_orchestration.engines.spark.plan_checkpoints import track_checkpoints
    from invaract_orchestration.gate import Gate
    from invaract_orchestration.wiring import open_gate

__all__ = ["load_contract", "Contract", "open_gate", "Gate", "GateResult", "track_checkpoints", "errors"]

_HOMES = {
    "load_contract": "contract.load",
    "Contract": "contract.model",
    "open_gate": "wiring",
    "Gate": "gate",
    "GateResult": "audit.result",
    "track_checkpoints": "engines.spark.plan_checkpoints",
}


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module(f"{__name__}.errors")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
