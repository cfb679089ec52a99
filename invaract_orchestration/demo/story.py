"""The demonstration, told step by step. Every fact comes from a result, or from the table as it is afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from invaract_orchestration.audit.report import check_lines, headline
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.demo.faults import FAULTS
from invaract_orchestration.demo.flights import MONTHS, write_delivery, write_months
from invaract_orchestration.errors import GateError
from invaract_orchestration.gate import Gate
from invaract_orchestration.wiring import count_rows

Tell = Callable[[str], None]
_SET_ASIDE = ("2013-01", "2013-02")
"""The months that the second contract gets."""


@dataclass(slots=True)
class Story:
    """One demonstration in `folder`, which holds what is delivered; `contracts` are the two files."""

    gate: Gate
    folder: Path
    contracts: Path
    tell: Tell
    results: list[GateResult] = field(default_factory=list)

    def run(self) -> None:
        """Deliver and submit everything.

        Raises:
            GateError: something did not end as it has to.
        """
        started = time.monotonic()
        files = write_months(self.folder / "landing")
        rows = sum(len(_lines(file)) - 1 for file in files.values())
        self.tell(f"wrote {rows:,} flights as {len(files)} deliveries in {time.monotonic() - started:.1f} s")
        self._year(load_contract(self.contracts / "flights.yaml"))
        self._set_aside(load_contract(self.contracts / "departures.yaml"))

    def _year(self, contract: Contract) -> None:
        self.tell("")
        self.tell(f"1. Contract {contract.contract}: all of a month, or nothing of it")
        for month in MONTHS:
            if month in FAULTS:
                self._faulty(contract, month)
            self._submit(contract, month, {"published"})
        self.tell("")
        self.tell("2. The first month is submitted once more, as a retry would")
        self._unchanged(contract, MONTHS[0], {"published"})

    def _faulty(self, contract: Contract, month: str) -> None:
        """The month arrives with a fault, is rejected, and is then delivered again as it should be."""
        file = self.folder / "landing" / month / "flights.csv"
        good = _lines(file)
        fault = FAULTS[month]
        write_delivery(self.folder / "landing", month, fault.apply(list(good)))
        self.tell(f"   {month}  {fault.what}:")
        self._unchanged(contract, month, {"rejected"})
        write_delivery(self.folder / "landing", month, good)

    def _set_aside(self, contract: Contract) -> None:
        self.tell("")
        self.tell(f"3. Contract {contract.contract}: rows that fail are set aside, the others are published")
        for month in _SET_ASIDE:
            self._submit(contract, month, {"published"})

    def _submit(self, contract: Contract, month: str, expected: set[str]) -> GateResult:
        started = time.monotonic()
        location = str(self.folder.absolute() / "landing" / "{month}" / "*.csv")
        result = self.gate.run(contract, source=location, parameters={"month": month})
        self.results.append(result)
        self._say(month, result, time.monotonic() - started)
        if result.state not in expected:
            raise GateError(f"{month} ended as {result.state}: {result.message}", hint=result.hint)
        return result

    def _unchanged(self, contract: Contract, month: str, expected: set[str]) -> None:
        """Submit what must leave the target as it is, and look at the target itself."""
        target = self.results[-1].target
        before = count_rows(target)
        self._submit(contract, month, expected)
        after = count_rows(target)
        if before != after or after is None:
            raise GateError("the target changed although nothing was to be published")
        self.tell(f"            The target is as it was: version {after[0]}, {after[1]:,} rows, before and after.")

    def _say(self, month: str, result: GateResult, seconds: float) -> None:
        publication, counts = result.publication, result.counts
        if publication and not result.code:
            aside = f", {counts.quarantined:,} set aside of {counts.read:,} read" if counts.quarantined else ""
            what = f"{counts.inserted or 0:,} rows{aside}, version {publication.table_version}"
        else:
            what = result.message
        self.tell(f"   {month}  {headline(result)}  {what}  ({seconds:.1f} s)")
        shown = [check for check in result.blocking if check.outcome == "broken"]
        for line in check_lines(shown):
            self.tell(f"          {line}" if line else "")
        if len(shown) < len(result.blocking):
            self.tell(f"\n            and {len(result.blocking) - len(shown)} that could not be asked of such a value")


def _lines(file: Path) -> list[str]:
    with file.open(encoding="utf-8", newline="") as text:
        return text.readlines()
