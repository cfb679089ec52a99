"""What people see of a result: names, counts and texts of the contract. A cell value has no place in any of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import dagster as dg

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.checks.catalogue import DeclaredCheck, declared_checks
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.model import Contract

Metadata = dict[str, Any]
T = TypeVar("T")

_LONGEST = 240
_MOST_LETTERS = 12_000
"""How long a list of names may be in one event, as Dagster keeps events whole: what is left out is in the audit."""
_FRAME = "." * 110
"""What Dagster writes around an entry."""
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
    reasons = result.verdict.reasons if result.verdict else ()
    return {
        **attempt_metadata(result, page),
        **_numbers({"dagster/row_count": counts.candidate, "invaract/rows_read": counts.read,
                    "invaract/rows_failing": counts.failing, "invaract/rows_set_aside": counts.quarantined}),
        **_failed_rows(answers),
        "invaract/candidate_digest": digest,
        "invaract/outcomes": outcome_table(answers, declared_checks(contract)),
        "invaract/reasons": short(", ".join(reasons), 2000) or "none",
        "invaract/contract_version": contract.version,
        **_column_lineage(contract, result),
    }  # fmt: skip


def _failed_rows(answers: Mapping[str, tuple[CheckResult, ...]]) -> dict[str, int]:
    """Failing rows of each check that counts rows; those with some stand first."""
    counted = {
        check: sum(r.failed or 0 for r in results)
        for check, results in answers.items()
        if any(r.rows is not None for r in results)
    }
    ordered = sorted(counted.items(), key=lambda entry: not entry[1])
    return {f"invaract/failed/{check}": failed for check, failed in _within(ordered, lambda entry: (entry[0],))}


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
    return _lineage(found)


def _lineage(found: Mapping[str, list[dg.TableColumnDep]]) -> Metadata:
    """Columns with their sources; nothing when there are none, or more than an event should carry."""
    texts = [text for deps in found.values() for d in deps for text in (*d.asset_key.path, d.column_name, _FRAME)]
    letters = _letters(*found, *texts)
    return {"dagster/column_lineage": dg.TableColumnLineage(found)} if found and letters <= _MOST_LETTERS else {}


def published_metadata(contract: Contract, result: GateResult, page: str | None, candidate: dg.AssetKey) -> Metadata:
    """What was made visible: the table's version and place, what the commit did, and from which columns it came."""
    publication = result.publication
    assert publication is not None  # asked for after a publication alone
    counts = result.counts
    lineage = {f.name: [dg.TableColumnDep(asset_key=candidate, column_name=f.name)] for f in contract.fields}
    return {
        **attempt_metadata(result, page),
        "dagster/uri": result.target,
        **_lineage(lineage),
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
        "invaract/expected": short("; ".join(r.expected for r in results) or rule.expected),
        "invaract/found": short(found_text(results)),
        "invaract/evidence": first.evidence if first is not None else "none",
        **_numbers({
            "invaract/rows": first.rows if first is not None else None,
            "invaract/failed_rows": sum(r.failed or 0 for r in results) if first is not None and first.rows is not None else None,
            "invaract/undecided_rows": (sum(r.undecided for r in results) or None) if results else None,
        }),
        **({"invaract/hint": short(hints)} if hints else {}),
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
        {
            "rule": short(rule.check), "severity": rule.severity, "outcome": outcome_of(rule, results),
            "expected": short(rule.expected), "found": short(found_text(results)),
            "evidence": results[0].evidence if results else "none",
        }
        for rule, results in rows
    ]  # fmt: skip
    names = ("rule", "severity", "outcome", "expected", "found", "evidence")
    shown = [dg.TableRecord(record) for record in _within(records, lambda record: (*record, *record.values()))]
    return dg.MetadataValue.table(shown, schema=dg.TableSchema(columns=[dg.TableColumn(n) for n in names]))


def _within(entries: Iterable[T], texts: Callable[[T], Iterable[str]]) -> Iterator[T]:
    """The first entries, as many as an event should carry; `texts` are those of one."""
    left = _MOST_LETTERS
    for entry in entries:
        left -= _letters(*texts(entry), _FRAME)
        if left < 0:
            return
        yield entry


def _letters(*texts: str) -> int:
    """How long texts are as Dagster stores them: a letter beyond ASCII takes six."""
    return sum(len(json.dumps(text)) for text in texts)


def _numbers(values: Mapping[str, int | None]) -> dict[str, int]:
    return {name: value for name, value in values.items() if value is not None}


def short(text: str, longest: int = _LONGEST) -> str:
    """The text, cut off where it is longer than people read."""
    return text if len(text) <= longest else text[: longest - 3] + "..."
