"""A contract on both sides of a transformation that the gate cannot read like its own steps: a function.

`fields` say what is published. A field that the source has too is checked on the source's rows, and once more on the result,
as nothing tells what the function makes of it; a field that only the function creates is checked on the result. A written
phase is honoured: the check is then asked on that side alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from invaract_orchestration.contract.expressions import columns_read, parse_condition
from invaract_orchestration.contract.model import Contract, FieldSpec
from invaract_orchestration.contract.phases import early_checks
from invaract_orchestration.errors import GateError

_CHECKS: dict[str, object] = {
    "not_blank": None, "min": None, "max": None, "allowed": None, "pattern": None, "min_length": None, "max_length": None,
    "fields": (), "phase": None,
}  # fmt: skip


def source_side(contract: Contract, fields: Sequence[FieldSpec]) -> Contract:
    """What the source's rows are checked against before the transformation gets them. `fields` are the source's columns.

    Raises:
        GateError: a check that is written `phase: pre` reads what only the transformation creates.
    """
    names = {f.name for f in fields}
    early = [name for _, name in early_checks(contract, [f.name for f in contract.fields if f.name not in names])]
    if early:
        raise GateError(
            f"contract {contract.contract}: {', '.join(map(repr, early))} is written phase: pre and reads what does not arrive",
            code="phase.pre_reads_created", hint="leave the phase out, or write phase: post",
        )  # fmt: skip
    known = [f.name for f in contract.fields]
    rules = tuple(
        r for r in contract.quality.row_rules
        if r.phase != "post" and columns_read(parse_condition(r.sql), known) <= names
    )  # fmt: skip
    arriving = tuple(_bare(f) if f.phase == "post" else f for f in fields)
    return _copy(contract, arriving, rules, keys=(), rules=(), publish=None)


def result_side(contract: Contract) -> Contract:
    """What the transformation's result is checked against; that a published column has no null is asked of it in any case."""
    rules = tuple(r for r in contract.quality.row_rules if r.phase != "pre")
    fields = tuple(f.model_copy(update=_CHECKS) if f.phase == "pre" else f for f in contract.fields)
    return _copy(contract, fields, rules)


def _bare(spec: FieldSpec) -> FieldSpec:
    """The column and how its texts are written, without any check."""
    return spec.model_copy(update={**_CHECKS, "required": False})


def _copy(contract: Contract, fields: tuple[FieldSpec, ...], row_rules: tuple[object, ...], **more: object) -> Contract:
    quality = contract.quality.model_copy(update={"row_rules": row_rules})
    copy = contract.model_copy(update={"fields": fields, "quality": quality, **more})
    return copy.placed(contract.base, contract.environment, contract.declared)
