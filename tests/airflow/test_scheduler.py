"""Real schedulers with LocalExecutor, on SQLite and on PostgreSQL, with killed workers and cleared tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.airflow.conftest import Setup, serve_airflow
from tests.airflow.standalone import Standalone, wait_until
from tests.postgres_server import postgres_server, postgres_url  # noqa: F401

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Standalone, Setup]]:
    if request.param == "sqlite":
        yield request.getfixturevalue("served")
        return
    with serve_airflow(tmp_path, request.getfixturevalue("postgres_url")) as found:
        yield found


def test_one_publication_per_submission_whatever_dies_is_cleared_or_waits(
    running: tuple[Standalone, Setup], monkeypatch: pytest.MonkeyPatch
) -> None:
    airflow, setup = running
    monkeypatch.setenv("INVARACT_LAKE_ROOT", str(setup.lake.root))

    worker_dies_after_the_commit(airflow, setup)
    breach_is_tried_once(airflow, setup)
    one_mapped_task_is_mended_and_cleared(airflow, setup)
    sensor_waits_in_the_triggerer(airflow, setup)
    backfill_of_two_days_over_one_slice_publishes_once(airflow, setup)
    failed_task_leads_to_its_audit(airflow)
    lineage_has_outputs_only_for_what_was_published(airflow)
    zombie_is_found_and_tried_again(airflow, setup)
    no_value_is_in_any_log(airflow)


def worker_dies_after_the_commit(airflow: Standalone, setup: Setup) -> None:
    setup.lake.land("killed.csv", "id,v", "A1,1")

    ended = airflow.run("dying", setup.conf("killed", dies="worker"))

    assert ended == {"gate": ("success", 2)}
    assert setup.lake.rows("reporting/batch") == [{"id": "A1", "v": 1}]
    found = audited("killed")
    assert [a.attempt.context["try_number"] for a in found] == ["2", "1"]
    assert len({a.submission.submission_id for a in found}) == 1
    assert found[0].outcome.publication.attempt_id == found[1].attempt.attempt_id
    assert airflow.finish_runs("consumer", 1) == ["success"]
    run_id = airflow.runs("consumer")[0]["dag_run_id"]
    value = airflow.get(f"dags/consumer/dagRuns/{run_id}/taskInstances/consume/xcomEntries/return_value")["value"]
    assert json.loads(value.replace("'", '"')) if isinstance(value, str) else value == [[found[0].submission.submission_id, 1]]


def zombie_is_found_and_tried_again(airflow: Standalone, setup: Setup) -> None:
    """Task and supervisor are killed after the commit: nobody is left who could tell, the scheduler misses the heartbeat."""
    setup.lake.land("zombie.csv", "id,v", "Z1,1")

    ended = airflow.run("dying", setup.conf("zombie", dies="supervisor"))

    assert ended == {"gate": ("success", 2)}
    assert [r for r in setup.lake.rows("reporting/batch") if r["id"].startswith("Z")] == [{"id": "Z1", "v": 1}]
    again, first = audited("zombie")
    assert (again.outcome.code, first.state) == ("publish.already_done", "published")
    assert again.submission.submission_id == first.submission.submission_id
    assert again.outcome.publication.attempt_id == first.attempt.attempt_id
    assert "Detected a task instance without a heartbeat" in (airflow.home / "standalone.log").read_text()


def breach_is_tried_once(airflow: Standalone, setup: Setup) -> None:
    setup.lake.land("breach.csv", "id,v", "B1,CANARY-7731")
    version = setup.lake.version("reporting/batch")

    assert airflow.run("dying", setup.conf("breach", dies="")) == {"gate": ("failed", 1)}
    assert setup.lake.version("reporting/batch") == version
    assert len(airflow.runs("consumer")) == 1


def one_mapped_task_is_mended_and_cleared(airflow: Standalone, setup: Setup) -> None:
    for name, line in {"p0": "C0,1", "p1": "C1,", "p2": "C2,1"}.items():
        setup.lake.land(f"{name}.csv", "id,v", line)
    run_id = airflow.start_run("gate_maps", setup.conf("") | {"parameters": {"parts": ["p0", "p1", "p2"]}})
    first = airflow.finish_run("gate_maps", run_id)
    setup.lake.land("p1.csv", "id,v", "C1,5")

    airflow.clear("gate_maps", run_id, "gate", 1)
    second = airflow.finish_run("gate_maps", run_id)

    assert {name: state for name, (state, _) in first.items() if "gate" in name} == {
        "gate[0]": "success", "gate[1]": "failed", "gate[2]": "success",
    }  # fmt: skip
    assert first["after_all"][0] == "upstream_failed"
    assert {name: state for name, (state, _) in second.items()} == dict.fromkeys(second, "success")
    assert second["gate[0]"][1] == 1
    assert [r["id"] for r in setup.lake.rows("reporting/batch")] == ["A1", "C0", "C1", "C2"]


def backfill_of_two_days_over_one_slice_publishes_once(airflow: Standalone, setup: Setup) -> None:
    setup.lake.land("filled.csv", "id,v", "F1,1")
    body = {"dag_id": "gate_dated", "from_date": "2026-09-01T00:00:00Z", "to_date": "2026-09-02T00:00:00Z", "dag_run_conf": setup.conf("filled")}

    airflow.post("backfills", body)

    assert airflow.finish_runs("gate_dated", 2) == ["success", "success"]
    assert {run["run_type"] for run in airflow.runs("gate_dated")} == {"backfill"}
    assert {a.outcome.code for a in audited("filled")} == {"publish.already_done", None}  # at once, so either may be first
    assert len(audited("filled")) == 2
    events = [event["extra"].get("submission_id") for event in airflow.get("assets/events?limit=100")["asset_events"]]
    assert events.count(audited("filled")[0].submission.submission_id) == 1
    assert [r["id"] for r in setup.lake.rows("reporting/batch") if r["id"].startswith("F")] == ["F1"]


def sensor_waits_in_the_triggerer(airflow: Standalone, setup: Setup) -> None:
    run_id = airflow.start_run("wait_deferred", setup.conf("late"))
    instance = f"dags/wait_deferred/dagRuns/{run_id}/taskInstances/wait"
    wait_until(lambda: airflow.get(instance)["state"], lambda state: state == "deferred", 180, "the sensor to wait")
    setup.lake.land("late.csv", "id,v", "D1,1")

    airflow.run("dying", setup.conf("late", dies=""))

    assert airflow.finish_run("wait_deferred", run_id)["wait"][0] == "success"


def failed_task_leads_to_its_audit(airflow: Standalone) -> None:
    failed = next(r for r in airflow.runs("dying") if r["state"] == "failed")
    links = airflow.get(f"dags/dying/dagRuns/{failed['dag_run_id']}/taskInstances/gate/links")["extra_links"]
    attempt = audited("breach")[0].attempt.attempt_id

    assert links == {"Contract audit": f"/plugin/invaract/invaract/runs/{attempt}"}
    assert airflow.client.get(f"/invaract/runs/{attempt}").status_code == 200
    assert airflow.client.get(f"/invaract/runs/{attempt}", headers={"Authorization": ""}).status_code == 401


def lineage_has_outputs_only_for_what_was_published(airflow: Standalone) -> None:
    lines = (airflow.home / "lineage.jsonl").read_text().splitlines()
    ended = [e for e in map(json.loads, lines) if e["eventType"] in ("COMPLETE", "FAIL") and e["job"]["name"] == "dying.gate"]
    failed = [e for e in ended if e["eventType"] == "FAIL" and e["inputs"]]
    done = [e for e in ended if e["eventType"] == "COMPLETE"]

    assert [e["outputs"] for e in failed] == [[]]
    assertions = failed[0]["inputs"][0]["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert "v|type" in [a["assertion"] for a in assertions if not a["success"]]
    assert [[o["name"].rpartition("/")[2] for o in e["outputs"]] for e in done] == [["batch"], ["batch"]]
    assert sorted(done[0]["outputs"][0]["facets"]["columnLineage"]["fields"]) == ["id", "v"]


def no_value_is_in_any_log(airflow: Standalone) -> None:
    files = [p for p in airflow.home.rglob("*") if p.is_file()]
    assert [p for p in files if b"CANARY-7731" in p.read_bytes()] == []
    assert any(p.suffix == ".log" for p in files)


def audited(part: str) -> list[Any]:
    from invaract_orchestration.wiring import open_audit

    with open_audit(read_only=True) as store:
        return [a for a in store.attempts() if a.submission.parameters == {"part": part}]
