"""Names of columns and rules: every one that is used has to be declared, and none twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.field_checks import is_nested
from invaract_orchestration.contract.fields import every_field
from invaract_orchestration.contract.literals import canonical_literal
from invaract_orchestration.contract.model import Contract, FieldSpec
from invaract_orchestration.contract.report import Path, Report, shown, suggest

_PARAMETER = re.compile(r"\{[A-Za-z_]\w*\}", re.ASCII)


def check_references(contract: Contract, report: Report) -> None:
    """Report names of columns that no field declares. A contract without fields takes its columns from elsewhere."""
    columns = declared_columns(contract, report)
    if columns is None:
        return
    for path, name in _used_names(contract):
        if report.is_sound(path) and isinstance(name, str) and name not in columns:
            report.add(path, f"unknown column {shown(name)}", hint=suggest(name, columns, "columns"))
    _check_key_types(contract, columns, report)
    _check_partition(contract, columns, report)
    _check_freshness_column(contract, columns, report)


def declared_columns(contract: Contract, report: Report) -> dict[str, FieldSpec] | None:
    """The fields by name, or none where the names are not known for certain."""
    if not contract.fields:
        return None
    for at, spec in enumerate(contract.fields):
        if not isinstance(spec.name, str) or not report.is_sound(("fields", at, "name")):
            return None
    return {spec.name: spec for spec in contract.fields}


def check_rule_names(contract: Contract, report: Report) -> None:
    """Report rules, keys and fields of one name, whatever their letter case: a name is the id of its checks in every report."""
    seen: dict[str, str] = {}
    for path, name in _rule_names(contract):
        if not isinstance(name, str) or not report.is_sound(path):
            continue
        if name.lower() in seen:
            message = f"rule {shown(name)} is there twice, also as {seen[name.lower()]}"
            report.add(path, message, hint="give each rule a name of its own")
        else:
            seen[name.lower()] = f"'{report.label(path).removesuffix('.name')}'"
    if report.is_sound(("fields",)):
        _check_field_ids(contract, report)
        if report.is_sound(("keys",)) and report.is_sound(("publish",)):
            _check_key_ids(contract, report)


def _check_field_ids(contract: Contract, report: Report) -> None:
    """`a.b` is a field inside of column `a`, or a column with a dot in its name: not both, as their checks would be one."""
    seen: set[str] = set()
    for at, spec in enumerate(contract.fields):
        for path, _ in every_field((spec,)):
            called = ".".join(path)
            if called.lower() in seen:
                message = f"two fields would be called {shown(called)} in reports, one of them inside of a column"
                report.add(("fields", at, "name"), message, hint="rename one of them")
            seen.add(called.lower())


def _check_key_ids(contract: Contract, report: Report) -> None:
    keys = contract.all_keys()
    ids = [key.check_id for key in keys]
    for key in keys:
        if key.name is None and ids.count(key.check_id) > 1:
            message = f"two keys would be called {shown(key.check_id)} in reports"
            report.add(("keys",), message, hint="give one of them a `name`")
            return


def _rule_names(contract: Contract) -> Iterator[tuple[Path, str]]:
    for at, rule in enumerate(contract.quality.row_rules):
        yield ("quality", "row_rules", at, "name"), rule.name
    for at, dataset_rule in enumerate(contract.quality.dataset_rules):
        yield ("quality", "dataset_rules", at, "name"), dataset_rule.name
    for at, key in enumerate(contract.keys):
        if key.name is not None:
            yield ("keys", at, "name"), key.name
    for at, plan_rule in enumerate(contract.rules):
        if plan_rule.name is not None:
            yield ("rules", at, "name"), plan_rule.name


def check_keys(contract: Contract, report: Report) -> None:
    """Report keys that name a column twice, and keys that are there twice."""
    seen: list[frozenset[str]] = []
    for path, names in _keys(contract):
        if not names or not report.is_sound(path):
            continue
        _check_distinct(path, names, report)
        if path[0] == "keys":
            if frozenset(names) in seen:
                report.add(path, f"key {', '.join(names)} is there twice", hint="keep one of them")
            seen.append(frozenset(names))
    if contract.publish is not None and report.is_sound(("publish",)):
        _check_mode(contract, report)


def _keys(contract: Contract) -> Iterator[tuple[Path, tuple[str, ...]]]:
    for at, key in enumerate(contract.keys):
        yield ("keys", at, "columns"), key.columns
    if contract.publish is not None:
        yield ("publish", "keys"), contract.publish.keys
        yield ("publish", "partition_by"), contract.publish.partition_by
    for at, rule in enumerate(contract.quality.dataset_rules):
        if rule.references is not None:
            yield ("quality", "dataset_rules", at, "references", "columns"), rule.references.columns
            yield ("quality", "dataset_rules", at, "references", "key"), rule.references.key


def _check_distinct(path: Path, names: tuple[str, ...], report: Report) -> None:
    for at, name in enumerate(names):
        if name in names[:at]:
            report.add((*path, at), f"column {shown(name)} is there twice")


def _check_mode(contract: Contract, report: Report) -> None:
    publish = contract.publish
    if publish is None or publish.keys or publish.mode not in ("merge", "scd2"):
        return
    only = contract.keys[0].columns if len(contract.keys) == 1 else None
    hint = f"write publish.keys: [{', '.join(only)}]" if only else "name the columns that identify a row"
    message = f"mode {publish.mode} needs 'keys', the columns by which rows are matched"
    report.add(("publish", "mode"), message, hint=hint)


def _used_names(contract: Contract) -> Iterator[tuple[Path, str]]:
    for path, names in _keys(contract):
        if path[-1] != "key":
            yield from (((*path, at), name) for at, name in enumerate(names or ()))
    for at, rule in enumerate(contract.quality.dataset_rules):
        base: Path = ("quality", "dataset_rules", at)
        if rule.covers is not None:
            yield (*base, "covers", "column"), rule.covers.column
        if rule.null_share is not None:
            yield (*base, "null_share", "column"), rule.null_share.column
    if contract.publish is not None:
        yield from ((("publish", "partition", name), name) for name in contract.publish.partition or {})
        versions = contract.publish.versions
        if versions is not None and versions.since is not None:
            yield ("publish", "versions", "since"), versions.since
        if versions is not None:
            yield from ((("publish", "versions", "track", at), name) for at, name in enumerate(versions.track or ()))
    if contract.freshness is not None and contract.freshness.column is not None:
        yield ("freshness", "column"), contract.freshness.column


def _check_key_types(contract: Contract, columns: dict[str, FieldSpec], report: Report) -> None:
    for path, names in _keys(contract):
        for at, name in enumerate(names or ()):
            spec = columns.get(name)
            if path[-1] == "key" or spec is None or not _has_type(spec, contract, report):
                continue
            if is_nested(spec.type) or (path[-1] == "partition_by" and spec.type == ft.BINARY):
                what = "partition" if path[-1] == "partition_by" else "key"
                report.add((*path, at), f"column {shown(name)} is of type {spec.type}, which cannot be a {what}")


def _has_type(spec: FieldSpec, contract: Contract, report: Report) -> bool:
    return report.is_sound(("fields", contract.fields.index(spec), "type"))


def _check_partition(contract: Contract, columns: dict[str, FieldSpec], report: Report) -> None:
    if contract.publish is None:
        return
    for name, text in (contract.publish.partition or {}).items():
        spec, path = columns.get(name), ("publish", "partition", name)
        if spec is None or not report.is_sound(path) or not _has_type(spec, contract, report):
            continue
        if _PARAMETER.search(text):
            continue  # its value is known and checked when a submission gives it
        try:
            canonical_literal(text, spec.type)
        except ValueError as error:
            report.add(path, str(error), hint="a value, or a submission parameter such as {day}")


def _check_freshness_column(contract: Contract, columns: dict[str, FieldSpec], report: Report) -> None:
    freshness = contract.freshness
    if freshness is None or not report.is_sound(("freshness",)):
        return
    spec = columns.get(freshness.column or "")
    is_typed = spec is not None and _has_type(spec, contract, report)
    if spec is not None and is_typed and spec.type not in (ft.DATE, ft.TIMESTAMP, ft.TIMESTAMP_NTZ):
        message = f"column {shown(spec.name)} is of type {spec.type}, which says no time"
        report.add(("freshness", "column"), message, hint="a date or timestamp column says how fresh the rows are")
    if freshness.max_age is not None and freshness.column is None:
        hint = "name a date or timestamp column"
        report.add(("freshness", "max_age"), "'max_age' needs 'column', the time of a row", hint=hint)
