"""A checkpoint taken under tracking is seen through: verdict and lineage are those of the job without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from invaract_orchestration.candidate.plan.lineage import output_lineage
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from tests.plan.cases import RULES, CaseFile

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
EVERY_RULE = [
    {"type": "required_group_by", "columns": ["region"]},
    {"type": "forbid_cross_join"},
    {"type": "required_join_columns", "columns": ["customer_id"]},
    {"type": "required_filter_columns", "columns": ["is_deleted"]},
]
Checkpoint = Callable[[Any], Any]


@pytest.fixture(scope="module")
def frames(plan_cases: CaseFile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from tests.plan.spark_frames import classic_frames

    folder: Path = tmp_path_factory.mktemp("checkpoints")
    with classic_frames(plan_cases, folder) as made:
        yield made


def job(frames: Any, cut: Checkpoint) -> Any:
    live = cut(frames.tables["orders"].where("is_deleted = false"))
    known = cut(live.join(frames.tables["customers"].select("customer_id", "name"), "customer_id"))
    return cut(known.groupBy("region").count().withColumnRenamed("count", "n"))


@pytest.mark.parametrize(
    "cut",
    [
        lambda frame: frame.localCheckpoint(),
        lambda frame: frame.localCheckpoint(eager=False),
        lambda frame: frame.checkpoint(),
    ],
    ids=["local", "lazy", "reliable"],
)
def test_tracked_checkpoint_is_seen_through(frames: Any, cut: Checkpoint) -> None:
    from invaract_orchestration import track_checkpoints
    from invaract_orchestration.engines.spark.plan_classic import translate_classic

    plain = translate_classic(job(frames, lambda frame: frame)).plan
    with track_checkpoints():
        tracked = translate_classic(job(frames, cut)).plan
    for rule in EVERY_RULE:
        read = RULES.validate_python(rule)
        assert judge_plan_rule(read, tracked).outcome == judge_plan_rule(read, plain).outcome == "kept"
    assert output_lineage(tracked) == output_lineage(plain)


def test_checkpoint_taken_under_tracking_is_seen_through_after_it(frames: Any) -> None:
    from invaract_orchestration import track_checkpoints
    from invaract_orchestration.engines.spark.plan_classic import translate_classic

    with track_checkpoints():
        made = job(frames, lambda frame: frame.localCheckpoint())
    assert judge_plan_rule(RULES.validate_python(EVERY_RULE[0]), translate_classic(made).plan).outcome == "kept"


def test_checkpoint_outside_of_tracking_stays_hidden(frames: Any) -> None:
    from invaract_orchestration.engines.spark.plan_classic import translate_classic

    plan = translate_classic(job(frames, lambda frame: frame.localCheckpoint())).plan
    outcomes = [judge_plan_rule(RULES.validate_python(rule), plan).outcome for rule in EVERY_RULE]
    assert outcomes == ["unverifiable"] * 4


def test_tracking_leaves_the_frame_class_as_it_was(frames: Any) -> None:
    from pyspark.sql.classic.dataframe import DataFrame

    from invaract_orchestration import track_checkpoints

    before = (DataFrame.checkpoint, DataFrame.localCheckpoint)
    with pytest.raises(RuntimeError, match="job"), track_checkpoints():
        raise RuntimeError("the job failed")
    assert (DataFrame.checkpoint, DataFrame.localCheckpoint) == before


def test_threads_that_track_at_once_do_not_disturb_each_other(frames: Any) -> None:
    from pyspark.sql.classic.dataframe import DataFrame

    from invaract_orchestration import track_checkpoints
    from invaract_orchestration.engines.spark.plan_classic import translate_classic

    before = (DataFrame.checkpoint, DataFrame.localCheckpoint)
    entered, left = Barrier(2, timeout=60), Event()

    def first() -> Any:
        with track_checkpoints():
            entered.wait()
            return job(frames, lambda frame: frame.localCheckpoint())

    def second() -> Any:
        with track_checkpoints():
            entered.wait()
            assert left.wait(60)
            return job(frames, lambda frame: frame.localCheckpoint())

    with ThreadPoolExecutor(2) as pool:
        early, late = pool.submit(first), pool.submit(second)
        made = [early.result()]
        untracked = job(frames, lambda frame: frame.localCheckpoint())
        left.set()
        made.append(late.result())
    outcomes = [
        judge_plan_rule(RULES.validate_python(rule), translate_classic(one).plan).outcome
        for one in (*made, untracked)
        for rule in EVERY_RULE
    ]
    assert outcomes == ["kept"] * 8 + ["unverifiable"] * 4
    assert (DataFrame.checkpoint, DataFrame.localCheckpoint) == before
