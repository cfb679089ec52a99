"""Whether a slice of a contract is published, as the audit store knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from airflow_plugin.exceptions import translated_errors
from airflow_plugin.hooks import InvaractHook


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSlice:
    """A slice in the audit store, in the form that a trigger can carry."""

    contract: str
    target: str
    slice_digest: str

    def as_dict(self) -> dict[str, str]:
        """The slice as texts by name."""
        return asdict(self)


def slice_in_audit(
    hook: InvaractHook, contract: str, *, environment: str | None, parameters: Mapping[str, str], target: str | None
) -> PublishedSlice:
    """The slice of a contract's file for these parameters.

    Raises:
        GateMisused: the contract cannot be used, names no target, or misses a parameter.
    """
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.errors import UsageError
    from invaract_orchestration.intake.identity import slice_digest
    from invaract_orchestration.intake.parameters import fill
    from invaract_orchestration.intake.places import place_identity, table_place
    from invaract_orchestration.intake.receive import parameterised_texts
    from invaract_orchestration.wiring import table_locator

    settings = hook.settings()
    root = settings.lake_root
    with translated_errors():
        loaded = load_contract(contract, env=environment)
        name = target or (loaded.publish.target if loaded.publish else None)
        if name is None:
            raise UsageError(f"contract {loaded.contract}: no target is named", hint="add publish.target, or name it here")
        without_source = loaded.model_copy(update={"source": None})  # where the rows come from may be another place in the task
        for text in parameterised_texts(without_source, name, None):
            fill(text, parameters)
        filled = fill(name, parameters)
        place = table_place(filled, base=loaded.base, lake_root=root, locate=table_locator(settings))
        identity = place_identity(place, base=loaded.base, lake_root=root)
        return PublishedSlice(
            contract=loaded.contract, target=place, slice_digest=slice_digest(loaded.contract, identity, parameters)
        )


def last_publication(hook: InvaractHook, wanted: PublishedSlice, since: str | None) -> dict[str, Any] | None:
    """The slice's newest publication, committed at `since` (ISO time) or later; null when there is none."""
    with hook.audit() as store:
        found = store.publications(wanted.contract, wanted.target, wanted.slice_digest)
    if not found or (since and found[0].publication.committed_at < _instant(since)):
        return None
    newest = found[0].publication
    return {
        "contract": wanted.contract, "submission_id": newest.submission_id, "attempt_id": newest.attempt_id,
        "table_version": newest.table_version, "committed_at": newest.committed_at.isoformat(),
    }  # fmt: skip


def _instant(text: str) -> datetime:
    from datetime import UTC

    from airflow_plugin.exceptions import GateMisused

    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise GateMisused("since: expected an ISO time such as 2026-11-30T00:00:00+00:00") from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
