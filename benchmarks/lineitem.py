"""TPC-H lineitem, and the contract that the benchmarks judge it by: ten rules, and a key where one is asked for."""

from __future__ import annotations

import subprocess
import sys
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
KEY = "keys: [[l_orderkey, l_linenumber]]\n"


def contract_text(source: Path | str, target: Path | str, *, format_: str = "parquet", key: str = "") -> str:
    fields = "\n".join(f'- {{name: {n}, type: "{t}"{", " + RULES[n] if n in RULES else ""}}}' for n, t in COLUMNS.items())
    return (
        f'contract: lineitem\nversion: "1.0.0"\nsource: {{format: {format_}, location: {source}}}\nfields:\n{fields}\n{key}'
        'quality: {row_rules: [{name: shipped_before_received, sql: "l_shipdate <= l_receiptdate"}]}\n'
        f"publish: {{target: {target}}}\n"
    )


def made(folder: Path, scale: str, format_: str = "parquet") -> Path:
    """The file of that scale; `tpchgen-cli` makes it where it is not there yet."""
    file = folder / f"lineitem.{format_}"
    if not file.exists():
        tool = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run([tool, format_, "-s", scale, "--tables=lineitem", f"--output-dir={folder}"], check=True)
    return file
