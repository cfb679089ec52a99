"""Tables in Dagster that are published only when their contract is kept."""

from __future__ import annotations

from dagster_defs.asset import contract_asset
from dagster_defs.resource import ContractGateResource
from dagster_defs.translator import ContractTranslator

__all__ = ["ContractGateResource", "ContractTranslator", "contract_asset"]
