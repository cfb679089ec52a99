"""Formats of others that are recognised, and refused by name as long as they cannot be carried."""

from __future__ import annotations

from invaract_orchestration.contract.report import Report
from invaract_orchestration.contract.yaml_tree import MapNode

_SIGNS = (("an Open Data Contract (ODCS)", ("apiVersion", "kind")),)


def foreign_dialect(root: MapNode, report: Report) -> bool:
    """Whether the file speaks another format that cannot be carried; then that is reported."""
    for name, signs in _SIGNS:
        if all(root.has(sign) for sign in signs) and not root.has("contract"):
            hint = "write it in the native format; `invaract init` drafts one"
            message = f"this is {name}, which is not built yet"
            report.add((), message, code="contract.not_supported", at=root.at, hint=hint)
            return True
    return False
