"""What writing gave on both sides of a transformation, as one: the source's rows that were checked, and the result's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from invaract_orchestration.candidate.candidate import FailingRows, Materialised, Stages, StepCount, Tally


def both_sides(source: Materialised, result: Materialised, failing: FailingRows | None) -> Materialised:
    """The result's candidate with the rows of the source that never got there. `failing` are the failing rows of both."""
    good, made = source.candidate.rows, result.read
    stages = Stages(
        unreadable=0, pre_in=source.read, pre_out=source.read, pre_failing=source.set_aside, post_in=good, post_out=made,
        post_failing=result.set_aside, steps=(StepCount(at=0, kind="function", phase="post", rows_in=good, rows_out=made),),
    )  # fmt: skip
    return Materialised(
        candidate=result.candidate, read=source.read, tallies=_together(source.tallies, result.tallies), failing=failing,
        set_aside=source.set_aside + result.set_aside, stages=stages,
    )  # fmt: skip


def _together(before: Mapping[str, Tally], after: Mapping[str, Tally]) -> dict[str, Tally]:
    """A check that was asked on both sides has looked at the rows of both; a type is a matter of the text it was read from."""
    found = {**before, **after}
    for check in before.keys() & after.keys():
        first, then = before[check], after[check]
        found[check] = first if check.endswith("|type") else replace(
            then, rows=first.rows + then.rows, failed=first.failed + then.failed, undecided=first.undecided + then.undecided,
            nulls=None if first.nulls is None or then.nulls is None else first.nulls + then.nulls,
            sides=(first, then), evidence="scan" if "scan" in (first.evidence, then.evidence) else then.evidence,
        )  # fmt: skip
    return found
