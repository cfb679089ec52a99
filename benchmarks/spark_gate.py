"""The whole gate on Spark against the plain ungated Delta append by the same Spark, with the jobs that each started.

    python benchmarks/spark_gate.py [--folder DIR] [--scale 1] [--repeat 2] [--peer NAME=PYTHON]...

TPC-H lineitem is made by `tpchgen-cli` (scale 1: 6 million rows, 1.67: 10 million, 10: 60 million). One session does all of it,
warmed by a first append; a round does every work in turn, times are the best of the rounds, and ratios are those of one run.
`--peer` names a tool of peer_rules.py and a Python that has it: what is printed for it is the plain append and that tool's check
of the same rules on the appended table, which is less than the gate does: nothing is held back and nothing is published.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lineitem import KEY, contract_text, made

PLAIN = "plain Delta append"

def measured(spark: Any, target: Path, work: Callable[[], None]) -> tuple[float, int]:
    """(seconds, jobs) of work that writes to the target anew."""
    shutil.rmtree(target, ignore_errors=True)
    group = uuid.uuid4().hex
    spark.sparkContext.setJobGroup(group, "measured")
    begin = time.perf_counter()
    work()
    seconds = time.perf_counter() - begin
    return seconds, len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))


def best_of_rounds(
    spark: Any, target: Path, repeat: int, works: dict[str, Callable[[], None]]
) -> dict[str, tuple[float, int]]:
    """The best (seconds, jobs) of each work; a round does them all in turn, so that a slow minute is nobody's alone."""
    best: dict[str, tuple[float, int]] = {}
    for turn in range(repeat):
        for name, work in works.items():
            found = measured(spark, target, work)
            print(f"round {turn + 1}: {name} {found[0]:.2f} s", file=sys.stderr, flush=True)
            best[name] = min(best.get(name, found), found)
    return best


def works_of(spark: Any, source: Path, target: Path) -> dict[str, Callable[[], None]]:
    """What is measured, by its name; the first is what the others are compared with."""
    from invaract_orchestration.contract.load import load_contract_text
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import open_gate

    def plain() -> None:
        spark.read.parquet(str(source)).write.format("delta").mode("append").save(str(target / "plain"))

    def gate(key: str) -> Callable[[], None]:
        def run() -> None:
            contract = load_contract_text(contract_text(source, target / "table", key=key))
            with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(target)}), engine="spark") as opened:
                result = opened.run(contract)
            if result.state != "published":
                raise SystemExit(f"not published: {result.message}")

        return run

    return {PLAIN: plain, "gate, ten rules": gate(""), "gate, ten rules and a key": gate(KEY)}


def show(what: str, seconds: float, jobs: int, base: float, said: str = "") -> None:
    print(f"{what:40} {seconds:8.2f} {jobs:5d} {seconds / base:6.2f}{said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(".cache/benchmark"))
    parser.add_argument("--scale", default="1")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON", help="a tool to measure beside")
    given = parser.parse_args()
    from invaract_orchestration.engines.spark.jars import jar_options
    from invaract_orchestration.engines.spark.session import SESSION, user_session

    folder = given.folder.absolute() / f"scale-{given.scale}"
    source, target = made(folder, given.scale), folder / "target"
    spark = user_session(None, "local[2]", None)
    works = works_of(spark, source, target)
    measured(spark, target, works[PLAIN])
    rows = spark.read.parquet(str(source)).count()
    print(f"{rows:,} rows of lineitem, local[2]\n{'what':40} {'seconds':>8} {'jobs':>5} {'ratio':>6}")
    best = best_of_rounds(spark, target, given.repeat, works)
    base = best[PLAIN][0]
    for name, (seconds, jobs) in best.items():
        show(name, seconds, jobs, base)
    if not given.peer:
        return
    _, appended = measured(spark, target, works[PLAIN])
    options = [f"{k}={v}" for k, v in (SESSION | jar_options(None)).items()]
    spark.stop()
    for peer in given.peer:
        name, python = peer.split("=", 1)
        found = judged_by(name, python, target / "plain", options, given.repeat)
        said = "" if found["kept"] else "  (not every rule was kept)"
        show(f"plain append, then {name}", base + found["seconds"], appended + found["jobs"], base, said)


def judged_by(name: str, python: str, table: Path, options: list[str], repeat: int) -> Any:
    """What peer_rules.py found with that Python: seconds, jobs, and whether every rule was kept."""
    said = [f"--option={o}" for o in options]
    script = Path(__file__).with_name("peer_rules.py")
    done = subprocess.run(
        [python, script, name, table, f"--repeat={repeat}", *said], check=True, stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
