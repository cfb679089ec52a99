"""The digest of a contract: one text for one meaning, whatever its spelling, the order of its keys and its comments."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.contract.literals import canonical_literal
from invaract_orchestration.contract.model import Contract, FieldSpec


def contract_digest(contract: Contract) -> str:
    """`sha256:` and the hexadecimal digest of `canonical_json`."""
    return "sha256:" + hashlib.sha256(canonical_json(contract).encode()).hexdigest()


def canonical_json(contract: Contract) -> str:
    """The contract as its file says it, without its environments, keys sorted and defaults left out.

    Values of data stand in their canonical form: `0.1` and `0.10` are one bound of a decimal(10,2). The order of lists
    stays, as it means something.
    """
    declared = contract.declared
    content = declared.model_dump(mode="json", exclude_defaults=True, exclude={"environments"})
    if declared.fields:
        content["fields"] = [_field(spec) for spec in declared.fields]
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _field(spec: FieldSpec) -> dict[str, Any]:
    content = spec.model_dump(mode="json", exclude_defaults=True)
    for key in ("min", "max"):
        if key in content:
            content[key] = _canonical(content[key], spec.type)
    if "allowed" in content:
        content["allowed"] = [_canonical(text, spec.type) for text in content["allowed"]]
    if spec.fields:
        content["fields"] = [_field(child) for child in spec.fields]
    return content


def _canonical(text: str, type_: FieldType) -> str:
    try:
        return canonical_literal(text, type_)
    except ValueError:
        return text  # a contract made without the loader may hold it; it is then its own form
