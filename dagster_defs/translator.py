"""How a contract shows as assets and checks: subclass `ContractTranslator` and override one method to change it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import dagster as dg

from dagster_defs.names import check_name
from invaract_orchestration.checks.catalogue import DeclaredCheck
from invaract_orchestration.contract.digest import contract_digest
from invaract_orchestration.contract.model import Contract, FieldSpec, Freshness, duration_seconds

_OWNER = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+\Z")


class ContractTranslator:
    """From a contract to what Dagster shows. The keys, metadata and names of this class are what everything else relies on."""

    def get_asset_spec(self, contract: Contract) -> dg.AssetSpec:
        """The published table."""
        return dg.AssetSpec(
            key=dg.AssetKey([contract.contract]),
            description=contract.description,
            code_version=code_version(contract),
            owners=owners_of(contract),
            kinds={"delta"},
            freshness_policy=freshness_policy(contract.freshness, contract.timezone),
            metadata={
                "dagster/column_schema": column_schema(contract),
                "invaract/contract": contract.contract,
                "invaract/contract_version": contract.version,
                **({"dagster/table_name": contract.publish.target} if contract.publish else {}),
            },
        )

    def get_candidate_spec(self, contract: Contract) -> dg.AssetSpec:
        """The rows that were offered, checked and perhaps not published."""
        published = self.get_asset_spec(contract).key
        return dg.AssetSpec(
            key=candidate_key(published),
            description=f"What was offered for {contract.contract}; published only when every blocking check is kept.",
            code_version=code_version(contract),
            owners=owners_of(contract),
            kinds={"parquet"},
            metadata={
                "dagster/column_schema": column_schema(contract),
                "invaract/contract": contract.contract,
                "invaract/contract_version": contract.version,
            },
        )

    def get_check_spec(self, contract: Contract, rule: DeclaredCheck) -> dg.AssetCheckSpec:
        """One check of the candidate. Its blocking follows from the contract; the gate decides by itself in any case."""
        return dg.AssetCheckSpec(
            name=check_name(rule.check),
            asset=self.get_candidate_spec(contract).key,
            description=rule.expected,
            blocking=rule.can_block,
            metadata={"invaract/check": rule.check, "invaract/stage": rule.stage, "invaract/severity": rule.severity},
        )


def candidate_key(published: dg.AssetKey) -> dg.AssetKey:
    """The key beside a published one: its last part ends in `_candidate`, as the graph shows the last part alone."""
    return dg.AssetKey([*published.path[:-1], f"{published.path[-1]}_candidate"])


def code_version(contract: Contract) -> str:
    """The contract's version and digest: either change makes what was published before out of date."""
    return f"{contract.version}+{contract_digest(contract).removeprefix('sha256:')[:12]}"


def owners_of(contract: Contract) -> list[str]:
    """Team and address, in the forms that Dagster knows."""
    if contract.owner is None:
        return []
    contact = contract.owner.contact
    team = re.sub(r"[^\w.-]+", "_", contract.owner.team)
    return [f"team:{team}", *([contact] if contact and _OWNER.match(contact) else [])]


_DAY, _LEAST = timedelta(days=1), timedelta(minutes=1)


def freshness_policy(freshness: Freshness | None, timezone: str) -> dg.FreshnessPolicy | None:
    """A deadline by the clock for `expected_by`, else a window of `every` or `max_age`; none when the contract expects nothing.

    Dagster knows deadlines of every day alone, so data that is expected less often has a window; none is below a minute.
    """
    if freshness is None:
        return None
    every = freshness.every or freshness.max_age
    window = _DAY if every is None else max(timedelta(seconds=duration_seconds(every)), _LEAST)
    if freshness.expected_by is not None and window <= _DAY:
        hour, minute = freshness.expected_by.split(":")
        return dg.FreshnessPolicy.cron(
            deadline_cron=f"{int(minute)} {int(hour)} * * *", lower_bound_delta=window, timezone=timezone
        )
    return None if every is None else dg.FreshnessPolicy.time_window(fail_window=window)


def column_schema(contract: Contract) -> dg.TableSchema:
    """The fields of the contract with everything that they promise."""
    unique = {key.columns[0] for key in contract.all_keys() if len(key.columns) == 1}
    keys = [f"{' + '.join(key.columns)} unique" for key in contract.all_keys() if len(key.columns) > 1]
    columns = [_column(spec, spec.name in unique) for spec in contract.fields]
    return dg.TableSchema(columns=columns, constraints=dg.TableConstraints(other=keys))


def _column(spec: FieldSpec, is_unique: bool) -> dg.TableColumn:
    constraints = dg.TableColumnConstraints(nullable=not spec.required, unique=is_unique, other=_promises(spec))
    tags = {re.sub(r"[^A-Za-z0-9_.-]+", "_", tag): "" for tag in spec.sensitivity_tags}
    return dg.TableColumn(
        name=spec.name, type=str(spec.type), description=spec.description, constraints=constraints, tags=tags
    )


def _promises(spec: FieldSpec) -> list[str]:
    asked: list[tuple[str, Any]] = [
        (">= {}", spec.min), ("<= {}", spec.max), ("matches {}", spec.pattern), ("not blank ({})", spec.not_blank),
        ("length >= {}", spec.min_length), ("length <= {}", spec.max_length),
        ("one of {}", ", ".join(spec.allowed[:10]) + (", ..." if len(spec.allowed) > 10 else "") if spec.allowed else None),
    ]  # fmt: skip
    return [text.format(value) for text, value in asked if value is not None]
