"""The other verbs, on what a few runs have left."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from invaract_orchestration.cli import doctor
from invaract_orchestration.cli.verbs import VERBS
from tests.cli.conftest import BAD, GOOD, Place


@pytest.fixture
def used(place: Place) -> Place:
    place.deliver("d1", GOOD)
    place.deliver("d2", BAD)
    place.call("run", "orders.yaml", "-p", "day=d1")
    place.call("run", "orders.yaml", "-p", "day=d2")
    return place


@pytest.mark.parametrize("verb", [v.name for v in VERBS])
def test_help_of_every_verb_has_examples(place: Place, verb: str) -> None:
    said = place.call(*verb.split(), "--help")
    assert said.code == 0
    assert f"Usage: invaract {verb}" in said.out
    assert f"Examples:\n  invaract {verb}" in said.out


def test_help_loads_no_engine_and_no_store() -> None:
    code = (
        "import sys; from invaract_orchestration.cli.app import call; call(['--help']); "
        "print([m for m in ('duckdb', 'deltalake', 'pyarrow', 'sqlalchemy', 'sqlglot', 'pydantic') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "[]"


def test_unknown_verb_exits_64_and_names_the_nearest(place: Place) -> None:
    said = place.call("rnu")
    assert said.code == 64
    assert 'Did you mean "run"?' in said.err


class Panic(BaseException):
    """As a library that is not written in Python raises."""


def cut_off() -> SystemExit:
    """As of code that ends because nobody reads it any more."""
    error = SystemExit(0)
    error.__context__ = BrokenPipeError()
    return error


@pytest.mark.parametrize(
    "error", [SystemExit(0), SystemExit(1), cut_off(), Panic("canary-7f3a"), ValueError("canary-7f3a")], ids=repr
)
def test_what_nobody_expects_exits_3_without_its_words(place: Place, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fails() -> int:
        raise error

    monkeypatch.setattr(doctor, "doctor", fails)
    said = place.call("doctor")
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith(f"Error: an unexpected {type(error).__name__} stopped the command\n")
    assert "canary" not in said.err


def test_history_has_the_newest_first(used: Place) -> None:
    said = json.loads(used.call("history", "--output", "json").out)
    assert [(a["state"], a["submission"]["parameters"]) for a in said["attempts"]] == [
        ("rejected", {"day": "d2"}), ("published", {"day": "d1"}),
    ]  # fmt: skip
    only = used.call("history", "--state", "rejected", "--contract", "orders")
    assert "day=d2" in only.out
    assert "day=d1" not in only.out


def test_show_prints_every_check_and_step(used: Place) -> None:
    attempts = json.loads(used.call("history", "--output", "json").out)["attempts"]
    attempt = attempts[0]["attempt"]["attempt_id"]
    said = used.call("show", attempt[:12])
    assert said.out.startswith("REJECTED  orders 1.0.0, day=d2\n")
    assert "amount|min" in said.out
    assert "id|required" in said.out
    assert "d2.csv" in said.out
    assert "canary" not in said.out
    whole = json.loads(used.call("show", attempts[0]["submission"]["submission_id"], "--output", "json").out)
    assert whole["attempt"]["attempt_id"] == attempt
    assert {r["check"] for r in whole["verdict"]["results"]} >= {"amount|min", "amount|type", "id|unique"}


def test_show_of_an_unknown_attempt_exits_64(used: Place) -> None:
    assert used.call("show", "a-nothing").code == 64


def test_status_says_since_when_and_why_it_is_blocked(used: Place) -> None:
    said = json.loads(used.call("status", "--output", "json").out)["contracts"][0]
    assert said["contract"] == "orders"
    assert said["last_published"]["publication"]["table_version"] == 1
    assert sorted(said["reasons"]) == ["amount|min", "amount|type"]
    assert said["blocked_since"] is not None
    assert "amount|type" in used.call("status").out


def test_quarantine_list_counts_and_show_prints_the_values(used: Place) -> None:
    listed = json.loads(used.call("quarantine", "list", "orders.yaml", "--output", "json").out)
    assert [(e["kind"], e["rules"], e["rows"]) for e in listed["entries"]] == [
        ("rejected", "amount|min", 1), ("rejected", "amount|type", 1),
    ]  # fmt: skip
    assert "canary" not in used.call("quarantine", "list", "orders.yaml").out
    shown = used.call("quarantine", "show", "orders.yaml", "--rule", "amount|type")
    assert "canary-9b21" in shown.out
    assert "canary-7f3a" not in shown.out
    assert "1 of 1 row shown" in shown.out


def test_audit_verify_finds_an_edited_row(used: Place) -> None:
    assert used.call("audit", "verify").code == 0
    with sqlite3.connect(used.root / "lake/_invaract/audit.db") as database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            database.execute(f'DROP TRIGGER "{name}"')
        database.execute("UPDATE event SET message = 'all is well'")
    database.close()
    said = used.call("audit", "verify")
    assert said.code == 1
    assert "edited" in said.out


def test_adopt_takes_in_a_table_that_fits(used: Place) -> None:
    said = used.call("adopt", "orders.yaml", "-p", "day=d1")
    assert said.code == 0
    assert said.out.startswith("ADOPTED  orders 1.0.0")
    assert "took in version 1 with 3 columns" in said.out
    kinds = [a["attempt"]["kind"] for a in json.loads(used.call("history", "--output", "json").out)["attempts"]]
    assert kinds == ["adopt", "run", "run"]


def test_adopt_of_a_table_with_other_columns_exits_1(used: Place) -> None:
    text = (used.root / "orders.yaml").read_text().replace('1.0.0"', '2.0.0"')
    text = text.replace("name: note, type: string", "name: note, type: int")
    (used.root / "orders.yaml").write_text(text)
    said = used.call("adopt", "orders.yaml", "-p", "day=d1")
    assert said.code == 1
    assert "'note' is string, the contract says int" in said.out


def test_adopt_without_a_table_exits_3(place: Place) -> None:
    said = place.call("adopt", "orders.yaml", "-p", "day=d1")
    assert said.code == 3
    assert "there is no Delta table" in said.err


def test_lint_exits_1_for_an_error_and_3_for_a_contract_that_does_not_load(place: Place) -> None:
    head = 'contract: odd\nversion: "1.0.0"\n'
    (place.root / "empty.yaml").write_text(head + "fields: [{name: a, type: int, min: 5, max: 3}]\n")
    (place.root / "wrong.yaml").write_text(head + "fields: [{name: a, type: int}]\nquality: {row_rules: [{name: r, sql: a = NULL}]}\n")
    assert place.call("lint", "orders.yaml").code == 0
    assert place.call("lint", "none.yaml").code == 3
    for files, code, named in (
        (("orders.yaml", "wrong.yaml"), 1, "wrong.yaml:4"), (("orders.yaml", "empty.yaml"), 3, "empty.yaml:3"),
        (("wrong.yaml", "empty.yaml"), 3, "empty.yaml:3"), (("empty.yaml", "wrong.yaml"), 3, "wrong.yaml:4"),
    ):  # fmt: skip
        said = place.call("lint", *files)
        assert (said.code, named in said.out) == (code, True), files


def test_schema_prints_the_generated_schema(place: Place) -> None:
    said = place.call("schema")
    assert json.loads(said.out)["properties"]["contract"]["type"] == "string"


def test_doctor_names_places_and_no_password(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARACT_AUDIT_URL", "postgresql://me:canary-5e1c@127.0.0.1:1/none")
    said = place.call("doctor")
    assert "duckdb" in said.out
    assert str(place.root / "lake") in said.out
    assert said.code == 3
    assert "canary-5e1c" not in said.out + said.err


def test_verbs_that_read_the_record_say_so_when_there_is_none(place: Place) -> None:
    for verb in (("history",), ("status",), ("show", "a-1"), ("audit", "verify")):
        said = place.call(*verb)
        assert said.code == 3
        assert "There is no audit store" in said.err


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (("explain", "none.yaml"), 3, "contract.unreadable"),
        (("adopt", "none.yaml"), 3, "contract.unreadable"),
        (("reconcile", "none.yaml"), 3, "contract.unreadable"),
        (("quarantine", "list", "none.yaml"), 3, "contract.unreadable"),
        (("status",), 3, "audit.unavailable"),
        (("history",), 3, "audit.unavailable"),
        (("show", "a-1"), 3, "audit.unavailable"),
        (("history", "--limit", "many"), 64, "usage"),
        (("lint",), 64, "usage"),
        (("run",), 64, "usage"),
        (("rnu",), 64, "usage"),
    ],
)
@pytest.mark.parametrize("asked", [("--output", "json"), ("--output=json",)])
def test_failure_of_every_verb_is_json_when_json_is_asked_for(
    place: Place, arguments: tuple[str, ...], code: int, named: str, asked: tuple[str, ...]
) -> None:
    said = place.call(*arguments, *asked)
    document = json.loads(said.out)
    assert list(document) == ["format", "state", "exit_code", "code", "message", "hint", "problems"]
    assert (said.code, document["exit_code"], document["state"], document["code"]) == (code, code, "failed", named)
    assert said.err == ""


def test_call_that_makes_no_sense_is_junit_when_junit_is_asked_for(place: Place) -> None:
    said = place.call("run", "orders.yaml", "--outptu", "x", "--output", "junit")
    assert said.code == 64
    assert ElementTree.fromstring(said.out)[0].get("errors") == "1"


@pytest.mark.parametrize("verb", [("history",), ("quarantine", "show", "orders.yaml")])
@pytest.mark.parametrize("limit", ["0", "-3"])
def test_limit_below_one_exits_64(used: Place, verb: tuple[str, ...], limit: str) -> None:
    said = used.call(*verb, "--limit", limit)
    assert said.code == 64
    assert "--limit" in said.err


def test_head_that_is_none_exits_64(used: Place) -> None:
    said = used.call("audit", "verify", "--expected-head", "12")
    assert said.code == 64
    assert "expected POSITION:HASH, found '12'" in said.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("explain", "orders.yaml", "-p", "day=d1"), 0),
        (("clean", "orders.yaml", "-p", "day=d1"), 3),
        (("waive", "a-1", "--check", "id|unique", "--approver", "ann", "--reason", "known"), 3),
        (("freshness", "orders.yaml", "-p", "day=d1"), 3),
        (("quarantine", "list", "orders.yaml", "-p", "day=d1"), 0),
        (("doctor",), 0),
    ],
)
def test_verb_that_runs_nothing_makes_no_audit_store(place: Place, arguments: tuple[str, ...], code: int) -> None:
    place.deliver("d1", GOOD)
    assert place.call(*arguments).code == code
    assert not (place.root / "lake").exists()


def test_reconcile_without_a_table_says_so(place: Place) -> None:
    assert "there is no table yet" in place.call("reconcile", "orders.yaml", "-p", "day=d1").out


def test_explain_looks_at_the_source_and_the_target_that_are_named(place: Place) -> None:
    file = place.deliver("d1", GOOD)
    assert place.call("explain", "orders.yaml", "-p", "day=d2").code == 3
    assert place.call("explain", "orders.yaml", "-p", "day=d2", "--source", str(file)).code == 0
    unsafe = place.call("explain", "orders.yaml", "-p", "day=d1", "--target", "{week}/orders")
    assert (unsafe.code, "parameter 'week' is needed" in unsafe.err) == (64, True)


@pytest.mark.parametrize("write", ["orders.yaml/x.yaml", "landing"])
def test_draft_that_cannot_be_written_exits_3_and_says_where(place: Place, write: str) -> None:
    file = place.deliver("d1", GOOD)
    said = place.call("init", str(file), "--write", write, "--force")
    assert said.code == 3
    assert said.err.startswith(f"Error: {write} cannot be written: ")


def test_dialect_without_a_query_exits_64(place: Place) -> None:
    place.deliver("d1", GOOD)
    said = place.call("run", "orders.yaml", "-p", "day=d1", "--dialect", "klingon")
    assert said.code == 64
    assert "--dialect: there is no query for it" in said.err


def test_waiver_until_the_end_of_time_exits_64(used: Place) -> None:
    last = json.loads(used.call("history", "--output", "json").out)["attempts"][0]["attempt"]["attempt_id"]
    words = ("--check", "amount|min", "--approver", "ann", "--reason", "known", "--expires", "3000000d")
    said = used.call("waive", last, *words)
    assert (said.code, "no calendar goes as far" in said.err) == (64, True)


def test_freshness_without_an_expectation_says_where_to_write_one(used: Place) -> None:
    said = used.call("freshness", "orders.yaml", "-p", "day=d1")
    assert (said.code, "Hint: `freshness` in the contract" in said.out) == (0, True)


@pytest.mark.parametrize("verb", [v.name for v in VERBS])
def test_help_says_no_default_where_there_is_none(place: Place, verb: str) -> None:
    assert "None" not in place.call(*verb.split(), "--help").out


def test_diff_tells_each_change_and_whether_the_version_says_so(place: Place) -> None:
    old = (place.root / "orders.yaml").read_text()
    (place.root / "new.yaml").write_text(old.replace("min: 0", "min: -5").replace("1.0.0", "1.1.0"))
    said = place.call("diff", "orders.yaml", "new.yaml")
    assert said.code == 1
    assert said.out.splitlines() == [
        "breaking       fields.amount.min changed: '0.00' -> '-5.00'",
        "orders: 1 change; version 1.0.0 -> 1.1.0 does not fit",
        'Hint: write version: "2.0.0"',
    ]
    (place.root / "new.yaml").write_text(old.replace("min: 0", "min: 5").replace("1.0.0", "1.1.0"))
    answer = place.call("diff", "orders.yaml", "new.yaml", "--output", "json")
    document = json.loads(answer.out)
    assert (answer.code, document["needed"], [c["kind"] for c in document["changes"]]) == (0, "1.1.0", ["compatible"])


def test_diff_of_two_contracts_makes_no_sense(place: Place) -> None:
    (place.root / "other.yaml").write_text((place.root / "orders.yaml").read_text().replace("contract: orders", "contract: totals"))
    said = place.call("diff", "orders.yaml", "other.yaml")
    assert (said.code, said.out) == (64, "")
    assert "expected another version of orders, found the contract totals" in said.err


def test_export_writes_a_file_that_loads_and_says_what_it_cannot_hold(place: Place) -> None:
    said = place.call("export", "orders.yaml")
    assert said.code == 0
    assert "left out, as ODCS does not say it: source.location" in said.err
    (place.root / "orders.odcs.yaml").write_text(said.out)
    assert place.call("lint", "orders.odcs.yaml").code == 0
