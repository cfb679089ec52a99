"""A private lake with the real engine and publisher, and an audit in memory: submit a batch, look at what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import QueryBuilder

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.delta.publisher import DeltaPublisher
from invaract_orchestration.engines.delta.quarantine import quarantined_rows
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.duckdb.engine import DuckDBEngine
from invaract_orchestration.gate import Gate
from invaract_orchestration.testing.memory_audit import MemoryAudit


@dataclass
class Lake:
    """A folder with `in/`, the target `t` and its quarantine."""

    root: Path
    memory_limit: str | None = None
    audit: MemoryAudit = field(default_factory=MemoryAudit)

    def put(self, files: Mapping[str, bytes | str]) -> None:
        for name, content in files.items():
            path = self.root / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)

    def contract(self, fields: str, *, source: str = "", more: str = "", publish: str = "") -> Contract:
        """A contract with these fields (YAML flow maps, one a line) and parts; `source` and `publish` are flow entries."""
        lines = [
            "contract: demo", f"source: {{format: csv, location: in{', ' + source if source else ''}}}"
            if "format:" not in source else f"source: {{location: ./in, {source}}}",
            "fields:", *(f"- {line.strip()}" for line in fields.strip().splitlines()),
            f"publish: {{target: ./t{', ' + publish if publish else ''}}}", more,
        ]  # fmt: skip
        return load_contract_text("\n".join(lines)).placed(self.root)

    @property
    def gate(self) -> Gate:
        return Gate(
            engine=DuckDBEngine(memory_limit=self.memory_limit), publisher=DeltaPublisher(), audit=self.audit,
            waivers=self.audit, lake_root=self.root,
        )  # fmt: skip

    def run(self, contract: Contract, **call: Any) -> GateResult:
        return self.gate.run(contract, **call)

    def check(self, contract: Contract, **call: Any) -> GateResult:
        return self.gate.check(contract, **call)

    @property
    def target(self) -> str:
        return str(self.root / "t")

    def rows(self) -> list[dict[str, Any]]:
        """The target's rows in the order of their text; nothing when there is no table."""
        table = open_table(self.target)
        if table is None:
            return []
        found = pa.table(QueryBuilder().register("t", table).execute("SELECT * FROM t"))
        return sorted(found.to_pylist(), key=repr)

    def aside(self) -> list[tuple[str, int, list[str]]]:
        """Source file, record number and rules of every row in the quarantine."""
        rows = quarantined_rows(f"{self.target}__quarantine").to_pylist()
        return sorted((r["source_file"], r["record_number"], r["rule_ids"]) for r in rows)

    def payloads(self) -> list[str]:
        return sorted(quarantined_rows(f"{self.target}__quarantine").column("payload").to_pylist())


def check_of(result: GateResult, name: str) -> CheckResult:
    """The result of one check."""
    return next(c for c in result.checks if c.check == name)


def broken(result: GateResult) -> dict[str, int | None]:
    """Failed rows of every check that is not kept."""
    return {c.check: c.failed for c in result.checks if c.outcome != "kept"}
