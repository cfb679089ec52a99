"""Waivers: one check of one candidate may be let through, by somebody, for a reason, for a time. Nothing else loosens a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract

_WAIVABLE = ("rows", "keys", "dataset")
"""Stages whose checks are about rows that are all in the candidate; a header, a schema, a plan or a target cannot be waived."""


def is_waivable(result: CheckResult) -> bool:
    """Whether a waiver can let this result through: it blocks, and publishing would publish exactly the rows it is about."""
    return result.is_blocking and result.stage in _WAIVABLE and result.origin == "contract"


def is_relied_on(result: CheckResult, contract: Contract) -> bool:
    """Whether the publication itself rests on the check, so that nobody can waive it: a key that the mode finds rows by, and the
    rules of rows that the table is given as its own constraints."""
    publish = contract.publish
    if publish is None:
        return False
    keys = {key.check_id for key in contract.all_keys() if publish.keys and set(key.columns) == set(publish.keys)}
    return result.check in keys or (result.stage == "rows" and publish.constraints == "mirror")


def apply_waivers(results: tuple[CheckResult, ...], granted: Mapping[str, str]) -> tuple[CheckResult, ...]:
    """The results with the waiver's id on each that one lets through; `granted` maps check ids to waiver ids."""
    return tuple(
        replace(r, waiver=granted[r.check]) if r.check in granted and is_waivable(r) else r for r in results
    )
