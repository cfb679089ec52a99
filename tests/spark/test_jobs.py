"""How much Spark has to do: one job to write, one for all rules whatever their number, one shuffle a key, none for a header."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest

from tests.engines.test_batches import parquet
from tests.spark.lakes import EngineLake


class Jobs:
    """The jobs and stages that were started in a block."""

    def __init__(self) -> None:
        self.jobs = 0
        self.stages = 0


@contextmanager
def counted(spark: Any) -> Iterator[Jobs]:
    context, found, group = spark.sparkContext, Jobs(), uuid.uuid4().hex
    context.setJobGroup(group, "counted")
    try:
        yield found
    finally:
        tracker = context.statusTracker()
        jobs = [info for i in tracker.getJobIdsForGroup(group) if (info := tracker.getJobInfo(i)) is not None]
        found.jobs = len(jobs)
        stages = [info for job in jobs for i in job.stageIds if (info := tracker.getStageInfo(i)) is not None]
        found.stages = len(stages)
        context.setLocalProperty("spark.jobGroup.id", None)


NUMBERS = pa.array(range(1000), pa.int64())
ROWS = parquet(pa.table({"id": NUMBERS, "note": [f"n{i}" for i in range(1000)], "share": NUMBERS.cast(pa.float64())}))
IDS = "{name: id, type: bigint}\n{name: note, type: string}\n{name: share, type: double}"


def judged(lake: EngineLake, spark: Any, fields: str = IDS, more: str = "") -> Jobs:
    lake.put({"a.parquet": ROWS})
    contract = lake.contract(fields, source="format: parquet", more=more)
    with counted(spark) as jobs:
        assert lake.check(contract).state == "judged"
    return jobs


def test_batch_without_rules_is_written_in_one_job(lake: EngineLake, spark: Any) -> None:
    assert judged(lake, spark).jobs == 1


@pytest.mark.parametrize("rules", [1, 20])
def test_rules_are_counted_in_one_job_whatever_their_number(lake: EngineLake, spark: Any, rules: int) -> None:
    listed = ", ".join(f'{{name: r{i}, sql: "length(note) > {i - 20}"}}' for i in range(rules))
    bare = EngineLake(root=lake.root / "bare")
    without = judged(bare, spark).jobs
    assert judged(lake, spark, more=f"quality: {{row_rules: [{listed}]}}").jobs - without <= 2  # with AQE, a shuffle is a job


def test_bounds_that_the_footers_prove_start_no_job(lake: EngineLake, spark: Any) -> None:
    proven = IDS.replace("bigint", "bigint, required: true, min: 0, max: 999")
    assert judged(lake, spark, proven).jobs == 1


def test_written_text_is_looked_at_while_it_is_written(lake: EngineLake, spark: Any) -> None:
    lake.put({"a.csv": "id,note,share\n" + "".join(f"{i},n,0.5\n" for i in range(100))})
    with counted(spark) as jobs:
        assert lake.check(lake.contract(IDS)).state == "judged"
    assert jobs.jobs == 1


def test_key_takes_one_shuffle(lake: EngineLake, spark: Any) -> None:
    bare = EngineLake(root=lake.root / "bare")
    without = judged(bare, spark)
    for key in ("id", "note", "share", "note, share"):
        own = EngineLake(root=lake.root / key.replace(", ", "-"))
        found = judged(own, spark, more=f"keys: [[{key}]]")
        assert found.jobs - without.jobs <= 3  # AQE starts a job for each exchange: the key's, the total's and the answer's


def test_rejected_header_starts_no_job(lake: EngineLake, spark: Any) -> None:
    lake.put({"a.csv": "note,id,share\nn,1,0.5\n"})
    with counted(spark) as jobs:
        assert lake.run(lake.contract(IDS)).state == "rejected"
    assert jobs.jobs == 0


def test_other_type_in_a_footer_starts_no_job(lake: EngineLake, spark: Any) -> None:
    lake.put({"a.parquet": ROWS})
    with counted(spark) as jobs:
        assert lake.run(lake.contract(IDS.replace("bigint", "int"), source="format: parquet")).state == "rejected"
    assert jobs.jobs == 0
