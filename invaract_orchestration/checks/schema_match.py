"""Does what was read have the fields and types that the contract names? For typed sources and for keys of JSON records.

Names are compared exactly, types to the last nested field, the order of columns not at all. A column that is not there
is missing: it is never taken for one whose values are null.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from invaract_orchestration.checks.result import CheckResult, Evidence
from invaract_orchestration.checks.type_match import TypeDifference, type_differences
from invaract_orchestration.contract.field_types import NANOSECONDS, FieldType
from invaract_orchestration.contract.model import Contract, FieldSpec, walk_fields
from invaract_orchestration.intake.column_names import NameIndex, code_points, fold, is_value_like, nearest
from invaract_orchestration.intake.wording import (
    LONGEST_PLACE,
    MOST_SHOWN,
    by_place,
    counted,
    listed,
    quoted,
    quoted_list,
    shown,
)  # fmt: skip

_LONGEST_TYPE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedColumn:
    """A column as it was found.

    `type` is null where the source has no types (JSON, folder names), and the native name of a type that a contract
    cannot name. `nullable` is null where not known. `rows` is how many JSON records have the key, null elsewhere.
    """

    name: str
    type: FieldType | str | None = None
    nullable: bool | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedSchema:
    """The columns of one file, table or frame; `place` names it in messages.

    `records` is how many records a JSON file has, null elsewhere: a file without one shows no key, and misses none.
    """

    place: str
    columns: tuple[ObservedColumn, ...]
    records: int | None = None


_Kind = Literal["missing_field", "unexpected_field", "type", "case", "duplicate"]
_EXPECTED: dict[_Kind, tuple[str, str]] = {
    "missing_field": (
        "every field of the contract in every file",
        "deliver the column, or declare the field may_be_absent",
    ),
    "unexpected_field": (
        "no field that the contract does not name",
        "agree on the field and add it to the contract, or declare schema_policy.extra_fields: accept",
    ),
    "type": (
        "the types of the contract exactly",
        "write the declared type, or change the contract; schema_policy.type_changes: accept takes wider and narrower "
        "numbers of one family, value by value",
    ),
    "case": ("the letter case of the contract", "rename the field in the data or in the contract"),
    "duplicate": (
        "names that differ in more than letter case",
        "rename or remove one of the fields: a reader that ignores letter case would take one for the other",
    ),
}

_FINE_HINT = (
    'write the column in microseconds (pandas: coerce_timestamps="us"), or declare schema_policy.type_changes: accept, which '
    "takes each value that is a whole microsecond"
)


@dataclass(frozen=True, slots=True)
class _Difference:
    kind: _Kind
    text: str
    hint: str | None = None
    """What to do where it is not what is told for every difference of the kind."""


def check_schema(contract: Contract, observed: Sequence[ObservedSchema]) -> tuple[CheckResult, ...]:
    """One kept result when every source has the contract's schema, else one broken result for each kind of difference.

    Nothing observed, or no field to compare with, is unverifiable.
    """
    if not observed or not contract.fields:
        return (_result(contract, observed, "unverifiable"),)
    comparison = _Comparison.of(contract)
    differences = [(schema.place, tuple(comparison.differences(schema))) for schema in observed]
    broken = [
        _broken(kind, said, contract, observed)
        for kind in _EXPECTED
        if (said := [(p, own) for p, found in differences if (own := [d for d in found if d.kind == kind])])
    ]
    return tuple(broken) or (_result(contract, observed, "kept"),)


def schema_digest(fields: tuple[FieldSpec, ...]) -> str:
    """The digest of names, types and whether null is allowed, in the order of the fields, nested ones too."""
    parts = [[path, str(spec.type), spec.required] for path, spec in walk_fields(fields)]
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The contract's side of every comparison."""

    contract: Contract
    index: NameIndex
    by_path: Mapping[str, FieldSpec]

    @classmethod
    def of(cls, contract: Contract) -> _Comparison:
        names = NameIndex.of(field.name for field in contract.fields)
        return cls(contract, names, dict(walk_fields(contract.fields)))

    def differences(self, schema: ObservedSchema) -> Iterator[_Difference]:
        """Every difference of one schema."""
        yield from _duplicates(schema)
        columns = {column.name: column for column in schema.columns if column.rows != 0}
        missing = [f for f in self.contract.fields if f.name not in columns]
        yield from self._other_names(columns, {field.name for field in missing})
        relatives = {found[0] for name in columns if (found := self.index.find(name)) and found[1] == "case"}
        has_keys = schema.records != 0
        for number, field in enumerate(missing if has_keys else ()):
            if field.name not in relatives and self._is_needed(field):
                yield _missing(field.name, columns, is_named=number < MOST_SHOWN)
        for field in self.contract.fields:
            column = columns.get(field.name)
            if column is not None and column.type is not None:
                for difference in type_differences(field.name, field.type, column.type):
                    yield from self._typed(difference)

    def _other_names(self, columns: Mapping[str, ObservedColumn], missing: set[str]) -> Iterator[_Difference]:
        """Names that are not in the contract: written in another case, looking alike, or not agreed."""
        is_doubtful = 2 * (len(self.contract.fields) - len(missing)) < len(self.contract.fields)
        for name, column in columns.items():
            match self.index.find(name):
                case (_, "same"):
                    continue
                case (known, "case") if known in missing:
                    yield _Difference("case", f"{quoted(name)} where {quoted(known)} is expected")
                case (known, "whitespace" | "look_alike"):
                    why = code_points(name) or "blanks or quotes around it"
                    yield _Difference("unexpected_field", f"{quoted(name)}, which looks like {quoted(known)} ({why})")
                case None if self.contract.schema_policy.extra_fields == "reject":
                    is_hidden = (is_doubtful or column.type is None) and is_value_like(name)
                    text = "a name that looks like a value (not shown)" if is_hidden else quoted(name)
                    yield _Difference("unexpected_field", text)

    def _typed(self, difference: TypeDifference) -> Iterator[_Difference]:
        path, policy = quoted(difference.path, LONGEST_PLACE), self.contract.schema_policy
        match difference.kind:
            case "missing":
                spec = self.by_path.get(difference.path)
                if self._is_needed(spec) if spec is not None else policy.missing_optional == "reject":
                    yield _Difference("missing_field", f"{path} is a missing field of the struct")
            case "extra":
                if policy.extra_fields == "reject":
                    yield _Difference("unexpected_field", path)
            case "order" | "type":
                if policy.type_changes == "reject" or not difference.is_same_family:
                    expected, found = shown(difference.expected, _LONGEST_TYPE), shown(difference.found, _LONGEST_TYPE)
                    what = "has its fields in the order " if difference.kind == "order" else "is "
                    hint = _FINE_HINT if difference.found in NANOSECONDS and difference.is_same_family else None
                    yield _Difference("type", f"{path} {what}{found}, expected {expected}", hint)

    def _is_needed(self, field: FieldSpec) -> bool:
        is_optional = self.contract.schema_policy.missing_optional == "accept" and not field.required
        return not (field.may_be_absent or is_optional)


def _duplicates(schema: ObservedSchema) -> Iterator[_Difference]:
    places: dict[str, list[str]] = {}
    for column in schema.columns:
        places.setdefault(fold(column.name), []).append(column.name)
    for names in places.values():
        if len(names) > 1:
            yield _Difference("duplicate", " and ".join(quoted(name) for name in names[:MOST_SHOWN]))


def _missing(name: str, columns: Mapping[str, ObservedColumn], *, is_named: bool) -> _Difference:
    close = nearest(name, columns) if is_named else None
    points = f", {code_points(close)}" if close is not None and not close.isascii() else ""
    hint = f" (nearest found: {quoted(close)}{points})" if close is not None else ""
    return _Difference("missing_field", f"missing column {quoted(name)}{hint}")


def _columns(contract: Contract) -> str:
    fields = [f"{quoted(f.name)} {shown(str(f.type), _LONGEST_TYPE)}" for f in contract.fields[:MOST_SHOWN]]
    return f"{counted(len(contract.fields), 'field')}: {listed(fields, len(contract.fields))}"


def _evidence(observed: Sequence[ObservedSchema]) -> Evidence:
    is_scanned = any(column.rows is not None for schema in observed for column in schema.columns)
    return "scan" if is_scanned else "header"


def _broken(
    kind: _Kind, said: Sequence[tuple[str, list[_Difference]]], contract: Contract, observed: Sequence[ObservedSchema]
) -> CheckResult:
    expected, hint = _EXPECTED[kind]
    hints = dict.fromkeys(d.hint or hint for _, own in said for d in own)
    return CheckResult(
        check=f"schema|{kind}",
        stage="schema",
        outcome="broken",
        expected=f"{expected}: {_columns(contract)}",
        found=by_place([(p, [d.text for d in own]) for p, own in said], len(observed), "source"),
        evidence=_evidence(observed),
        hint="; ".join(hints),
        place=shown(said[0][0], LONGEST_PLACE),
    )


def _result(
    contract: Contract, observed: Sequence[ObservedSchema], outcome: Literal["kept", "unverifiable"]
) -> CheckResult:
    known = {field.name for field in contract.fields}
    ignored = {column.name for schema in observed for column in schema.columns} - known
    found = f"as agreed in {counted(len(observed), 'source')}"
    if ignored:
        found += f"; {counted(len(ignored), 'other field')} ignored"
    absent = [name for name in known if any(name not in {c.name for c in s.columns} for s in observed)]
    if absent:
        found += f"; {quoted_list(sorted(absent))} absent where allowed"
    if outcome == "unverifiable":
        found = "no schema was read" if contract.fields else "the contract names no field to compare with"
    return CheckResult(
        check="schema|columns",
        stage="schema",
        outcome=outcome,
        expected=_columns(contract),
        found=found,
        evidence=_evidence(observed) if outcome == "kept" else "none",
    )
