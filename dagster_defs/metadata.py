"""What people see of a result: names, counts and texts of the contract. A cell value has no place in any of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.checks.catalogue import DeclaredCheck, declared_checks
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract

Metadata = dict[str, Any]

_MOST_ROWS = 60
_LONGEST = 240
NOT_JUDGED = "not judged"


def attempt_metadata(result: GateResult, page: str | None) -> Metadata:
    """Who and which: on every event of a run, small."""
    return {
        "invaract/state": result.state,
        "invaract/submission": result.submission_id,
        "invaract/attempt": result.attempt_id,
        **({"invaract/audit": dg.MetadataValue.url(page)} if page else {}),
    }


def candidate_metadata(
    contract: Contract, result: GateResult, answers: Mapping[str, tuple[CheckResult, ...]], page: str | None
) -> Metadata:
    """What was offered: rows, where they went, failing rows of each check as numbers, and every outcome as a table."""
    counts = result.counts
    digest = result.verdict.bound.candidate_digest if result.verdict and result.verdict.bound else None
    return {
        **attempt_metadata(result, page),
        **_numbers({"dagster/row_count": counts.candidate, "invaract/rows_read": counts.read,
                    "invaract/rows_failing": counts.failing, "invaract/rows_set_aside": counts.quarantined}),
        **{f"invaract/failed/{check}": sum(r.failed or 0 for r in results)
           for check, results in list(answers.items())[:_MOST_ROWS] if any(r.rows is not None for r in results)},
        "invaract/candidate_digest": digest,
        "invaract/outcomes": outcome_table(answers, declared_checks(contract)),
        "invaract/reasons": ", ".join(result.verdict.reasons[:20]) if result.verdict and result.verdict.reasons else "none",
        "invaract/contract_version": contract.version,
        **_column_lineage(contract, result),
    }  # fmt: skip


def _column_lineage(contract: Contract, result: GateResult) -> Metadata:
    """Where the candidate's columns come from, by the plan of its query; nothing where there was no query.

    An input is the asset of its table's name (`a.b.c` is the key a/b/c), a path's is its last part.
    """
    inputs = {name.lower(): table for name, table in (contract.source.inputs if contract.source else {}).items()}

    def asset(dataset: str) -> dg.AssetKey:
        table = inputs.get(dataset.lower(), dataset)
        return dg.AssetKey([table.rstrip("/").rpartition("/")[2]] if "/" in table else table.split("."))

    found = {
        column: [dg.TableColumnDep(asset_key=asset(dataset), column_name=name) for dataset, name in sources]
        for column, sources in result.lineage.items()
        if sources
    }
    return {"dagster/column_lineage": dg.TableColumnLineage(found)} if found else {}


def published_metadata(contract: Contract, result: GateResult, page: str | None, candidate: dg.AssetKey) -> Metadata:
    """What was made visible: the table's version and place, what the commit did, and from which columns it came."""
    publication = result.publication
    assert publication is not None  # asked for after a publication alone
    counts = result.counts
    lineage = {f.name: [dg.TableColumnDep(asset_key=candidate, column_name=f.name)] for f in contract.fields}
    return {
        **attempt_metadata(result, page),
        "dagster/uri": result.target,
        "dagster/column_lineage": dg.TableColumnLineage(lineage),
        "invaract/table_version": publication.table_version,
        "invaract/mode": publication.mode,
        "invaract/method": publication.method[:_LONGEST],
        "invaract/is_first_time": publication.attempt_id == result.attempt_id,
        "invaract/is_recorded": result.is_recorded,
        **_numbers({
            "dagster/partition_row_count": counts.candidate, "invaract/rows_inserted": counts.inserted,
            "invaract/rows_updated": counts.updated, "invaract/rows_deleted": counts.deleted,
            "invaract/rows_set_aside": counts.quarantined,
        }),
    }  # fmt: skip


def check_metadata(rule: DeclaredCheck, results: Sequence[CheckResult], page: str | None) -> Metadata:
    """One check: what was expected, what was found, what that rests on, and how to mend it."""
    first = results[0] if results else None
    hints = "; ".join(dict.fromkeys(r.hint for r in results if r.hint))
    return {
        "invaract/check": rule.check,
        "invaract/outcome": outcome_of(rule, results),
        "invaract/expected": _short("; ".join(r.expected for r in results) or rule.expected),
        "invaract/found": _short(found_text(results)),
        "invaract/evidence": first.evidence if first is not None else "none",
        **_numbers({
            "invaract/rows": first.rows if first is not None else None,
            "invaract/failed_rows": sum(r.failed or 0 for r in results) if first is not None and first.rows is not None else None,
            "invaract/undecided_rows": (sum(r.undecided for r in results) or None) if results else None,
        }),
        **({"invaract/hint": _short(hints)} if hints else {}),
        **({"invaract/audit": dg.MetadataValue.url(page)} if page else {}),
    }  # fmt: skip


def outcome_of(rule: DeclaredCheck, results: Sequence[CheckResult]) -> str:
    """The worst outcome among the results that answer a check; `not judged` when there is none."""
    outcomes = [r.outcome for r in results]
    return next((o for o in ("broken", "unverifiable", "kept") if o in outcomes), NOT_JUDGED)


def found_text(results: Sequence[CheckResult]) -> str:
    """What was found, those that are not kept first."""
    ordered = sorted(results, key=lambda r: r.outcome == "kept")
    return "; ".join(f"{r.check}: {r.found}" if len(results) > 1 else r.found for r in ordered) or NOT_JUDGED


def outcome_table(answers: Mapping[str, tuple[CheckResult, ...]], declared: Sequence[DeclaredCheck]) -> Any:
    """Every check with its outcome; what is not kept stands first."""
    rows = [(rule, answers.get(rule.check, ())) for rule in declared]
    rows.sort(key=lambda row: outcome_of(*row) == "kept")
    records = [
        dg.TableRecord({
            "rule": rule.check, "severity": rule.severity, "outcome": outcome_of(rule, results),
            "expected": _short(rule.expected), "found": _short(found_text(results)),
            "evidence": results[0].evidence if results else "none",
        })
        for rule, results in rows[:_MOST_ROWS]
    ]  # fmt: skip
    names = ("rule", "severity", "outcome", "expected", "found", "evidence")
    return dg.MetadataValue.table(records, schema=dg.TableSchema(columns=[dg.TableColumn(n) for n in names]))


def _numbers(values: Mapping[str, int | None]) -> dict[str, int]:
    return {name: value for name, value in values.items() if value is not None}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
