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

COLUMNS = {
    "l_orderkey": "bigint", "l_partkey": "bigint", "l_suppkey": "bigint", "l_linenumber": "int",
    "l_quantity": "decimal(15,2)", "l_extendedprice": "decimal(15,2)", "l_discount": "decimal(15,2)",
    "l_tax": "decimal(15,2)", "l_returnflag": "string", "l_linestatus": "string", "l_shipdate": "date",
    "l_commitdate": "date", "l_receiptdate": "date", "l_shipinstruct": "string", "l_shipmode": "string",
    "l_comment": "string",
}  # fmt: skip
RULES = {
    "l_orderkey": "required: true, min: 1", "l_quantity": "required: true, min: 1, max: 50",
    "l_discount": "min: 0, max: 0.10", "l_returnflag": "allowed: [A, N, R]", "l_linestatus": "allowed: [O, F]",
    "l_shipmode": "pattern: '[A-Z ]+'", "l_comment": "max_length: 44", "l_shipinstruct": "required: true",
}  # fmt: skip


def contract_text(source: Path, target: Path, key: str) -> str:
    fields = "\n".join(f'- {{name: {n}, type: "{t}"{", " + RULES[n] if n in RULES else ""}}}' for n, t in COLUMNS.items())
    return (
        f'contract: lineitem\nversion: "1.0.0"\nsource: {{format: parquet, location: {source}}}\nfields:\n{fields}\n{key}'
        'quality: {row_rules: [{name: shipped_before_received, sql: "l_shipdate <= l_receiptdate"}]}\n'
        f"publish: {{target: {target}}}\n"
    )


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(".cache/benchmark"))
    parser.add_argument("--scale", default="1")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON", help="a tool to measure beside")
    given = parser.parse_args()
    from invaract_orchestration.contract.load import load_contract_text
    from invaract_orchestration.engines.spark.jars import jar_options
    from invaract_orchestration.engines.spark.session import SESSION, user_session
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import open_gate

    folder = given.folder.absolute() / f"scale-{given.scale}"
    source, target = folder / "lineitem.parquet", folder / "target"
    if not source.exists():
        tool = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run([tool, "parquet", "-s", given.scale, "--tables=lineitem", f"--output-dir={folder}"], check=True)
    spark = user_session(None, "local[2]", None)

    def plain() -> None:
        spark.read.parquet(str(source)).write.format("delta").mode("append").save(str(target / "plain"))

    def gate(key: str) -> Callable[[], None]:
        def run() -> None:
            contract = load_contract_text(contract_text(source, target / "table", key))
            with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(target)}), engine="spark") as opened:
                result = opened.run(contract)
            if result.state != "published":
                raise SystemExit(f"not published: {result.message}")

        return run

    measured(spark, target, plain)
    works = {
        "plain Delta append": plain, "gate, ten rules": gate(""),
        "gate, ten rules and a key": gate("keys: [[l_orderkey, l_linenumber]]\n"),
    }  # fmt: skip
    rows = spark.read.parquet(str(source)).count()
    print(f"{rows:,} rows of lineitem, local[2]\n{'what':40} {'seconds':>8} {'jobs':>5} {'ratio':>6}")
    best = best_of_rounds(spark, target, given.repeat, works)
    base = best["plain Delta append"][0]
    for name, (seconds, jobs) in best.items():
        print(f"{name:40} {seconds:8.2f} {jobs:5d} {seconds / base:6.2f}", flush=True)
    if not given.peer:
        return
    _, appended = measured(spark, target, plain)
    options = [f"{k}={v}" for k, v in (SESSION | jar_options(None)).items()]
    spark.stop()
    for peer in given.peer:
        name, python = peer.split("=", 1)
        found = judged_by(name, python, target / "plain", options, given.repeat)
        seconds, jobs = base + found["seconds"], appended + found["jobs"]
        said = "" if found["kept"] else "  (not every rule was kept)"
        print(f"{'plain append, then ' + name:40} {seconds:8.2f} {jobs:5d} {seconds / base:6.2f}{said}", flush=True)


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
