"""The rows of JSON records."""

from __future__ import annotations

from typing import Any

from invaract_orchestration.checks.row_rules import DUPLICATE_KEY, MALFORMED
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.spark import csv_lines, json_forms
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.folders import Folders
from invaract_orchestration.engines.spark.rows import DOUBT, RECORD, Held, Rows, as_json, with_held
from invaract_orchestration.engines.spark.session import PrivateSession
from invaract_orchestration.engines.spark.text_forms import read_text
from invaract_orchestration.engines.spark.types import spark_type
from invaract_orchestration.intake.batch import Batch


def json_rows(session: PrivateSession, contract: Contract, batch: Batch) -> Rows:
    """The readings of JSON files."""
    folders = Folders.of(contract, batch)
    from_folders = [f.name for f in contract.fields if f.name in folders.columns]
    readings, held = [], [Held(f"x{i}") for i in range(len(contract.fields))]
    for i, spec in enumerate(contract.fields):
        if spec.name in from_folders:
            read = read_text(f"r{i}", spec.type, spec, contract.timezone, held[i])
            right = f"r{i} IS NULL OR coalesce({read.is_right}, false)"
            readings.append(json_forms.JsonReading(read.value, (((spec.name,), right),)))
        else:
            readings.append(json_forms.read_json(f"o{i}", spec.type, spec, contract.timezone, (spec.name,), hold=held[i]))
    flat = [(path, right) for r in readings for path, right in r.rights]

    def numbered() -> Any:
        return opened(("f", "n", "p", "s0", "s1"))

    def quick() -> Any:
        return opened(("k",))

    def opened(kept: tuple[str, ...]) -> Any:
        records = json_records(session, batch, is_numbered="n" in kept)
        records = folders.joined(session, records).selectExpr(
            "*", "(is_object OR repeats) AS s0", "NOT repeats AS s1",
            f"CASE WHEN line IS NULL THEN to_json(j) WHEN is_object OR repeats THEN line ELSE {as_json('line')} END AS p",
        )  # fmt: skip
        records = records.selectExpr(
            "*", f"{json_forms.members('CASE WHEN is_object THEN j END')} AS o",
            f"CASE WHEN s0 AND s1 THEN '{RECORD}' ELSE '{DOUBT}' END AS k",
        )  # fmt: skip
        members = [
            f"{folders.value(f.name)} AS r{i}" if f.name in from_folders else f"o[{q.text(f.name)}] AS o{i}"
            for i, f in enumerate(contract.fields)
        ]
        values = [f"CAST({readings[i].value} AS {spark_type(f.type)}) AS v{i}" for i, f in enumerate(contract.fields)]
        rights = [f"({right}) AS t{k}" for k, (_, right) in enumerate(flat)]
        return with_held(records.selectExpr(*kept, *members), held).selectExpr(*kept, *values, *rights)

    return Rows(
        quick=quick, numbered=numbered, values={f.name: f"v{i}" for i, f in enumerate(contract.fields)},
        rights=tuple((".".join(path) + "|type", path[0], f"t{k}") for k, (path, _) in enumerate(flat)),
        structure=((MALFORMED, "s0"), (DUPLICATE_KEY, "s1")), is_text=True, names=folders.names,
    )  # fmt: skip


def json_records(session: PrivateSession, batch: Batch, *, is_numbered: bool) -> Any:
    """Records of JSON files: `line` (their text, none in an array), `j` (variant), is_object, repeats, `f` and the number `n`.

    Blank lines are no records, but they count as lines.
    """
    paths = [b.file.path for b in batch.files]
    if batch.source.options.shape == "array":
        whole = session.spark.read.option("recursiveFileLookup", "true").text([q.path(p) for p in paths], wholetext=True)
        items = "TRY_CAST(try_parse_json(value) AS ARRAY<VARIANT>)"
        failed = f"CAST(raise_error({q.text('invaract: malformed array')}) AS ARRAY<VARIANT>)"
        frame = whole.selectExpr(f"coalesce({items}, {failed}) AS items", "_metadata.file_path AS f")
        frame = frame.selectExpr("f", "posexplode(items) AS (n, j)")
        return frame.selectExpr(
            "f", "CAST(n + 1 AS BIGINT) AS n", "CAST(NULL AS STRING) AS line", "j", f"{json_forms.is_object('j')} AS is_object",
            "false AS repeats",
        )  # fmt: skip
    lines = csv_lines.read_lines(session.spark, paths, "\n")
    if is_numbered:
        lines = lines.selectExpr("*", "CAST(row_number() OVER (PARTITION BY f ORDER BY b, m) AS BIGINT) AS n")
    blanks = q.text(" \t\r")
    lines = lines.selectExpr("*", f"trim(BOTH {blanks} FROM raw) AS line").where("line <> ''")
    lines = lines.selectExpr("*", f"CASE WHEN is_valid_utf8(line) THEN {json_forms.record('line')} END AS j")
    repeats = f"CASE WHEN j IS NULL AND is_valid_utf8(line) THEN {json_forms.repeats_a_key('line')} ELSE false END"
    return lines.selectExpr("*", f"{json_forms.is_object('j')} AS is_object", f"{repeats} AS repeats")
