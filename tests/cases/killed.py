"""One run in a process of its own that ends by SIGKILL at a moment: python -m tests.cases.killed CASE CONTRACT ROOT MOMENT ..."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.cases.faults import at, die
from tests.cases.sketch import Case
from tests.cases.stage import Stage


class Reopened(Stage):
    """A stage that is there already."""

    def __init__(self, case: Case, contract: Path, root: Path, *, named_batches: bool, engine: str = "duckdb") -> None:
        self.case, self.root, self.sketch, self.engine = case, root, contract, engine
        self.lake, self.audit, self.named_batches, self.said = root / "lake", root / "audit.db", named_batches, []


def main(arguments: list[str]) -> None:
    folder, contract, root, named, engine, moment, submission_id, batch = json.loads(arguments[0])
    case = Case(Path(folder), {})
    stage = Reopened(case, Path(contract), Path(root), named_batches=named, engine=engine)
    stage.run(submission_id=submission_id, batch=batch, change=at(moment, die))


if __name__ == "__main__":
    main(sys.argv[1:])
