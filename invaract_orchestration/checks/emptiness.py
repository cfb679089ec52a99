"""Whether there is anything to publish, and whether nothing is fine."""

from __future__ import annotations

from invaract_orchestration.candidate.candidate import Materialised
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.checks.rows import rows_text
from invaract_orchestration.contract.model import Contract, Source


def judge_emptiness(contract: Contract, materialised: Materialised) -> tuple[CheckResult, ...]:
    """A batch without rows, or without a row left, is broken unless `empty: accept`; so is emptying the target by overwrite.

    Where a failing row rejects the whole batch, failing rows are no reason to call it empty: their own checks say what is wrong.
    """
    source = contract.source or Source()
    is_whole = contract.quality.on_row_failure == "reject"
    rows = materialised.candidate.rows + (materialised.set_aside if is_whole else 0)
    empties = contract.publish is not None and contract.publish.mode == "overwrite"
    may_be_empty = source.empty == "accept" and (
        not empties or (contract.publish is not None and contract.publish.allow_empty_overwrite)
    )
    is_broken = (rows == 0 or materialised.read == 0) and not may_be_empty
    hint = "source.empty: accept or no_op says that a batch without rows is fine"
    if source.empty == "accept" and empties:
        hint = "publish.allow_empty_overwrite: true lets an empty batch empty the target"
    return (
        CheckResult(
            check="batch|rows", stage="rows", outcome="broken" if is_broken else "kept", evidence="write",
            expected="at least one row to publish" if not may_be_empty else "any number of rows",
            found=f"{rows_text(rows)} to publish of {materialised.read} read", hint=hint if is_broken else None,
        ),
    )  # fmt: skip


def is_no_op(contract: Contract, materialised: Materialised) -> bool:
    """Whether nothing was read and the contract says that then there is nothing to do."""
    return materialised.read == 0 and (contract.source or Source()).empty == "no_op"
