"""`contract_asset`: a table that can be published through its gate alone."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from dagster_defs.events import Story
from dagster_defs.names import check_name
from dagster_defs.resource import ContractGateResource
from dagster_defs.slices import Parameters, check_fits, parameters_of
from dagster_defs.translator import ContractTranslator, candidate_key
from invaract_orchestration.checks.catalogue import declared_checks
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.contract.model import Contract

Key = dg.AssetKey | str | Sequence[str]
Producer = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gated:
    """One gated table, as its op knows it."""

    contract: Contract
    candidate: dg.AssetKey
    published: dg.AssetKey
    parameters: Parameters | None
    resource_key: str


def contract_asset(
    contract: Contract | str | Path, *, key: Key | None = None, candidate_key: Key | None = None,
    deps: Iterable[Any] | None = None, ins: Mapping[str, dg.AssetIn] | None = None,
    partitions_def: dg.PartitionsDefinition[str] | None = None, backfill_policy: dg.BackfillPolicy | None = None,
    group_name: str | None = None, owners: Sequence[str] | None = None, tags: Mapping[str, str] | None = None,
    kinds: set[str] | None = None, automation_condition: dg.AutomationCondition[Any] | None = None,
    freshness_policy: dg.FreshnessPolicy | None = None, retry_policy: dg.RetryPolicy | None = None,
    pool: str | None = None, parameters: Parameters | None = None, translator: ContractTranslator | None = None,
    resource_key: str = "contract_gate",
) -> Callable[[Producer], dg.AssetsDefinition]:  # fmt: skip
    """A table that is published only when its contract is kept.

    The decorated function gives the rows, or nothing when the contract's own source says where they are. Two assets come of it
    that cannot be run apart: the candidate, with one check for each rule, and the published table.

    Args:
        contract: the agreement, or its file.
        key: the published asset; the contract's id by default. The candidate stands beside it, ending in `_candidate`.
        parameters: what fills the contract's `{name}`s, when the partition's key alone does not say it.

    Raises:
        DagsterInvalidDefinitionError: the contract's placeholders cannot be filled by the partitions.
    """
    agreed = contract if isinstance(contract, Contract) else load_contract(contract)
    check_fits(agreed, partitions_def, parameters)
    said = translator or ContractTranslator()
    changed = {
        "group_name": group_name, "partitions_def": partitions_def, "owners": owners, "tags": tags,
        "automation_condition": automation_condition,
    }  # fmt: skip
    given = {name: value for name, value in changed.items() if value is not None}
    published, candidate = _specs(agreed, said, key, candidate_key)
    published = published.replace_attributes(**given, deps=[candidate.key], skippable=True)
    if freshness_policy is not None:
        published = published.replace_attributes(freshness_policy=freshness_policy)
    if kinds is not None:
        published = published.replace_attributes(kinds=kinds)
    given.pop("automation_condition", None)
    candidate = candidate.replace_attributes(**given, deps=list(deps or candidate.deps), skippable=True)
    gated = _Gated(
        contract=agreed, candidate=candidate.key, published=published.key, parameters=parameters, resource_key=resource_key
    )

    def decorate(producer: Producer) -> dg.AssetsDefinition:
        build = dg.multi_asset(
            name=check_name(producer.__name__), specs=[candidate, published], can_subset=False, ins=ins,
            check_specs=_check_specs(agreed, said, candidate.key, partitions_def), partitions_def=partitions_def,
            backfill_policy=backfill_policy, retry_policy=retry_policy, pool=pool,
        )  # fmt: skip
        return build(_op(gated, producer))

    return decorate


def _specs(
    contract: Contract, translator: ContractTranslator, key: Key | None, candidate: Key | None
) -> tuple[dg.AssetSpec, dg.AssetSpec]:
    published = translator.get_asset_spec(contract)
    offered = translator.get_candidate_spec(contract)
    if key is not None:
        published = published.replace_attributes(key=dg.AssetKey.from_coercible(key))
        offered = offered.replace_attributes(key=candidate_key(published.key))
    if candidate is not None:
        offered = offered.replace_attributes(key=dg.AssetKey.from_coercible(candidate))
    return published, offered


def _check_specs(
    contract: Contract, translator: ContractTranslator, candidate: dg.AssetKey,
    partitions_def: dg.PartitionsDefinition[str] | None,
) -> list[dg.AssetCheckSpec]:  # fmt: skip
    specs = (translator.get_check_spec(contract, rule) for rule in declared_checks(contract))
    return [spec._replace(asset_key=candidate, partitions_def=partitions_def) for spec in specs]


def _op(gated: _Gated, producer: Producer) -> Callable[..., Iterator[Any]]:
    """The op: the producer's own arguments (inputs, resources, config) are asked for as they are written."""
    own = inspect.signature(producer).parameters
    takes_context = "context" in own

    @functools.wraps(producer)
    def run(context: dg.AssetExecutionContext, **arguments: Any) -> Iterator[Any]:
        resource = arguments[gated.resource_key] if gated.resource_key in own else arguments.pop(gated.resource_key)
        rows = producer(context, **arguments) if takes_context else producer(**arguments)
        yield from _events(gated, context, resource, rows)

    rest = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for n, p in own.items() if n not in ("context", gated.resource_key)]
    keyword = inspect.Parameter.KEYWORD_ONLY
    asked = [
        inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=dg.AssetExecutionContext),
        *rest,
        inspect.Parameter(gated.resource_key, keyword, annotation=ContractGateResource),
    ]
    run.__signature__ = inspect.Signature(asked)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in asked if p.annotation is not inspect.Parameter.empty}
    return run


def _events(gated: _Gated, context: dg.AssetExecutionContext, resource: ContractGateResource, rows: Any) -> Iterator[Any]:
    partition = context.partition_key if context.has_partition_key else None
    result = resource.run(
        gated.contract, tell=context.log.info, parameters=parameters_of(gated.contract, partition, gated.parameters),
        context=run_context(context, gated.published, partition),
    )  # fmt: skip
    story = Story(
        contract=gated.contract, candidate=gated.candidate, published=gated.published, result=result,
        page=resource.audit_page(result.attempt_id),
    )  # fmt: skip
    if story.failure() is not None and result.state != "rejected":
        raise story.failure()  # type: ignore[misc]
    if (offered := story.candidate_event()) is not None:
        yield offered
    yield from story.check_events()
    if (visible := story.published_event()) is not None:
        yield visible
    if (failure := story.failure()) is not None:
        raise failure


def run_context(context: dg.AssetExecutionContext, key: dg.AssetKey, partition: str | None) -> dict[str, str]:
    """By whom and where an attempt runs, for the audit; no part of the submission's identity."""
    known = {
        "orchestrator": "dagster", "asset": key.to_user_string(), "partition": partition, "run_id": context.run.run_id,
        "job": context.run.job_name, "try": str(context.op_execution_context.retry_number + 1),
    }  # fmt: skip
    return {name: str(value) for name, value in known.items() if value is not None}
