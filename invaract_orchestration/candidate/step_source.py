"""The columns that have to arrive for a contract with steps: which they are, and of which types they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.expression_names import ExpressionError, columns_read
from invaract_orchestration.contract.expressions import parse_condition
from invaract_orchestration.contract.fields import FieldSpec
from invaract_orchestration.contract.model import Contract, Quality, Source
from invaract_orchestration.contract.report import suggest
from invaract_orchestration.contract.step_columns import step_columns
from invaract_orchestration.contract.transformations import JsonExtract, Transformation
from invaract_orchestration.errors import GateError

Found = Mapping[str, ft.FieldType | None]
"""The columns that arrived, each with its type; none where the format has no types, or only nulls are there."""
_OWN = "invaract_"
_MOST_WAYS = 64
"""How many places of a JSON text are looked at for one flattened name: each `_` of it doubles them."""
_READING = (
    "name", "type", "format", "decimal_separator", "group_separator", "timezone", "source_timezone", "may_be_absent",
    "required", "complete", "as_text", "fields",
)  # fmt: skip
"""What of a field says how its values are read."""


def source_contract(contract: Contract, found: Found) -> Contract:
    """What is promised of the columns as they arrive: their names and types, without any rule.

    Raises:
        GateError: a step reads a column that does not arrive, or a column has a name that only the gate uses.
    """
    fields = _fields(contract, found)
    for spec in fields:
        if spec.name.lower().startswith(_OWN):
            hint = f"{_OWN} begins the gate's own names"
            raise GateError(f"a column is called {spec.name!r}", code="transformation.name", hint=hint)
    policy = contract.schema_policy
    if policy.type_changes == "cast":
        policy = policy.model_copy(update={"type_changes": "reject"})
    changed = {
        "fields": fields, "keys": (), "quality": Quality(), "transformations": (), "links": (), "schema_policy": policy,
        "rules": (),
    }  # fmt: skip
    return contract.model_copy(update=changed).placed(contract.base, contract.environment, contract.declared)


def _fields(contract: Contract, found: Found) -> tuple[FieldSpec, ...]:
    source = contract.source or Source()
    if source.fields:
        return source.fields
    there = {name.lower(): name for name in found}
    wanted = _wanted(contract, found)
    promised = [f for f in contract.fields if f.name.lower() in wanted]
    fields = [_as_it_arrives(contract, f, found.get(f.name)) for f in promised]
    named = {f.name.lower() for f in contract.fields}
    others = [low for low in wanted if low not in named]
    for low in others:
        if low not in there:
            raise GateError(
                f"a step or a rule reads the column {wanted[low]!r}, which does not arrive", code="transformation.unknown_name",
                hint=suggest(wanted[low], found, "columns that arrive") if found else "declare the columns in source.fields",
            )
    if others and source.format == "csv" and source.header == "exact":
        raise GateError(
            f"the steps read {wanted[others[0]]!r}, which no field declares, so the order of the header is not known",
            code="transformation.source_fields", hint="declare the columns of the files, in their order, in source.fields",
        )
    fields += [_undeclared(contract, there[low], found) for low in others]
    if contract.schema_policy.extra_fields == "accept":
        taken = {f.name.lower() for f in (*fields, *contract.fields)}
        rest = [name for low, name in there.items() if low not in taken and not low.startswith(_OWN)]
        fields += [_undeclared(contract, name, found) for name in rest]
    return tuple(fields)


def _wanted(contract: Contract, found: Found) -> dict[str, str]:
    """The columns that steps and rules need of the source, by their name in lower case."""
    static = step_columns(contract)
    wanted = {name.lower(): name for name in static.sources}
    there = {name.lower(): name for name in found}
    wanted |= {name.lower(): there[name.lower()] for name in static.perhaps if name.lower() in there}
    made = {n.lower() for n in (*static.after_pre, *static.after)}
    fields = [f.name for f in contract.fields]
    for rule in contract.quality.row_rules:
        try:
            read = columns_read(parse_condition(rule.sql), (*fields, *static.sources, *static.after_pre, *static.after))
        except ExpressionError:
            continue
        for name in read:
            if name.lower() not in made and name.lower() not in {f.lower() for f in fields}:
                wanted.setdefault(name.lower(), name)
    return wanted


def _undeclared(contract: Contract, name: str, found: Found) -> FieldSpec:
    is_cast = contract.schema_policy.type_changes == "cast"
    return FieldSpec(name=name, type=found.get(name) or ft.STRING, may_be_absent=True, as_text=is_cast)


def _as_it_arrives(contract: Contract, spec: FieldSpec, type_: ft.FieldType | None) -> FieldSpec:
    plain = FieldSpec.model_validate({k: getattr(spec, k) for k in _READING})
    if contract.schema_policy.type_changes != "cast":
        return plain
    source = contract.source or Source()
    if source.format == "csv":
        is_formed = spec.format or spec.group_separator or spec.decimal_separator != "." or spec.source_timezone
        return plain if is_formed else plain.model_copy(update={"type": ft.STRING, "timezone": None})
    plain = plain.model_copy(update={"as_text": True})
    if type_ is None or (source.format == "json" and _is_read_as(spec.type, type_)):
        return plain
    return plain.model_copy(update={"type": type_, "fields": (), "format": None, "timezone": None, "source_timezone": None})


def _is_read_as(declared: ft.FieldType, found: ft.FieldType) -> bool:
    """Whether JSON values of the type that was found can be read strictly as the declared one."""
    if isinstance(declared, ft.Decimal) or declared in ft.FLOATS:
        return found in (*ft.INTEGERS, *ft.FLOATS)
    if declared in ft.INTEGERS:
        return found in ft.INTEGERS
    if isinstance(declared, ft.Struct | ft.Map | ft.Array):
        return True  # nothing else can become one, so each value that is none is a failure of its row
    return declared == found and declared in (ft.STRING, ft.BOOLEAN)


def _members(type_: ft.Struct, name: str) -> list[str]:
    """The members that a flattened name leads through, as far as the values say; one of that name where they do not."""
    members = dict(type_.fields)
    for member in sorted(members, key=len, reverse=True) if name not in members else ():
        inner = members[member]
        if isinstance(inner, ft.Struct) and name.startswith(member + "_"):
            return [member, *_members(inner, name[len(member) + 1 :])]
    return [name]


def _ways(name: str) -> Iterator[list[str]]:
    """Every way in which a name may lead through members that nothing is known of, a longer first member first."""
    yield [name]
    for at in range(len(name) - 2, 0, -1):
        if name[at] == "_":
            yield from ([name[:at], *rest] for rest in _ways(name[at + 1 :]))


def _path(type_: ft.FieldType | None, name: str) -> str:
    """Where a flattened name stands: in a nested value where its type says, in a JSON text at the first place with a value."""
    ways = [_members(type_, name)] if isinstance(type_, ft.Struct) else islice(_ways(name), _MOST_WAYS)
    return " | ".join("$" + "".join(f'."{member}"' for member in way) for way in ways)


def flattened(contract: Contract, found: Found) -> Contract:
    """The contract with a first step for each column `parent_child` that is read and that only stands inside of `parent`."""
    flatten = contract.source.flatten if contract.source else ()
    if not flatten:
        return contract
    chosen = [n for n in found if "*" in flatten or n in flatten]
    parents = sorted(chosen, key=len, reverse=True)
    there = {n.lower() for n in found}
    steps = []
    for low, name in _wanted(contract, found).items():
        parent = next((p for p in parents if low.startswith(p.lower() + "_") and len(low) > len(p) + 1), None)
        if low not in there and parent is not None:
            path = _path(found[parent], name[len(parent) + 1 :])
            steps.append(Transformation(phase="pre", json_extract=JsonExtract(field=name, source=parent, path=path)))
    changed = contract.model_copy(update={"transformations": (*steps, *contract.transformations)})
    return changed.placed(contract.base, contract.environment, contract.declared)
