"""Findings about single fields: values that no check lets through, and checks that others imply."""

from __future__ import annotations

from collections.abc import Iterator

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.lint_finding import LintFinding, Path
from invaract_orchestration.contract.literals import Ordered, canonical_literal, literal_value
from invaract_orchestration.contract.model import Contract, FieldSpec
from invaract_orchestration.contract.patterns import find_refusal
from invaract_orchestration.contract.report import shown


def lint_fields(contract: Contract) -> Iterator[LintFinding]:
    """Findings about each field, nested ones too."""
    for at, spec in enumerate(contract.fields):
        yield from _lint_field(("fields", at), spec)


def _lint_field(path: Path, spec: FieldSpec) -> Iterator[LintFinding]:
    if spec.required and spec.may_be_absent and spec.severity == "error":
        yield LintFinding(
            code="FLD-001", level="error", path=(*path, "may_be_absent"),
            message=f"{spec.name}: a batch without the column has only nulls in it, which 'required' refuses",
            hint="leave one of them out",
        )  # fmt: skip
    yield from _allowed(path, spec)
    yield from _implied_bounds(path, spec)
    for at, child in enumerate(spec.fields):
        yield from _lint_field((*path, "fields", at), child)


def _allowed(path: Path, spec: FieldSpec) -> Iterator[LintFinding]:
    if not spec.allowed:
        return
    seen: set[str] = set()
    refused = 0
    for at, text in enumerate(spec.allowed):
        where = (*path, "allowed", at)
        canonical = _canonical(text, spec.type)
        if canonical in seen:
            yield LintFinding(
                code="FLD-002", level="warning", path=where,
                message=f"{spec.name}: allowed value {shown(text)} is there twice",
            )  # fmt: skip
        seen.add(canonical)
        reason = _refused_by(text, spec)
        if reason is not None:
            refused += 1
            yield LintFinding(
                code="FLD-003", level="warning", path=where,
                message=f"{spec.name}: allowed value {shown(text)} is never kept, because of '{reason}'",
            )  # fmt: skip
    if refused == len(spec.allowed):
        yield LintFinding(
            code="FLD-004", level="error", path=(*path, "allowed"),
            message=f"{spec.name}: the other checks refuse every allowed value",
        )  # fmt: skip


def _canonical(text: str, type_: ft.FieldType) -> str:
    try:
        return canonical_literal(text, type_)
    except ValueError:
        return text


def _refused_by(text: str, spec: FieldSpec) -> str | None:
    """The check that refuses a value, as far as that can be told without an engine."""
    if spec.type == ft.STRING:
        if spec.pattern is not None and find_refusal(spec.pattern, text):
            return "pattern"
        if spec.min_length is not None and len(text) < spec.min_length:
            return "min_length"
        if spec.max_length is not None and len(text) > spec.max_length:
            return "max_length"
        blank = {"spaces": text.strip(" "), "whitespace": text.strip()}.get(spec.not_blank or "", "x")
        return None if blank else "not_blank"
    value, low, high = _value(text, spec), _value(spec.min, spec), _value(spec.max, spec)
    if value is not None and low is not None and value < low:  # type: ignore[operator]  # values of one type compare
        return "min"
    if value is not None and high is not None and value > high:  # type: ignore[operator]
        return "max"
    return None


def _value(text: str | None, spec: FieldSpec) -> Ordered | None:
    try:
        return None if text is None else literal_value(text, spec.type)
    except ValueError:
        return None


def _implied_bounds(path: Path, spec: FieldSpec) -> Iterator[LintFinding]:
    if spec.allowed:
        for key in ("min", "max", "pattern", "min_length", "max_length", "not_blank"):
            if getattr(spec, key) is not None and not any(_refused_by(text, spec) for text in spec.allowed):
                yield _implied(path, key, spec, "the allowed values keep it already")
    elif spec.type in ft.INTEGERS:
        most = 2 ** (ft.INTEGER_BITS[spec.type] - 1)
        for key, edge in (("min", -most), ("max", most - 1)):
            if getattr(spec, key) == str(edge):
                yield _implied(path, key, spec, f"every {spec.type} keeps it")
    if spec.min_length == 0:
        yield _implied(path, "min_length", spec, "every text keeps it")
    elif spec.min_length == 1 and spec.not_blank is not None:
        yield _implied(path, "min_length", spec, "'not_blank' asks for more")


def _implied(path: Path, key: str, spec: FieldSpec, why: str) -> LintFinding:
    message = f"{spec.name}: '{key}' adds nothing: {why}"
    return LintFinding(code="FLD-005", level="warning", path=(*path, key), message=message)
