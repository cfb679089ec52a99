"""Which batch this is: the same contents under one contract, target and parameters are one submission, whenever run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping


def slice_digest(contract_id: str, target: str, parameters: Mapping[str, str]) -> str:
    """The digest of what a batch is for; the order of the parameters does not matter."""
    return _digest(["slice", contract_id, target, sorted(parameters.items())])


def submission_id(slice_digest: str, intake_digest: str) -> str:
    """The id of one closed batch: `s-` and 24 hexadecimal digits, the same on every run and host."""
    return "s-" + _digest(["submission", slice_digest, intake_digest])[:24]


def _digest(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode("ascii")).hexdigest()
