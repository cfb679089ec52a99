"""Every kind of step through the real gate: what it makes of literal rows, where each row went, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from invaract_orchestration import GateResult
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.engines.delta.quarantine import quarantined_rows
from invaract_orchestration.engines.delta.read import read_columns
from invaract_orchestration.errors import UsageError
from invaract_orchestration.gate import Gate

Row = dict[str, Any]


def run(gate: Gate, place: Path, body: str, rows: list[Row], *, links: dict[str, str] | None = None) -> GateResult:
    """A contract of that body over JSON rows, published below `place`."""
    (place / "in").mkdir(exist_ok=True)
    (place / "in" / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    for name, text in (links or {}).items():
        (place / name).write_text(text, encoding="utf-8")
    text = (
        'contract: steps\nversion: "1.0.0"\nsource: {format: json, location: in/rows.jsonl}\n'
        "publish: {target: out/steps}\n" + body
    )
    return gate.run(load_contract_text(text).placed(place))


def published(place: Path) -> list[Row]:
    """The rows of the target, in the order of their text."""
    return sorted(read_columns(str(place / "out/steps"), None, None).read_all().to_pylist(), key=str)


NO_JSON = (
    '{"a": 1} x', '{"a": 1}{"a": 2}', '{"a": 1}, {"a": 2}', '{"a": 1,}', "{'a': 1}", '{"a": NaN}', '{"a": -Infinity}', '{"a": 01}',
    "a", "",
)  # fmt: skip
KINDS: list[tuple[str, str, list[Row], list[Row]]] = [
    (
        "rename",
        "fields: [{name: a, type: string}]\ntransformations: [{rename: {mappings: {old: a}}}]\n",
        [{"old": "x"}, {"old": None}], [{"a": "x"}, {"a": None}],
    ),
    (
        "cast",
        "source_fields: [{name: n, type: string}]\nfields: [{name: n, type: int}]\ntransformations: [{cast: {columns: {n: int}}}]\n",
        [{"n": "7"}, {"n": "1e3"}, {"n": " 5"}, {"n": "1.5"}, {"n": None}], [{"n": 7}, *[{"n": None}] * 4],
    ),
    (
        "trim",
        "fields: [{name: a, type: string}]\ntransformations: [{trim: {fields: [a], side: left}, phase: pre}]\n",
        [{"a": " \t\u00a0x "}], [{"a": "x "}],
    ),
    (
        "upper and lower",
        "fields: [{name: a, type: string}, {name: b, type: string}]\n"
        "transformations: [{upper: {fields: [a]}}, {lower: {fields: [b]}}]\n",
        [{"a": "aB", "b": "aB"}], [{"a": "AB", "b": "ab"}],
    ),
    (
        "filter",
        "fields: [{name: n, type: bigint}]\ntransformations: [{filter: {sql: 10 / n > 2}}]\n",
        [{"n": 1}, {"n": 0}, {"n": None}, {"n": 100}], [{"n": 1}],
    ),
    (
        "deduplicate",
        "fields: [{name: k, type: string}, {name: n, type: bigint}]\n"
        "transformations: [{deduplicate: {on: [k], sort_by: [n], order: asc, blank_keys: keep}}]\n",
        [{"k": "a", "n": 2}, {"k": "a", "n": 1}, {"k": "a", "n": None}, {"k": " ", "n": 1}, {"k": " ", "n": 1}],
        [{"k": " ", "n": 1}, {"k": " ", "n": 1}, {"k": "a", "n": 1}],
    ),
    (
        "coalesce",
        "fields: [{name: a, type: bigint}, {name: b, type: bigint}, {name: c, type: bigint}]\n"
        "transformations: [{coalesce: {field: c, sources: [a, b], default: -1}}]\n",
        [{"a": None, "b": 2}, {"a": None, "b": None}], [{"a": None, "b": 2, "c": 2}, {"a": None, "b": None, "c": -1}],
    ),
    (
        "map_values",
        "fields: [{name: a, type: bigint}, {name: b, type: bigint}]\n"
        "transformations: [{map_values: {field: a, mapping: {1: 10}, default: 0, output: b, type: bigint}}]\n",
        [{"a": 1}, {"a": 2}, {"a": None}], [{"a": 1, "b": 10}, {"a": 2, "b": 0}, {"a": None, "b": 0}],
    ),
    (
        "derive",
        'fields: [{name: a, type: bigint}, {name: b, type: double}, {name: c, type: "decimal(38,0)"}]\n'
        "transformations: [{derive: {field: b, sql: a / (a - 1)}}, {derive: {field: c, sql: a * 9223372036854775807}}]\n",
        [{"a": 1}, {"a": 2}], [{"a": 1, "b": None, "c": Decimal(9223372036854775807)}, {"a": 2, "b": 2.0, "c": None}],
    ),
    (
        "split and explode",
        "fields: [{name: a, type: string}]\n"
        "transformations: [{split: {field: s, delimiter: .|, output: list}, phase: pre}, {explode: {field: list, output: a}}]\n",
        [{"s": "x.|y.z"}, {"s": ""}, {"s": None}], [{"a": ""}, {"a": "x"}, {"a": "y.z"}],
    ),
    (
        "explode of a text",
        "fields: [{name: a, type: string}]\ntransformations: [{explode: {field: s, output: a}}]\n",
        [{"s": '["x", 1, null, {"k": [1]}]'}, {"s": "x"}, {"s": "[]"}], [{"a": "x"}, {"a": "1"}, {"a": None}, {"a": '{"k":[1]}'}],
    ),
    (
        "json_extract",
        "fields: [{name: j, type: string}, {name: v, type: int}, {name: w, type: string}]\n"
        'transformations: [{json_extract: {field: v, source: j, path: "$.a[1]", cast: int}}, '
        "{json_extract: {field: w, source: j, path: '$.\"b c\"'}}]\n",
        [{"j": '{"a": [1, 2], "b c": {"d": null}}'}, {"j": '{"a": ['}, {"j": '{"a": [1, "x"], "b c": true}'}],
        [
            {"j": '{"a": [', "v": None, "w": None}, {"j": '{"a": [1, "x"], "b c": true}', "v": None, "w": "true"},
            {"j": '{"a": [1, 2], "b c": {"d": null}}', "v": 2, "w": '{"d":null}'},
        ],
    ),
    (
        "json_extract of what is no JSON",
        "fields: [{name: j, type: string}, {name: v, type: string}]\n"
        "transformations: [{json_extract: {field: v, source: j, path: $.a}}]\n",
        [{"j": text} for text in (*NO_JSON, '{"a": "NaN, ]"}', ' {"a": "b"}', '{"a": "c", "b": {"d": 1, "d": 2}}')],
        sorted(
            [
                *({"j": text, "v": None} for text in NO_JSON), {"j": ' {"a": "b"}', "v": "b"}, {"j": '{"a": "NaN, ]"}', "v": "NaN, ]"},
                {"j": '{"a": "c", "b": {"d": 1, "d": 2}}', "v": "c"},
            ], key=str,
        ),
    ),
    (
        "explode of what is no JSON",
        "fields: [{name: a, type: string}]\ntransformations: [{explode: {field: s, output: a}}]\n",
        [{"s": '["a", {"b": 1}]'}, *({"s": text} for text in ('["c"] x', '["d"] ["e"]', '["f",]', "['g']", "[NaN]"))],
        [{"a": "a"}, {"a": '{"b":1}'}],
    ),
    (
        "regex_extract",
        "fields: [{name: a, type: string}, {name: b, type: string}]\n"
        r"transformations: [{regex_extract: {field: b, source: a, pattern: 'n=(\d+)'}}]" + "\n",
        [{"a": "x n=12 n=3"}, {"a": "none"}], [{"a": "none", "b": None}, {"a": "x n=12 n=3", "b": "12"}],
    ),
    (
        "date_diff",
        "fields: [{name: a, type: string}, {name: b, type: string}, {name: d, type: bigint}, {name: m, type: bigint}]\n"
        "transformations: [{date_diff: {field: d, from_col: a, to_col: b}}, "
        "{date_diff: {field: m, from_col: a, to_col: b, unit: months}}]\n",
        [{"a": "2024-01-31", "b": "20240229"}, {"a": "2024-03-01", "b": "2024-01-02T10:00:00Z"}, {"a": "soon", "b": "2024-01-01"}],
        [
            {"a": "2024-01-31", "b": "20240229", "d": 29, "m": 0}, {"a": "2024-03-01", "b": "2024-01-02T10:00:00Z", "d": -59, "m": -1},
            {"a": "soon", "b": "2024-01-01", "d": None, "m": None},
        ],
    ),
    (
        "date_range_explode",
        "fields: [{name: day, type: date}]\n"
        "transformations: [{date_range_explode: {output: day, start_col: a, end_col: b, interval: 2d}}]\n",
        [{"a": "2024-02-27", "b": "2024-03-02"}, {"a": "2024-01-02", "b": "2024-01-01"}],
        [{"day": date(2024, 2, 27)}, {"day": date(2024, 2, 29)}, {"day": date(2024, 3, 2)}],
    ),
    (
        "bucket",
        "fields: [{name: a, type: double}, {name: b, type: string}]\n"
        "transformations: [{bucket: {field: b, source: a, bins: [{label: low, lt: 1.5}, {label: mid, gte: 1.5, lt: 3}], default: high}}]\n",
        [{"a": 1.0}, {"a": 1.5}, {"a": 3.0}, {"a": None}],
        [{"a": 1.0, "b": "low"}, {"a": 1.5, "b": "mid"}, {"a": 3.0, "b": "high"}, {"a": None, "b": "high"}],
    ),
    (
        "rollup",
        "fields: [{name: g, type: string}, {name: n, type: bigint}, {name: s, type: bigint}]\n"
        'transformations: [{rollup: {group_by: [g], aggregations: {n: "COUNT(*)", s: SUM(v)}}}]\n',
        [{"g": "a", "v": 1}, {"g": "a", "v": 2}, {"g": None, "v": None}],
        [{"g": "a", "n": 2, "s": 3}, {"g": None, "n": 1, "s": None}],
    ),
    (
        "pivot",
        "fields: [{name: id, type: bigint}, {name: x, type: bigint}, {name: y, type: bigint}]\n"
        "transformations: [{pivot: {id_vars: [id], pivot_col: k, value_cols: [v], values: [x, y]}}]\n",
        [{"id": 1, "k": "x", "v": 5}, {"id": 1, "k": "y", "v": 6}, {"id": 2, "k": "y", "v": 7}, {"id": 2, "k": "y", "v": 8}],
        [{"id": 1, "x": 5, "y": 6}, {"id": 2, "x": None, "y": None}],
    ),
    (
        "unpivot",
        "fields: [{name: id, type: bigint}, {name: key, type: string}, {name: value, type: bigint}]\n"
        "transformations: [{unpivot: {value_vars: [x, y]}}]\n",
        [{"id": 1, "x": 5, "y": None}, {"id": 2, "x": 6, "y": 7}],
        [{"id": 1, "key": "x", "value": 5}, {"id": 2, "key": "x", "value": 6}, {"id": 2, "key": "y", "value": 7}],
    ),
    (
        "select and drop",
        "fields: [{name: a, type: bigint}]\ntransformations: [{select: {columns: [b, a]}, phase: pre}, {drop: {columns: [b]}}]\n",
        [{"a": 1, "b": 2}], [{"a": 1}],
    ),
    (
        "sql",
        "fields: [{name: a, type: bigint}, {name: n, type: bigint}]\n"
        "transformations: [{sql: 'SELECT a, COUNT(*) AS n FROM source GROUP BY a HAVING COUNT(*) > 1'}]\n",
        [{"a": 1}, {"a": 1}, {"a": 2}], [{"a": 1, "n": 2}],
    ),
    (
        "coalesce of numbers of two widths",
        "fields: [{name: a, type: int}, {name: b, type: double}, {name: c, type: double}]\n"
        "transformations: [{coalesce: {field: c, sources: [a, b], default: 0.5}}]\n",
        [{"a": 2, "b": None}, {"a": None, "b": 1.5}, {"a": None, "b": None}],
        [{"a": 2, "b": None, "c": 2.0}, {"a": None, "b": 1.5, "c": 1.5}, {"a": None, "b": None, "c": 0.5}],
    ),
    (
        "unpivot of numbers of two widths",
        "source_fields: [{name: id, type: int}, {name: a, type: smallint}, {name: b, type: bigint}]\n"
        "fields: [{name: id, type: int}, {name: key, type: string}, {name: value, type: bigint}]\n"
        "transformations: [{unpivot: {id_vars: [id], value_vars: [a, b]}}]\n",
        [{"id": 1, "a": 2, "b": 9007199254740993}],
        [{"id": 1, "key": "a", "value": 2}, {"id": 1, "key": "b", "value": 9007199254740993}],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "rows", "expected"), [k[1:] for k in KINDS], ids=[k[0] for k in KINDS])
def test_step_makes_of_rows_what_it_says(
    gate: Gate, tmp_path: Path, body: str, rows: list[Row], expected: list[Row]
) -> None:
    if body.startswith("source_fields: "):  # the columns as they arrive
        first, _, body = body.partition("\n")
        body = body.replace("fields:", "fields:", 1)
        text = first.removeprefix("source_fields: ")
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
        head = (
            f'contract: steps\nversion: "1.0.0"\nsource: {{format: json, location: in/rows.jsonl, fields: {text}}}\n'
            "publish: {target: out/steps}\n"
        )
        result = gate.run(load_contract_text(head + body).placed(tmp_path))
    else:
        result = run(gate, tmp_path, body, rows)
    assert (result.state, result.message if result.state != "published" else "") == ("published", "")
    assert published(tmp_path) == sorted(expected, key=str)


LINKED = "links: [{name: places, location: places.csv, fields: {id: bigint}}]\n"
PLACES = {"places.csv": "id,town,state\n1,Ulm,open\n2,Bonn,closed\n"}


def test_lookup_finds_a_value_or_its_default(gate: Gate, tmp_path: Path) -> None:
    body = LINKED + (
        "fields: [{name: p, type: bigint}, {name: town, type: string}]\n"
        "transformations: [{lookup: {field: town, reference: places, on: p, key: id, value: town, default_value: none}}]\n"
    )
    result = run(gate, tmp_path, body, [{"p": 1}, {"p": 9}, {"p": None}], links=PLACES)
    assert (result.state, result.code) == ("published", None), result.message
    assert published(tmp_path) == [{"p": 1, "town": "Ulm"}, {"p": 9, "town": "none"}, {"p": None, "town": "none"}]


def test_lookup_in_a_link_with_a_key_twice_stops_the_run(gate: Gate, tmp_path: Path) -> None:
    body = LINKED + (
        "fields: [{name: p, type: bigint}, {name: town, type: string}]\n"
        "transformations: [{lookup: {field: town, reference: places, on: p, key: id, value: town}}]\n"
    )
    result = run(gate, tmp_path, body, [{"p": 1}], links={"places.csv": "id,town\n1,Ulm\n1,Bonn\n"})
    assert (result.state, result.code) == ("failed", "rows.unaccounted")
    assert not (tmp_path / "out/steps").exists()


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("left", [{"p": 1, "to_town": "Ulm"}, {"p": 9, "to_town": "?"}]),
        ("inner", [{"p": 1, "to_town": "Ulm"}]),
        ("right", [{"p": 1, "to_town": "Ulm"}, {"p": 2, "to_town": "Bonn"}]),
        ("full", [{"p": 1, "to_town": "Ulm"}, {"p": 2, "to_town": "Bonn"}, {"p": 9, "to_town": "?"}]),
    ],
)
def test_join_keeps_the_rows_of_its_type(gate: Gate, tmp_path: Path, type_: str, expected: list[Row]) -> None:
    body = LINKED + (
        "fields: [{name: p, type: bigint}, {name: to_town, type: string}]\n"
        f"transformations: [{{join: {{reference: places, on: [p], key: [id], fields: [town], type: {type_}, prefix: to_, "
        "defaults: {town: '?'}}}]\n"
    )
    result = run(gate, tmp_path, body, [{"p": 1}, {"p": 9}], links=PLACES)
    assert (result.state, result.code) == ("published", None), result.message
    assert published(tmp_path) == expected


def test_link_is_read_by_its_filter_and_columns(gate: Gate, tmp_path: Path) -> None:
    body = (
        "links: [{name: places, location: places.csv, fields: {id: bigint}, columns: [id, town], filter: state = 'open'}]\n"
        "fields: [{name: p, type: bigint}, {name: town, type: string}]\n"
        "transformations: [{sql: 'SELECT s.p, r.town FROM source s LEFT JOIN places r ON s.p = r.id'}]\n"
    )
    result = run(gate, tmp_path, body, [{"p": 1}, {"p": 2}], links=PLACES)
    assert (result.state, result.code) == ("published", None), result.message
    assert published(tmp_path) == [{"p": 1, "town": "Ulm"}, {"p": 2, "town": None}]


SPLIT = (
    "fields: [{name: a, type: bigint, required: true}, {name: net, type: bigint, min: 0}]\n"
    "transformations:\n- filter: {sql: a <> 4}\n  phase: pre\n- derive: {field: net, sql: a - fee}\n- filter: {sql: net <> 7}\n"
    "quality:\n  on_row_failure: quarantine\n  row_rules:\n  - {name: small, sql: a < 100}\n  - {name: fine, sql: net <> 1}\n"
)


def test_rows_are_set_aside_by_phase_and_accounted_for(gate: Gate, tmp_path: Path) -> None:
    rows = [{"a": a, "fee": 1} for a in (1, 2, 4, 8, 9, 100, None)] + [{"a": 0, "fee": 1}]
    result = run(gate, tmp_path, SPLIT, rows)
    assert result.state == "published"
    assert published(tmp_path) == [{"a": 1, "net": 0}, {"a": 9, "net": 8}]
    counts = result.counts
    assert (counts.read, counts.good, counts.quarantined, counts.candidate) == (8, 2, 3, 2)
    kept = quarantined_rows(result.quarantine or "").to_pylist()
    assert sorted((r["record_number"], r["phase"], r["rule_ids"], json.loads(r["payload"])) for r in kept) == [
        (2, "post", ["fine"], {"a": 2, "fee": 1, "net": 1}), (6, "pre", ["small"], {"a": 100, "fee": 1}),
        (8, "post", ["net|min"], {"a": 0, "fee": 1, "net": -1}),
    ]  # fmt: skip


def test_failing_rows_reject_the_batch_where_the_contract_says_so(gate: Gate, tmp_path: Path) -> None:
    result = run(gate, tmp_path, SPLIT.replace("quarantine", "reject"), [{"a": 1, "fee": 1}, {"a": 2, "fee": 1}])
    assert result.state == "rejected"
    assert {c.check: c.failed for c in result.checks if c.outcome == "broken"} == {"fine": 1}
    assert not (tmp_path / "out/steps").exists()


def test_check_written_pre_that_reads_a_later_column_is_refused(gate: Gate, tmp_path: Path) -> None:
    body = SPLIT.replace("sql: net <> 1}", "sql: net <> 1, phase: pre}")
    result = run(gate, tmp_path, body, [{"a": 1, "fee": 1}])
    assert (result.state, result.code) == ("failed", "contract.phase")
    assert "fine" in result.message


def test_step_that_reads_a_column_that_does_not_arrive_is_refused(gate: Gate, tmp_path: Path) -> None:
    result = run(gate, tmp_path, SPLIT, [{"a": 1, "fees": 1}])
    assert (result.state, result.code) == ("failed", "transformation.unknown_name")
    assert result.hint == "did you mean 'fees'?"


def test_result_of_another_type_is_refused_before_a_row_is_read(gate: Gate, tmp_path: Path) -> None:
    body = "fields: [{name: a, type: string}, {name: b, type: date}]\ntransformations: [{derive: {field: b, sql: upper(a)}}]\n"
    result = run(gate, tmp_path, body, [{"a": "x"}])
    assert result.state == "rejected"
    assert [c.check for c in result.checks if c.is_blocking] == ["schema|type"]


def test_number_that_does_not_fit_the_field_fails_and_is_not_rounded(gate: Gate, tmp_path: Path) -> None:
    body = (
        "fields: [{name: a, type: bigint}, {name: b, type: tinyint}]\ntransformations: [{derive: {field: b, sql: a * 100}}]\n"
        "quality: {on_row_failure: quarantine}\n"
    )
    result = run(gate, tmp_path, body, [{"a": 1}, {"a": 2}])
    assert published(tmp_path) == [{"a": 1, "b": 100}]
    assert {c.check: c.failed for c in result.checks if c.failed} == {"b|type": 1}


def test_plan_rule_sees_the_declared_steps(gate: Gate, tmp_path: Path) -> None:
    body = (
        "fields: [{name: g, type: string}, {name: n, type: bigint}]\nrules: [{type: required_group_by, columns: [h]}]\n"
        'transformations: [{rollup: {group_by: [g], aggregations: {n: "COUNT(*)"}}}]\n'
    )
    result = run(gate, tmp_path, body, [{"g": "a"}])
    assert result.state == "rejected"
    assert [c.check for c in result.checks if c.is_blocking] == ["plan|required_group_by"]


def test_value_of_a_failing_row_stands_in_the_quarantine_alone(gate: Gate, tmp_path: Path) -> None:
    body = (
        "fields: [{name: a, type: string, required: true}, {name: n, type: bigint}]\n"
        "transformations: [{derive: {field: n, sql: length(a)}}]\n"
        "quality: {on_row_failure: quarantine, row_rules: [{name: short, sql: n < 5}]}\n"
    )
    result = run(gate, tmp_path, body, [{"a": "canary-value"}, {"a": "x"}])
    assert result.state == "published", result.message
    assert "canary" not in str(result)


def test_contract_whose_rows_a_function_makes_is_not_run_without_it(gate: Gate, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="made by the function 'make\\.py:run'"):
        run(gate, tmp_path, "function: make.py:run\nfields: [{name: a, type: bigint}]\n", [{"a": 1}])


def test_check_of_a_field_is_asked_again_where_a_post_step_rewrites_it(gate: Gate, tmp_path: Path) -> None:
    body = (
        "fields: [{name: a, type: bigint, required: true, max: 10}]\ntransformations: [{derive: {field: a, sql: 20 / a - 10}}, "
        "{cast: {columns: {a: bigint}}}]\nquality: {on_row_failure: quarantine}\n"
    )
    result = run(gate, tmp_path, body, [{"a": 2}, {"a": 0}, {"a": 11}, {"a": 1}, {"a": -1}])
    assert published(tmp_path) == [{"a": -30}, {"a": 0}, {"a": 10}]
    assert {c.check: (c.failed, c.rows) for c in result.checks if c.failed} == {"a|required": (1, 4), "a|max": (1, 5)}


def test_link_of_a_parameter_is_part_of_what_a_submission_is(gate: Gate, tmp_path: Path) -> None:
    body = (
        "links: [{name: places, location: 'places-{day}.csv', fields: {id: bigint}}]\n"
        "fields: [{name: p, type: bigint}, {name: town, type: string}]\n"
        "transformations: [{lookup: {field: town, reference: places, on: p, key: id, value: town}}]\n"
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.jsonl").write_text('{"p": 1}\n', encoding="utf-8")
    text = (
        'contract: steps\nversion: "1.0.0"\nsource: {format: json, location: in/rows.jsonl}\n'
        "publish: {target: out/steps, mode: overwrite}\n" + body
    )
    contract = load_contract_text(text).placed(tmp_path)
    (tmp_path / "places-1.csv").write_text("id,town\n1,Ulm\n", encoding="utf-8")
    first = gate.run(contract, parameters={"day": "1"})
    again = gate.run(contract, parameters={"day": "1"})
    (tmp_path / "places-1.csv").write_text("id,town\n1,Bonn\n", encoding="utf-8")
    changed = gate.run(contract, parameters={"day": "1"})
    assert (first.state, again.code, changed.state) == ("published", "publish.already_done", "published")
    assert first.submission_id == again.submission_id != changed.submission_id
    assert published(tmp_path) == [{"p": 1, "town": "Bonn"}]


def test_rows_of_which_some_were_left_out_cannot_be_waived_however_many_the_steps_make(gate: Gate, tmp_path: Path) -> None:
    told: list[str] = []
    body = (
        "fields: [{name: id, type: int}, {name: tag, type: string}]\n"
        "quality: {row_rules: [{name: positive, sql: 'id > 0', phase: pre}]}\n"
        "transformations: [{split: {field: tags, delimiter: ',', output: parts}}, {explode: {field: parts, output: tag}}]\n"
    )
    gate = replace(gate, tell=told.append)
    result = run(gate, tmp_path, body, [{"id": 1, "tags": "a,b"}, {"id": -1, "tags": "c"}])
    assert result.state == "rejected", result
    assert not any("can be waived" in said for said in told)


def test_flattened_column_needs_no_step_beside_it(gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('id,a\n1,"{""b"": {""c"": ""x""}}"\n2,\n')
    text = (
        "contract: steps\nsource: {location: rows.csv, header: names, flatten: [a]}\npublish: {target: out/steps}\n"
        "fields: [{name: id, type: int}, {name: a_b_c, type: string}]\n"
    )
    result = gate.run(load_contract_text(text).placed(tmp_path))
    assert result.state == "published", result
    assert published(tmp_path) == [{"id": 1, "a_b_c": "x"}, {"id": 2, "a_b_c": None}]
