"""The task that waits until a contract's data is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import BaseSensorOperator, PokeReturnValue, conf

from airflow_plugin.exceptions import GateMisused, GateUnavailable
from airflow_plugin.hooks import InvaractHook
from airflow_plugin.publications import PublishedSlice, last_publication, slice_in_audit

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context


class ContractStatusSensor(BaseSensorOperator):
    """Waits until the slice of a contract is published, and gives its submission and table version on.

    A rejected batch does not end the wait: the slice may be mended and submitted again.

    Args:
        contract: path of the contract's file.
        parameters: the parameters that the batch is submitted with.
        target: the table, instead of the contract's.
        environment: which environment of the contract applies.
        since: ISO time; publications committed before it do not count.
        invaract_conn_id: connection of the audit store.
        storage_conn_id: connection of the lake's storage.
        deferrable: wait in the triggerer and hold no worker; by default as Airflow is configured.
    """

    template_fields: Sequence[str] = ("contract", "parameters", "target", "environment", "since")
    ui_color = "#d7e8e0"

    def __init__(
        self,
        *,
        contract: str,
        parameters: Mapping[str, str] | None = None,
        target: str | None = None,
        environment: str | None = None,
        since: str | None = None,
        invaract_conn_id: str | None = None,
        storage_conn_id: str | None = None,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.contract = contract
        self.parameters = parameters
        self.target = target
        self.environment = environment
        self.since = since
        self.invaract_conn_id = invaract_conn_id
        self.storage_conn_id = storage_conn_id
        self.deferrable = deferrable

    def poke(self, context: Context) -> PokeReturnValue:
        """Look once."""
        found = last_publication(self._hook(), self._slice(), self.since)
        return PokeReturnValue(is_done=found is not None, xcom_value=found)

    def execute(self, context: Context) -> Any:
        """Wait here, or in the triggerer."""
        if not self.deferrable:
            return super().execute(context)
        wanted = self._slice()
        found = last_publication(self._hook(), wanted, self.since)
        if found is None:
            self._defer(wanted)
        return found

    def resume(self, context: Context, event: Mapping[str, Any]) -> Any:
        """What the trigger found."""
        if event.get("error"):
            raise (GateMisused if event.get("is_final") else GateUnavailable)(str(event["error"]))
        return event["publication"]

    def _defer(self, wanted: PublishedSlice) -> None:
        from airflow_plugin.triggers import ContractPublishedTrigger

        trigger = ContractPublishedTrigger(
            **wanted.as_dict(), since=self.since, poke_interval=self.poke_interval,
            invaract_conn_id=self.invaract_conn_id, storage_conn_id=self.storage_conn_id,
        )  # fmt: skip
        self.defer(trigger=trigger, method_name="resume", timeout=timedelta(seconds=self.timeout))

    def _slice(self) -> PublishedSlice:
        return slice_in_audit(
            self._hook(), self.contract, environment=self.environment, parameters=dict(self.parameters or {}),
            target=self.target,
        )  # fmt: skip

    def _hook(self) -> InvaractHook:
        return InvaractHook(self.invaract_conn_id, self.storage_conn_id)
