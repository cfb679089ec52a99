"""`run` and `check`: exit codes, the three outputs, and nothing of the data in any of them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from invaract_orchestration.wiring import count_rows
from tests.cli.conftest import BAD, GOOD, SWAPPED, Place

CANARIES = ("canary-7f3a", "canary-9b21")


def test_run_of_a_good_batch_publishes_and_exits_0(place: Place) -> None:
    place.deliver("d1", GOOD)
    said = place.call("run", "orders.yaml", "--param", "day=d1")
    assert said.code == 0
    assert said.out.startswith("PUBLISHED  orders 1.0.0, day=d1\n")
    assert "2 read, 2 good, 2 inserted" in said.out
    assert "publishing" in said.err
    assert count_rows(str(place.root / "lake/sales/orders")) == (1, 2)


def test_run_of_the_same_batch_again_exits_0_and_changes_nothing(place: Place) -> None:
    place.deliver("d1", GOOD)
    place.call("run", "orders.yaml", "-p", "day=d1")
    said = place.call("run", "orders.yaml", "-p", "day=d1", "--quiet")
    assert said.code == 0
    assert "already published as version 1" in said.out
    assert said.err == ""
    assert count_rows(str(place.root / "lake/sales/orders")) == (1, 2)


def test_run_of_a_bad_batch_exits_1_and_leaves_the_target(place: Place) -> None:
    place.deliver("d1", GOOD)
    place.deliver("d2", BAD)
    place.call("run", "orders.yaml", "-p", "day=d1")
    said = place.call("run", "orders.yaml", "-p", "day=d2")
    assert said.code == 1
    assert said.out.startswith("REJECTED  orders 1.0.0, day=d2\n")
    assert "broken        amount|min" in said.out
    assert "expected    every value is written as decimal(10,2)" in said.out
    assert "    published   nothing\n" in said.out
    assert count_rows(str(place.root / "lake/sales/orders")) == (1, 2)


@pytest.mark.parametrize("output", ["text", "json", "junit"])
def test_no_output_of_a_bad_batch_holds_a_value(place: Place, output: str) -> None:
    place.deliver("d2", BAD)
    said = place.call("run", "orders.yaml", "-p", "day=d2", "--output", output)
    assert said.code == 1
    assert not [c for c in CANARIES if c in said.out + said.err]


def test_run_with_swapped_headers_names_both_positions(place: Place) -> None:
    place.deliver("d3", SWAPPED)
    said = place.call("run", "orders.yaml", "-p", "day=d3")
    assert said.code == 1
    assert "header|order" in said.out
    assert "Hint: restore the order" in said.out


def test_run_with_quarantine_exits_2(place: Place) -> None:
    text = (place.root / "orders.yaml").read_text().replace("reject}", "quarantine}")
    (place.root / "orders.yaml").write_text(text)
    place.deliver("d2", BAD)
    said = place.call("run", "orders.yaml", "-p", "day=d2")
    assert said.code == 2
    assert said.out.startswith("PUBLISHED, ROWS QUARANTINED")
    assert "3 read, 1 good, 2 quarantined, 1 inserted" in said.out
    assert "set aside     amount|min" in said.out


def test_check_publishes_nothing_and_says_what_would_be(place: Place) -> None:
    place.deliver("d1", GOOD)
    said = place.call("check", "orders.yaml", "-p", "day=d1")
    assert said.code == 0
    assert said.out.startswith("WOULD PUBLISH")
    assert count_rows(str(place.root / "lake/sales/orders")) is None


def test_run_with_an_environment_publishes_there(place: Place) -> None:
    place.deliver("d1", GOOD)
    assert place.call("run", "orders.yaml", "-p", "day=d1", "--env", "prod").code == 0
    assert count_rows(str(place.root / "lake/prod/orders")) == (1, 2)


def test_run_with_typed_places_starts_where_the_caller_is(place: Place) -> None:
    file = place.deliver("d1", GOOD)
    (place.root / "deep").mkdir()
    (place.root / "orders.yaml").rename(place.root / "deep" / "orders.yaml")
    said = place.call("run", "deep/orders.yaml", "--source", str(file.relative_to(place.root)), "--target", "./out/t")
    assert said.code == 0
    assert count_rows(str(place.root / "out/t")) == (1, 2)


def test_json_of_a_result_has_the_same_keys_whatever_happened(place: Place) -> None:
    place.deliver("d1", GOOD)
    place.deliver("d2", BAD)
    said = [
        json.loads(place.call("run", "orders.yaml", "-p", f"day={day}", "--output", "json").out)
        for day in ("d1", "d2", "../up", "missing")
    ]
    assert [(each["state"], each["exit_code"]) for each in said] == [
        ("published", 0), ("rejected", 1), ("rejected", 1), ("failed", 3),
    ]  # fmt: skip
    assert [list(each) for each in said] == [
        [
            "format", "state", "exit_code", "code", "message", "hint", "contract", "version", "target", "environment",
            "parameters", "submission_id", "attempt_id", "is_check", "is_recorded", "started_at", "finished_at",
            "counts", "quarantine", "lineage", "publication", "verdict", "checks", "files",
        ]
    ] * 4  # fmt: skip
    broken = {c["check"]: c["failed"] for c in said[1]["checks"] if c["is_blocking"]}
    assert broken == {"amount|type": 1, "amount|min": 1}


def test_junit_counts_failures_by_check(place: Place) -> None:
    place.deliver("d2", BAD)
    suite = ET.fromstring(place.call("run", "orders.yaml", "-p", "day=d2", "--output", "junit").out)[0]
    assert (suite.get("name"), suite.get("failures")) == ("orders", "2")
    failed = {c.get("name") for c in suite.iter("testcase") if c.find("failure") is not None}
    assert failed == {"amount|type", "amount|min"}


def test_unsafe_parameter_is_rejected_with_exit_1_before_anything_is_written(place: Place) -> None:
    said = place.call("run", "orders.yaml", "-p", "day=../../etc/passwd")
    assert said.code == 1
    assert said.out.startswith("REJECTED")
    assert "is not allowed" in said.out
    assert not (place.root / "lake/sales").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence", "hint"),
    [
        ((), "parameter 'day' is needed and not given", "no parameter is given"),
        (("-p", "day"), "--param: expected NAME=VALUE", "--param day=2026-11-30"),
        (("-p", "day=1", "-p", "day=2"), "--param: 'day' is given twice", "leave one of them out"),
        (("-p", "day=1", "-p", "week=2"), "parameter 'week' is used nowhere in the contract", "known: 'day'"),
        (("-p", "day=1", "--env", "prd"), "orders: unknown environment 'prd'", "environments of it: 'prod'"),
        (("-p", "day=1", "--engine", "flink"), "engine 'flink' is not known", "duckdb"),
        (("--outptu", "json"), "Unknown option: --outptu", "invaract run --help"),
        (("--output", "xml"), 'Invalid value "xml" for --output', "invaract run --help"),
    ],
)
def test_call_that_makes_no_sense_exits_64_with_a_hint(
    place: Place, arguments: tuple[str, ...], sentence: str, hint: str
) -> None:
    said = place.call("run", "orders.yaml", *arguments)
    assert said.code == 64
    assert said.err.startswith(f"Error: {sentence}")
    assert "\nHint: " in said.err
    assert hint in said.err.split("\nHint: ")[1]
    assert said.out == ""


def test_contract_that_cannot_be_loaded_exits_3_with_every_problem_and_its_line(place: Place) -> None:
    (place.root / "bad.yaml").write_text("contract: x\nfeilds:\n  - {name: a, type: nope}\nkeys: [[b]]\n")
    said = place.call("run", "bad.yaml")
    assert said.code == 3
    assert "Error: bad.yaml:2:1: unknown key 'feilds'" in said.err
    assert "did you mean 'fields'?" in said.err
    assert "Traceback" not in said.err


def test_contract_that_cannot_be_loaded_is_json_when_json_is_asked_for(place: Place) -> None:
    (place.root / "bad.yaml").write_text("contract: x\nfeilds: []\n")
    said = place.call("run", "bad.yaml", "--output", "json")
    document = json.loads(said.out)
    assert (said.code, document["exit_code"], document["state"]) == (3, 3, "failed")
    assert [(p["file"], p["line"], p["message"]) for p in document["problems"]] == [("bad.yaml", 2, "unknown key 'feilds'")]


def test_missing_input_exits_3(place: Place) -> None:
    said = place.call("run", "orders.yaml", "-p", "day=d9")
    assert said.code == 3
    assert said.out.startswith("FAILED")
    assert "expected at least one file, found none" in said.out


def test_audit_store_that_cannot_be_opened_exits_3(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.deliver("d1", GOOD)
    monkeypatch.setenv("INVARACT_AUDIT_URL", "sqlite:////proc/none/audit.db")
    said = place.call("run", "orders.yaml", "-p", "day=d1")
    assert said.code == 3
    assert "Hint:" in said.err
    assert not (place.root / "lake/sales").exists()


def test_candidate_that_cannot_be_written_exits_3_and_says_where(place: Place) -> None:
    place.deliver("d1", GOOD)
    (place.root / "occupied").write_text("a file")
    said = place.call("run", "orders.yaml", "-p", "day=d1", "--target", "occupied/orders", "--output", "json")
    document = json.loads(said.out)
    assert (said.code, document["code"]) == (3, "candidate.unwritable")
    assert document["message"].endswith("occupied/orders__candidates: Not a directory")
    assert "publish.candidate.location" in document["hint"]


@pytest.mark.parametrize("option", ["--source", "--target"])
def test_blank_place_exits_64(place: Place, option: str) -> None:
    place.deliver("d1", GOOD)
    said = place.call("run", "orders.yaml", "-p", "day=d1", option, "")
    assert said.code == 64
    assert said.err.startswith(f"Error: {option}: expected a place, found a blank text")
    assert not (place.root / "lake").exists()


@pytest.mark.parametrize("day", ["2026-02-30", "2026"])
def test_parameter_that_is_no_value_of_its_partition_exits_1_before_anything_is_read(place: Place, day: str) -> None:
    contract = (place.root / "orders.yaml").read_text().replace("name: note, type: string", "name: day, type: date")
    contract = contract.replace("mode: append", 'mode: replace_partitions, partition: {day: "{day}"}')
    (place.root / "orders.yaml").write_text(contract)
    place.deliver(day, f"id,amount,day\n1,2.50,{day}\n")
    said = place.call("run", "orders.yaml", "-p", f"day={day}")
    assert said.code == 1
    assert "partition 'day': expected a da" in said.out
    assert not (place.root / "lake/sales").exists()
