"""Waits for a publication in the triggerer. It carries the slice and the connection's name, never an address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException
from airflow.triggers.base import BaseTrigger, TriggerEvent

from airflow_plugin.hooks import InvaractHook
from airflow_plugin.publications import PublishedSlice, last_publication


class ContractPublishedTrigger(BaseTrigger):
    """Fires when the slice is published, or when that cannot be found out."""

    def __init__(
        self,
        *,
        contract: str,
        target: str,
        slice_digest: str,
        since: str | None,
        poke_interval: float,
        invaract_conn_id: str | None,
        storage_conn_id: str | None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow's own has no types
        self.wanted = PublishedSlice(contract=contract, target=target, slice_digest=slice_digest)
        self.since = since
        self.poke_interval = poke_interval
        self.invaract_conn_id = invaract_conn_id
        self.storage_conn_id = storage_conn_id

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """The trigger as Airflow stores it."""
        return (
            "airflow_plugin.triggers.ContractPublishedTrigger",
            {
                **self.wanted.as_dict(), "since": self.since, "poke_interval": self.poke_interval,
                "invaract_conn_id": self.invaract_conn_id, "storage_conn_id": self.storage_conn_id,
            },
        )  # fmt: skip

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look until it is there; the look itself happens in a thread, the event loop is shared."""
        hook = InvaractHook(self.invaract_conn_id, self.storage_conn_id)
        while True:
            try:
                found = await asyncio.to_thread(last_publication, hook, self.wanted, self.since)
            except AirflowException as error:
                yield _event(error=str(error), is_final=isinstance(error, AirflowFailException))
                return
            if found is not None:
                yield _event(publication=found)
                return
            await asyncio.sleep(self.poke_interval)


def _event(**payload: Any) -> TriggerEvent:
    return TriggerEvent(payload)  # type: ignore[no-untyped-call]  # Airflow's own has no types
