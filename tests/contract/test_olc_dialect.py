"""An Open Lakehouse Contract is carried by the one model, and what cannot be is refused by its name and place."""

from __future__ import annotations

import pytest

from invaract_orchestration.contract.lint import lint
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.phases import phase_of
from invaract_orchestration.contract.step_columns import step_columns
from invaract_orchestration.errors import ContractError

HEAD = "version: 1.0.0\ninfo: {title: Daily orders, table_name: orders}\n"
MODEL = "model: {fields: [{name: id, type: integer, required: true}, {name: amount, type: float}, {name: note, type: string}, {name: day, type: date}]}\n"


def olc(text: str, model: str = MODEL) -> Contract:
    return load_contract_text(HEAD + model + text, file="orders.olc.yaml")


def refused(text: str, model: str = MODEL) -> ContractError:
    with pytest.raises(ContractError) as caught:
        olc(text, model)
    return caught.value


def test_plain_contract_is_carried_with_its_meaning() -> None:
    contract = olc("")
    assert (contract.contract, contract.version, contract.description) == ("orders", "1.0.0", "Daily orders")
    assert [(f.name, str(f.type), f.required) for f in contract.fields] == [
        ("id", "int", True), ("amount", "double", False), ("note", "string", False), ("day", "date", False),
    ]  # fmt: skip
    assert contract.quality.on_row_failure == "quarantine"
    policy = contract.schema_policy
    assert (policy.extra_fields, policy.missing_optional, policy.type_changes) == ("accept", "accept", "cast")
    assert contract.publish is not None
    assert (contract.publish.target, contract.publish.mode) == ("orders", "append")


def test_shorthands_of_rules_are_sql() -> None:
    contract = olc(
        "quality:\n  row_rules:\n  - not_null: {fields: [id, amount]}\n"
        "  - {name: known, accepted_values: {field: id, values: [1, 2]}}\n"
        "  - regex_match: {field: note, pattern: '^\\d+$', severity: warning}\n"
        "  - range: {field: amount, min: 0, max: 5, inclusive: false}\n"
        "  - lifecycle_window: {field: day, window: 30d}\n"
    )
    assert [(r.name, r.sql, r.severity) for r in contract.quality.row_rules] == [
        ("id_not_null", "`id` IS NOT NULL", "error"), ("amount_not_null", "`amount` IS NOT NULL", "error"),
        ("known", "`id` IN (1, 2)", "error"), ("note_regex_match", "`note` RLIKE '^\\\\d+$'", "warn"),
        ("amount_range", "`amount` > 0 AND `amount` < 5", "error"),
        ("day_lifecycle_window", "`day` >= date_sub(current_date(), 30)", "error"),
    ]  # fmt: skip


def test_several_shorthands_under_one_name_are_told_apart_by_their_columns() -> None:
    rules = olc("quality: {row_rules: [{name: there, not_null: [id, amount]}, {name: known, not_null: [day]}]}\n").quality.row_rules
    assert [r.name for r in rules] == ["id_not_null", "amount_not_null", "known"]


def test_dataset_rules_are_keys_shares_counts_and_queries() -> None:
    contract = olc(
        "quality:\n  dataset_rules:\n  - {name: one_each, unique: [id, amount]}\n"
        "  - null_ratio: {field: amount, max: 0.1}\n  - row_count_between: {min: 1, max: 9}\n"
        "  - {name: total, sql: 'SELECT SUM(amount) FROM source', must_be_between: [1, 5]}\n"
    )
    assert [(k.check_id, k.columns) for k in contract.all_keys()] == [("one_each", ("id", "amount"))]
    share, count, total = contract.quality.dataset_rules
    assert (share.name, share.null_share and share.null_share.max) == ("amount_null_ratio", 0.1)
    assert (count.name, count.row_count and count.row_count.max) == ("row_count_between", 9)
    assert total.sql == "SELECT SUM(amount) FROM candidate AS source"
    assert total.must_be is not None
    assert (total.must_be.at_least, total.must_be.at_most) == ("1", "5")


def test_steps_keep_their_order_and_phase() -> None:
    contract = olc(
        "transformations:\n- {phase: pre, rename: {from: a, to: b}}\n- deduplicate_by_latest: {key_columns: [id], timestamp_column: ts}\n"
        "- {phase: pre, cast: {columns: {b: decimal}}}\n- pivot: {id_vars: id, pivot_col: m, value_col: v, values: [x], agg: first}\n"
    )
    assert [(s.kind, s.runs_in) for s in contract.transformations] == [
        ("rename", "pre"), ("deduplicate", "post"), ("cast", "pre"), ("pivot", "post"),
    ]  # fmt: skip
    rename, latest, cast, pivot = contract.transformations
    assert rename.rename is not None
    assert rename.rename.mappings == {"a": "b"}
    assert latest.deduplicate is not None
    assert (latest.deduplicate.on, latest.deduplicate.sort_by, latest.deduplicate.order) == (("id",), ("ts",), "desc")
    assert cast.cast is not None
    assert {n: str(t) for n, t in cast.cast.columns.items()} == {"b": "decimal(38,18)"}
    assert pivot.pivot is not None
    assert (pivot.pivot.value_cols, pivot.pivot.agg) == (("v",), "only")


def test_source_materialization_and_quarantine_are_carried() -> None:
    contract = olc(
        "source: {type: landing, path: in, pattern: '*.csv', format: csv, empty_behavior: skip, post_ingestion: {action: archive}}\n"
        "primary_key: [id]\nmaterialization: {strategy: merge, format: delta, target_path: lake/orders, partition_by: [id]}\n"
        "quarantine: {enabled: true, target: lake/bad, fail_on_quarantine: true}\n"
        "service_levels: {freshness: {threshold: 24h, field: day}}\nupstream: [a]\n"
    )
    assert contract.source is not None
    assert (contract.source.format, contract.source.location, contract.source.header) == ("csv", "in/*.csv", "names")
    assert (contract.source.empty, contract.source.after) == ("no_op", "archive")
    assert contract.publish is not None
    assert (contract.publish.target, contract.publish.mode, contract.publish.keys) == ("lake/orders", "merge", ("id",))
    assert contract.publish.partition_by == ("id",)
    assert (contract.quarantine.location, contract.quality.on_row_failure) == ("lake/bad", "reject")
    assert contract.freshness is not None
    assert (contract.freshness.max_age, contract.freshness.column) == ("24h", "day")
    assert contract.extensions == {"olc": {"upstream": ["a"]}}


def test_function_is_named_and_never_loaded() -> None:
    contract = olc("external_logic: {type: python, path: extract.py, entrypoint: make, handles_output: false}\n")
    assert (contract.function, contract.is_stepped) == ("extract.py:make", False)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("transformation: []\n", "4:1", "unknown key 'transformation'"),
        ("transformations: [{trimm: {fields: [id]}}]\n", "4:20", "unknown key 'trimm'"),
        ("transformations: [{deduplicate: {on: [id]}}]\n", "4:33", "'sort_by' is missing"),
        ("transformations: [{derive: {field: a, sql: id, sql_duckdb: id}}]\n", "4:48", "'sql_duckdb' cannot be carried"),
        ("external_logic: {type: notebook, path: a.ipynb}\n", "4:18", "type: notebook cannot be carried"),
        ("external_logic: {type: python, path: a.py, handles_output: true}\n", "4:44", "'handles_output' cannot be carried"),
        ("logic: SELECT 1\n", "4:1", "'logic' cannot be carried"),
        ("lineage: {enabled: true}\n", "4:11", "columns of lineage cannot be carried"),
        ("source: {type: landing, path: a, load_mode: incremental}\n", "4:34", "load_mode: incremental cannot be carried"),
        ("source: {type: stream, path: a}\n", "4:10", "type: stream cannot be carried"),
        ("materialization: {strategy: append, format: iceberg}\n", "4:37", "format: iceberg cannot be carried"),
        ("materialization: {strategy: append, soft_delete_column: x}\n", "4:37", "'soft_delete_column' cannot be carried"),
        ("quarantine: {enabled: false}\n", "4:14", "a quarantine that is off cannot be carried"),
        ("extraction: {provider: openai, text_column: id, patterns: {a: b}}\n", "4:14", "provider: openai cannot be carried"),
        ("environments: {prod: {path: x}}\n", "4:1", "'environments' cannot be carried"),
        ("quality: {row_rules: [{referential_integrity: {field: id, contract: a, column: b}}]}\n", "4:47",
         "'reference' is missing"),
        ("links: [{name: a, path: a.csv, query: SELECT 1}]\n", "4:32", "'query' cannot be carried"),
        ("quality: {row_rules: [{range: {field: id}}]}\n", "4:24", "'range' does not say what it asks for"),
        ("quality: {row_rules: [{regex_match: {field: note}}]}\n", "4:24", "'regex_match' does not say what it asks for"),
        ("quality: {dataset_rules: [{name: q, sql: SELECT 1 FROM source, must_be_between: [1]}]}\n", "4:64",
         "expected two bounds under 'must_be_between'"),
        ("quality: {dataset_rules: [{name: q, sql: SELECT 1 FROM source, must_be_between: {min: 1, max: 2}}]}\n", "4:64",
         "expected two bounds under 'must_be_between'"),
        ("materialization: {strategy: scd2, scd2: {unknown_member: {enabled: true}}}\n", "4:42",
         "'unknown_member' cannot be carried"),
    ],
)  # fmt: skip
def test_what_cannot_be_carried_is_refused_by_its_name(text: str, place: str, message: str) -> None:
    said = str(refused(text))
    assert f"orders.olc.yaml:{place}: " in said
    assert message in said


@pytest.mark.parametrize(("key", "value"), [("masking", "hash"), ("pii_vault", "v"), ("generated", "true")])
def test_field_that_would_change_the_data_is_refused(key: str, value: str) -> None:
    error = refused("", f"model: {{fields: [{{name: id, type: integer, {key}: {value}}}]}}\n")
    assert f"'{key}' cannot be carried" in str(error)


def test_check_of_a_column_that_only_post_makes_runs_in_post() -> None:
    contract = olc(
        "transformations: [{derive: {field: net, sql: amount - 1}}, {derive: {field: amount, sql: abs(amount)}}]\n"
        "quality: {row_rules: [{name: a, sql: net > 0}, {name: b, sql: amount > 0}, {name: c, sql: net > 0, phase: pre}]}\n"
    )
    created = step_columns(contract).created
    assert created == ("net",)
    assert [phase_of(r, [f.name for f in contract.fields], created) for r in contract.quality.row_rules] == ["post", "pre", "pre"]
    assert [(f.code, f.path) for f in lint(contract) if f.code == "PHS-001"] == [
        ("PHS-001", ("quality", "row_rules", 2, "phase"))
    ]  # fmt: skip


def test_history_names_its_columns_and_keys() -> None:
    model = (
        "model: {fields: [{name: id, type: integer, required: true}, {name: tier, type: string}, {name: seen, type: date}, "
        "{name: since, type: date}, {name: now, type: boolean}]}\n"
    )
    contract = olc(
        "materialization:\n  strategy: scd2\n  scd2: {business_key: [id], timestamp_field: seen, effective_from: since, "
        "current_flag: now, hash_columns: [tier], effective_from_default: 1900-01-01}\n", model,
    )  # fmt: skip
    assert [f.name for f in contract.fields] == ["id", "tier", "seen"]
    assert contract.publish is not None
    assert contract.publish.keys == ("id",)
    own = contract.publish.versions
    assert own is not None
    assert (own.valid_from, own.valid_to, own.current, own.since, own.track) == ("since", "valid_to", "now", "seen", ("tier",))
    assert own.first == "1900-01-01"


def test_value_in_a_link_is_looked_up_in_the_phase_of_its_rule() -> None:
    contract = olc(
        "links: [{name: codes, path: codes.csv}, {name: days, path: days.jsonl}]\n"
        "transformations: [{derive: {field: net, sql: amount - 1}}]\n"
        "quality: {row_rules: [{referential_integrity: {field: id, reference: codes, key: code}}, "
        "{referential_integrity: {field: net, reference: days, key: day, name: known, severity: warning}}]}\n"
    )
    assert [(s.kind, s.runs_in) for s in contract.transformations] == [("derive", "post"), ("lookup", "pre"), ("lookup", "post")]
    assert [(r.name, r.sql, r.phase, r.severity) for r in contract.quality.row_rules] == [
        ("id_referential_integrity", "`id in codes` IS NOT NULL", "pre", "error"),
        ("known", "`net in days` IS NOT NULL", "post", "warn"),
    ]  # fmt: skip
    assert [{k: str(v) for k, v in link.fields.items()} for link in contract.links] == [{"code": "int"}, {}]


def test_blank_key_is_a_null_and_asked_for_once() -> None:
    contract = olc(
        "transformations: [{phase: pre, deduplicate: {by: [id, note], sort_by: [day]}}, {deduplicate: {on: id, sort_by: [day]}}, "
        "{deduplicate: {on: [_key], sort_by: [day], blank_keys: keep}}, {deduplicate: {on: _key, sort_by: [day]}}]\n"
    )
    assert [(r.name, r.sql, r.phase) for r in contract.quality.row_rules] == [
        ("id__note_required_for_dedup", "`id` IS NOT NULL AND `note` IS NOT NULL", "pre"),
        ("key_required_for_dedup", "`_key` IS NOT NULL", None),
    ]  # fmt: skip
    steps = [s.deduplicate for s in contract.transformations if s.deduplicate]
    assert {(s.blank_keys, s.blank) for s in steps} == {("keep", "missing")}


@pytest.mark.parametrize(("names", "template"), [("n_x, n_y", "{value}_{pivot}"), ("x, y", None)])
def test_columns_of_a_pivot_are_named_as_the_model_names_them(names: str, template: str | None) -> None:
    model = f"model: {{fields: [{', '.join(f'{{name: {n}, type: integer}}' for n in names.split(', '))}]}}\n"
    contract = olc("transformations: [{pivot: {id_vars: [id], pivot_col: m, value_col: n, values: [x, y]}}]\n", model)
    (step,) = contract.transformations
    assert step.pivot is not None
    assert step.pivot.name_template == template


def test_what_says_nothing_is_as_if_it_was_left_out() -> None:
    contract = olc(
        "primary_key: []\nnatural_key: null\nmaterialization: null\nquality: null\nupstream_sources: [{type: api, name: a}]\n"
        "service_levels: {freshness: 6h, availability: 0.99, completeness: 0.9}\n"
    )
    assert (contract.all_keys(), contract.quality.row_rules) == ((), ())
    assert contract.freshness is not None
    assert (contract.freshness.every, contract.freshness.max_age) == ("6h", None)
