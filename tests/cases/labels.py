"""The neutral names of rules, and where the gate's own results show them."""

from __future__ import annotations

import re
from collections.abc import Callable

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.errors import ContractError
from tests.cases.sketch import NotUnderstood
from tests.cases.stage import Outcome

_ROW = {
    "type": ("type",), "timezone": ("type",), "not_finite": ("min", "max", "allowed", "type"), "required": ("required",),
    "not_blank": ("not_blank",), "min": ("min",), "max": ("max",), "regex": ("pattern",), "pattern": ("pattern",),
    "allowed_values": ("allowed",), "allowed": ("allowed",), "min_length": ("min_length",), "max_length": ("max_length",),
}  # fmt: skip
_EXACT = {
    "row.malformed": ("row|malformed",), "row.duplicate_key": ("row|duplicate_key",),
    "input.encoding": ("header|encoding", "row|malformed"),
    "header.missing": ("header|missing",), "header.mismatch": ("header|mismatch", "header|missing"),
    "header.unexpected_column": ("header|unexpected_column",), "header.missing_column": ("header|missing_column",),
    "schema.missing_field": ("schema|missing_field", "schema|case"), "schema.missing_column": ("schema|missing_field",),
    "schema.unexpected_field": ("schema|unexpected_field",), "schema.unexpected_column": ("schema|unexpected_field",),
    "schema.type": ("schema|type",), "schema.case": ("schema|case",), "schema.duplicate": ("schema|duplicate",),
    "dataset.min_rows": ("min_rows", "batch|rows"), "dataset.max_rows": ("max_rows",), "dataset.empty": ("batch|rows",),
    "dataset.max_quarantined": ("batch|max_quarantined",), "publish.outside_predicate": ("publish|replace_where",),
}  # fmt: skip
_KEYS: dict[str, Callable[[CheckResult], bool]] = {
    "dataset.unique": lambda c: "share" in c.found, "dataset.key": lambda c: "share" in c.found,
    "dataset.key_null": lambda c: bool(c.nulls), "dataset.cross_batch_key": lambda c: "target has" in c.found,
}  # fmt: skip
_SUFFIX = {"publish.partition_mismatch": "partition", "publish.partition_null": "partition_null"}
_CODES = ("publish", "audit", "input", "contract", "slice", "submission")


def missing_rules(rule: str, outcome: Outcome) -> list[str]:
    """The named rules that the outcome does not show; ` + ` asks for each of them, ` / ` for one."""
    if rule.strip() in ("-", ""):
        return []
    missing = []
    for wanted in rule.split(" + "):
        if not any(_shows(one.strip(), outcome) for one in wanted.split(" / ")):
            missing.append(wanted)
    return missing


def _shows(rule: str, outcome: Outcome) -> bool:
    name, _, column = rule.partition(" ")
    stage, _, kind = name.partition(".")
    if isinstance(outcome, ContractError):
        return stage == "contract" and (kind == "invalid" or any(p.code == name for p in outcome.problems))
    if outcome.code == name:
        return True
    return any(_is_named(name, stage, kind, column, c) for c in outcome.checks if c.outcome != "kept")


def _is_named(name: str, stage: str, kind: str, column: str, check: CheckResult) -> bool:
    if name in _EXACT:
        return check.check in _EXACT[name]
    if name in _KEYS:
        return check.stage == "keys" and _KEYS[name](check)
    if name in _SUFFIX:
        return check.check.endswith("|" + _SUFFIX[name])
    if stage == "row" and kind in _ROW:
        of, _, own = check.check.rpartition("|")
        return own in _ROW[kind] and (not column or of == column)
    if stage == "plan":
        return check.check == f"plan|{kind}" or (kind == "unverifiable" and check.outcome == "unverifiable")
    if stage == "header":
        return check.check == f"header|{kind}"
    if stage in ("row", "dataset"):
        return check.check == kind
    if stage in _CODES:
        return False
    raise NotUnderstood(f"rule {name!r} is not understood")


def message_of(outcome: Outcome) -> str:
    """Everything that an outcome tells people."""
    if not isinstance(outcome, GateResult):
        return str(outcome)
    told = [outcome.message, outcome.hint or "", outcome.code or ""]
    for check in outcome.checks:
        if check.outcome != "kept":
            told += [check.check, check.expected, check.found, check.hint or ""]
    return re.sub(r"\s+", " ", "\n".join(told))
