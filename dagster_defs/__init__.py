"""Tables in Dagster that are published only when their contract is kept."""

from __future__ import annotations

from dagster_defs.asset import contract_asset
from dagster_defs.blocked import BlockedGate, blocked_gate_sensor, gate_blocked_condition
from dagster_defs.checks import build_contract_checks
from dagster_defs.component import ContractGateComponent
from dagster_defs.quarantine import quarantine_asset
from dagster_defs.resource import ContractGateResource
from dagster_defs.translator import ContractTranslator

__all__ = [
    "BlockedGate", "ContractGateComponent", "ContractGateResource", "ContractTranslator", "blocked_gate_sensor",
    "build_contract_checks", "contract_asset", "gate_blocked_condition", "quarantine_asset",
]  # fmt: skip
