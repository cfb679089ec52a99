"""What the pages and the API say of a store."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from fastapi.testclient import TestClient

from invaract_orchestration.audit.browse import Scope
from invaract_orchestration.stores import SqlAuditStore
from invaract_orchestration.testing.audit_records import build_attempt, build_event, build_submission
from invaract_orchestration.ui.app import create_app
from invaract_orchestration.ui.viewer import Viewer
from tests.ui.conftest import Told
from tests.ui.story import NOW

PAGES = ("/", "/?days=7", "/runs", "/contracts/orders", "/contracts/daily_revenue", "/quarantine", "/status")


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of(page: str) -> str:
    parser = _Text()
    parser.feed(page)
    return re.sub(r"\s+", " ", " ".join(parser.parts))


@pytest.mark.parametrize("path", PAGES)
def test_page_of_a_store_is_shown_with_strict_headers(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "<script>" not in answer.text
    assert " style=" not in answer.text
    assert not re.search(r" on[a-z]+=", answer.text)


@pytest.mark.parametrize("path", PAGES)
def test_page_has_landmarks_one_heading_and_scoped_table_headers(client: TestClient, path: str) -> None:
    page = client.get(path).text
    assert page.count("<main ") == page.count("<h1>") == page.count("<header ") == page.count("<footer ") == 1
    assert '<html lang="en">' in page
    assert all("scope=" in header for header in re.findall(r"<th\b[^>]*>", page))
    assert page.count("<table") == page.count("<caption")
    assert all("aria-label=" in svg or "aria-hidden=" in svg for svg in re.findall(r"<svg\b[^>]*>", page))


def test_overview_of_a_blocked_contract_says_since_when_and_why(client: TestClient) -> None:
    found = {each["contract"]: each for each in client.get("/api/overview").json()["contracts"]}
    assert list(found) == ["customers", "daily_revenue", "orders", "payments"]
    orders = found["orders"]
    assert orders["state"] == "rejected"
    assert orders["blocked_since"] == "2026-03-30T04:12:00Z"
    assert orders["reasons"] == ["amount|min", "country|allowed", "email|not_blank"]
    assert orders["accepted_version"] == 30
    assert orders["pass_rate"] == pytest.approx(26 / 31)
    assert [(rule["check"], rule["attempts"], rule["failed"]) for rule in orders["rejections"]] == [
        ("order_id|unique", 3, 252), ("amount|min", 2, 3865), ("country|allowed", 2, 1222), ("email|not_blank", 2, 4),
    ]  # fmt: skip
    assert found["payments"]["state"] == "received"
    assert found["payments"]["blocked_since"] is None


def test_overview_days_add_up_to_its_runs(client: TestClient) -> None:
    answer = client.get("/api/overview?days=7").json()
    counted = sum(day[kind] for day in answer["days"] for kind in ("published", "rejected", "failed", "running"))
    assert len(answer["days"]) == 7
    assert answer["days"][-1]["day"] == "2026-03-31"
    assert counted == answer["runs"] == 33


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("", 161), ("state=rejected", 6), ("state=rejected&state=failed", 8), ("contract=orders&state=rejected", 6),
        ("kind=check", 1), ("environment=prod", 161), ("environment=dev", 0), ("dag_id=build_marts", 35),
        ("dag_id=load_sales&run_id=scheduled__2026-03-31", 1), ("asset=sales/customers", 35), ("map_index=-1", 161),
        ("from=2026-03-31", 7), ("from=2026-03-29&to=2026-03-29", 5), ("to=2026-02-26T12:00", 9), ("search=pay", 54),
        ("search=/data/lake/marts", 35), ("search=%25", 0),
    ],
)  # fmt: skip
def test_runs_filter_leaves_what_fits(client: TestClient, query: str, total: int) -> None:
    assert client.get(f"/api/runs?{query}").json()["total"] == total
    assert f"{total} " in text_of(client.get(f"/runs?{query}").text)


def test_runs_are_paged_to_both_sides(client: TestClient) -> None:
    first = client.get("/api/runs?limit=60").json()
    second = client.get(f"/api/runs?limit=60&before={first['older']}").json()
    third = client.get(f"/api/runs?limit=60&before={second['older']}").json()
    back = client.get(f"/api/runs?limit=60&after={second['newer']}").json()
    assert [len(page["runs"]) for page in (first, second, third)] == [60, 60, 41]
    assert (first["newer"], third["older"]) == (None, None)
    assert back["runs"] == first["runs"]


@pytest.mark.parametrize(("path", "of"), [("/runs", "runs"), ("/quarantine", "entries")])
def test_page_beyond_the_last_one_says_so_and_leads_back(client: TestClient, path: str, of: str) -> None:
    newest = client.get(f"/api{path}?contract=orders&limit=1").json()
    attempt = (newest[of][0] if of == "runs" else newest[of][0]["run"])["attempt_id"]
    page = client.get(f"{path}?contract=orders&after={attempt}").text
    assert "There is nothing on this page." in page
    assert f'href="{path}?contract=orders"' in page
    assert "recorded yet" not in page
    assert "No failing rows" not in page


@pytest.mark.parametrize(("path", "name"), [("/runs", "environment"), ("/quarantine", "contract"), ("/runs", "contract")])
def test_filter_for_a_name_that_is_not_there_shows_what_was_asked(client: TestClient, path: str, name: str) -> None:
    assert "<option selected>nowhere</option>" in client.get(f"{path}?{name}=nowhere").text


def test_runs_with_a_day_that_is_none_shows_a_note_and_the_api_refuses(client: TestClient) -> None:
    page = client.get("/runs?from=yesterday")
    assert page.status_code == 200
    assert "A filter was left out." in page.text
    assert client.get("/api/runs?from=yesterday").status_code == 422


def test_run_shows_flow_checks_counts_and_origin(client: TestClient, told: Told) -> None:
    text = text_of(client.get(f"/runs/{told.ids['rejected']}").text)
    for words in (
        "Rejected", "39,412 rows read", "amount|min", "at least 0", "1,932 of 39,412 rows do not", "Hint: ask the shop",
        "6 kept", "3 broken", "judged on version", "contract digest", "load_sales", "scheduled__2026-03-31", "etl-2", "prod",
        "2026-03-31.csv",
    ):  # fmt: skip
        assert words in text
    assert "Lineage" not in text


def test_run_of_a_query_shows_its_plan_and_lineage(client: TestClient, told: Told) -> None:
    page = client.get(f"/runs/{told.ids['query']}").text
    plan = client.get(f"/api/runs/{told.ids['query']}").json()["plan"]
    assert [step["title"] for step in plan["steps"]] == ["Aggregate", "Filter", "Join(INNER)", "Read(orders)", "Read(customers)"]
    assert plan["steps"][2]["inputs"] == [3, 4]
    assert plan["steps"][1]["details"] == ["WHERE amount > ?"]
    assert plan["tags"] == {"revenue": ["money"]}
    assert {"column": "revenue", "source": "orders.amount", "kind": "computed", "through": ["SUM"]} in plan["lineage"]
    assert "Picture of the plan" in page
    assert "Picture of the lineage" in page


def test_run_is_found_by_the_start_of_its_id(client: TestClient, told: Told) -> None:
    assert client.get(f"/api/runs/{told.ids['rejected'][:20]}").json()["attempt_id"] == told.ids["rejected"]


@pytest.mark.parametrize("path", ["/runs/none", "/contracts/none", "/nowhere", "/contracts/a%2F..%2Fb"])
def test_page_that_is_not_there_is_a_404_with_a_page(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Not found" in answer.text


def test_contract_shows_fields_rules_and_what_a_version_changed(client: TestClient) -> None:
    found = client.get("/api/contracts/orders").json()
    assert [field["path"] for field in found["fields"]] == [
        "order_id", "customer_id", "placed_at", "amount", "country", "currency", "email",
    ]  # fmt: skip
    assert found["rules"] == [
        {"name": "shipped_after_placed", "kind": "row rule", "severity": "error", "text": "amount = 0 OR customer_id > 0"}
    ]
    newest, first = found["versions"]
    assert (newest["version"], newest["before"], first["before"]) == ("1.1.0", "1.0.0", None)
    assert [(change["kind"], change["path"], change["before"], change["after"]) for change in newest["changes"]] == [
        ("changed", "fields.country.allowed", "AT, CH, DE, FR", "AT, BE, CH, DE, FR"),
        ("added", "fields.currency", None, "may_be_absent: true, pattern: [A-Z]{3}, type: string"),
        ("changed", "quality.max_quarantined.percent", "1.0", "0.5"),
    ]
    assert client.get("/api/contracts/orders/versions/1.0.0").json()["document"]["version"] == "1.0.0"


def test_quarantine_gives_counts_and_reasons(client: TestClient) -> None:
    entries = client.get("/api/quarantine").json()["entries"]
    assert len(entries) == 16
    assert (entries[0]["kind"], entries[0]["rows"]) == ("rejected", 1932)
    assert (entries[2]["kind"], entries[2]["rows"]) == ("quarantined", 19)
    assert [(reason["check"], reason["failed"], reason["is_set_aside"]) for reason in entries[2]["reasons"]] == [
        ("country|allowed", 19, True), ("email|not_blank", 3, True),
    ]  # fmt: skip


def test_status_tells_consumers_what_is_current(client: TestClient) -> None:
    found = {each["contract"]: each for each in client.get("/api/status").json()["statuses"]}
    assert {name: each["is_current"] for name, each in found.items()} == {
        "customers": True, "daily_revenue": True, "orders": False, "payments": True,
    }  # fmt: skip


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/", "/runs", "/api/runs", "/api/status"])
def test_anything_but_reading_is_refused(client: TestClient, method: str, path: str) -> None:
    assert client.request(method, path).status_code == 405


def scoped(told: Told, **scope: object) -> TestClient:
    viewer = Viewer(name="viola", scope=Scope(**scope))  # type: ignore[arg-type]
    return TestClient(create_app(told.store, clock=lambda: NOW, authorize=lambda: viewer))


def test_viewer_of_one_dag_sees_nothing_else(told: Told) -> None:
    client = scoped(told, dags=frozenset({"build_marts"}), includes_others=False)
    assert client.get("/api/runs").json()["total"] == 35
    assert [each["contract"] for each in client.get("/api/overview").json()["contracts"]] == ["daily_revenue"]
    assert client.get("/api/overview").json()["rejections"] == []
    assert [each["contract"] for each in client.get("/api/status").json()["statuses"]] == ["daily_revenue"]
    assert client.get("/api/quarantine").json()["entries"] == []
    assert client.get(f"/api/runs/{told.ids['rejected']}").status_code == 404
    assert client.get("/api/contracts/orders").status_code == 404
    assert client.get("/api/contracts/orders/versions/1.0.0").status_code == 404
    assert "orders" not in client.get("/runs").text.replace("/contracts/daily_revenue", "")
    assert "viola" in client.get("/").text


def test_environments_to_choose_from_are_those_of_what_the_viewer_sees(empty_store: SqlAuditStore) -> None:
    for number, (dag_id, environment) in enumerate((("sales", "prod"), ("secret", "merger"), (None, "laptop"))):
        context = {"dag_id": dag_id} if dag_id else {}
        attempt = build_attempt(f"att-{number}", f"sub-{number}", environment=environment, context=context)
        empty_store.open_attempt(build_submission(f"sub-{number}"), attempt, build_event(f"att-{number}"))

    def seen(**scope: object) -> tuple[str, ...]:
        return empty_store.choices(Scope(**scope)).environments  # type: ignore[arg-type]

    assert seen() == ("laptop", "merger", "prod")
    assert seen(dags=frozenset({"sales"}), includes_others=False) == ("prod",)
    assert seen(dags=frozenset({"sales"})) == ("laptop", "prod")
    assert seen(dags=frozenset(), includes_others=False) == ()


def test_contract_with_two_tables_counts_once(empty_store: SqlAuditStore) -> None:
    for number, target in enumerate(("/lake/north", "/lake/south")):
        attempt = build_attempt(f"att-{number}", f"sub-{number}")
        empty_store.open_attempt(build_submission(f"sub-{number}", target=target), attempt, build_event(f"att-{number}"))
    page = TestClient(create_app(empty_store, clock=lambda: NOW)).get("/").text
    assert "1 contract " in text_of(page)
    assert page.count('data-label="Contract"') == 2


def test_viewer_without_dags_may_still_see_what_no_dag_made(told: Told) -> None:
    client = scoped(told, dags=frozenset(), includes_others=True)
    found = {run["contract"] for run in client.get("/api/runs?limit=200").json()["runs"]}
    assert found == {"customers", "payments", "orders"}  # of orders the check alone, which somebody made by hand
    assert [run["kind"] for run in client.get("/api/runs?contract=orders").json()["runs"]] == ["check"]


def test_viewer_of_nothing_gets_empty_pages(told: Told) -> None:
    client = scoped(told, dags=frozenset(), includes_others=False)
    for path in ("/", "/runs", "/quarantine", "/status"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert not re.search("customers|payments|daily_revenue", answer.text)


def test_links_start_at_the_path_that_the_app_is_reached_under(told: Told) -> None:
    page = TestClient(create_app(told.store, clock=lambda: NOW, base_path="/airflow/invaract")).get("/runs").text
    assert set(re.findall(r'(?:href|src|action)="(/[^"#]*)"', page)) >= {"/airflow/invaract/", "/airflow/invaract/runs"}
    assert all(link.startswith("/airflow/invaract/") for link in re.findall(r'(?:href|src|action)="(/[^"#]*)"', page))


def test_links_of_a_mounted_app_start_at_its_mount(told: Told) -> None:
    from fastapi import FastAPI

    host = FastAPI()
    host.mount("/invaract", create_app(told.store, clock=lambda: NOW, frame_ancestors="'self'"))
    client = TestClient(host)
    answer = client.get("/invaract/runs")
    assert all(link.startswith("/invaract/") for link in re.findall(r'(?:href|src|action)="(/[^"#]*)"', answer.text))
    assert answer.headers["content-security-policy"].endswith("frame-ancestors 'self'")
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert client.get("/invaract/static/audit.css").status_code == 200
    assert client.get("/invaract/nowhere").headers["content-type"].startswith("text/html")
