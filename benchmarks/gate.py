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
import textwrap
import time
from pathlib import Path

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


def contract(source: str, format_: str, target: str) -> str:
    fields = "\n".join(
        f"  - {{name: {n}, type: \"{t}\"{', ' + RULES[n] if n in RULES else ''}}}" for n, t in COLUMNS.items()
    )
    return textwrap.dedent(
        """\
        contract: lineitem
        version: "1.0.0"
        source: {{format: {format}, location: {source}}}
        fields:
        {fields}
        keys: [[l_orderkey, l_linenumber]]
        quality: {{row_rules: [{{name: shipped_before_received, sql: "l_shipdate <= l_receiptdate"}}]}}
        publish: {{target: {target}}}
        """
    ).format(format=format_, source=source, fields=fields, target=target)


# -- what is measured, each in a process of its own


def plain(source: str, format_: str, target: str) -> None:
    """DuckDB to Arrow to deltalake, with the types given: the write without a gate."""
    import duckdb
    from deltalake import write_deltalake

    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    types = {n: t.upper().replace("STRING", "VARCHAR") for n, t in COLUMNS.items()}
    relation = f"read_csv('{source}', header=true, auto_detect=false, delim=',', quote='\"', columns={types})"
    rows = relation if format_ == "csv" else f"read_parquet('{source}')"
    write_deltalake(target, connection.sql(f"SELECT * FROM {rows}").to_arrow_reader(100_000))


def copy(source: str, format_: str, target: str) -> None:
    """DuckDB's bare COPY of the same rows to Parquet files, no table."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    types = {n: t.upper().replace("STRING", "VARCHAR") for n, t in COLUMNS.items()}
    relation = f"read_csv('{source}', header=true, auto_detect=false, delim=',', quote='\"', columns={types})"
    rows = relation if format_ == "csv" else f"read_parquet('{source}')"
    connection.execute(f"COPY (SELECT * FROM {rows}) TO '{target}' (FORMAT parquet, PER_THREAD_OUTPUT)")


def gate(source: str, format_: str, target: str) -> None:
    """The whole gate: digest, header or schema, candidate, rules, key, verdict, publish, audit."""
    _run_gate(contract(source, format_, target + "/table"), target)


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
    tool = Path(sys.executable).with_name("tpchgen-cli")
    target = folder / "target"

    def run(name: str, source: Path, format_: str) -> tuple[float, float, float]:
        command = [sys.executable, __file__, "--only", name, str(source), format_, str(target)]
        return measure(command, target, given.repeat)

    print(f"{'what':34} {'seconds':>8} {'busy':>7} {'MiB':>6}   ratios of time, processor and memory")
    for format_ in ("parquet", "csv"):
        source = folder / f"lineitem.{format_}"
        if not source.exists():
            subprocess.run([tool, format_, "-s", given.scale, "--tables=lineitem", f"--output-dir={folder}"], check=True)
        base = run("plain", source, format_)
        show(f"lineitem {format_}: plain write", base, base)
        show(f"lineitem {format_}: bare COPY", run("copy", source, format_), base)
        show(f"lineitem {format_}: gate", run("gate", source, format_), base)
    source = orders(folder)
    own = run("gate_orders", source, "csv")
    if given.lakelogic:
        (folder / "contract.yaml").write_text(LAKELOGIC_CONTRACT)
        (folder / "peer.py").write_text(LAKELOGIC)
        peer = measure([given.lakelogic, str(folder / "peer.py"), str(folder), str(source)], target, given.repeat)
        show("1,000,000 orders: LakeLogic", peer, peer)
        show("1,000,000 orders: gate", own, peer)
    else:
        print("LakeLogic was left out: name a Python that has it with --lakelogic")
    print(json.dumps({"cores": os.cpu_count(), "page": resource.getpagesize()}))


if __name__ == "__main__":
    main()
