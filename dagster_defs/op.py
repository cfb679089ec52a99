"""What happens when a gated asset is materialised: the producer runs, the gate judges and publishes, Dagster is told."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg
from dagster._core.definitions.resource_annotation import get_resource_args

from dagster_defs.events import Story, as_published_before, check_outputs, failure_from, failure_of, of_partition
from dagster_defs.handed_in import Slot, offered
from dagster_defs.resource import ContractGateResource
from dagster_defs.slices import Parameters, partition_of, relocated
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import InvaractError
from invaract_orchestration.intake.parameters import UnsafeName, check_identifier

Producer = Callable[..., Any]

SUPERSEDE = "invaract/supersede"
"""A run with this tag at `true` publishes a correction that mode `append` refuses otherwise; the audit records it."""
SUBMISSION = "invaract/submission_id"
"""A run with this tag submits its batches under that name, each with its asset and partition: such as the same bytes anew."""

_ALREADY_DONE = "publish.already_done"
_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """One gated table, as its op knows it."""

    contract: Contract
    candidate: dg.AssetKey
    published: dg.AssetKey
    source: str | None
    parameters: Parameters | None
    partitions: dg.PartitionsDefinition[str] | None
    resource_key: str


def build_op(gated: Gated, producer: Producer) -> Callable[..., Iterator[Any]]:
    """The op's function: what the producer asks for (inputs, resources, config) is asked for as it is written there."""
    own = inspect.signature(producer, eval_str=True).parameters
    takes_context, takes_resource = "context" in own, gated.resource_key in own

    @functools.wraps(producer)
    def run(context: dg.AssetExecutionContext, **arguments: Any) -> Iterator[Any]:
        resource = arguments[gated.resource_key] if takes_resource else arguments.pop(gated.resource_key)
        rows = producer(context, **arguments) if takes_context else producer(**arguments)
        yield from _Run(gated, context, resource).events(rows)

    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
    asked = [
        inspect.Parameter("context", plain, annotation=dg.AssetExecutionContext),
        inspect.Parameter(gated.resource_key, plain, annotation=ContractGateResource),
        *(p.replace(kind=plain) for name, p in own.items() if name not in ("context", gated.resource_key)),
    ]
    run.__signature__ = inspect.Signature(asked)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in asked if p.annotation is not inspect.Parameter.empty}
    return run


def inputs_of(producer: Producer, resource_key: str) -> tuple[str, ...]:
    """The producer's arguments that are other assets: neither the context, nor config, nor a resource."""
    own = inspect.signature(producer, eval_str=True).parameters
    resources = {argument.name for argument in get_resource_args(producer)}
    return tuple(name for name in own if name not in {"context", "config", resource_key, *resources})


class _Run:
    """One execution of the op: one attempt at the gate for each partition of it."""

    def __init__(self, gated: Gated, context: dg.AssetExecutionContext, resource: ContractGateResource) -> None:
        self.gated, self.context, self.resource = gated, context, resource

    def events(self, rows: Any) -> Iterator[Any]:
        context, partitions = self.context, self.gated.partitions
        if partitions is not None and not context.has_partition_key and context.has_partition_key_range:
            yield from self._range(rows, context.partition_keys)
            return
        partition = partition_of(context, partitions)
        story = self._story(_rows_of(rows, partition), partition)
        failure = story.failure()
        if failure is not None and not story.is_judged:
            raise failure
        is_known = self._is_known(story)
        if not is_known:
            yield from filter(None, [story.candidate_event()])
        yield from story.check_events()
        if failure is not None:
            raise failure
        if is_known:
            context.log.info(f"{story.result.message}: consumers have been told of it, so nothing new is reported")
            return
        yield from filter(None, [story.published_event()])

    def _range(self, rows: Any, partitions: list[str]) -> Iterator[Any]:
        """A run over several partitions: each goes through the gate and is reported under its own key."""
        _check_divides(rows, partitions)
        failures = []
        for partition in partitions:
            try:
                story = self._story(_rows_of(rows, partition), partition)
            except dg.Failure as failure:
                failures.append(of_partition(failure, partition))
                continue
            for event in story.logged_events(is_known=self._is_known(story)):
                self.context.log_event(event)
            failures += filter(None, [story.failure()])
        yield from check_outputs(self.gated.contract, self.gated.candidate)
        if failures:
            raise failure_of(failures)

    def _story(self, rows: Any, partition: str | None) -> Story:
        gated, resource, context = self.gated, self.resource, self.context
        slot = Slot(
            asset=gated.published.to_user_string(), partition=partition, parameters=gated.parameters,
            run=context.run.root_run_id or context.run.run_id,
        )  # fmt: skip
        try:
            placed = relocated(resource.placed(gated.contract), gated.source)
            settings = resource.settings()
            with offered(placed, rows, slot, settings.lake_root, settings.engine) as offer:
                call = {**offer.call, **_asked_by_tags(context.run.tags, gated.published, partition)}
                result = resource.run(offer.contract, tell=context.log.info, context=run_context(context, slot), **call)
        except InvaractError as error:
            raise failure_from(error) from None
        if result.code == _ALREADY_DONE and result.publication is not None:
            result = as_published_before(result, resource.attempt(result.publication.attempt_id))
        return Story(
            contract=placed, candidate=gated.candidate, published=gated.published, result=result, partition=partition,
            page=resource.audit_page(result.attempt_id),
        )  # fmt: skip

    def _is_known(self, story: Story) -> bool:
        """Whether this very publication was reported before: then a rerun tells consumers nothing new."""
        if story.result.code != _ALREADY_DONE:
            return False
        wanted = dg.AssetRecordsFilter(
            asset_key=self.gated.published, asset_partitions=[story.partition] if story.partition is not None else None
        )
        cursor, has_more = None, True
        while has_more:
            page = self.context.instance.fetch_materializations(wanted, limit=_PAGE, cursor=cursor)
            if any(_submission(record) == story.result.submission_id for record in page.records):
                return True
            cursor, has_more = page.cursor, page.has_more
        return False


def _asked_by_tags(tags: Mapping[str, str], asset: dg.AssetKey, partition: str | None) -> dict[str, Any]:
    """What somebody asked for when launching this run: a correction in mode append, or a batch's own name.

    A run gives all its assets and partitions one tag, and a name stands for one batch: each is named by both too.
    """
    asked: dict[str, Any] = {}
    if tags.get(SUPERSEDE, "").lower() == "true":
        asked["supersede"] = True
    if tags.get(SUBMISSION):
        own = (*asset.path, partition) if partition is not None else asset.path
        asked["submission_id"] = ".".join((tags[SUBMISSION], *map(_safe, own)))
    return asked


def _safe(text: str) -> str:
    """A part of a name as it is, or a digest of it where an id cannot hold it; what somebody typed is left to be refused."""
    try:
        return check_identifier("name", text)
    except UnsafeName:
        return f"x{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _submission(record: dg.EventLogRecord) -> Any:
    materialization = record.asset_materialization
    value = materialization.metadata.get("invaract/submission") if materialization else None
    return None if value is None else value.value


def _check_divides(rows: Any, partitions: Sequence[str]) -> None:
    """Rows of one frame cannot be told apart by partition."""
    if len(partitions) > 1 and not (rows is None or isinstance(rows, str | Mapping) or callable(rows)):
        raise dg.Failure(
            description="a run over several partitions needs the rows of each\nHint: return a dict of partition key to rows "
            "(context.partition_keys lists them), or leave the backfill policy out",
            allow_retries=False,
        )


def _rows_of(rows: Any, partition: str | None) -> Any:
    """What a producer returned for a partition: of a dict its own, of anything else all of it."""
    if partition is None or not isinstance(rows, Mapping):
        return rows
    if partition not in rows:
        raise dg.Failure(description=f"the dict that was returned has no rows of {partition!r}", allow_retries=False)
    return rows[partition]


def run_context(context: dg.AssetExecutionContext, slot: Slot) -> dict[str, str]:
    """By whom and where an attempt runs, for the audit; no part of the submission's identity."""
    known = {
        "orchestrator": "dagster", "asset": slot.asset, "partition": slot.partition, "run_id": context.run.run_id,
        "job": context.run.job_name, "try_number": context.retry_number + 1,
    }  # fmt: skip
    return {name: str(value) for name, value in known.items() if value is not None}
