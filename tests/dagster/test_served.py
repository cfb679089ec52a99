"""Dagster's pages in a real browser: a backfill of four days in parallel, one of them bad, and what people see of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from deltalake import DeltaTable

from tests.dagster.served import Served, environment, free_port, served, until

pytestmark = [pytest.mark.dagster, pytest.mark.slow]

CONTRACT = """
contract: orders
version: "1.0.0"
description: What the shop sold.
source: {location: "in/{day}.csv"}
fields:
  - {name: id, type: string, required: true, unique: true}
  - {name: v, type: int, required: true, min: 0}
  - {name: note, type: string, max_length: 8, severity: warn}
publish: {target: ./lake/orders}
freshness: {expected_by: "06:00", every: 1d}
"""
DEFINITIONS = """
import dagster as dg
from dagster_defs import ContractGateResource, contract_asset, quarantine_asset

DAYS = dg.StaticPartitionsDefinition(["2026-09-01", "2026-09-02", "2026-09-03", "2026-09-04"])

@contract_asset("orders.yaml", partitions_def=DAYS, group_name="shop")
def orders():
    ...

@dg.asset(deps=["orders"], partitions_def=DAYS, group_name="shop")
def revenue():
    ...

defs = dg.Definitions(
    assets=[orders, revenue, quarantine_asset("orders.yaml", partitions_def=DAYS, group_name="shop")],
    resources={"contract_gate": ContractGateResource(lake_root="lake")},
    executor=dg.in_process_executor,
)
"""
FILES = {
    "2026-09-01": "id,v,note\nA1,1,\n",
    "2026-09-02": "id,v,note\nB1,1,a long note\n",
    "2026-09-03": "id,v,note\nC1,,CANARY\nC2,-4,CANARY\n",
    "2026-09-04": "id,v,note\nD1,1,\n",
}
DAYS = list(FILES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    (folder / "in").mkdir()
    (folder / "orders.yaml").write_text(CONTRACT)
    (folder / "defs.py").write_text(DEFINITIONS)
    for day, text in FILES.items():
        (folder / f"in/{day}.csv").write_text(text)
    return folder


@pytest.fixture(scope="module")
def audit_url() -> str:
    return f"http://127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def running(folder: Path, audit_url: str) -> Iterator[tuple[Served, str]]:
    """Dagster after the backfill, and how that ended."""
    env = environment(folder / "home", INVARACT_LAKE_ROOT=str(folder / "lake"), INVARACT_UI_URL=audit_url)
    with served(folder / "defs.py", env) as dagster:
        yield dagster, dagster.backfill(["orders_candidate", "orders"], DAYS)


def test_backfill_publishes_the_good_days_and_each_result_names_its_own(running: tuple[Served, str], folder: Path) -> None:
    dagster, status = running
    assert status == "COMPLETED_FAILED"
    assert sorted(DeltaTable(folder / "lake/orders").to_pyarrow_table()["id"].to_pylist()) == ["A1", "B1", "D1"]
    found = dagster.ask(
        """{ published: assetNodes(assetKeys: [{path: ["orders"]}]) { assetMaterializations { partition
             metadataEntries { label ... on IntMetadataEntry { intValue } } } }
           checks: assetCheckExecutions(assetKey: {path: ["orders_candidate"]}, checkName: "v__required", limit: 20) {
             status evaluation { partition success targetMaterialization { runId } } runId } }"""
    )
    versions = {
        m["partition"]: next(e["intValue"] for e in m["metadataEntries"] if e["label"] == "invaract/table_version")
        for m in found["published"][0]["assetMaterializations"]
    }
    assert versions == _versions_by_day(folder)
    assert set(versions) == {"2026-09-01", "2026-09-02", "2026-09-04"}
    checks = {c["evaluation"]["partition"]: c for c in found["checks"]}
    assert {day: c["evaluation"]["success"] for day, c in checks.items()} == {
        "2026-09-01": True, "2026-09-02": True, "2026-09-03": False, "2026-09-04": True,
    }  # fmt: skip
    assert all(c["evaluation"]["targetMaterialization"]["runId"] == c["runId"] for c in found["checks"])


def _versions_by_day(folder: Path) -> dict[str, int]:
    """The table's own versions, by the day whose rows each brought."""
    days, found, seen = {"A1": "2026-09-01", "B1": "2026-09-02", "D1": "2026-09-04"}, {}, set[str]()
    for version in range(1, DeltaTable(folder / "lake/orders").version() + 1):
        ids = set(DeltaTable(folder / "lake/orders", version=version).to_pyarrow_table()["id"].to_pylist())
        found |= {days[new]: version for new in ids - seen}
        seen |= ids
    return found


def test_published_asset_alone_is_refused_by_the_server(running: tuple[Served, str]) -> None:
    dagster, _ = running
    refused = dagster.ask(
        """mutation($p: ExecutionParams!) { launchPipelineExecution(executionParams: $p) { __typename
             ... on PythonError { message } ... on InvalidSubsetError { message } } }""",
        p={
            "selector": {
                "repositoryLocationName": "defs.py", "repositoryName": "__repository__", "pipelineName": "__ASSET_JOB",
                "assetSelection": [{"path": ["orders"]}],
            },
            "executionMetadata": {"tags": [{"key": "dagster/partition", "value": "2026-09-03"}]},
        },
    )["launchPipelineExecution"]  # fmt: skip
    assert refused["__typename"] in {"InvalidSubsetError", "PythonError"}
    assert "orders" in refused["message"]


@pytest.fixture(scope="module")
def page(running: tuple[Served, str]) -> Iterator[Any]:
    browser_path = shutil.which("chromium")
    if browser_path is None:
        pytest.fail("Chromium is missing: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1500, "height": 900}, base_url=running[0].url)
        opened.set_default_timeout(60_000)
        yield opened
        browser.close()


def picture(page: Any, name: str) -> None:
    """Kept for the documentation where INVARACT_PICTURES names a folder."""
    folder = os.environ.get("INVARACT_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_graph_shows_candidate_and_published_apart(page: Any) -> None:
    page.goto("/locations/__repository__@defs.py/asset-groups/shop")
    page.get_by_text("orders_candidate").first.wait_for()
    page.get_by_text("orders_quarantine").first.wait_for()
    page.wait_for_timeout(3000)
    picture(page, "asset-graph")


def test_checks_tab_lists_every_rule_with_its_outcome(page: Any) -> None:
    page.goto("/assets/orders_candidate?view=checks")
    page.get_by_text("v__required").first.wait_for()
    for name in ("gate__verdict", "header", "id__unique", "v__min", "note__max_length"):
        assert page.get_by_text(name).count() > 0, name
    page.get_by_text("v__required").first.click()
    page.get_by_text("Execution history").first.click()
    page.get_by_text("1 row of 2 failed").first.wait_for()
    page.wait_for_timeout(2000)
    picture(page, "checks")
    assert "CANARY" not in page.content()


@contextmanager
def audit_pages(folder: Path, url: str) -> Iterator[None]:
    """The audit pages of the same lake, at the address that Dagster links to."""
    program = Path(sys.executable).with_name("invaract")
    env = {**os.environ, "INVARACT_LAKE_ROOT": str(folder / "lake")}
    process = subprocess.Popen(
        [program, "ui", "--port", url.rpartition(":")[2]], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: httpx.get(url).status_code == 200, "the audit pages")
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def test_blocked_run_names_the_rules_and_links_to_the_audit(
    page: Any, running: tuple[Served, str], folder: Path, audit_url: str
) -> None:
    dagster, _ = running
    runs = dagster.ask("{ runsOrError(filter: {statuses: [FAILURE]}) { ... on Runs { results { runId } } } }")
    (run,) = runs["runsOrError"]["results"]
    page.goto(f"/runs/{run['runId']}")
    page.get_by_text("v|required").first.wait_for()
    assert "CANARY" not in page.content()
    page.get_by_placeholder("Filter…").first.fill("broken")  # of the log, what the checks found
    page.get_by_text("1 row of 2 failed").first.wait_for()
    page.wait_for_timeout(2000)
    picture(page, "blocked-run")
    page.goto("/assets/orders_candidate?view=partitions&partition=2026-09-03")
    link = page.locator(f'a[href^="{audit_url}/runs/a-"]').first
    link.wait_for()
    picture(page, "audit-link")
    with audit_pages(folder, audit_url):
        page.goto(link.get_attribute("href"))
        page.get_by_text("v|required").first.wait_for()
        picture(page, "audit-page")
        assert "CANARY" not in page.content()


def test_published_asset_shows_versions_and_constraints(page: Any) -> None:
    page.goto("/assets/orders?view=overview")
    page.get_by_text("invaract/table_version").first.wait_for()
    page.wait_for_timeout(2000)
    picture(page, "published")
