"""`contract_asset`: a table that can be published through its gate alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from dagster_defs.names import VERDICT, check_name
from dagster_defs.op import Gated, Producer, build_op, inputs_of
from dagster_defs.slices import Parameters, check_fits, relocated
from dagster_defs.translator import ContractTranslator
from dagster_defs.translator import candidate_key as key_of_candidate
from invaract_orchestration.checks.catalogue import declared_checks
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.contract.model import Contract

Key = dg.AssetKey | str | Sequence[str]


def contract_asset(
    contract: Contract | str | Path, *, source: str | None = None, key: Key | None = None, candidate_key: Key | None = None,
    name: str | None = None, deps: Iterable[Any] | None = None, ins: Mapping[str, dg.AssetIn] | None = None,
    partitions_def: dg.PartitionsDefinition[str] | None = None, backfill_policy: dg.BackfillPolicy | None = None,
    group_name: str | None = None, owners: Sequence[str] | None = None, tags: Mapping[str, str] | None = None,
    kinds: set[str] | None = None, automation_condition: dg.AutomationCondition[Any] | None = None,
    freshness_policy: dg.FreshnessPolicy | None = None, retry_policy: dg.RetryPolicy | None = None,
    pool: str | None = None, op_tags: Mapping[str, Any] | None = None, parameters: Parameters | None = None,
    translator: ContractTranslator | None = None, resource_key: str = "contract_gate",
) -> Callable[[Producer], dg.AssetsDefinition]:  # fmt: skip
    """A table that is published only when its contract is kept.

    The decorated function gives the rows (a DataFrame, a DuckDB relation or SQL text), or nothing when the contract's own
    source says where they are. Two assets come of it that cannot be run apart: the candidate, with one check for each rule of
    the contract, and the published table. A rejected batch is not tried again; what could not be judged is, by `retry_policy`.

    Args:
        contract: the agreement, or its file.
        source: the place of the files, instead of the contract's.
        key: the published asset; the contract's id by default. The candidate stands beside it, ending in `_candidate`.
        name: the step's name; the function's by default. No two steps of a project have one.
        parameters: what fills the contract's `{name}`s, when the partition's key alone does not say it.

    Raises:
        ContractError: the contract's file cannot be used.
        DagsterInvalidDefinitionError: the contract's placeholders cannot be filled by the partitions.
    """
    agreed = contract if isinstance(contract, Contract) else load_contract(contract)
    check_fits(relocated(agreed, source), partitions_def, parameters)
    said = translator or ContractTranslator()
    both = {"group_name": group_name, "partitions_def": partitions_def, "owners": owners, "tags": tags}
    own = {"automation_condition": automation_condition, "freshness_policy": freshness_policy, "kinds": kinds}
    published, candidate = _specs(agreed, said, key, candidate_key)
    published = _changed(published, {**both, **own}, deps=[candidate.key], skippable=True)
    gated = Gated(
        contract=agreed, candidate=candidate.key, published=published.key, source=source, parameters=parameters,
        partitions=partitions_def, resource_key=resource_key,
    )  # fmt: skip

    def decorate(producer: Producer) -> dg.AssetsDefinition:
        inputs = {name: dg.AssetIn() for name in inputs_of(producer, resource_key)} | dict(ins or {})
        above = [asset_in.key or dg.AssetKey([name]) for name, asset_in in inputs.items()]
        offered = _changed(candidate, both, deps=[*(deps or candidate.deps), *above], skippable=True)
        build = dg.multi_asset(
            name=check_name(name or producer.__name__), specs=[offered, published], can_subset=False,
            check_specs=_check_specs(agreed, said, candidate.key, partitions_def), ins=inputs, op_tags=op_tags, pool=pool,
            partitions_def=partitions_def, backfill_policy=backfill_policy, retry_policy=retry_policy,
        )  # fmt: skip
        return build(build_op(gated, producer))

    return decorate


def _check_specs(
    contract: Contract, translator: ContractTranslator, candidate: dg.AssetKey,
    partitions_def: dg.PartitionsDefinition[str] | None,
) -> list[dg.AssetCheckSpec]:  # fmt: skip
    verdict = dg.AssetCheckSpec(
        check_name(VERDICT), asset=candidate, blocking=True, description="every blocking check is kept",
        metadata={"invaract/check": VERDICT},
    )  # fmt: skip
    rules = (translator.get_check_spec(contract, rule) for rule in declared_checks(contract))
    # the parameter of the constructor warns, for every check, that Dagster may still change it
    return [spec._replace(asset_key=candidate, partitions_def=partitions_def) for spec in (verdict, *rules)]


def _specs(
    contract: Contract, translator: ContractTranslator, key: Key | None, candidate: Key | None
) -> tuple[dg.AssetSpec, dg.AssetSpec]:
    published = translator.get_asset_spec(contract)
    offered = translator.get_candidate_spec(contract)
    if key is not None:
        published = published.replace_attributes(key=dg.AssetKey.from_coercible(key))
        offered = offered.replace_attributes(key=key_of_candidate(published.key))
    if candidate is not None:
        offered = offered.replace_attributes(key=dg.AssetKey.from_coercible(candidate))
    return published, offered


def _changed(spec: dg.AssetSpec, given: Mapping[str, Any], **always: Any) -> dg.AssetSpec:
    """The translator's spec with what the decorator was told; what it was not told stays."""
    return spec.replace_attributes(**{name: value for name, value in given.items() if value is not None}, **always)
