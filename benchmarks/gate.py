"""The whole gate against the plain ungated write by the same engine, and against LakeLogic's DuckDB engine.

    python benchmarks/gate.py [--folder DIR] [--scale 1] [--repeat 3] [--lakelogic PYTHON]

TPC-H lineitem is made by `tpchgen-cli`; the orders are made here. Every measurement is a process of its own, so that its peak
memory is its own; times are the best of the repetitions, and what is printed are ratios within this one run.
`--lakelogic` names a Python that has `lakelogic` installed; without it that part says that it was left out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from lineitem import COLUMNS, KEY, contract_text, made

# -- what is measured, each in a process of its own


def plain(source: str, format_: str, target: str) -> None:
    """DuckDB to Arrow to deltalake, with the types given: the write without a gate."""
    from deltalake import write_deltalake

    connection, rows = _rows(source, format_)
    write_deltalake(target, connection.sql(f"SELECT * FROM {rows}").to_arrow_reader(100_000))


def copy(source: str, format_: str, target: str) -> None:
    """DuckDB's bare COPY of the same rows to Parquet files, no table."""
    connection, rows = _rows(source, format_)
    connection.execute(f"COPY (SELECT * FROM {rows}) TO '{target}' (FORMAT parquet, PER_THREAD_OUTPUT)")


def _rows(source: str, format_: str) -> tuple[Any, str]:
    """A connection of DuckDB, and the relation that reads the file with its types given."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    types = {n: t.upper().replace("STRING", "VARCHAR") for n, t in COLUMNS.items()}
    csv = f"read_csv('{source}', header=true, auto_detect=false, delim=',', quote='\"', columns={types})"
    return connection, csv if format_ == "csv" else f"read_parquet('{source}')"


def gate(source: str, format_: str, target: str) -> None:
    """The whole gate: digest, header or schema, candidate, rules, key, verdict, publish, audit."""
    _run_gate(contract_text(source, f"{target}/table", format_=format_, key=KEY), target)


def gate_orders(source: str, format_: str, target: str) -> None:
    """The gate on the orders that the peer gets."""
    text = f"""
contract: orders
version: "1.0.0"
source: {{format: {format_}, location: {source}}}
fields:
  - {{name: order_id, type: bigint, required: true, unique: true}}
  - {{name: email, type: string, required: true, pattern: '[^@]+@[^@]+'}}
  - {{name: amount, type: double, required: true, min: 0.01}}
  - {{name: status, type: string, required: true, allowed: [open, paid, sent]}}
publish: {{target: {target}/table}}
"""
    _run_gate(text, target)


def _run_gate(text: str, target: str) -> None:
    from invaract_orchestration.contract.load import load_contract
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import open_gate

    Path(target).mkdir(parents=True)
    file = Path(target) / "contract.yaml"
    file.write_text(text)
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": target})) as opened:
        result = opened.run(load_contract(file))
    if result.state != "published":
        raise SystemExit(f"not published: {result.message}")


LAKELOGIC = """
import sys, logging
logging.disable(logging.CRITICAL)
from lakelogic import DataProcessor
folder, source = sys.argv[1], sys.argv[2]
result = DataProcessor(folder + "/contract.yaml", engine="duckdb").run_source(source)
assert result.good_count == 1_000_000, result.good_count
"""
LAKELOGIC_CONTRACT = """
version: 1.0.0
dataset: orders
info: {title: Orders, table_name: orders}
model:
  fields:
    - {name: order_id, type: bigint, required: true}
    - {name: email, type: string, required: true}
    - {name: amount, type: double, required: true}
    - {name: status, type: string, required: true}
quality:
  row_rules:
    - {name: amount_min, sql: "amount >= 0.01"}
    - {name: status_allowed, sql: "status IN ('open', 'paid', 'sent')"}
    - {name: email_form, sql: "regexp_full_match(email, '[^@]+@[^@]+')"}
  dataset_rules:
    - {name: order_id_unique, unique: [order_id]}
"""

MEASURED = {"plain": plain, "copy": copy, "gate": gate, "gate_orders": gate_orders}


def measure(command: list[str], target: Path, repeat: int) -> tuple[float, float, float]:
    """(best seconds, least seconds of processor, peak MiB) of a command whose process writes to the target anew each time."""
    best, busy, peak = float("inf"), float("inf"), 0.0
    for _ in range(repeat):
        shutil.rmtree(target, ignore_errors=True)
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{command} failed")
        best = min(best, time.perf_counter() - begin)
        busy = min(busy, usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss / 1024)
    return best, busy, peak


def orders(folder: Path) -> Path:
    path = folder / "orders.csv"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            file.write("order_id,email,amount,status\n")
            for i in range(1_000_000):
                file.write(f"{i},user{i}@example.org,{(i % 9973) / 7 + 0.01:.2f},{('open', 'paid', 'sent')[i % 3]}\n")
    return path


def show(what: str, found: tuple[float, float, float], base: tuple[float, float, float]) -> None:
    ratios = " ".join(f"{f / b:6.2f}" for f, b in zip(found, base, strict=True))
    print(f"{what:34} {found[0]:8.2f} {found[1]:7.2f} {found[2]:6.0f}   {ratios}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(".cache/benchmark"))
    parser.add_argument("--scale", default="1")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--lakelogic", metavar="PYTHON")
    parser.add_argument("--only", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        name, source, format_, target = given.only
        MEASURED[name](source, format_, target)
        return
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{'what':34} {'seconds':>8} {'busy':>7} {'MiB':>6}   ratios of time, processor and memory")
    for format_ in ("parquet", "csv"):
        compare_lineitem(folder, given.scale, format_, given.repeat)
    compare_orders(folder, given.lakelogic, given.repeat)
    print(json.dumps({"cores": os.cpu_count(), "page": resource.getpagesize()}))


def run(folder: Path, name: str, source: Path, format_: str, repeat: int) -> tuple[float, float, float]:
    target = folder / "target"
    return measure([sys.executable, __file__, "--only", name, str(source), format_, str(target)], target, repeat)


def compare_lineitem(folder: Path, scale: str, format_: str, repeat: int) -> None:
    source = made(folder, scale, format_)
    base = run(folder, "plain", source, format_, repeat)
    show(f"lineitem {format_}: plain write", base, base)
    show(f"lineitem {format_}: bare COPY", run(folder, "copy", source, format_, repeat), base)
    show(f"lineitem {format_}: gate", run(folder, "gate", source, format_, repeat), base)


def compare_orders(folder: Path, lakelogic: str | None, repeat: int) -> None:
    if lakelogic is None:
        print("LakeLogic was left out: name a Python that has it with --lakelogic")
        return
    source = orders(folder)
    (folder / "contract.yaml").write_text(LAKELOGIC_CONTRACT)
    (folder / "peer.py").write_text(LAKELOGIC)
    peer = measure([lakelogic, str(folder / "peer.py"), str(folder), str(source)], folder / "target", repeat)
    show("1,000,000 orders: LakeLogic", peer, peer)
    show("1,000,000 orders: gate", run(folder, "gate_orders", source, "csv", repeat), peer)


if __name__ == "__main__":
    main()
