"""Whether a check looks at the source's rows (pre) or at the result of the transformations (post)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from invaract_orchestration.contract.expressions import columns_read, parse_condition
from invaract_orchestration.contract.model import Contract, DatasetRule, FieldSpec, Key, Phase, RowRule

Check = FieldSpec | RowRule | Key | DatasetRule


def phase_of(check: Check, columns: Collection[str], created: Collection[str] = ()) -> Phase:
    """The phase of a check. `created` are the columns that only a post transformation makes.

    A written phase is honoured. Keys and dataset rules are judged on the candidate; a row or field check runs in pre,
    unless it reads a created column.
    """
    if isinstance(check, Key | DatasetRule):
        return "post"
    if check.phase is not None:
        return check.phase
    return "post" if _reads_created(check, columns, created) else "pre"


def early_checks(contract: Contract, created: Collection[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Place and name of each check written `phase: pre` that reads a column which only a post transformation makes."""
    columns = [spec.name for spec in contract.fields]
    for at, spec in enumerate(contract.fields):
        if spec.phase == "pre" and _reads_created(spec, columns, created):
            yield ("fields", at, "phase"), spec.name
    for at, rule in enumerate(contract.quality.row_rules):
        if rule.phase == "pre" and _reads_created(rule, columns, created):
            yield ("quality", "row_rules", at, "phase"), rule.name


def _reads_created(check: FieldSpec | RowRule, columns: Collection[str], created: Collection[str]) -> bool:
    if not created:
        return False
    made = {name.lower() for name in created}
    if isinstance(check, FieldSpec):
        return check.name.lower() in made
    read = columns_read(parse_condition(check.sql), (*columns, *created))
    return any(name.lower() in made for name in read)
