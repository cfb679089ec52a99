"""The operator in a real DAG run: what reaches the target, the task's state, XCom, events and the audit."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

DAY = datetime(2026, 9, 3, tzinfo=UTC)


def test_flights_good_month_is_published_and_a_bad_one_leaves_the_target(
    lake: Any, run_flights: Callable[..., Any], events: Any
) -> None:
    good = run_flights(month="2013-01")
    version, rows = lake.version("nyc/reporting/flights"), lake.count("nyc/reporting/flights")
    bad = run_flights(month="2013-03", faulty=True)

    assert good.tasks == {"deliver": "success", "publish_flights": "success", "announce": "success"}
    assert rows == 27_004
    assert bad.state == "failed"
    assert bad.tasks == {"deliver": "success", "publish_flights": "failed", "announce": "upstream_failed"}
    assert bad.tries["publish_flights"] == 1
    assert (lake.version("nyc/reporting/flights"), lake.count("nyc/reporting/flights")) == (version, rows)
    assert [(e["table_version"], e["counts"]["candidate"]) for e in events("flights")] == [(version, 27_004)]


def test_breach_with_retries_is_tried_once_and_the_callback_has_the_result(
    setup: Any, run_dag: Any, attempts: Any, events: Any, xcoms: Any, tmp_path: Any
) -> None:
    setup.lake.land("p.csv", "id,v", "A1,")

    ran = run_dag("gate", conf=setup.conf("p"))

    assert ran.tasks == {"gate": "failed", "after": "upstream_failed"}
    assert [(a.state, a.outcome.code) for a in attempts()] == [("rejected", "v|required")]
    assert json.loads((tmp_path / "failed.json").read_text()) == {"state": "rejected", "broken": ["v|required"]}
    assert events("batch") == []
    assert setup.lake.version("reporting/batch") is None
    report = xcoms(ran)["contract_gate"]
    assert (report["state"], report["blocking"], report["attempt_id"]) == (
        "rejected", ["v|required"], attempts()[0].attempt.attempt_id,
    )  # fmt: skip


def test_store_that_is_away_at_first_is_tried_again_and_published_once(
    setup: Any, run_dag: Any, attempts: Any, events: Any
) -> None:
    setup.lake.land("p.csv", "id,v", "A1,1")
    (setup.lake.root / "_invaract").write_text("in the way of the audit store's folder")

    ran = run_dag("gate", conf=setup.conf("p"))

    assert (ran.tasks["gate"], ran.tries["gate"]) == ("success", 2)
    assert [(a.state, a.attempt.context["try_number"]) for a in attempts()] == [("published", "2")]
    assert setup.lake.rows("reporting/batch") == [{"id": "A1", "v": 1}]
    assert len(events("batch")) == 1


def test_run_again_for_the_same_and_another_date_publishes_and_announces_once(
    setup: Any, run_dag: Any, attempts: Any, events: Any
) -> None:
    setup.lake.land("p.csv", "id,v", "A1,1")
    first, other = datetime(2026, 9, 1, 3, 28, tzinfo=UTC), datetime(2026, 9, 1, 3, 30, tzinfo=UTC)

    run_dag("gate", conf=setup.conf("p"), logical_date=first)
    version = setup.lake.version("reporting/batch")
    again = run_dag("gate", conf=setup.conf("p"), logical_date=first)
    backfill = run_dag("gate", conf=setup.conf("p"), logical_date=other)

    assert [again.tasks["gate"], backfill.tasks["gate"]] == ["success", "success"]
    assert (setup.lake.version("reporting/batch"), setup.lake.rows("reporting/batch")) == (version, [{"id": "A1", "v": 1}])
    assert [a.outcome.code for a in attempts()] == ["publish.already_done", "publish.already_done", None]
    assert len({a.submission.submission_id for a in attempts()}) == 1
    assert [e["counts"]["candidate"] for e in events("batch")] == [1]


def test_templates_name_target_engine_and_submission(setup: Any, run_dag: Any, attempts: Any) -> None:
    setup.lake.land("p.csv", "id,v", "A1,1")

    ran = run_dag("gate_templates", conf=setup.conf("p"), logical_date=datetime(2026, 9, 6, tzinfo=UTC))

    assert ran.tasks == {"gate": "success"}
    assert setup.lake.rows("tables/p") == [{"id": "A1", "v": 1}]
    (found,) = attempts()
    assert found.submission.submission_id == "gate_templates-20260906"
    assert found.attempt.engine.startswith("duckdb")


def test_run_whose_later_task_crashed_is_run_whole_again_and_publishes_nothing_more(
    setup: Any, run_dag: Any, attempts: Any, events: Any
) -> None:
    setup.lake.land("p.csv", "id,v", "A1,1")
    day = datetime(2026, 9, 5, tzinfo=UTC)

    first = run_dag("gate_then_crash", conf=setup.conf("p"), logical_date=day)
    version = setup.lake.version("reporting/batch")
    second = run_dag("gate_then_crash", conf=setup.conf("p"), logical_date=day)

    assert first.tasks == {"gate": "success", "crash_once": "failed"}
    assert second.tasks == {"gate": "success", "crash_once": "success"}
    assert (setup.lake.version("reporting/batch"), setup.lake.rows("reporting/batch")) == (version, [{"id": "A1", "v": 1}])
    assert [a.outcome.code for a in attempts()] == ["publish.already_done", None]
    assert len(events("batch")) == 1


def test_mapped_tasks_with_one_bad_partition_publish_each_good_one_once(
    setup: Any, run_dag: Any, attempts: Any, events: Any
) -> None:
    for name, line in {"p0": "A1,1", "p1": "B1,", "p2": "C1,1"}.items():
        setup.lake.land(f"{name}.csv", "id,v", line)
    conf = setup.conf("") | {"parameters": {"parts": ["p0", "p1", "p2"]}}
    day = datetime(2026, 9, 2, tzinfo=UTC)

    first = run_dag("gate_maps", conf=conf, logical_date=day)
    before = setup.lake.rows("reporting/batch")
    setup.lake.land("p1.csv", "id,v", "B1,5")
    second = run_dag("gate_maps", conf=conf, logical_date=day)

    assert {n: s for n, s in first.tasks.items() if n.startswith("gate")} == {
        "gate[0]": "success", "gate[1]": "failed", "gate[2]": "success",
    }  # fmt: skip
    assert first.tasks["after_all"] == "upstream_failed"
    assert [r["id"] for r in before] == ["A1", "C1"]
    assert second.state == "success"
    assert setup.lake.rows("reporting/batch") == [{"id": "A1", "v": 1}, {"id": "B1", "v": 5}, {"id": "C1", "v": 1}]
    assert {a.attempt.context["map_index"] for a in attempts()} == {"0", "1", "2"}
    assert len({e["submission_id"] for e in events("parts")}) == len(events("parts")) == 3


def test_rejected_batch_with_skip_skips_and_publishes_nothing(setup: Any, run_dag: Any) -> None:
    setup.lake.land("p.csv", "id,v", "A1,")

    assert run_dag("gate_skips", conf=setup.conf("p")).tasks == {"gate": "skipped"}
    assert setup.lake.version("reporting/batch") is None


@pytest.mark.parametrize(("text", "reason"), [("contract: [", "batch.yaml"), ("contract: x\nfeilds: []", "fields")])
def test_contract_that_cannot_be_used_fails_at_once_and_says_why(
    text: str, reason: str, setup: Any, run_dag: Any, capfd: Any
) -> None:
    setup.contract.write_text(text)

    ran = run_dag("gate", conf=setup.conf("p"))

    assert (ran.tasks["gate"], ran.tries["gate"]) == ("failed", 1)
    assert reason in "".join(capfd.readouterr())


@pytest.mark.parametrize("name", ["../../outside", "/tmp/outside"])
def test_unsafe_submission_id_is_refused_before_a_file_is_written(name: str, setup: Any, run_dag: Any) -> None:
    setup.lake.land("p.csv", "id,v", "A1,1")

    ran = run_dag("gate_named", conf=setup.conf("p", id=name))

    assert ran.tasks == {"gate": "failed"}
    assert sorted(p.name for p in setup.lake.root.iterdir()) == ["_invaract", "landing"]


def test_many_failing_rows_leave_a_small_report_without_a_value(
    setup: Any, run_dag: Any, xcoms: Any, capfd: Any, airflow_home: Any
) -> None:
    setup.lake.land("p.csv", "id,v", *("A1,CANARY-7731" for _ in range(20_000)))

    ran = run_dag("gate", conf=setup.conf("p"))

    assert ran.tasks["gate"] == "failed"
    report = xcoms(ran)
    assert report["contract_gate"]["blocking"] == ["v|type", "v|required"]
    assert max(len(json.dumps(value)) for value in report.values()) < 1_500
    assert "CANARY" not in "".join(capfd.readouterr())
    assert not any(b"CANARY" in p.read_bytes() for p in airflow_home.rglob("*") if p.is_file())


def test_contract_named_by_a_path_has_its_outlet_and_an_unknown_on_fail_is_refused(airflow_home: Any, tmp_path: Any) -> None:
    from airflow_plugin.operators import ContractGateOperator

    task = ContractGateOperator(task_id="gate", contract=tmp_path / "orders.yaml")
    assert (task.contract, [outlet.name for outlet in task.outlets]) == (str(tmp_path / "orders.yaml"), ["orders"])
    with pytest.raises(ValueError, match="on_fail: expected 'fail' or 'skip', found 'warn'"):
        ContractGateOperator(task_id="gate", contract="orders.yaml", on_fail="warn")  # type: ignore[arg-type]


def test_contract_whose_name_no_asset_can_have_goes_with_outlets_of_its_own(airflow_home: Any) -> None:
    from airflow.sdk import Asset

    from airflow_plugin.operators import ContractGateOperator

    task = ContractGateOperator(task_id="gate", contract="/contracts/self.yaml", outlets=[Asset("orders")])
    assert [outlet.name for outlet in task.outlets] == ["orders"]
    assert ContractGateOperator(task_id="gate", contract="/contracts/self.yaml", outlets=[]).outlets == []


@pytest.mark.parametrize(
    ("name", "value", "found"), [("contract", None, "NoneType"), ("contract", {"a": 1}, "dict"), ("source", 7, "int"), ("target", ["t"], "list")]
)
def test_template_that_gave_no_text_fails_at_once_and_names_the_argument(
    name: str, value: Any, found: str, airflow_home: Any
) -> None:
    from airflow_plugin.exceptions import GateMisused
    from airflow_plugin.operators import ContractGateOperator

    task = ContractGateOperator(task_id="gate", contract="orders.yaml", outlets=[])
    setattr(task, name, value)
    with pytest.raises(GateMisused, match=f"^{name}: expected a text, found {found}\n"):
        task._submit({})  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("dag_id", "task_id", "map_index", "known", "name"),
    [
        ("sales", "rows", -1, {"logical_date": DAY}, "sales.rows.2026-09-03T00:00:00+00:00"),
        ("sales", "rows", 2, {"logical_date": DAY}, "sales.rows.2026-09-03T00:00:00+00:00.2"),
        ("sales", "rows", -1, {"partition_key": "2026-09"}, "sales.rows.2026-09"),
        ("sales", "load.rows", -1, {"logical_date": DAY}, None),
        ("sales.load", "rows", -1, {"logical_date": DAY}, None),
        ("sales--load", "rows", -1, {"logical_date": DAY}, None),
        ("sales", "rows", -1, {"partition_key": "north / south"}, None),
        ("s" * 200, "rows", -1, {"logical_date": DAY}, None),
        ("sales", "rows", -1, {}, None),
    ],
)
def test_frame_has_a_name_that_the_gate_takes_and_no_other_frame_has(
    dag_id: str, task_id: str, map_index: int, known: dict[str, Any], name: str | None
) -> None:
    from airflow_plugin.origin import frame_id
    from invaract_orchestration.intake.parameters import check_identifier

    ti = SimpleNamespace(dag_id=dag_id, task_id=task_id, run_id="by hand, twice", map_index=map_index, try_number=1)
    found = frame_id({"ti": ti, **known})  # type: ignore[typeddict-item]
    assert check_identifier("batch id", found) == found
    assert found == name or (name is None and found.startswith("f-"))


def test_frames_of_tasks_whose_names_read_alike_are_two(airflow_home: Any) -> None:
    from airflow_plugin.origin import frame_id

    def named(dag_id: str, task_id: str) -> str:
        ti = SimpleNamespace(dag_id=dag_id, task_id=task_id, run_id="r", map_index=-1, try_number=1)
        return frame_id({"ti": ti, "logical_date": DAY})  # type: ignore[typeddict-item]

    assert named("sales", "load.rows") != named("sales.load", "rows")
    assert named("sales", "load.rows") == named("sales", "load.rows")
