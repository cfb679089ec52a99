"""The rows of JSON records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from invaract_orchestration.checks.row_rules import DUPLICATE_KEY, MALFORMED
from invaract_orchestration.contract.fields import walk_fields
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.spark import csv_lines, json_forms, json_repeats
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.folders import Folders
from invaract_orchestration.engines.spark.rows import DOUBT, RECORD, Held, Rows, as_json, with_held
from invaract_orchestration.engines.spark.session import PrivateSession
from invaract_orchestration.engines.spark.text_forms import read_text
from invaract_orchestration.engines.spark.types import spark_type
from invaract_orchestration.intake.batch import Batch


def json_rows(session: PrivateSession, contract: Contract, batch: Batch) -> Rows:
    """The readings of JSON files."""
    folders, held = Folders.of(contract, batch), [Held(f"x{i}") for i in range(len(contract.fields))]
    readings = [_reading(contract, folders, i, held[i]) for i in range(len(contract.fields))]
    flat = [(path, right) for r in readings for path, right in r.rights]
    written = [i for i, spec in enumerate(contract.fields) if any(f.as_text for _, f in walk_fields((spec,)))]

    def numbered() -> Any:
        return opened(("f", "n", "p", "s0", "s1"))

    def quick() -> Any:
        return opened(("k",))

    def opened(kept: tuple[str, ...]) -> Any:
        records = json_records(session, batch, is_numbered="n" in kept, with_texts=bool(written))
        records = folders.joined(session.spark, records).selectExpr(
            "*", "(is_object OR repeats) AS s0", "NOT repeats AS s1",
            f"CASE WHEN line IS NULL THEN to_json(j) WHEN is_object OR repeats THEN line ELSE {as_json('line')} END AS p",
        )  # fmt: skip
        records = records.selectExpr(
            "*", f"{json_forms.members('CASE WHEN is_object THEN j END')} AS o",
            f"CASE WHEN s0 AND s1 THEN '{RECORD}' ELSE '{DOUBT}' END AS k",
        )  # fmt: skip
        members = [
            f"{folders.value(f.name)} AS r{i}" if f.name in folders.columns else f"o[{q.text(f.name)}] AS o{i}"
            for i, f in enumerate(contract.fields)
        ]
        if written:
            records = records.selectExpr("*", f"CASE WHEN is_object THEN {json_forms.texts_of('written')} END AS texts")
            members += [f"texts[{q.text(contract.fields[i].name)}] AS w{i}" for i in written]
        values = [f"CAST({readings[i].value} AS {spark_type(f.type)}) AS v{i}" for i, f in enumerate(contract.fields)]
        rights = [f"({right}) AS t{k}" for k, (_, right) in enumerate(flat)]
        return with_held(records.selectExpr(*kept, *members), held).selectExpr(*kept, *values, *rights)

    return Rows(
        quick=quick, numbered=numbered, values={f.name: f"v{i}" for i, f in enumerate(contract.fields)},
        rights=tuple((".".join(path) + "|type", path[0], f"t{k}") for k, (path, _) in enumerate(flat)),
        structure=((MALFORMED, "s0"), (DUPLICATE_KEY, "s1")), is_text=True, names=folders.names,
    )  # fmt: skip


def _reading(contract: Contract, folders: Folders, number: int, held: Held) -> json_forms.JsonReading:
    """How the field of that number is read: of its record (`o`, with its text `w`), or of the folders' names (`r`)."""
    spec = contract.fields[number]
    if spec.name not in folders.columns:
        value, written = f"o{number}", f"w{number}"
        return json_forms.read_json(value, written, spec.type, spec, contract.timezone, (spec.name,), hold=held)
    read = read_text(f"r{number}", spec.type, spec, contract.timezone, held)
    right = f"r{number} IS NULL OR coalesce({read.is_right}, false)"
    return json_forms.JsonReading(read.value, (((spec.name,), right),))


def json_records(session: PrivateSession, batch: Batch, *, is_numbered: bool, with_texts: bool = False) -> Any:
    """Records of JSON files: `line` (their text; of an array's elements only where it is needed), `j` (variant), is_object,
    repeats (an object that holds a key twice), `f` and the number `n`; with texts `written` (see `json_forms.written`).

    Blank lines are no records, but they count as lines.
    """
    paths = [b.file.path for b in batch.files]
    if batch.source.options.shape == "array":
        return _elements(session, paths, with_texts=with_texts)
    lines = csv_lines.read_lines(session.spark, paths, "\n")
    if is_numbered:
        lines = lines.selectExpr("*", "CAST(row_number() OVER (PARTITION BY f ORDER BY b, m) AS BIGINT) AS n")
    blanks = q.text(" \t\r")
    lines = lines.selectExpr("*", f"trim(BOTH {blanks} FROM raw) AS line").where("line <> ''")
    lines = lines.selectExpr("*", f"{json_forms.without_zeros('line')} AS plain")
    lines = lines.selectExpr("*", f"CASE WHEN is_valid_utf8(line) THEN {json_forms.record('plain')} END AS strict")
    if with_texts:
        lines = lines.selectExpr("*", f"{json_forms.written('line')} AS written")
    is_json = f"strict IS NULL AND is_valid_utf8(line) AND {json_repeats.is_json('plain')}"
    lines = _marked(lines, "plain", is_json).selectExpr("*", f"coalesce(strict, {json_forms.record('mended')}) AS j")
    return _told_apart(lines)


def _elements(session: PrivateSession, paths: list[Path], *, with_texts: bool) -> Any:
    """The records of files that hold one array each."""
    whole = session.spark.read.option("recursiveFileLookup", "true").text([q.path(p) for p in paths], wholetext=True)
    whole = whole.selectExpr("value", "_metadata.file_path AS f", f"{json_forms.without_zeros('value')} AS plain")
    whole = whole.selectExpr("*", f"CASE WHEN is_valid_utf8(value) THEN {_array('plain')} END AS strict")
    whole = whole.where(f"trim(BOTH {q.text(' ' + chr(9) + chr(13) + chr(10))} FROM value) <> ''")
    whole = _marked(whole, "plain", "strict IS NULL AND is_valid_utf8(value)")
    failed = f"CAST(raise_error({q.text('invaract: malformed array')}) AS ARRAY<VARIANT>)"
    whole = whole.selectExpr(
        "f", "mended", f"coalesce(strict, {_array('mended')}, {failed}) AS items",
        f"CASE WHEN strict IS NULL THEN {json_forms.elements_of('value')} END AS texts",
        f"{json_forms.elements_of(json_forms.written('value')) if with_texts else 'array()'} AS written",
    )  # fmt: skip
    frame = whole.selectExpr("f", "mended", "texts", "written", "posexplode(items) AS (at, j)")
    line = f"CASE WHEN {json_forms.is_object('j')} THEN texts[at] END"
    number = "CAST(at + 1 AS BIGINT)"
    return _told_apart(frame.selectExpr("f", f"{number} AS n", f"{line} AS line", "j", "mended", "get(written, at) AS written"))


def _array(text: str) -> str:
    """The elements of a text that is one array and nothing else."""
    return f"TRY_CAST({json_forms.record(text)} AS ARRAY<VARIANT>)"


def _marked(frame: Any, text: str, where: str) -> Any:
    """The frame with `mended`: the text, where that is asked for, with a mark for each object that holds a key twice."""
    frame = frame.selectExpr("*", f"CASE WHEN {where} THEN {json_repeats.tokens(text)} END AS ts")
    frame = frame.selectExpr("*", f"{json_repeats.repeating('ts')} AS found")
    return frame.selectExpr("*", f"{json_repeats.marked('ts', 'found')} AS mended")


def _told_apart(records: Any) -> Any:
    """Whether each is an object that holds every key once, or one that does not."""
    records = records.selectExpr("*", f"mended IS NOT NULL AND {json_repeats.is_marked('j')} AS repeats")
    return records.selectExpr("*", f"NOT repeats AND {json_forms.is_object('j')} AS is_object")
