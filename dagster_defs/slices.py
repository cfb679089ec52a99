"""Which part of a table a partition stands for: a partition's key becomes the parameters of the contract."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import dagster as dg

from invaract_orchestration.contract.model import Contract, Source
from invaract_orchestration.errors import UsageError
from invaract_orchestration.intake.parameters import placeholders
from invaract_orchestration.intake.receive import parameterised_texts

Parameters = Mapping[str, str] | Callable[[str], Mapping[str, str]]
"""Texts by name, in which `{partition}` and the names of dimensions are filled in; or a function of the partition's key."""

PARTITION = "partition"
"""The parameter that names the partition of rows whose contract has no place for it."""

_NAME = re.compile(r"\{([^{}]*)\}")


def wanted_parameters(contract: Contract) -> tuple[str, ...]:
    """The names in braces of a contract, each once."""
    source, publish = contract.source, contract.publish
    texts = parameterised_texts(contract, publish.target if publish else None, source.location if source else None)
    return tuple(dict.fromkeys(name for text in texts for name in placeholders(text)))


def relocated(contract: Contract, location: str | None) -> Contract:
    """The same agreement over files of another place; what its file says, and so its digest, stays."""
    if location is None:
        return contract
    source = (contract.source or Source()).model_copy(update={"location": location})
    copy = contract.model_copy(update={"source": source})
    return copy.placed(contract.base, contract.environment, contract.declared)


def partition_of(context: Any, partitions: dg.PartitionsDefinition[str] | None) -> str | None:
    """The partition that a step is for; null for an asset without any, whatever partition its run is for."""
    return context.partition_key if partitions is not None and context.has_partition_key else None


def parameters_of(contract: Contract, partition: str | None, given: Parameters | None) -> dict[str, str]:
    """The parameters of one partition.

    A key of several dimensions gives each by its name; a plain key fills the contract's only placeholder. Empty when the
    contract has none.

    Raises:
        UsageError: the names do not fit together.
    """
    if callable(given):
        return dict(given(partition or ""))
    known = _dimensions(partition)
    if given is not None:
        return {name: _filled(text, known) for name, text in given.items()}
    wanted = wanted_parameters(contract)
    if set(wanted) <= set(known):
        return {name: known[name] for name in wanted}
    if len(wanted) == 1 and partition is not None and len(known) == 1:
        return {wanted[0]: partition}
    raise UsageError(
        f"contract {contract.contract} needs the parameters {', '.join(wanted)}, and the asset's partitions do not name them",
        hint="name the dimensions like the placeholders, or say parameters={...} with {partition} in the texts",
    )


def is_told_apart(partition: str | None, parameters: Mapping[str, str], given: Parameters | None) -> bool:
    """Whether the parameters alone tell this partition from every other one of its asset.

    Texts that are `given` do where they hold the whole key or each of its dimensions; a function is believed.
    """
    if partition is None:
        return True
    if callable(given):
        return bool(parameters)
    used = {name for text in given.values() for name in _NAME.findall(str(text))} if given is not None else set(parameters)
    if isinstance(partition, dg.MultiPartitionKey):
        return PARTITION in used or set(partition.keys_by_dimension) <= used
    return PARTITION in used if given is not None else bool(used)


def check_fits(contract: Contract, partitions: dg.PartitionsDefinition[str] | None, given: Parameters | None) -> None:
    """Refuse a definition whose contract has placeholders that its partitions can never fill."""
    wanted = wanted_parameters(contract)
    if not wanted or callable(given):
        return
    if given is not None:
        missing = set(wanted) - set(given)
    elif isinstance(partitions, dg.MultiPartitionsDefinition):
        missing = set(wanted) - {PARTITION, *partitions.partition_dimension_names}
    else:
        missing = set(wanted) if partitions is None or len(wanted) > 1 else set()
    if missing:
        raise dg.DagsterInvalidDefinitionError(
            f"contract {contract.contract}: nothing gives the parameters {', '.join(sorted(missing))}. Hint: add partitions_def "
            "(a dimension for each name), or say parameters={...}"
        )


def _dimensions(partition: str | None) -> dict[str, str]:
    if partition is None:
        return {}
    named = dict(partition.keys_by_dimension) if isinstance(partition, dg.MultiPartitionKey) else {}
    return {PARTITION: str(partition), **named}


def _filled(text: str, dimensions: Mapping[str, str]) -> str:
    """The text with the names that are known; what is no text is left for the gate to refuse."""
    if not isinstance(text, str):
        return text
    return _NAME.sub(lambda found: dimensions.get(found[1], found[0]), text)
