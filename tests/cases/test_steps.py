"""The reading of steps: similar words mean the same, and what is not understood never passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.sketch import Case, NotUnderstood
from tests.cases.stage import TargetFacts
from tests.cases.steps import Does, Fault, Run, Searched, Seeded, Setting, Together, read_steps


def case_of(*steps: str) -> Case:
    class Named(Case):
        @property
        def inputs(self) -> tuple[Path, ...]:
            return (Path("day1.csv"), Path("day2.csv"), Path("x.csv"), Path("y.csv"))

    return Named(Path("nowhere"), {"steps": list(steps)})


@pytest.mark.parametrize(
    ("step", "actions"),
    [
        ("run", (Run(),)),
        ("run it again", (Run(),)),
        ("attempt 2: same batch, same identity", (Run(),)),
        ("attempt 1: stop the process right after the table commit", (Run(fault=Fault("kill", "commit")),)),
        ("attempt 1: kill the run directly before the commit", (Run(fault=Fault("kill", "before commit")),)),
        ("run; the process dies after the verdict", (Run(fault=Fault("kill", "verdict")),)),
        ("run; the audit store goes down right after the table commit", (Run(fault=Fault("audit read-only", "commit")),)),
        ("run again as a new batch", (Run(is_new_batch=True),)),
        ("run 3 times into 3 fresh targets", (Run(times=3, is_fresh=True),)),
        ("run with session zone UTC and with Asia/Tokyo", (Run(zones=("UTC", "Asia/Tokyo")),)),
        ("publish day2", (Run(batch="day2"),)),
        ("publish day1 (first time)", (Run(batch="day1"),)),
        ("batch id '../../up', then '/tmp/up'", (Run(submission_id="../../up"), Run(submission_id="/tmp/up"))),
        ("start batch x and batch y; hold both after the key check; release both", (Together(("x", "y")), Does("nothing"), Does("nothing"))),
        ("set spark.sql.shuffle.partitions=3 in the session", (Setting("spark.sql.shuffle.partitions", "3"),)),
        ("run; search task log, stderr, audit for CANARY", (Run(), Searched("CANARY"))),
        ("target has CHECK (a > 0)", (Seeded(TargetFacts(checks=("a > 0",))),)),
        (
            "target: id NOT NULL, CHECK (length(v) > 2), property owner=b",
            (Seeded(TargetFacts(not_null=("id",), checks=("length(v) > 2",), properties={"owner": "b"})),),
        ),
        ("target column seen is NOT NULL without default", (Seeded(TargetFacts(not_null=("seen",))),)),
    ],
)  # fmt: skip
def test_step_in_words_is_its_action(step: str, actions: tuple[object, ...]) -> None:
    assert read_steps(case_of(step)) == actions


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("run on a full moon", "step not understood"),
        ("attempt 1: stop the process somewhere", "step not understood"),
        ("target has CHECK (a > 0) and a trigger", "step not understood"),
        ("publish day9", "step not understood"),
        ("materialize the asset", "needs Dagster"),
        ("clear the task", "needs Airflow"),
        ("the store answers 503", "step not understood"),
    ],
)
def test_step_that_is_not_understood_is_told(step: str, reason: str) -> None:
    with pytest.raises(NotUnderstood, match=reason):
        read_steps(case_of(step))
