"""The examples of the help, called as they are written."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

import pytest

from invaract_orchestration.cli.verbs import VERBS
from tests.cli.conftest import GOOD, Place

ORDERS = """\
contract: orders
version: "1.0.0"
source: {location: "../orders.csv"}
fields:
  - {name: id, type: bigint, unique: true}
  - {name: amount, type: "decimal(10,2)", min: 0}
  - {name: note, type: string}
quality: {on_row_failure: quarantine}
publish: {target: sales.orders, mode: overwrite}
environments: {prod: {publish.target: prod.orders}}
"""
TOTALS = """\
contract: totals
version: "1.0.0"
source: {format: sql, sql: SELECT id FROM orders, inputs: {orders: sales.orders}}
fields: [{name: id, type: bigint}]
publish: {target: sales.totals, mode: overwrite}
"""
SERVES_OR_TAKES_LONG = ("demo", "ui")
EXAMPLES = [(v.name, example) for v in VERBS if v.name not in SERVES_OR_TAKES_LONG for example in v.examples]


@pytest.fixture
def shop(place: Place) -> Iterator[Place]:
    """A shop after a delivery with a bad row, and one with a key twice, which was rejected."""
    for folder in ("contracts", "new", "old"):
        (place.root / folder).mkdir()
    (place.root / "contracts/orders.yaml").write_text(ORDERS)
    daily = ORDERS.replace("contract: orders", "contract: daily").replace("../orders.csv", "../landing/{day}.csv")
    (place.root / "contracts/daily.yaml").write_text(daily.replace("sales.orders", "sales.daily"))
    (place.root / "contracts/totals.yaml").write_text(TOTALS)
    (place.root / "old/orders.yaml").write_text(ORDERS)
    (place.root / "totals.sql").write_text("SELECT id FROM orders")
    (place.root / "orders.csv").write_text(f"{GOOD}3,-1.00,bad\n")
    (place.root / "new/orders.csv").write_text(GOOD)
    place.deliver("2026-11-30", GOOD)
    assert place.call("run", "contracts/orders.yaml").code == 2
    assert place.call("run", "contracts/orders.yaml", "--env", "prod").code == 2
    (place.root / "twins.csv").write_text("id,amount,note\n7,1.00,a\n7,1.00,a\n")
    assert place.call("run", "contracts/orders.yaml", "--source", "twins.csv").code == 1
    yield place


def _with_real_ids(shop: Place, example: str) -> list[str]:
    attempts = json.loads(shop.call("history", "--output", "json", "--limit", "1000").out)["attempts"]
    first, last = attempts[-1], next(a for a in reversed(attempts) if a["state"] == "rejected")
    head = shop.call("audit", "verify").out.split()[-1]
    real = {"a-3f9c": last["attempt"]["attempt_id"][:10], "s-82b1": first["submission"]["submission_id"][:10]}
    return [real.get(word, head if word.startswith("120:") else word) for word in shlex.split(example.split(" > ")[0])]


EXPECTED = {"check": (0, 2), "run": (0, 2), "quarantine release": (1, 2), "doctor": (0, 3)}


def test_examples_of_the_help_do_what_they_are_there_for(shop: Place) -> None:
    said = {}
    for verb, example in EXAMPLES:
        words = _with_real_ids(shop, example)
        if "contracts/*.yaml" in words:
            words = ["lint", *sorted(map(str, (shop.root / "contracts").glob("*.yaml"))), *words[2:]]
        more = ("--force",) if verb == "init" and "--write" in words else ()
        said[example] = (verb, shop.call(*words, *more))
        if more:
            (shop.root / "contracts/orders.yaml").write_text(ORDERS)
    assert {example: answer for example, (verb, answer) in said.items() if answer.code not in EXPECTED.get(verb, (0,))} == {}
    assert len(said) == len(EXAMPLES)
