"""Five weeks of four contracts, recorded through the audit's own port; the same every time."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from invaract_orchestration.audit.log import AuditLog
from invaract_orchestration.audit.records import (
    Attempt,
    ContractVersion,
    Counts,
    Event,
    InputFile,
    OutcomeRecord,
    PublicationRecord,
    State,
    Submission,
    VerdictRecord,
)
from invaract_orchestration.candidate.compiled import CompiledPlan
from invaract_orchestration.candidate.plan.sql import translate_sql
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.digest import canonical_json, contract_digest
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.contract.model import Contract

NOW = datetime(2026, 3, 31, 9, 30, tzinfo=UTC)

ORDERS_1 = """
contract: orders
version: "1.0.0"
description: One row for each order of the web shop, as the shop closed its day.
owner: {team: Shop data, contact: shop-data@example.org}
consumers: [Finance report, Demand forecast]
source: {format: csv, location: "landing/orders/{day}.csv"}
fields:
  - {name: order_id, type: bigint, required: true, unique: true, description: Number that the shop gave}
  - {name: customer_id, type: bigint, required: true}
  - {name: placed_at, type: timestamp, required: true, description: When the customer paid}
  - {name: amount, type: "decimal(12,2)", required: true, min: "0"}
  - {name: country, type: string, allowed: [AT, CH, DE, FR]}
  - {name: email, type: string, not_blank: true, sensitivity_tags: [personal]}
quality:
  on_row_failure: quarantine
  max_quarantined: {percent: 1}
  row_rules:
    - {name: shipped_after_placed, sql: "amount = 0 OR customer_id > 0"}
publish: {target: lake/sales/orders, mode: append}
freshness: {every: 1d, expected_by: "06:00"}
"""
ORDERS_2 = (
    ORDERS_1.replace('"1.0.0"', '"1.1.0"')
    .replace("[AT, CH, DE, FR]", "[AT, BE, CH, DE, FR]")
    .replace(
        "  - {name: email,",
        '  - {name: currency, type: string, pattern: "[A-Z]{3}", may_be_absent: true}\n  - {name: email,',
    )
    .replace("percent: 1}", "percent: 0.5}")
)
CUSTOMERS = """
contract: customers
version: "2.3.0"
description: Every customer once, with the newest address.
source: {format: parquet, location: "landing/customers/{day}.parquet"}
fields:
  - {name: customer_id, type: bigint, required: true, unique: true}
  - {name: name, type: string, sensitivity_tags: [personal]}
  - {name: segment, type: string, allowed: [private, business]}
publish: {target: lake/sales/customers, mode: merge, keys: [customer_id]}
"""
REVENUE = """
contract: daily_revenue
version: "1.2.0"
description: Revenue by day and country, from orders and customers.
source:
  format: sql
  inputs: {orders: lake/sales/orders, customers: lake/sales/customers}
  sql: >
    SELECT o.placed_on AS day, o.country, c.segment, SUM(o.amount) AS revenue, COUNT(*) AS orders
    FROM orders o JOIN customers c ON o.customer_id = c.customer_id
    WHERE o.amount > 0 GROUP BY o.placed_on, o.country, c.segment
fields:
  - {name: day, type: date, required: true}
  - {name: country, type: string, required: true}
  - {name: segment, type: string}
  - {name: revenue, type: "decimal(38,2)", min: "0"}
  - {name: orders, type: bigint, min: "1"}
keys: [{columns: [day, country, segment], nulls: ignore}]
rules:
  - {type: required_group_by, columns: [day, country]}
  - {type: forbid_cross_join}
publish: {target: lake/marts/daily_revenue, mode: overwrite}
"""
PAYMENTS = """
contract: payments
version: "0.9.0"
description: Settlements as the payment provider reports them, twice a day.
source: {format: json, location: "landing/payments/{batch}/*.json"}
fields:
  - {name: payment_id, type: string, required: true, unique: true}
  - {name: order_id, type: bigint, required: true}
  - {name: settled, type: "decimal(12,2)", required: true}
publish: {target: lake/finance/payments, mode: append}
"""


@dataclass
class Story:
    """Writes attempts one after another; versions of tables count up."""

    audit: AuditLog
    folder: Path
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    versions: dict[str, int] = field(default_factory=dict)
    number: int = 0

    def contract(self, text: str) -> Contract:
        file = self.folder / "contract.yaml"
        file.write_text(text)
        return load_contract(file)

    def attempt(
        self, contract: Contract, at: datetime, state: State, *, rows: int, broken: dict[str, int] | None = None,
        context: dict[str, str] | None = None, code: str | None = None, message: str | None = None, kind: str = "run",
        retry_of: str | None = None, slow: float = 1.0,
    ) -> str:  # fmt: skip
        """One attempt from its receipt to its end; `broken` names checks with the rows that failed them."""
        self.number += 1
        attempt_id, name = f"a-{self.number:04d}{self.chance.getrandbits(96):024x}", contract.contract
        submission_id = retry_of or f"s-{self.number:04d}{self.chance.getrandbits(72):018x}"
        target = f"/data/{contract.publish.target}"
        day = f"{at:%Y-%m-%d}"
        size = rows * 61 + 80
        file = InputFile(
            name=f"{day}.{contract.source.format}",
            size=size,
            modified=at - timedelta(minutes=9),
            digest=_digest(day + name),
        )
        version = ContractVersion(
            contract=name, version=contract.version, digest=contract_digest(contract), document=canonical_json(contract)
        )
        clock = _Clock(at, self.chance, slow)

        def step(state: State, message: str, detail: dict[str, str | int | None] | None = None) -> Event:
            return Event(attempt_id=attempt_id, state=state, at=clock.next(), message=message, detail=detail or {})

        self.audit.open_attempt(
            Submission(
                submission_id=submission_id, contract=name, target=target, parameters={"day": day},
                slice_digest=_digest("slice" + day), intake_digest=_digest("intake" + day + name), files=(file,),
            ),
            Attempt(
                attempt_id=attempt_id, submission_id=submission_id, kind=kind, contract_version=version,
                environment="prod", engine="duckdb 2.0.1", host="etl-2", started_at=at, context=context or {},
            ),
            step("received", "received 1 file"),
        )  # fmt: skip
        broken = broken or {}
        aside = contract.quality.on_row_failure == "quarantine" and state == "published"
        failing = max(broken.values(), default=0)
        counts = Counts(read=rows, good=rows - failing, candidate=rows - failing, failing=failing,
                        quarantined=failing if aside else 0)  # fmt: skip
        if state == "received":
            return attempt_id
        if contract.source.sql:
            plan = CompiledPlan(plan=translate_sql(contract.source.sql, {}).plan, inputs={})
            self.audit.append(step("received", "judging the plan", plan.describe({"orders.amount": ("money",)})))
        if state != "failed" or message:
            self.audit.append(
                step(
                    "materialised",
                    f"{rows - failing} rows in 1 file",
                    {"read": rows, "candidate": rows - failing, "digest": _digest("c" + attempt_id), "bytes": size},
                )
            )
        if state in ("published", "rejected", "conflict", "unknown"):
            results = tuple(_results(contract, rows, broken, is_set_aside=aside))
            reasons = tuple(r.check for r in results if r.is_blocking)
            self.audit.record_verdict(
                VerdictRecord(
                    attempt_id=attempt_id, passed=not reasons, contract_digest=version.digest,
                    candidate_digest=_digest("c" + attempt_id), schema_digest=_digest("s" + name + contract.version),
                    target_version=self.versions.get(name), engine="duckdb 2.0.1", reasons=reasons, counts=counts,
                    results=results, at=clock.now,
                ),
                step("judged", "rejected: " + ", ".join(reasons) if reasons else "passed", {"checks": len(results)}),
            )  # fmt: skip
        publication = None
        if state == "published":
            self.audit.append(step("publishing", "publishing", {"target_version": self.versions.get(name)}))
            self.versions[name] = self.versions.get(name, -1) + 1
            message = message or f"version {self.versions[name]}, {rows - failing} rows, promoted"
            publication = PublicationRecord(
                submission_id=submission_id, attempt_id=attempt_id, target=target, table_version=self.versions[name],
                mode=contract.publish.mode, method="promoted", committed_at=clock.next(),
            )  # fmt: skip
            counts = Counts(read=rows, good=rows - failing, candidate=rows - failing, failing=failing,
                            quarantined=failing if aside else 0, inserted=rows - failing, updated=0, deleted=0)  # fmt: skip
        if state == "rejected":
            message = (
                message
                or f"{len(reasons)} blocking check{'' if len(reasons) == 1 else 's'} not kept: {', '.join(reasons)}"
            )
            code = code or reasons[0]
        ending = step(state, message or state, {"code": code})
        self.audit.record_outcome(
            OutcomeRecord(
                attempt_id=attempt_id, state=state, code=code, message=message or state, counts=counts,
                publication=publication, at=ending.at,
            ),
            ending,
        )  # fmt: skip
        return attempt_id


@dataclass
class _Clock:
    now: datetime
    chance: random.Random
    slow: float

    def next(self) -> datetime:
        self.now += timedelta(milliseconds=self.chance.randint(40, 2600) * self.slow)
        return self.now


def tell(audit: AuditLog, folder: Path, *, days: int = 34) -> dict[str, str]:
    """Fill an empty store; ids of attempts that tests look at, by what they are."""
    story = Story(audit=audit, folder=folder)
    orders, orders_new = story.contract(ORDERS_1), story.contract(ORDERS_2)
    customers, revenue, payments = (story.contract(text) for text in (CUSTOMERS, REVENUE, PAYMENTS))
    told: dict[str, str] = {}
    for back in range(days, -1, -1):
        day = (NOW - timedelta(days=back)).replace(hour=4, minute=12)
        dag = {
            "orchestrator": "airflow",
            "dag_id": "load_sales",
            "run_id": f"scheduled__{day:%Y-%m-%d}",
            "task_id": "orders",
            "try_number": "1",
        }
        rows = 41_000 + story.chance.randint(-4000, 4000)
        now_orders = orders_new if back < 14 else orders
        if back in (0, 1):
            told["rejected"] = story.attempt(
                now_orders,
                day,
                "rejected",
                rows=rows,
                context=dag,
                broken={"amount|min": 1932 + back, "country|allowed": 611, "email|not_blank": 2},
                slow=3,
            )
        elif back in (9, 21, 22):
            story.attempt(now_orders, day, "rejected", rows=rows, context=dag, broken={"order_id|unique": 84}, slow=3)
        else:
            key = story.attempt(
                now_orders,
                day,
                "published",
                rows=rows,
                context=dag,
                slow=3,
                broken={"country|allowed": 17 + back, "email|not_blank": 3} if back % 3 == 2 else {},
            )
            told["quarantined" if back % 3 == 2 else "published"] = key
        if back == 9:
            story.attempt(
                now_orders,
                day + timedelta(hours=3),
                "published",
                rows=rows - 84,
                context=dag | {"try_number": "2"},
                slow=3,
            )
        asset = {
            "orchestrator": "dagster",
            "asset": "sales/customers",
            "run_id": f"{back:08x}-7d1c",
            "partition": f"{day:%Y-%m-%d}",
        }
        story.attempt(
            customers,
            day + timedelta(minutes=30),
            "published" if back % 6 else "no_op",
            rows=9000 if back % 6 else 0,
            context=asset,
            message=None if back % 6 else "nothing arrived, and the contract says that this is fine",
        )
        story.attempt(
            payments,
            day + timedelta(hours=1),
            "failed" if back in (4, 5) else "published",
            rows=5200,
            code="input.unreadable" if back in (4, 5) else None,
            message="landing/payments/am/07.json: the file is cut off in line 812" if back in (4, 5) else None,
        )
        if back % 2 == 0:
            story.attempt(payments, day + timedelta(hours=4), "published", rows=2100)
        told["query"] = story.attempt(
            revenue,
            day + timedelta(hours=2),
            "conflict" if back == 12 else "published",
            rows=620,
            context=dag | {"dag_id": "build_marts", "task_id": "revenue"},
            code="publish.concurrent" if back == 12 else None,
            message="another writer won 5 times" if back == 12 else None,
        )
    told["check"] = story.attempt(
        orders_new, NOW - timedelta(minutes=50), "rejected", rows=41_320, kind="check", broken={"amount|min": 12}
    )
    told["running"] = story.attempt(payments, NOW - timedelta(minutes=2), "received", rows=2000)
    return told


def _results(contract: Contract, rows: int, broken: dict[str, int], *, is_set_aside: bool) -> list[CheckResult]:
    results = [
        CheckResult(check="header", stage="header", outcome="kept", expected=f"{len(contract.fields)} columns in this order", found="the same in 1 file", evidence="header"),
        *(CheckResult(check="plan|" + rule.type, stage="plan", outcome="kept", expected=f"{rule.type.replace('_', ' ')}", found="the plan has it", evidence="plan") for rule in contract.rules),
    ]  # fmt: skip
    for spec in contract.fields:
        for check, expected in (
            ("required", "no null"), ("unique", "no value twice"), ("min", f"at least {spec.min}"),
            ("allowed", f"one of {len(spec.allowed or ())} values"), ("not_blank", "more than blanks"),
        ):  # fmt: skip
            if not getattr(spec, check):
                continue
            name, failed = f"{spec.name}|{check}", broken.get(f"{spec.name}|{check}", 0)
            results.append(
                CheckResult(
                    check=name, stage="keys" if check == "unique" else "rows", outcome="broken" if failed else "kept",
                    expected=expected, found=f"{failed:,} of {rows:,} rows do not" if failed else f"all {rows:,} rows", rows=rows,
                    failed=failed, evidence="key pass" if check == "unique" else "write", is_set_aside=bool(failed) and is_set_aside,
                    nulls=0, hint="ask the shop for the day again, or accept the new codes in a new version" if failed and check == "allowed" else None,
                )
            )  # fmt: skip
    return results


def _digest(text: str) -> str:
    import hashlib

    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
