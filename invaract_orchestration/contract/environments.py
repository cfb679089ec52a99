"""Names and places that differ from one environment to the next; never a check."""

from __future__ import annotations

import re

from invaract_orchestration.contract.model import CandidatePlace, Contract, Publish, QuarantinePlace, Source
from invaract_orchestration.contract.report import Report, quoted_list, suggest
from invaract_orchestration.errors import UsageError

PLACES = ("source.location", "publish.target", "publish.candidate.location", "quarantine.location")
_INPUT = re.compile(r"source\.inputs\.[A-Za-z_]\w*\Z")


def check_environments(contract: Contract, report: Report) -> None:
    """Report what an environment may not change."""
    inputs = contract.source.inputs if contract.source is not None else {}
    for name, overlay in contract.environments.items():
        for key, text in overlay.items():
            path = ("environments", name, key)
            if key not in PLACES and not _INPUT.match(key):
                message = f"expected a name or a place, found {key!r}: an environment never changes a check"
                report.add(path, message, hint=suggest(key, PLACES, "places"), code="contract.unknown_key")
            elif inputs and _INPUT.match(key) and (unknown := key.removeprefix("source.inputs.")) not in inputs:
                message = f"unknown input {unknown!r}: the run would read what `source.inputs` says"
                report.add(path, message, hint=suggest(unknown, inputs, "inputs"))
            elif not text.strip():
                report.add(path, "expected a name or a place, found a blank text")


def apply_environment(contract: Contract, name: str) -> Contract:
    """The contract with the names and places of that environment; `declared` stays what the file says.

    Raises:
        UsageError: the contract has no environment of that name.
    """
    overlay = contract.environments.get(name)
    if overlay is None:
        known = quoted_list(contract.environments) or "none"
        raise UsageError(f"{contract.contract}: unknown environment {name!r}", hint=f"environments of it: {known}")
    changed = contract
    for key, text in overlay.items():
        changed = _with_place(changed, key, text)
    return changed.placed(contract.base, name, contract)


def _with_place(contract: Contract, key: str, text: str) -> Contract:
    if key == "publish.target":
        publish = contract.publish.model_copy(update={"target": text}) if contract.publish else Publish(target=text)
        return contract.model_copy(update={"publish": publish})
    if key == "publish.candidate.location":
        if contract.publish is None:
            raise UsageError("publish.candidate.location is given without publish", hint="give publish.target too")
        candidate = CandidatePlace(location=text, keep=contract.publish.candidate.keep)
        return contract.model_copy(update={"publish": contract.publish.model_copy(update={"candidate": candidate})})
    if key == "quarantine.location":
        return contract.model_copy(update={"quarantine": QuarantinePlace(location=text, keep=contract.quarantine.keep)})
    source = contract.source or Source()
    if key == "source.location":
        return contract.model_copy(update={"source": source.model_copy(update={"location": text})})
    inputs = {**source.inputs, key.removeprefix("source.inputs."): text}
    return contract.model_copy(update={"source": source.model_copy(update={"inputs": inputs})})
