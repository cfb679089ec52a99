"""`make faults`: every fault, printed as a table; the exit code says whether all of it is zero."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.faults.scenarios import all_faults


def main() -> int:
    is_clean = True
    print(f"{'fault':58} {'tries':>6} {'lost':>5} {'doubled':>8} {'leaked':>7} {'open':>5}")
    with tempfile.TemporaryDirectory() as folder:
        for tally in all_faults(Path(folder)):
            print(
                f"{tally.fault:58} {tally.tries:6} {tally.lost:5} {tally.doubled:8} {tally.leaked:7} {tally.open:5}",
                flush=True,
            )
            is_clean = is_clean and tally.is_clean
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
