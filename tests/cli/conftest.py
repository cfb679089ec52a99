"""A folder with a contract and deliveries, and the command line called in it as a person would."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from invaract_orchestration.cli import app, console

CONTRACT = """\
contract: orders
version: "1.0.0"
source: {format: csv, location: "landing/{day}.csv"}
fields:
  - {name: id, type: bigint, required: true}
  - {name: amount, type: "decimal(10,2)", min: 0}
  - {name: note, type: string}
keys: [[id]]
quality: {on_row_failure: reject}
publish: {target: sales.orders, mode: append}
environments:
  prod: {publish.target: prod.orders}
"""
GOOD = "id,amount,note\n1,2.50,first\n2,3.00,\n"
BAD = "id,amount,note\n3,-1.00,canary-7f3a\n4,canary-9b21,x\n5,1.00,y\n"
SWAPPED = "id,note,amount\n3,x,1.00\n"


@dataclass(frozen=True)
class Said:
    """What one command printed, and its exit code."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Place:
    """The folder, and the command line in it."""

    root: Path
    call: Callable[..., Said]

    def deliver(self, day: str, text: str) -> Path:
        file = self.root / "landing" / f"{day}.csv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Place:
    monkeypatch.chdir(tmp_path)
    for name in [n for n in os.environ if n.startswith("INVARACT_")]:
        monkeypatch.delenv(name)
    (tmp_path / "orders.yaml").write_text(CONTRACT, encoding="utf-8")

    def call(*arguments: str) -> Said:
        console._console.cache_clear()  # it holds the streams of the call before
        capfd.readouterr()
        code = app.call(arguments)
        printed = capfd.readouterr()
        return Said(code, printed.out, printed.err)

    return Place(tmp_path, call)
