"""What the documentation shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from invaract_orchestration.cli.verbs import VERBS
from invaract_orchestration.contract.lint import lint
from invaract_orchestration.contract.load import load_contract, load_contract_text
from invaract_orchestration.contract.reference import page_with_reference
from tests.cli.conftest import Place, place  # noqa: F401

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/contract.md").read_text(encoding="utf-8")


def block(text: str, language: str, start: str = "") -> str:
    return next(b for b in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if b.startswith(start))


def without_ids(text: str) -> list[str]:
    known = re.sub(r"\b([as])-[0-9a-f]{8,32}\b", r"\1-0", text)
    return [line for line in known.splitlines() if not line.strip().startswith("target")]


@pytest.fixture
def agreed(place: Place) -> Place:  # noqa: F811
    """The folder after the README's first contract: published once, then with what is expected of it."""
    (place.root / "orders.csv").write_text(block(README, "csv", "order_id"))
    assert place.call("init", "orders.csv", "--write", "orders.yaml", "--force").code == 0
    first = block(README, "console", "$ source")
    assert place.call("run", "orders.yaml").out.splitlines()[:2] == first.splitlines()[-2:]
    contract = (place.root / "orders.yaml").read_text().replace('"1.0.0"', '"1.1.0"')
    for line in block(README, "yaml").splitlines():
        name = line.split("name: ")[1].split(",")[0]
        contract = re.sub(rf"  - {{name: {name},.*", line, contract)
    (place.root / "orders.yaml").write_text(contract)
    return place


def test_readme_leads_from_a_file_to_the_rejection_it_shows(agreed: Place) -> None:
    (agreed.root / "tomorrow.csv").write_text(block(README, "csv", "order_id,customer,discount"))
    said = agreed.call("run", "orders.yaml", "--source", "tomorrow.csv")
    shown = block(README, "console", "$ invaract run orders.yaml --source")
    assert said.code == 1
    assert without_ids(said.out) == without_ids(shown.split("\n", 1)[1])


def test_readme_shows_the_row_that_the_quarantine_holds(agreed: Place) -> None:
    row = block(README, "csv", "order_id,customer,discount").replace("discount,", "").replace("0.10,25.00", "-25.00")
    (agreed.root / "later.csv").write_text(row)
    assert agreed.call("run", "orders.yaml", "--source", "later.csv", "--quiet").code == 1
    shown = block(README, "console", "$ invaract run orders.yaml --source later.csv")
    assert agreed.call("quarantine", "show", "orders.yaml").out.splitlines() == shown.splitlines()[2:]


def test_readme_program_runs_as_it_stands(agreed: Place) -> None:
    said = subprocess.run([sys.executable, "-c", block(README, "python")], cwd=agreed.root, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "published []\n"), said.stderr


def test_settings_of_the_code_are_those_of_the_docs() -> None:
    told = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "docs").glob("*.md"))
    read = re.findall(r'"(INVARACT_[A-Z_]+)"', (ROOT / "invaract_orchestration/settings.py").read_text(encoding="utf-8"))
    assert len(read) >= 9
    assert [name for name in read if f"`{name}`" not in told] == []


def test_readme_names_commands_that_there_are() -> None:
    named = set(re.findall(r"invaract ((?:quarantine|audit) [a-z]+|[a-z]+)", README)) - {"verb"}
    assert named <= {v.name for v in VERBS}


def test_contract_page_has_every_key_of_the_model() -> None:
    assert page_with_reference(PAGE) == PAGE


def test_shortest_contract_of_the_page_loads() -> None:
    contract = load_contract_text(block(PAGE, "yaml"))
    assert (contract.contract, lint(contract)) == ("orders", ())


@pytest.mark.parametrize("file", sorted((ROOT / "contracts").glob("*.yaml")), ids=lambda f: f.name)
def test_worked_example_loads_without_a_finding(file: Path) -> None:
    assert lint(load_contract(file)) == ()


@pytest.mark.parametrize("file", [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], ids=lambda f: f.name)
def test_links_between_pages_lead_somewhere(file: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read_text(encoding="utf-8"))
    assert [link for link in links if not (file.parent / link).exists()] == []
