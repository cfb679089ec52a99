"""Where the gate of a deployment is: its audit store, its lake and its audit pages."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import dagster as dg
from pydantic import Field

from invaract_orchestration.audit.log import AttemptView
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.contract.environments import apply_environment
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.settings import Settings, read_settings


class ContractGateResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Opens the gate for a run. What is left out comes from the INVARACT_* environment variables, as for the command line."""

    audit_url: str | None = Field(default=None, description="The audit store; INVARACT_AUDIT_URL by default.")
    lake_root: str | None = Field(default=None, description="The folder of tables named a.b.c; INVARACT_LAKE_ROOT by default.")
    ui_url: str | None = Field(default=None, description="The audit pages, linked from every run; INVARACT_UI_URL by default.")
    engine: str | None = Field(default=None, description="The engine; INVARACT_ENGINE by default, then duckdb.")
    environment: str | None = Field(default=None, description="The contract's environment: its names and places.")

    def settings(self) -> Settings:
        """The settings of a run."""
        return read_settings({**os.environ, **self._given()})

    def placed(self, contract: Contract) -> Contract:
        """The contract with the names and places of this resource's environment."""
        return contract if self.environment is None else apply_environment(contract.declared, self.environment)

    def run(self, contract: Contract, *, tell: Callable[[str], None] = lambda _: None, **call: Any) -> GateResult:
        """Check a batch and publish it when every blocking check is kept; see `Gate.run`."""
        from invaract_orchestration.wiring import open_gate  # engines load when a run needs them, not with the definitions

        with open_gate(self.settings(), tell=tell) as gate:
            return gate.run(contract, environment=self.environment, **call)

    def check(self, contract: Contract, *, tell: Callable[[str], None] = lambda _: None, **call: Any) -> GateResult:
        """Every step but publishing; see `Gate.check`."""
        from invaract_orchestration.wiring import open_gate  # see run

        with open_gate(self.settings(), tell=tell) as gate:
            return gate.check(contract, environment=self.environment, **call)

    def attempt(self, attempt_id: str) -> AttemptView | None:
        """What the audit holds of an attempt; null when it holds nothing."""
        from invaract_orchestration.wiring import open_audit  # see run

        with open_audit(self.settings(), read_only=True) as audit:
            found: AttemptView | None = audit.attempt(attempt_id)
        return found

    def audit_page(self, attempt_id: str) -> str | None:
        """The address of an attempt's page, null when no audit pages are set up."""
        ui_url = self.settings().ui_url
        return None if ui_url is None else f"{ui_url.rstrip('/')}/runs/{attempt_id}"

    def _given(self) -> dict[str, str]:
        given = {
            "INVARACT_AUDIT_URL": self.audit_url, "INVARACT_LAKE_ROOT": self.lake_root,
            "INVARACT_UI_URL": self.ui_url, "INVARACT_ENGINE": self.engine,
        }  # fmt: skip
        return {name: value for name, value in given.items() if value is not None}
