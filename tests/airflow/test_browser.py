"""The audit pages inside a real Airflow, in a real browser. It also takes the pictures of docs/airflow.md."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from invaract_orchestration.stores import open_store
from tests.airflow.conftest import PASSWORD, Setup
from tests.airflow.standalone import Standalone, free_port, stop, wait_for
from tests.browser import WIDTHS, Tab, barriers, marks, open_browser
from tests.ui.test_hostile_names import HOSTILE, record_hostile

pytestmark = [pytest.mark.slow, *marks]

DOCS = Path(__file__).parents[2] / "docs" / "pictures"
ROOT = Path(__file__).parents[2]
HTML = "<img src=x onerror=alert(1)>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What was run before anybody looks."""

    airflow: Standalone
    setup: Setup
    rejected: str
    others: str

    @property
    def page(self) -> str:
        """Airflow's address of the rejected run."""
        return f"{self.airflow.url}/dags/flights_monthly/runs/{quote(self.rejected, safe='')}"


@pytest.fixture(scope="module")
def ran(served: tuple[Standalone, Setup]) -> Ran:
    """Two good months and a bad one, and a task whose store is away."""
    airflow, setup = served
    started = [
        airflow.start_run("flights_monthly", {"month": month, "faulty": month == "2013-03"})
        for month in ("2013-01", "2013-02", "2013-03")
    ]
    away = airflow.start_run("gate_connected", setup.conf("away"))
    ended = [airflow.finish_run("flights_monthly", run_id) for run_id in started]
    assert [tasks["publish_flights"][0] for tasks in ended] == ["success", "success", "failed"]
    assert airflow.finish_run("gate_connected", away)["gate"][0] == "failed"
    return Ran(airflow=airflow, setup=setup, rejected=started[2], others=away)


@pytest.fixture(scope="module")
def hostile(ran: Ran) -> None:
    """A file with a hostile column, and records in which everything is hostile."""
    ran.setup.lake.land("html.csv", f"id,v,{HTML}", "A1,1,2")
    assert ran.airflow.run("gate_skips", ran.setup.conf("html"))["gate"][0] == "skipped"
    with open_store(f"sqlite:///{ran.setup.lake.root}/_invaract/audit.db") as store:
        record_hostile(store, dag_id="gate_skips")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def log_in(browser: Any) -> Callable[[str, str], Any]:
    """The state of a browser in which somebody logged in by Airflow's own form."""

    def enter(url: str, name: str) -> Any:
        with Tab(browser) as tab:
            tab.page.goto(f"{url}/plugin/invaract")
            tab.page.get_by_label("Username").fill(name)
            tab.page.locator("input[type=password]").fill(name)
            tab.page.get_by_role("button", name="Sign in").click()
            tab.page.wait_for_url("**/plugin/invaract")
            return tab.context.storage_state()

    return enter


@pytest.fixture(scope="module")
def admin(log_in: Callable[[str, str], Any], ran: Ran) -> Any:
    return log_in(ran.airflow.url, "admin")


def inside(tab: Tab) -> Any:
    """The audit pages within Airflow's."""
    frame = tab.page.frame_locator("iframe")
    frame.locator("h1").wait_for()
    return frame


PIXELS = {"desk": 1100, "wide": 1280, "phone": 390}
PICTURES = (
    ("overview", "desk", "light", "/plugin/invaract", 620), ("task", "wide", "light", "{run}/tasks/publish_flights/details", 520),
    ("audit", "desk", "dark", "{audit}", 740), ("phone", "phone", "light", "{audit}", 800),
)  # fmt: skip


@pytest.mark.parametrize(("name", "width", "scheme", "place", "height"), PICTURES)
def test_picture_is_small_enough_for_the_docs(
    browser: Any, ran: Ran, admin: Any, name: str, width: str, scheme: str, place: str, height: int, tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    file = (DOCS if request.config.getoption("--pictures") else tmp_path) / f"airflow-{name}.png"
    links = ran.airflow.get(f"dags/flights_monthly/dagRuns/{ran.rejected}/taskInstances/publish_flights/links")
    path = place.format(run=ran.page.removeprefix(ran.airflow.url), audit=links["extra_links"]["Contract audit"])
    with Tab(browser, state=admin, scheme=scheme) as tab:
        tab.page.set_viewport_size({"width": PIXELS[width], "height": height})
        tab.page.goto(ran.airflow.url)
        tab.page.evaluate("theme => localStorage.setItem('theme', theme)", scheme)
        tab.page.goto(ran.airflow.url + path)
        if name == "task":
            tab.page.get_by_role("link", name="Contract audit", exact=True).wait_for()
        else:
            inside(tab)
        time.sleep(1)  # Airflow's own parts fade in
        tab.page.screenshot(path=file)
    assert 5_000 < file.stat().st_size < 150_000


def test_login_leads_to_the_page_that_was_asked_for(browser: Any, ran: Ran, admin: Any) -> None:
    with Tab(browser) as tab:
        tab.page.goto(f"{ran.airflow.url}/plugin/invaract")
        tab.page.wait_for_url("**/auth/login**")
        assert tab.page.locator("iframe").count() == 0
    with Tab(browser, state=admin) as tab:
        tab.page.goto(f"{ran.airflow.url}/plugin/invaract")
        assert inside(tab).locator("h1").inner_text() == "Contracts"


def test_navigation_leads_to_the_overview(browser: Any, ran: Ran, admin: Any) -> None:
    with Tab(browser, state=admin) as tab:
        tab.page.goto(ran.airflow.url)
        tab.page.get_by_role("button", name="Browse").click()
        tab.page.get_by_role("menuitem", name="Contract audits").click()
        tab.page.wait_for_url("**/plugin/invaract")
        row = inside(tab).locator("tbody tr", has_text="nyc_flights").first
        assert "Rejected" in row.inner_text()
        assert "66.7%" in row.inner_text()
        assert inside(tab).locator(".brand").is_hidden()


@pytest.mark.parametrize(("place", "rows"), [("", 1), ("/tasks/publish_flights", 1), ("/tasks/deliver", 0)])
def test_dag_run_and_task_instance_have_a_tab_with_their_attempts(
    browser: Any, ran: Ran, admin: Any, place: str, rows: int
) -> None:
    with Tab(browser, state=admin) as tab:
        tab.page.goto(ran.page + place)
        tab.page.get_by_role("link", name="Contract audits").click()
        found = inside(tab).locator("tbody tr", has_text="nyc_flights")
        assert found.count() == rows


def test_mapped_task_instance_shows_its_own_attempts_alone_and_leads_back_to_the_run(browser: Any, ran: Ran, admin: Any) -> None:
    contract = ran.setup.contract.with_name("mapped.yaml")
    contract.write_text(ran.setup.contract.read_text().replace("batch", "mapped"))
    for part in ("m0", "m1"):
        ran.setup.lake.land(f"{part}.csv", "id,v", f"{part},1")
    run_id = ran.airflow.start_run("gate_maps", ran.setup.conf("m0", contract=str(contract), parameters={"parts": ["m0", "m1"]}))
    assert ran.airflow.finish_run("gate_maps", run_id)["gate[1]"][0] == "success"
    run = f"{ran.airflow.url}/dags/gate_maps/runs/{quote(run_id, safe='')}"
    with Tab(browser, state=admin) as tab:
        tab.page.goto(f"{run}/tasks/gate/mapped/1")
        tab.page.get_by_role("link", name="Contract audits").click()
        rows = inside(tab).locator("tbody tr", has_text="mapped")
        assert rows.count() == 1
        rows.locator("a.mono").click()
        inside(tab).locator(".pairs", has_text="parameter part").get_by_text("m1", exact=True).wait_for()
        inside(tab).get_by_role("link", name="Open the DAG run").click()
        tab.page.wait_for_url(run)


def test_failed_task_names_the_rule_and_leads_to_its_audit(browser: Any, ran: Ran, admin: Any) -> None:
    with Tab(browser, state=admin) as tab:
        tab.page.goto(f"{ran.page}/tasks/publish_flights")
        tab.page.get_by_text("header|unexpected_column broken").first.wait_for()
        tab.page.goto(f"{ran.page}/tasks/publish_flights/details")
        tab.page.get_by_role("link", name="Contract audit", exact=True).click()
        tab.page.wait_for_url("**/plugin/invaract/invaract/runs/a-*")
        assert "header|unexpected_column" in inside(tab).locator("main").inner_text()
        inside(tab).get_by_role("link", name="Open the DAG run").click()
        tab.page.wait_for_url(ran.page)


def test_address_of_an_attempt_is_kept_while_one_walks_on(browser: Any, ran: Ran, admin: Any) -> None:
    link = ran.airflow.get(f"dags/flights_monthly/dagRuns/{ran.rejected}/taskInstances/publish_flights/links")
    attempt = link["extra_links"]["Contract audit"]
    with Tab(browser, state=admin) as tab:
        tab.page.goto(ran.airflow.url + attempt)
        assert inside(tab).locator("h1").inner_text().startswith("nyc_flights")
        inside(tab).get_by_role("link", name="nyc_flights").first.click()
        tab.page.wait_for_url("**/plugin/invaract/invaract/contracts/nyc_flights")
        tab.page.reload()
        inside(tab).get_by_role("heading", name="Fields").wait_for()


def test_filters_narrow_the_list(browser: Any, ran: Ran, admin: Any) -> None:
    with Tab(browser, state=admin) as tab:
        tab.page.goto(f"{ran.airflow.url}/plugin/invaract/invaract/runs?contract=nyc_flights")
        frame = inside(tab)
        assert frame.locator("tbody tr").count() == 3
        frame.get_by_label("State").select_option("Rejected")
        frame.get_by_role("button", name="Filter").click()
        frame.locator("tbody tr").nth(1).wait_for(state="detached")
        assert frame.locator("tbody tr").count() == 1
        assert frame.get_by_label("State").input_value() == "rejected"


def test_pages_follow_airflows_own_switch_to_dark(browser: Any, ran: Ran, admin: Any) -> None:
    with Tab(browser, state=admin) as tab:
        tab.page.goto(f"{ran.airflow.url}/plugin/invaract")
        light = background(inside(tab))
        tab.page.get_by_role("button", name="User").click()
        tab.page.get_by_role("menuitem", name="Appearance").hover()
        tab.page.get_by_role("menuitemradio", name="Dark").or_(tab.page.get_by_role("menuitem", name="Dark")).first.click()
        inside(tab).locator("html.dark").wait_for()
        assert background(inside(tab)) != light


def background(frame: Any) -> str:
    return str(frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["desk", "phone"])
def test_pages_fit_into_airflow_and_can_be_used_by_all(
    browser: Any, ran: Ran, admin: Any, width: str, scheme: str
) -> None:
    with Tab(browser, state=admin, width=width, scheme=scheme) as tab:
        for path in ("", "/invaract/runs", "/invaract/contracts/nyc_flights", "/invaract/quarantine", "/invaract/status"):
            tab.page.goto(f"{ran.airflow.url}/plugin/invaract{path}")
            inside(tab)
            frame = tab.page.frames[1]
            assert frame.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0, path
            assert barriers(frame) == [], path
        assert frame.evaluate("window.innerWidth") > WIDTHS[width] * 0.8


def test_hostile_names_show_as_text(browser: Any, ran: Ran, admin: Any, hostile: None) -> None:
    with Tab(browser, state=admin) as tab:
        for path in ("", "/invaract/runs", "/invaract/runs/att-1", f"/invaract/contracts/{quote(HOSTILE, safe='')}"):
            tab.page.goto(f"{ran.airflow.url}/plugin/invaract{path}")
            assert HOSTILE in inside(tab).locator("main").inner_text(), path
            assert inside(tab).locator("main img, main script").count() == 0
        tab.page.goto(f"{ran.airflow.url}/plugin/invaract/invaract/runs?dag_id=gate_skips&contract=batch")
        inside(tab).locator("tbody a[href*='/runs/']").first.click()
        inside(tab).get_by_text(HTML.strip("<>")).first.wait_for()  # the gate itself spells angle brackets
        assert [said for said in tab.complaints if "dialog" in said] == []


def test_anonymous_is_refused_everywhere(ran: Ran) -> None:
    for path in ("/", "/runs", "/runs/att-1", "/contracts/nyc_flights", "/quarantine", "/status", "/api/overview", "/api/openapi.json"):
        assert httpx.get(f"{ran.airflow.url}/invaract{path}").status_code == 401, path


def test_password_of_a_connection_is_shown_nowhere(browser: Any, ran: Ran, admin: Any) -> None:
    task = f"{ran.airflow.url}/dags/gate_connected/runs/{quote(ran.others, safe='')}/tasks/gate"
    with Tab(browser, state=admin) as tab:
        for page, words in (
            ("", "GateUnavailable"), ("/rendered_templates", "batch.yaml"), ("/xcom", "XCom"), ("/details", "gate_connected"),
            ("/plugin/invaract-task", ""),
        ):  # fmt: skip
            tab.page.goto(task + page)
            tab.page.get_by_text(words).first.wait_for()
            assert PASSWORD not in tab.page.content(), page
    files = [path for path in ran.airflow.home.parent.rglob("*") if path.is_file()]
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []


def test_plugins_of_others_and_an_odd_record_leave_the_pages_as_they_are(browser: Any, ran: Ran, admin: Any, hostile: None) -> None:
    views = {plugin["name"]: len(plugin["external_views"]) for plugin in ran.airflow.get("plugins")["plugins"]}
    errors = ran.airflow.get("plugins/importErrors")["import_errors"]
    with odd_record(ran.setup.lake.root / "_invaract" / "audit.db"), Tab(browser, state=admin) as tab:
        tab.page.goto(f"{ran.airflow.url}/plugin/invaract/invaract/runs")
        assert "att-1" in inside(tab).get_by_role("note").inner_text()
        assert inside(tab).locator("tbody tr", has_text="nyc_flights").count() == 3

    assert (views["invaract"], views["other"]) == (4, 1)
    assert [Path(error["source"]).name for error in errors] == ["broken.py"]
    assert httpx.get(f"{ran.airflow.url}/other/hello").json() == {"from": "another plugin"}


@contextmanager
def odd_record(file: Path) -> Iterator[None]:
    """While this lasts, the hostile attempt's start is no time: changed by hand, past the audit's triggers."""
    with closing(sqlite3.connect(file, timeout=30)) as connection:
        guard = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'attempt_no_update'").fetchone()[0]
        before = connection.execute("SELECT started_at FROM attempt WHERE attempt_id = 'att-1'").fetchone()[0]
        for started_at in ("not a time", before):
            with connection:
                connection.execute("DROP TRIGGER attempt_no_update")
                connection.execute("UPDATE attempt SET started_at = ? WHERE attempt_id = 'att-1'", [started_at])
                connection.execute(guard)
            if started_at != before:
                yield


@contextmanager
def limited_server(ran: Ran) -> Iterator[str]:
    """An API server over the same database with a login that grants viewers one DAG."""
    port = free_port()
    environment = ran.airflow.environment | {
        "AIRFLOW__CORE__AUTH_MANAGER": "tests.airflow.limited_login.LimitedAuthManager",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "PYTHONPATH": str(ROOT),
    }
    with (ran.airflow.home / "limited.log").open("wb") as log:
        command = [Path(sys.executable).with_name("airflow"), "api-server"]
        process = subprocess.Popen(command, env=os.environ | environment, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_for(lambda: answers(f"http://127.0.0.1:{port}/api/v2/monitor/health"), 180, "the API server")
            yield f"http://127.0.0.1:{port}"
        finally:
            stop(process)


def answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=5).is_success
    except httpx.TransportError:
        return False


def test_viewer_sees_what_their_dag_permissions_allow(
    browser: Any, ran: Ran, log_in: Callable[[str, str], Any], hostile: None
) -> None:
    with limited_server(ran) as url, Tab(browser, state=log_in(url, "viewer")) as tab:
        tab.page.goto(f"{url}/plugin/invaract")
        contracts = inside(tab).locator("tbody th a.strong").all_inner_texts()
        tab.page.goto(f"{url}/plugin/invaract/invaract/runs")
        runs = inside(tab).locator("tbody tr").count()
        tab.page.goto(f"{url}/plugin/invaract/invaract/runs/att-1")
        hidden = inside(tab).locator("h1").inner_text()
        with Tab(browser, state=log_in(url, "admin")) as other:
            other.page.goto(f"{url}/plugin/invaract/invaract/runs")
            everything = inside(other).locator("tbody tr").count()

    assert contracts == ["nyc_flights"]
    assert runs == 3
    assert hidden == "Not found"
    assert everything > 3
