"""Five weeks of four contracts, recorded through the audit's own port; the same every time."""

from __future__ import annotations

import hashlib
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
from tests.ui.story_contracts import CUSTOMERS, ORDERS_1, ORDERS_2, PAYMENTS, REVENUE

NOW = datetime(2026, 3, 31, 9, 30, tzinfo=UTC)
ENGINE = "duckdb 2.0.1"


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
        slow: float = 1.0,
    ) -> str:  # fmt: skip
        """One attempt from its receipt to its end; `broken` names checks with the rows that failed them."""
        self.number += 1
        one = _Attempt(
            audit=self.audit, contract=contract, state=state, rows=rows, broken=broken or {},
            attempt_id=f"a-{self.number:04d}{self.chance.getrandbits(96):024x}",
            submission_id=f"s-{self.number:04d}{self.chance.getrandbits(72):018x}",
            clock=_Clock(at, self.chance, slow), version=self.versions.get(contract.contract),
        )  # fmt: skip
        one.open(kind, context or {}, day=f"{at:%Y-%m-%d}")
        if state == "received":
            return one.attempt_id
        one.materialise(is_written=state != "failed" or message is not None)
        reasons = one.judge() if state in ("published", "rejected", "conflict", "unknown") else ()
        if state == "published":
            self.versions[contract.contract] = one.next_version
            one.publish(message)
        else:
            rejected = f"{len(reasons)} blocking check{'' if len(reasons) == 1 else 's'} not kept: {', '.join(reasons)}"
            one.end(message or (rejected if state == "rejected" else state), code or (reasons[0] if reasons else None))
        return one.attempt_id


@dataclass
class _Attempt:
    """One attempt that is being written; `version` is that of the table before it."""

    audit: AuditLog
    contract: Contract
    state: State
    rows: int
    broken: dict[str, int]
    attempt_id: str
    submission_id: str
    clock: _Clock
    version: int | None

    def open(self, kind: str, context: dict[str, str], *, day: str) -> None:
        contract, name, at = self.contract, self.contract.contract, self.clock.now
        file = InputFile(
            name=f"{day}.{contract.source.format}", size=self._size, modified=at - timedelta(minutes=9), digest=_digest(day + name)
        )
        version = ContractVersion(
            contract=name, version=contract.version, digest=contract_digest(contract), document=canonical_json(contract)
        )
        submission = Submission(
            submission_id=self.submission_id, contract=name, target=self._target, parameters={"day": day},
            slice_digest=_digest("slice" + day), intake_digest=_digest("intake" + day + name), files=(file,),
        )  # fmt: skip
        attempt = Attempt(
            attempt_id=self.attempt_id, submission_id=self.submission_id, kind=kind, contract_version=version,
            environment="prod", engine=ENGINE, host="etl-2", started_at=at, context=context,
        )  # fmt: skip
        self.audit.open_attempt(submission, attempt, self._step("received", "received 1 file"))

    def materialise(self, *, is_written: bool) -> None:
        if self.contract.source.sql:
            plan = CompiledPlan(plan=translate_sql(self.contract.source.sql, {}).plan, inputs={})
            self.audit.append(self._step("received", "judging the plan", plan.describe({"orders.amount": ("money",)})))
        if is_written:
            detail = {"read": self.rows, "candidate": self._good, "digest": self._candidate, "bytes": self._size}
            self.audit.append(self._step("materialised", f"{self._good} rows in 1 file", detail))

    def judge(self) -> tuple[str, ...]:
        """Record the verdict; the checks that block."""
        results = tuple(_results(self.contract, self.rows, self.broken, is_set_aside=self._is_aside))
        reasons = tuple(r.check for r in results if r.is_blocking)
        verdict = VerdictRecord(
            attempt_id=self.attempt_id, passed=not reasons, contract_digest=contract_digest(self.contract),
            candidate_digest=self._candidate, schema_digest=_digest("s" + self.contract.contract + self.contract.version),
            target_version=self.version, engine=ENGINE, reasons=reasons, counts=self._counts(), results=results, at=self.clock.now,
        )  # fmt: skip
        said = "rejected: " + ", ".join(reasons) if reasons else "passed"
        self.audit.record_verdict(verdict, self._step("judged", said, {"checks": len(results)}))
        return reasons

    def publish(self, message: str | None) -> None:
        self.audit.append(self._step("publishing", "publishing", {"target_version": self.version}))
        publication = PublicationRecord(
            submission_id=self.submission_id, attempt_id=self.attempt_id, target=self._target, table_version=self.next_version,
            mode=self.contract.publish.mode, method="promoted", committed_at=self.clock.next(),
        )  # fmt: skip
        said = message or f"version {self.next_version}, {self._good} rows, promoted"
        self.end(said, None, publication, inserted=self._good, updated=0, deleted=0)

    def end(self, message: str, code: str | None, publication: PublicationRecord | None = None, **changes: int) -> None:
        ending = self._step(self.state, message, {"code": code})
        outcome = OutcomeRecord(
            attempt_id=self.attempt_id, state=self.state, code=code, message=message, counts=self._counts(**changes),
            publication=publication, at=ending.at,
        )  # fmt: skip
        self.audit.record_outcome(outcome, ending)

    @property
    def next_version(self) -> int:
        return 0 if self.version is None else self.version + 1

    @property
    def _target(self) -> str:
        return f"/data/{self.contract.publish.target}"

    @property
    def _size(self) -> int:
        return self.rows * 61 + 80

    @property
    def _candidate(self) -> str:
        return _digest("c" + self.attempt_id)

    @property
    def _failing(self) -> int:
        return max(self.broken.values(), default=0)

    @property
    def _good(self) -> int:
        return self.rows - self._failing

    @property
    def _is_aside(self) -> bool:
        return self.contract.quality.on_row_failure == "quarantine" and self.state == "published"

    def _counts(self, **changes: int) -> Counts:
        return Counts(
            read=self.rows, good=self._good, candidate=self._good, failing=self._failing,
            quarantined=self._failing if self._is_aside else 0, **changes,
        )  # fmt: skip

    def _step(self, state: State, message: str, detail: dict[str, str | int | None] | None = None) -> Event:
        return Event(attempt_id=self.attempt_id, state=state, at=self.clock.next(), message=message, detail=detail or {})


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
            "orchestrator": "airflow", "dag_id": "load_sales", "run_id": f"scheduled__{day:%Y-%m-%d}", "task_id": "orders",
            "try_number": "1",
        }  # fmt: skip
        told |= _tell_orders(story, orders_new if back < 14 else orders, back, day, dag)
        _tell_customers(story, customers, back, day)
        _tell_payments(story, payments, back, day)
        is_late = back == 12
        told["query"] = story.attempt(
            revenue, day + timedelta(hours=2), "conflict" if is_late else "published", rows=620,
            context=dag | {"dag_id": "build_marts", "task_id": "revenue"}, code="publish.concurrent" if is_late else None,
            message="another writer won 5 times" if is_late else None,
        )  # fmt: skip
    told["check"] = story.attempt(
        orders_new, NOW - timedelta(minutes=50), "rejected", rows=41_320, kind="check", broken={"amount|min": 12}
    )
    told["running"] = story.attempt(payments, NOW - timedelta(minutes=2), "received", rows=2000)
    return told


def _tell_orders(story: Story, contract: Contract, back: int, day: datetime, dag: dict[str, str]) -> dict[str, str]:
    rows = 41_000 + story.chance.randint(-4000, 4000)
    if back in (0, 1):
        broken = {"amount|min": 1932 + back, "country|allowed": 611, "email|not_blank": 2}
        return {"rejected": story.attempt(contract, day, "rejected", rows=rows, context=dag, broken=broken, slow=3)}
    if back in (9, 21, 22):
        story.attempt(contract, day, "rejected", rows=rows, context=dag, broken={"order_id|unique": 84}, slow=3)
        if back == 9:
            again, later = dag | {"try_number": "2"}, day + timedelta(hours=3)
            story.attempt(contract, later, "published", rows=rows - 84, context=again, slow=3)
        return {}
    broken = {"country|allowed": 17 + back, "email|not_blank": 3} if back % 3 == 2 else {}
    key = story.attempt(contract, day, "published", rows=rows, context=dag, slow=3, broken=broken)
    return {"quarantined" if broken else "published": key}


def _tell_customers(story: Story, contract: Contract, back: int, day: datetime) -> None:
    arrived = back % 6 != 0
    asset = {
        "orchestrator": "dagster", "asset": "sales/customers", "run_id": f"{back:08x}-7d1c", "partition": f"{day:%Y-%m-%d}",
    }  # fmt: skip
    story.attempt(
        contract, day + timedelta(minutes=30), "published" if arrived else "no_op", rows=9000 if arrived else 0, context=asset,
        message=None if arrived else "nothing arrived, and the contract says that this is fine",
    )  # fmt: skip


def _tell_payments(story: Story, contract: Contract, back: int, day: datetime) -> None:
    is_cut = back in (4, 5)
    story.attempt(
        contract, day + timedelta(hours=1), "failed" if is_cut else "published", rows=5200,
        code="input.unreadable" if is_cut else None,
        message="landing/payments/am/07.json: the file is cut off in line 812" if is_cut else None,
    )  # fmt: skip
    if back % 2 == 0:
        story.attempt(contract, day + timedelta(hours=4), "published", rows=2100)


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
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
