"""A contract's fields as a pandera schema, and back, so that unit tests of a transformation check the same rules.

What a schema of a frame cannot say (rules over rows and the whole, the plan, the publication) is not lost without a word: its
ids stand in the schema's metadata. What a contract cannot say is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from importlib import import_module
from typing import Any, Literal

from pydantic import ValidationError

from invaract_orchestration.contract.field_types import DATE, TIMESTAMP, TIMESTAMP_NTZ, FieldType, parse_type
from invaract_orchestration.contract.fields import FieldSpec, Key
from invaract_orchestration.contract.literals import literal_value
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.contract.pandera_checks import carried_checks
from invaract_orchestration.contract.pandera_types import field_type_of, native_type
from invaract_orchestration.errors import MissingExtra, UsageError

Backend = Literal["pyspark", "polars", "pandas"]
_OWN = "invaract"
_END: dict[Backend, str] = {"pyspark": r"(?![\s\S])", "polars": "$", "pandas": r"\Z"}
"""The end of a text, and not the place before its last line feed, for Java, Rust and Python; Python reads all of them first."""
_BLANKS = "\t-\r \x1c-\x1f\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"


def to_pandera(contract: Contract, backend: Backend) -> Any:
    """The contract's fields and keys as a `DataFrameSchema` of that backend.

    The schema's metadata holds the contract's name and version, and under `not_carried` the ids of what only the gate judges.

    Raises:
        MissingExtra: pandera or the backend is not installed.
        UsageError: the backend is not known.
    """
    pandera = _module(backend)
    columns = {spec.name: _column(pandera, spec, backend) for spec in contract.fields}
    uniques = [list(key.columns) for key in contract.keys]
    known: dict[str, Any] = {"unique": uniques[0]} if len(uniques) == 1 else {}
    left = [rule.name for rule in contract.quality.row_rules] + [rule.name for rule in contract.quality.dataset_rules]
    left += [rule.name or rule.type for rule in contract.rules] + [k.check_id for k in contract.keys if len(uniques) > 1]
    own: dict[str, Any] = {"contract": contract.contract, "version": contract.version, "not_carried": left}
    own["keys"] = [key.model_dump(mode="json", exclude_defaults=True) for key in contract.keys]
    return pandera.DataFrameSchema(
        columns, strict=contract.schema_policy.extra_fields == "reject", name=contract.contract, metadata={_OWN: own}, **known
    )


def from_pandera(schema: Any, *, contract: str | None = None, version: str = "1.0.0") -> Contract:
    """The contract that a pandera `DataFrameModel` or `DataFrameSchema` says. `contract` names it where the schema has no name.

    Raises:
        UsageError: the schema says what a contract cannot carry, such as a check of one's own; the message names it.
    """
    if hasattr(schema, "to_schema"):
        schema = schema.to_schema()
    own = (schema.metadata or {}).get(_OWN) or {}
    name = contract or own.get("contract") or schema.name
    if not name:
        raise UsageError("the pandera schema has no name", hint="give one: Contract.from_pandera(schema, contract='orders')")
    rules = "write a rule of quality.row_rules or quality.dataset_rules instead"
    for what in ("checks", "parsers", "index", "coerce", "add_missing_columns", "drop_invalid_rows"):
        if getattr(schema, what, None):
            hint = rules if what == "checks" else "leave it out: a contract never changes the data"
            raise UsageError(f"the pandera schema has {what}, which a contract cannot carry", hint=hint)
    fields = tuple(_field(column_name, column, _backend_of(schema)) for column_name, column in schema.columns.items())
    extra = "reject" if schema.strict is True else "accept"
    try:
        return Contract(
            contract=name, version=own.get("version", version), fields=fields, keys=_keys(schema, own),
            schema_policy={"extra_fields": extra},  # type: ignore[arg-type]  # read by the model
        )  # fmt: skip
    except ValidationError as error:
        raise UsageError(f"the pandera schema makes no contract: {error.errors()[0]['msg']}") from None


def _keys(schema: Any, own: dict[str, Any]) -> tuple[Key, ...]:
    unique = schema.unique if isinstance(schema.unique, list) else [schema.unique] if schema.unique else []
    declared = own.get("keys") or []
    if [key["columns"] for key in declared] == [unique] or (len(declared) > 1 and not unique):
        return tuple(Key.model_validate(key) for key in declared)
    if declared:
        hint = "change the contract"
        raise UsageError("the pandera schema was made of a contract, and its `unique` says something else now", hint=hint)
    return (Key.model_validate({"columns": unique}),) if unique else ()


def _backend_of(schema: Any) -> Backend:
    found = type(schema).__module__.split(".")
    return "polars" if "polars" in found else "pyspark" if "pyspark" in found else "pandas"


def _said(column: Any) -> tuple[Any, ...]:
    """What a column of a schema asks for, to be compared."""
    checks = [(c.name, str(c.statistics), getattr(c, "raise_warning", False)) for c in column.checks]
    return checks, str(column.dtype), bool(column.nullable), bool(column.required), bool(getattr(column, "unique", False))


def _module(backend: str) -> Any:
    if backend not in ("pyspark", "polars", "pandas"):
        raise UsageError(f"pandera backend {backend!r} is not known", hint="it is one of pandas, polars, pyspark")
    try:
        return import_module(f"pandera.{backend}")
    except ImportError:
        raise MissingExtra(f"pandera for {backend}", "pandera") from None


# -- to pandera


def _column(pandera: Any, spec: FieldSpec, backend: Backend) -> Any:
    own = spec.model_dump(mode="json", exclude_defaults=True)
    known = {"unique": spec.unique} if backend != "pyspark" else {}
    return pandera.Column(
        native_type(spec.type, backend, nullable=not spec.required), list(_checks(pandera, spec, backend)),
        nullable=not spec.required, required=not spec.may_be_absent, metadata={_OWN: own}, name=spec.name, **known,
    )  # fmt: skip


def _checks(pandera: Any, spec: FieldSpec, backend: Backend) -> Iterator[Any]:
    if spec.min is not None:
        yield pandera.Check.greater_than_or_equal_to(_value(spec.min, spec.type))
    if spec.max is not None:
        yield pandera.Check.less_than_or_equal_to(_value(spec.max, spec.type))
    if spec.allowed is not None:
        yield pandera.Check.isin([_value(v, spec.type) for v in spec.allowed])
    if spec.pattern is not None:
        yield pandera.Check.str_matches(rf"^(?:{spec.pattern}){_END[backend]}")
    if spec.min_length is not None or spec.max_length is not None:
        yield pandera.Check.str_length(spec.min_length, spec.max_length)
    if spec.not_blank is not None:
        yield pandera.Check.str_matches(f"(?s)^.*[^{' ' if spec.not_blank == 'spaces' else _BLANKS}]")


def _value(written: str, type_: FieldType) -> Any:
    if type_ == DATE:
        return date.fromisoformat(written)
    value = literal_value(written, type_)
    if type_ in (TIMESTAMP, TIMESTAMP_NTZ):
        return datetime.fromisoformat(str(value))
    return value


# -- from pandera


def _field(name: str, column: Any, backend: Backend) -> FieldSpec:
    own = (getattr(column, "metadata", None) or {}).get(_OWN)
    if own is not None:
        spec = FieldSpec.model_validate(own)
        if spec.name == name and _said(column) == _said(_column(_module(backend), spec, backend)):
            return spec
        hint = "change the contract, or write the column without its metadata"
        raise UsageError(f"pandera column {name!r} was made of a contract and says something else now", hint=hint)
    if column.dtype is None:
        raise UsageError(f"pandera column {name!r} has no type", hint="give it one; a contract's field always has a type")
    found: dict[str, Any] = {"name": name, "type": str(field_type_of(name, column.dtype)), "required": not column.nullable}
    found |= {"unique": bool(getattr(column, "unique", False)), "may_be_absent": not column.required}
    for what in ("parsers", "regex", "coerce", "default"):
        if getattr(column, what, None) not in (None, False, []):
            raise UsageError(f"pandera column {name!r} has {what}, which a contract cannot carry")
    found |= carried_checks(name, column.checks, parse_type(found["type"]), nullable=bool(column.nullable))
    return FieldSpec.model_validate(found)
