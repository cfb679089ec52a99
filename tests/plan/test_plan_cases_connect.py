"""Every case of the file, on the plan of a Spark Connect client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from invaract_orchestration.candidate.plan.diagnostics import Translation
from invaract_orchestration.candidate.plan.render import render_plan
from tests.plan.cases import Case, CaseFile, assert_finding, assert_lineage, assert_no_literal, assert_tags, judge

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
FRONT_END = "spark_connect"


@pytest.fixture(scope="module")
def frames(plan_cases: CaseFile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("pyspark.sql.connect.session", exc_type=ImportError)
    from pyspark.sql.connect import functions as F  # noqa: N812 - as everybody writes it
    from pyspark.sql.connect.session import SparkSession

    from tests.plan.spark_frames import SparkFrames
    from tests.spark.sessions import connect_url

    folder: Path = tmp_path_factory.mktemp("connect")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")  # makes user functions those of a client
        session = SparkSession.builder.remote(connect_url()).create()
        yield SparkFrames(session, F, plan_cases, folder)
        session.stop()


def translated(case: Case, frames: Any) -> Translation:
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    return translate_connect(frames.frame(case))


def test_rule_case_of_the_file_has_its_outcome(rule_case: Case, frames: Any) -> None:
    translation = translated(rule_case, frames)
    assert translation.diagnostics == ()
    assert_finding(rule_case, judge(rule_case, translation.plan))


def test_lineage_case_of_the_file_has_its_sources(lineage_case: Case, frames: Any) -> None:
    assert_lineage(lineage_case, translated(lineage_case, frames).plan)


def test_sensitivity_case_of_the_file_has_its_tags(sensitivity_case: Case, frames: Any) -> None:
    assert_tags(sensitivity_case, translated(sensitivity_case, frames).plan)


def test_render_case_of_the_file_has_its_tree(render_case: Case, frames: Any) -> None:
    assert render_plan(translated(render_case, frames).plan, full_names=False) == render_case.entry["tree"]


def test_literal_case_of_the_file_shows_no_literal(literal_case: Case, frames: Any) -> None:
    assert_no_literal(literal_case, translated(literal_case, frames).plan)
