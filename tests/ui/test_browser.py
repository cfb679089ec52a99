"""A real browser looks at every page: light, dark and on a phone. It also takes the pictures of docs/audit-ui.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.stores import SqlAuditStore, open_store
from invaract_orchestration.testing.audit_records import START
from invaract_orchestration.ui.app import create_app
from tests.browser import WIDTHS, Tab, barriers, marks, open_browser
from tests.cases.conftest import case_folders
from tests.cases.play import play
from tests.cases.sketch import Case, read_cases
from tests.ui.conftest import Serve, Told
from tests.ui.story import NOW
from tests.ui.test_hostile_names import PATHS as HOSTILE_PATHS
from tests.ui.test_hostile_names import record_hostile

DOCS = Path(__file__).parents[2] / "docs" / "pictures"

pytestmark = marks


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(told: Told, serve: Serve) -> Iterator[str]:
    with serve(create_app(told.store, clock=lambda: NOW)) as url:
        yield url


def pages_of(told: Told) -> dict[str, str]:
    return {
        "overview": "/", "runs": "/runs", "run": f"/runs/{told.ids['rejected']}", "query": f"/runs/{told.ids['query']}",
        "contract": "/contracts/orders", "quarantine": "/quarantine", "status": "/status", "missing": "/contracts/none",
    }  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["desk", "phone"])
def test_every_page_fits_is_readable_and_complains_of_nothing(
    browser: Any, told: Told, address: str, width: str, scheme: str
) -> None:
    with Tab(browser, width=width, scheme=scheme) as tab:
        for name, path in pages_of(told).items():
            tab.page.goto(address + path)
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width], name
            assert tab.page.evaluate(SPILLED) == [], name
            assert tab.page.evaluate(POOR_CONTRAST) == [], name
            assert barriers(tab.page) == [], name
        assert [said for said in tab.complaints if "404" not in said] == []


SPILLED = """() => [...document.querySelectorAll(".cards tbody tr")]
  .filter(row => [...row.children].some(cell => cell.scrollHeight > cell.clientHeight + 1)).map(row => row.textContent.trim())"""

POOR_CONTRAST = """() => {
  const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (color) => {
    paint.clearRect(0, 0, 1, 1); paint.fillStyle = color; paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = rgba(getComputedStyle(at).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("main *, header *, footer *")) {
    const hasText = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!hasText || element.closest("svg, [aria-hidden=true], .hidden, option") || !element.getClientRects().length) continue;
    const [a, b] = [light(rgba(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) poor.push(element.tagName + "." + element.className + ": " + element.textContent.trim().slice(0, 40));
  }
  return poor;
}"""

def test_filters_narrow_the_list_and_stay_in_the_address(browser: Any, address: str) -> None:
    with Tab(browser) as tab:
        tab.page.goto(f"{address}/runs")
        tab.page.get_by_label("Contract").select_option("orders")
        tab.page.get_by_label("State").select_option("Rejected")
        tab.page.get_by_label("From", exact=True).fill("2026-03-20")
        tab.page.get_by_role("button", name="Filter").click()
        tab.page.wait_for_url("**/runs?*state=rejected*")
        assert tab.page.locator("tbody tr").count() == 4
        assert tab.page.get_by_label("Contract").input_value() == "orders"
        assert "from=2026-03-20" in tab.page.url
        tab.page.reload()
        assert tab.page.locator("tbody tr").count() == 4
        tab.page.get_by_role("link", name="Clear").click()
        tab.page.wait_for_url("**/runs")
        assert tab.page.locator("tbody tr").count() == 50
        tab.page.get_by_role("link", name="Older →").click()
        tab.page.wait_for_url("**before=*")
        assert tab.page.locator("tbody tr").count() == 50
        assert tab.complaints == []


def test_run_opens_from_the_overview_and_by_its_address(browser: Any, told: Told, address: str) -> None:
    with Tab(browser) as tab:
        tab.page.goto(address)
        tab.page.get_by_role("link", name="Rejected", exact=True).click()
        tab.page.wait_for_url("**/runs/*")
        assert tab.page.url == f"{address}/runs/{told.ids['rejected']}"
        assert tab.page.locator("h1").inner_text() == "orders 1.1.0"
        tab.page.goto(f"{address}/runs/{told.ids['query']}")
        assert tab.page.get_by_role("region", name="Picture of the lineage").locator("svg").count() == 1


def test_keyboard_reaches_the_content_first(browser: Any, address: str) -> None:
    with Tab(browser) as tab:
        tab.page.goto(f"{address}/runs")
        tab.page.keyboard.press("Tab")
        assert tab.page.evaluate("document.activeElement.textContent") == "Skip to the content"
        tab.page.keyboard.press("Enter")
        assert tab.page.evaluate("document.activeElement.id") == "main"


def test_theme_is_chosen_and_kept(browser: Any, address: str) -> None:
    with Tab(browser) as tab:
        tab.page.goto(address)
        white = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
        for _ in ("light", "dark"):
            tab.page.locator("button.theme").click()
        dark = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
        tab.page.goto(f"{address}/status")
        assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == dark != white
        assert tab.page.locator("button.theme").inner_text() == "Theme: dark"


@pytest.mark.parametrize("root", ["", "/airflow"])
@pytest.mark.parametrize("place", ["/plugin/invaract/invaract/runs", "/dags/load_sales/plugin/invaract-dag"])
def test_frame_follows_the_page_around_it_and_leads_back_to_its_run(
    browser: Any, told: Told, serve: Serve, root: str, place: str
) -> None:
    host = FastAPI()
    host.mount(f"{root}/invaract", create_app(told.store, clock=lambda: NOW, frame_ancestors="'self'"))
    run = f"{root}/invaract/runs/{told.ids['rejected']}"
    frame = f'<iframe src="{run}" sandbox="allow-scripts allow-same-origin allow-forms allow-downloads"></iframe>'
    host.add_api_route(root + place, lambda: HTMLResponse(frame))
    with serve(host) as url, Tab(browser) as tab:
        tab.page.goto(url + root + place)
        inside = tab.page.frame_locator("iframe")
        assert inside.locator("html").get_attribute("class") == "framed"
        assert inside.locator(".brand").is_hidden()
        tab.page.evaluate("localStorage.setItem('theme', 'dark')")
        inside.locator("html.dark").wait_for()
        inside.get_by_role("link", name="Open the DAG run").click()
        assert tab.page.url == f"{url}{root}/dags/load_sales/runs/scheduled__2026-03-31"
        of_the_frame_itself = ("both allow-scripts and allow-same-origin", "404")  # the page around has no icon
        assert [said for said in tab.complaints if not any(words in said for words in of_the_frame_itself)] == []


def test_page_of_another_origin_cannot_frame_it(browser: Any, address: str, serve: Serve) -> None:
    other = FastAPI()
    other.add_api_route("/", lambda: HTMLResponse(f'<iframe src="{address}/runs"></iframe>'))
    with serve(other) as url, Tab(browser) as tab:
        tab.page.goto(url)
        assert any("frame-ancestors" in said for said in tab.complaints)


def test_text_of_a_plans_picture_stays_in_its_box(browser: Any, told: Told, address: str) -> None:
    beyond = """[...document.querySelectorAll('.picture g')].flatMap(each => {
        const right = each.querySelector('rect').getBoundingClientRect().right;
        return [...each.querySelectorAll('text')].filter(text => text.getBoundingClientRect().right > right - 4).map(text => text.textContent);
    })"""
    with Tab(browser) as tab:
        tab.page.goto(f"{address}/runs/{told.ids['query']}")
        assert tab.page.locator(".picture g text").count() > 5
        assert tab.page.evaluate(beyond) == []


def test_hostile_names_run_nothing(browser: Any, empty_store: SqlAuditStore, serve: Serve) -> None:
    record_hostile(empty_store)
    with serve(create_app(empty_store, clock=lambda: NOW)) as url, Tab(browser) as tab:
        for path in HOSTILE_PATHS:
            tab.page.goto(url + path)
            assert tab.page.locator("main img, main script").count() == 0
            assert tab.page.locator("h1").count() == 1
        assert tab.complaints == []


@pytest.mark.parametrize("width", ["desk", "phone"])
def test_names_without_an_end_are_wrapped(browser: Any, empty_store: SqlAuditStore, serve: Serve, width: str) -> None:
    endless = "a_name_without_an_end_" * 8
    record_hostile(empty_store, name=endless)
    with serve(create_app(empty_store, clock=lambda: START)) as url, Tab(browser, width=width) as tab:
        for path in ("/", "/runs", "/quarantine", "/status", f"/contracts/{endless}", "/runs/att-1"):
            tab.page.goto(url + path)
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width], path
            assert tab.page.evaluate(SPILLED) == [], path


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "looked_at" in metafunc.fixturenames:
        cases = [case for folder in case_folders(metafunc.config) for case in read_cases(folder)]
        ours = [case for case in cases if case.contracts and any("page" in step for step in case.steps)]
        metafunc.parametrize("looked_at", ours, ids=[case.id for case in ours])


def test_case_that_opens_the_page_of_its_decision_finds_names_as_text(
    browser: Any, looked_at: Case, serve: Serve, tmp_path: Path
) -> None:
    played = play(looked_at, looked_at.contracts[0], tmp_path / "case", "duckdb")
    decided = played.decisive
    assert isinstance(decided, GateResult)
    with open_store(f"sqlite:///{played.stage.audit}", read_only=True) as store, Tab(browser) as tab:
        with serve(create_app(store)) as url:
            for path in ("/", "/runs", f"/runs/{decided.attempt_id}", f"/contracts/{decided.contract}", "/quarantine"):
                tab.page.goto(url + path)
                assert tab.page.locator("h1").count() == 1
                assert tab.page.locator("main img, main script").count() == 0
            tab.page.goto(f"{url}/runs/{decided.attempt_id}")
            told = tab.page.locator("table.checks").inner_text()
        assert [check.found for check in decided.blocking if check.found not in told] == []
        assert tab.complaints == []


PICTURES = (
    ("overview", "desk", "light", 830), ("run", "desk", "light", 980), ("query", "desk", "dark", 640),
    ("contract", "desk", "light", 980), ("runs", "phone", "dark", 844), ("status", "desk", "light", 420),
)  # fmt: skip


@pytest.mark.parametrize(("name", "width", "scheme", "height"), PICTURES)
def test_picture_is_small_enough_for_the_docs(
    browser: Any, told: Told, address: str, name: str, width: str, scheme: str, height: int, tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    file = (DOCS if request.config.getoption("--pictures", default=False) else tmp_path) / f"audit-{name}.png"
    file.parent.mkdir(exist_ok=True)
    with Tab(browser, width=width, scheme=scheme) as tab:
        tab.page.set_viewport_size({"width": 1100 if width == "desk" else WIDTHS[width], "height": height})
        tab.page.goto(address + pages_of(told)[name] + ("#plan" if name == "query" else ""))
        tab.page.screenshot(path=file)
    assert 5_000 < file.stat().st_size < 150_000
