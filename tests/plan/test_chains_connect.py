"""Random chains of steps on real Spark: nothing raises, nothing is lost, and all front ends say the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from invaract_orchestration import track_checkpoints
from invaract_orchestration.candidate.plan.lineage import output_lineage
from invaract_orchestration.candidate.plan.nodes import Plan
from invaract_orchestration.candidate.plan.render import render_plan
from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.plan_shape import judge_plan_rule
from tests.plan.cases import RULES, CaseFile
from tests.plan.chains import ODD_STEPS, ORDERS, STEPS, Chain, Ground, Step

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
EXAMPLES = int(os.environ.get("INVARACT_CHAINS", "40"))
IS_SAME_EACH_RUN = "INVARACT_CHAINS" not in os.environ  # who asks for more chains gets others, by --hypothesis-seed
CHAINS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=IS_SAME_EACH_RUN,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
JUDGED = [
    {"type": kind, "columns": columns, "scope": scope}
    for kind, columns in (
        ("required_group_by", ["customer_id"]),
        ("required_join_columns", ["customer_id"]),
        ("required_join_columns", ["accounts.cust_id"]),
        ("required_filter_columns", ["qty"]),
        ("required_filter_columns", ["orders.region"]),
        ("required_filter_columns", ["address.zip"]),
    )
    for scope in ("any", "final", "every_branch")
] + [{"type": "forbid_cross_join"}, {"type": "forbid_cross_join", "allow_single_row": True}]
Front = tuple[Ground, Ground]


@pytest.fixture(scope="module")
def front(plan_cases: CaseFile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """The tables on classic Spark and on a Connect server."""
    pytest.importorskip("pyspark.sql.connect.session", exc_type=ImportError)
    from pyspark.sql import functions as classic_functions
    from pyspark.sql.connect import functions as connect_functions
    from pyspark.sql.connect.session import SparkSession

    from tests.plan.spark_frames import SparkFrames, classic_frames
    from tests.spark.sessions import connect_url

    folder: Path = tmp_path_factory.mktemp("chains")
    with classic_frames(plan_cases, folder) as classic:
        session = SparkSession.builder.remote(connect_url()).create()
        remote = SparkFrames(session, connect_functions, plan_cases, folder, registers=False)
        yield Ground(classic.tables, classic_functions), Ground(remote.tables, connect_functions)
        session.stop()


def outcomes(plan: Plan) -> list[str]:
    return [judge_plan_rule(RULES.validate_python(rule), plan).outcome for rule in JUDGED]


def lineage(plan: Plan) -> dict[str, tuple[set[str], str, set[str]]]:
    return {
        name.lower(): ({str(s).lower() for s in one.sources}, one.derivation, set(one.aggregations))
        for name, one in output_lineage(plan).items()
    }


def plans_of(front: Front, steps: list[Step], cases: CaseFile) -> list[Plan]:
    """The chain's plan on classic Spark, on Connect, and in SQL where it can be said; each without a loss."""
    from invaract_orchestration.engines.spark.plan_classic import translate_classic
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    note(f"steps: {', '.join(step.__name__ for step in steps)}")
    chains: list[Chain] = []
    for ground in front:
        chain = ground.start
        for step in steps:
            chain = step(chain, ground)
        chains.append(chain)
    translations = [translate_classic(chains[0].frame), translate_connect(chains[1].frame)]
    if chains[0].sql is not None:
        translations.append(translate_sql(chains[0].sql, cases.schemas))
    for one in translations:
        assert one.diagnostics == ()
        assert render_plan(one.plan) == render_plan(one.plan)
    return [one.plan for one in translations]


@CHAINS
@given(steps=st.lists(st.sampled_from(STEPS), max_size=6))
def test_chain_has_one_verdict_on_all_front_ends(front: Front, plan_cases: CaseFile, steps: list[Step]) -> None:
    first, *others = plans_of(front, steps, plan_cases)
    for other in others:
        assert outcomes(other) == outcomes(first)
        assert lineage(other) == lineage(first)


@CHAINS
@given(steps=st.lists(st.sampled_from(STEPS + ODD_STEPS), max_size=6))
def test_chain_with_odd_steps_has_one_verdict_on_spark(front: Front, plan_cases: CaseFile, steps: list[Step]) -> None:
    first, second, *_ = plans_of(front, steps, plan_cases)
    assert outcomes(second) == outcomes(first)
    assert lineage(second) == lineage(first)


def test_what_only_the_server_knows_may_hide_anything(front: Front) -> None:
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    orders = front[1].tables["orders"]
    not_there = translate_connect(orders.sparkSession.table("nowhere").limit(5))
    handed_in = translate_connect(orders.sparkSession.sql("SELECT * FROM {rows} WHERE order_id > 1", rows=orders))
    assert set(outcomes(not_there.plan)) == set(outcomes(handed_in.plan)) == {"unverifiable"}
    assert "plan.unknown_table" in {one.code for one in not_there.diagnostics}


def test_many_rows_in_memory_are_a_source_of_a_client(front: Front) -> None:
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    session = front[1].tables["orders"].sparkSession
    session.conf.set("spark.sql.session.localRelationCacheThreshold", "1")
    try:
        made = session.createDataFrame([(1, "a"), (2, "b")], "qty int, region string").where("qty > 1")
    finally:
        session.conf.unset("spark.sql.session.localRelationCacheThreshold")
    found = translate_connect(made)
    assert found.diagnostics == ()
    assert judge_plan_rule(RULES.validate_python({"type": "forbid_cross_join"}), found.plan).outcome == "kept"
    assert lineage(found.plan)["region"] == (set(), "constant", set())


def test_query_that_a_database_runs_hides_what_it_does(front: Front) -> None:
    from invaract_orchestration.engines.spark.plan_classic import translate_classic
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    texts = {"SYS.SYSTABLES": "kept", "(SELECT 'secret' AS a FROM SYS.SYSTABLES t CROSS JOIN SYS.SYSTABLES u) q": "unverifiable"}
    for ground, translate in zip(front, (translate_classic, translate_connect), strict=True):
        source = ground.tables["orders"].sparkSession.read.format("jdbc").option("url", "jdbc:derby:memory:plans;create=true")
        for text, outcome in texts.items():
            plan = translate(source.option("driver", "org.apache.derby.jdbc.EmbeddedDriver").option("dbtable", text).load()).plan
            assert judge_plan_rule(RULES.validate_python({"type": "forbid_cross_join"}), plan).outcome == outcome
            assert "secret" not in render_plan(plan)


def test_every_step_changes_the_chain_that_it_fits(front: Front) -> None:
    assert front[0].start.columns == ORDERS == tuple(front[0].tables["orders"].columns)
    unchanged = [step.__name__ for step in STEPS + ODD_STEPS if step(front[0].start, front[0]).frame is front[0].start.frame]
    assert unchanged == []


def test_checkpoint_of_a_client_under_tracking_is_seen_through(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql.connect.session import SparkSession

    # PySpark takes a checkpoint in the thread's active session, which other tests may have set
    monkeypatch.setattr(SparkSession._active_session, "session", front[1].tables["orders"].sparkSession, raising=False)
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    def job(cut: bool) -> Any:
        live = front[1].tables["orders"].where("is_deleted = false")
        live = live.localCheckpoint() if cut else live
        known = live.join(front[1].tables["customers"].select("customer_id", "name"), "customer_id")
        known = known.localCheckpoint(eager=False) if cut else known
        return known.where(known["qty"] > 1).groupBy("region").count()

    rules = [
        {"type": "required_filter_columns", "columns": ["is_deleted"]},
        {"type": "required_join_columns", "columns": ["customer_id"]},
    ]
    hidden = job(cut=True)
    with track_checkpoints():
        tracked = job(cut=True)
    plain = translate_connect(job(cut=False)).plan
    seen, unseen = translate_connect(tracked), translate_connect(hidden)
    assert seen.diagnostics == ()
    assert lineage(seen.plan) == lineage(plain)
    for rule in map(RULES.validate_python, rules):
        assert judge_plan_rule(rule, seen.plan).outcome == "kept"
        assert judge_plan_rule(rule, unseen.plan).outcome == "unverifiable"


def test_finding_names_the_python_line_of_the_condition(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.errors import utils

    from invaract_orchestration.engines.spark.plan_classic import translate_classic
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    rule = RULES.validate_python({"type": "required_filter_columns", "columns": ["status"]})
    monkeypatch.setattr(utils, "_enable_debugging_cache", True)  # as a session that is there from the start has it
    for ground, translate in zip(front, (translate_classic, translate_connect), strict=True):
        if ground is front[1]:
            monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")  # as a program with a client alone has it
        condition = ground.functions.col("qty") > 3
        finding = judge_plan_rule(rule, translate(ground.tables["orders"].where(condition)).plan)
        assert finding.file == "test_chains_connect.py"
        assert finding.line is not None
        assert 'col("qty") > 3' in Path(__file__).read_text(encoding="utf-8").splitlines()[finding.line - 1]
        assert (finding.node, finding.hint) == (
            "Filter; WHERE qty > ?",
            "filter on 'status' in a WHERE of the transformation itself",
        )


def test_finding_names_the_line_of_the_sql_text(front: Front) -> None:
    from invaract_orchestration.engines.spark.plan_classic import translate_classic
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    text = "SELECT order_id\nFROM orders\nWHERE qty > 3"
    rule = RULES.validate_python({"type": "required_filter_columns", "columns": ["status"]})
    for ground, translate in zip(front, (translate_classic, translate_connect), strict=True):
        finding = judge_plan_rule(rule, translate(ground.tables["orders"].sparkSession.sql(text)).plan)
        assert (finding.line, finding.file) == (3, None)


def test_case_sensitive_session_tells_names_apart(front: Front) -> None:
    from invaract_orchestration.engines.spark.plan_classic import translate_classic
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    upper, lower = ({"type": "required_filter_columns", "columns": [name]} for name in ("QTY", "qty"))
    for ground, translate in zip(front, (translate_classic, translate_connect), strict=True):
        session = ground.tables["orders"].sparkSession
        session.conf.set("spark.sql.caseSensitive", "true")
        try:
            frame = ground.tables["orders"].select("qty", "status").withColumn("QTY", ground.functions.col("status"))
            found = translate(frame.where(ground.functions.col("qty") > 3))
        finally:
            session.conf.set("spark.sql.caseSensitive", "false")
        assert found.case_sensitive
        told = [judge_plan_rule(RULES.validate_python(rule), found.plan, case_sensitive=True).outcome for rule in (upper, lower)]
        assert told == ["broken", "kept"]
        assert [a.name for a in found.plan.output] == ["qty", "status", "QTY"]


def test_chain_of_2000_columns_is_translated_in_seconds(front: Front) -> None:
    import time

    from invaract_orchestration.engines.spark.plan_classic import translate_classic
    from invaract_orchestration.engines.spark.plan_connect import translate_connect

    for ground, translate in zip(front, (translate_classic, translate_connect), strict=True):
        frame = ground.tables["orders"].where("qty > 1").select("order_id", "qty")
        for step in range(2_000):
            frame = frame.withColumn("score", ground.functions.col("qty") + step)
        start = time.monotonic()
        translation = translate(frame)
        assert translation.diagnostics == ()
        assert outcomes(translation.plan)[9] == "kept"
        assert lineage(translation.plan)["score"] == ({"orders.qty"}, "computed", set())
        assert time.monotonic() - start < 30
