"""Playing a case of the Open Lakehouse Contract corpus through the real gate, and what it is compared with.

Accepted rows are those of the candidate, quarantined rows those of the quarantine in the columns of the model.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from invaract_orchestration import GateResult, load_contract
from invaract_orchestration.audit.records import State
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.delta.quarantine import quarantined_rows
from invaract_orchestration.engines.delta.read import read_columns
from invaract_orchestration.errors import ContractError
from invaract_orchestration.gate import Gate
from tests.olc import logic

Row = dict[str, Any]
FUNCTIONS = {"extract.py:run": logic.extract, "enrich.py:run": logic.enrich}
"""Our own functions for those that the corpus names and that are not part of it."""
_DEFAULTS: Mapping[str, Any] = {"numeric_tolerance": 1e-6, "ignore_fields": []}
"""How rows are compared where a folder of cases says nothing of it."""
REFUSED: tuple[State, ...] = ("failed", "rejected")


@dataclass(frozen=True, slots=True, kw_only=True)
class OlcCase:
    """One case: its folder, what its file says, and the defaults of the comparison."""

    folder: Path
    said: Mapping[str, Any]
    defaults: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.said["id"])

    def rows(self, name: str) -> list[Row] | None:
        """The rows of a file of the case, or none where there is no such file."""
        path = self.folder / name
        if not path.is_file():
            return None
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


@dataclass(slots=True)
class Played:
    """What the gate made of a case."""

    result: GateResult | None = None
    error: str | None = None
    accepted: list[Row] = field(default_factory=list)
    quarantined: list[Row] = field(default_factory=list)
    target: list[Row] = field(default_factory=list)
    again: list[Row] | None = None


def read_cases(folder: Path) -> list[OlcCase]:
    """Every case of a corpus; a folder below `later_cases` stands for the one of its name below `cases`."""
    specification = folder / "specification.yaml"
    defaults = _DEFAULTS
    if specification.is_file():
        defaults = yaml.safe_load(specification.read_text(encoding="utf-8"))["comparison_defaults"]
    found = {}
    for part in ("", "cases", "later_cases"):
        for path in sorted((folder / part).glob("*/case.yaml")):
            found[path.parent.name] = path.parent
    said = {name: yaml.safe_load((path / "case.yaml").read_text(encoding="utf-8")) for name, path in found.items()}
    return [OlcCase(folder=found[name], said=said[name], defaults=defaults) for name in sorted(found)]


def play(case: OlcCase, gate: Gate, place: Path) -> Played:
    """Run the case in a copy of its folder."""
    folder = place / "case"
    shutil.copytree(case.folder, folder)
    source = _delivered(case, folder)
    try:
        contract = load_contract(folder / "contract.olc.yaml")
    except ContractError as error:
        return Played(error=error.code)
    target = str(place / "lake" / contract.contract)
    materialization = case.said.get("materialization") or {}
    if materialization.get("seed"):
        seeded = gate.run(contract, source=str(folder / materialization["seed"]), target=target)
        assert seeded.state == "published", seeded.message
    function = FUNCTIONS.get(contract.function or "")
    result = gate.run(contract, source=source, target=target, transform=function)
    played = Played(result=result, accepted=_candidate(result, target, contract), quarantined=_quarantine(result, contract))
    played.target = _table(target)
    if materialization.get("idempotent"):
        gate.run(contract, source=source, target=target)
        gate.run(contract, source=source, target=target, submission_id="the-same-once-more")
        played.again = _table(target)
    return played


def _delivered(case: OlcCase, folder: Path) -> str | None:
    """Where the rows are: as the contract's own source, where the case says so."""
    rows = case.rows(case.said.get("input", "input.jsonl")) or []
    if case.said.get("input_via") != "source":
        return str(folder / case.said.get("input", "input.jsonl"))
    said = yaml.safe_load((folder / "contract.olc.yaml").read_text(encoding="utf-8"))["source"]
    name = said["path"].replace("*", "rows")
    if said.get("format") == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), folder / name)
    elif case.said.get("source_format") == "json":
        (folder / name).write_text(json.dumps(rows), encoding="utf-8")
    else:
        (folder / name).write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return None


def _candidate(result: GateResult, target: str, contract: Contract) -> list[Row]:
    place = Path(f"{target}__candidates") / contract.contract / (result.submission_id or "-") / (result.attempt_id or "-")
    files = sorted(place.rglob("*.parquet")) if place.is_dir() else []
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def _quarantine(result: GateResult, contract: Contract) -> list[Row]:
    if result.quarantine is None:
        return []
    kept = [r for r in quarantined_rows(result.quarantine).to_pylist() if r["attempt_id"] == result.attempt_id]
    payloads = [json.loads(r["payload"]) for r in kept]
    return [{f.name: _typed(payload.get(f.name), str(f.type)) for f in contract.fields} for payload in payloads]


def _typed(value: Any, type_: str) -> Any:
    """A value of a payload: what JSON cannot hold in every digit stands there as text."""
    is_number = type_.startswith("decimal") or type_ in ("float", "double")
    return float(value) if is_number and isinstance(value, str) else value


def _table(target: str) -> list[Row]:
    return list(read_columns(target, None, None).read_all().to_pylist()) if (Path(target) / "_delta_log").is_dir() else []


def problems(case: OlcCase, played: Played) -> list[str]:
    """Everything in which the gate did something else than the case says."""
    said: Mapping[str, Any] = case.said.get("assertions") or {}
    result = played.result
    if said.get("expects_error"):
        is_refused = played.error is not None or (result is not None and result.state in REFUSED)
        return [] if is_refused else ["an error is expected"]
    if result is None:
        return [f"the contract is refused: {played.error}"]
    if said.get("refusal_conforms") and result.state in REFUSED and not played.accepted:
        return []
    if result.state in ("failed", "unknown"):
        return [f"{result.state}: {result.message}"]
    expected = case.said.get("expected") or {}
    found = []
    for name, rows in (("accepted", played.accepted), ("quarantined", played.quarantined), ("target", played.target)):
        if name in expected:
            found += _differences(case, name, rows, case.rows(expected[name]) or [])
    if played.again is not None:
        found += _differences(case, "target of the same once more", played.again, played.target)
    return found + _counts(said, result, len(played.accepted))


def _counts(said: Mapping[str, Any], result: GateResult, accepted: int) -> list[str]:
    numbers = {"rows_input": result.counts.read, "rows_accepted": accepted, "rows_quarantined": result.counts.quarantined}
    found = [f"{k}: {v}, expected {said[k]}" for k, v in numbers.items() if k in said and v != said[k]]
    failed = {c.check.replace("|", "_"): c.failed for c in result.checks if c.failed}
    for rule, count in (said.get("failed_rules") or {}).items():
        if failed.get(rule) != count:
            found.append(f"failed_rules[{rule}]: {failed.get(rule)}, expected {count}")
    broken = {c.check for c in result.checks if c.outcome == "broken"}
    return found + [f"{rule} is not broken" for rule in said.get("dataset_rules_failed") or [] if rule not in broken]


def _differences(case: OlcCase, what: str, found: list[Row], expected: list[Row]) -> list[str]:
    ignored = set(case.defaults["ignore_fields"]) | set((case.said.get("comparison") or {}).get("ignore_fields", []))
    places = round(-math.log10(float(case.defaults["numeric_tolerance"])))
    mine, theirs = (sorted((_comparable(r, ignored, places) for r in rows), key=str) for rows in (found, expected))
    return [] if mine == theirs else [f"{what}: {mine}, expected {theirs}"]


def _comparable(row: Row, ignored: set[str], places: int) -> dict[str, Any]:
    return {k: _value(v, places) for k, v in sorted(row.items()) if k not in ignored}


def _value(value: Any, places: int) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        return round(float(value), places)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time().isoformat() == "00:00:00" else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {k: _value(v, places) for k, v in value.items()}
    return [_value(v, places) for v in value] if isinstance(value, list) else value
