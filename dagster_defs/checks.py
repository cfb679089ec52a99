"""`build_contract_checks`: a contract's checks on an asset that somebody else writes.

They are advice and no gate: what they look at is published already, and a run without them is possible. A table that must not
hold what its contract refuses is written by `contract_asset`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg

from dagster_defs.events import Story, failure_from
from dagster_defs.names import check_name
from dagster_defs.resource import ContractGateResource
from dagster_defs.slices import Parameters, parameters_of, partition_of, relocated
from dagster_defs.translator import ContractTranslator
from invaract_orchestration.checks.catalogue import declared_checks
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import InvaractError


def build_contract_checks(
    contract: Contract | str | Path, asset: Any, *, source: str | None = None, blocking: bool | None = None,
    partitions_def: dg.PartitionsDefinition[str] | None = None, parameters: Parameters | None = None,
    translator: ContractTranslator | None = None, resource_key: str = "contract_gate",
) -> dg.AssetChecksDefinition:  # fmt: skip
    """Every check of a contract on an existing asset, measured on the contract's source (or on the files of `source`).

    `blocking` overrides what follows from each rule's severity; it holds inside of one run alone.

    Raises:
        ContractError: the contract's file cannot be used.
    """
    agreed = contract if isinstance(contract, Contract) else load_contract(contract)
    said = translator or ContractTranslator()
    key = asset.key if isinstance(asset, dg.AssetsDefinition) else dg.AssetKey.from_coercible(asset)
    specs = [
        spec._replace(
            asset_key=key, partitions_def=partitions_def, blocking=spec.blocking if blocking is None else blocking
        )
        for spec in (said.get_check_spec(agreed, rule) for rule in declared_checks(agreed))
    ]

    @dg.multi_asset_check(
        name=f"{check_name(agreed.contract)}_contract_checks", specs=specs, required_resource_keys={resource_key}
    )
    def contract_checks(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        partition = partition_of(context, partitions_def)
        resource = getattr(context.resources, resource_key)
        yield from _story(context, agreed, key, source, parameters, partition, resource).rule_events()

    return contract_checks


def _story(
    context: dg.AssetCheckExecutionContext, contract: Contract, key: dg.AssetKey, source: str | None,
    parameters: Parameters | None, partition: str | None, resource: ContractGateResource,
) -> Story:  # fmt: skip
    op = context.op_execution_context
    origin = {"orchestrator": "dagster", "asset": key.to_user_string(), "run_id": op.run.run_id, "job": op.run.job_name}
    placed = relocated(resource.placed(contract), source)
    try:
        result = resource.check(
            placed, tell=context.log.info, context=origin, parameters=parameters_of(placed, partition, parameters)
        )
    except InvaractError as error:
        raise failure_from(error) from None
    story = Story(
        contract=placed, candidate=key, published=key, result=result, partition=partition,
        page=resource.audit_page(result.attempt_id),
    )  # fmt: skip
    if result.verdict is None and (failure := story.failure()) is not None:
        raise failure
    return story
