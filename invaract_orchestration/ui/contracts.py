"""A contract as its recorded versions say it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from invaract_orchestration.audit.browse import AuditPages, Scope
from invaract_orchestration.audit.records import ContractVersion
from invaract_orchestration.ui.answers import (
    ContractAnswer,
    ContractDocument,
    FieldAnswer,
    RuleAnswer,
    VersionChanges,
)
from invaract_orchestration.ui.differences import compact, differences
from invaract_orchestration.ui.overview import overview

Document = Mapping[str, Any]

_FIELD_FACTS = ("name", "type", "description", "required", "unique", "sensitivity_tags", "fields")
_SETTINGS = ("source", "publish", "schema_policy", "quarantine", "freshness", "timezone", "arrives")
_QUALITY_RULES = ("row_rules", "dataset_rules")


def contract_detail(
    reader: AuditPages, scope: Scope, contract: str, now: datetime, *, days: int
) -> ContractAnswer | None:
    """A contract that the viewer may see one attempt of; null when there is none."""
    standing = overview(reader, scope, now, days=days, contract=contract).contracts
    versions = reader.contract_versions(contract) if standing else ()
    if not versions:
        return None
    newest, document = versions[0], read_document(versions[0])
    told = document or {}
    return ContractAnswer(
        contract=contract,
        version=newest.version,
        digest=newest.digest,
        status=str(told.get("status", "active")),
        description=_text(told.get("description")),
        owner=_owner(told.get("owner")),
        consumers=_texts(told.get("consumers")),
        settings=list(_settings(told)),
        fields=list(_fields(told.get("fields", ()))),
        rules=list(_rules(told)),
        versions=_versions(versions),
        standing=standing,
        is_readable=document is not None,
    )


def contract_document(reader: AuditPages, scope: Scope, contract: str, version: str) -> ContractDocument | None:
    """One version of a contract that the viewer may see one attempt of."""
    if not any(each.contract == contract for each in reader.standing(scope).contracts):
        return None
    found = next((each for each in reader.contract_versions(contract) if each.version == version), None)
    document = read_document(found) if found else None
    if found is None or document is None:
        return None
    return ContractDocument(contract=contract, version=version, digest=found.digest, document=dict(document))


def read_document(version: ContractVersion) -> Document | None:
    """The recorded text as a mapping; null when it is none any more."""
    try:
        document = json.loads(version.document)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _versions(versions: Sequence[ContractVersion]) -> list[VersionChanges]:
    found: list[VersionChanges] = []
    for newer, older in zip(versions, [*versions[1:], None], strict=True):
        now, before = read_document(newer), read_document(older) if older else None
        is_readable = now is not None and (older is None or before is not None)
        found.append(
            VersionChanges(
                version=newer.version, digest=newer.digest, before=older.version if older else None,
                changes=differences(before, now) if before is not None and now is not None else [],
                is_readable=is_readable,
            )
        )  # fmt: skip
    return found


def _fields(fields: Any, above: str = "") -> Iterator[FieldAnswer]:
    for spec in _parts(fields):
        path = f"{above}.{spec.get('name')}" if above else str(spec.get("name"))
        yield FieldAnswer(
            path=path, type=str(spec.get("type", "")), description=_text(spec.get("description")),
            required=bool(spec.get("required")), unique=bool(spec.get("unique")),
            rules=[f"{name}: {compact(value)}" for name, value in spec.items() if name not in _FIELD_FACTS],
            tags=_texts(spec.get("sensitivity_tags")),
        )  # fmt: skip
        yield from _fields(spec.get("fields"), path)


def _rules(document: Document) -> Iterator[RuleAnswer]:
    for key in _parts(document.get("keys")):
        columns = _texts(key.get("columns"))
        yield _rule("+".join(columns) + "|unique", "key", key, ("columns",))
    for kind in _QUALITY_RULES:
        for rule in _parts(_part(document.get("quality")).get(kind)):
            yield _rule(str(rule.get("name", "")), kind.replace("_", " ").removesuffix("s"), rule, ("name",))
    for rule in _parts(document.get("rules")):
        yield _rule(str(rule.get("name") or rule.get("type", "")), "plan rule", rule, ("name",))


def _rule(name: str, kind: str, rule: Document, left_out: tuple[str, ...]) -> RuleAnswer:
    said = [str(rule["sql"])] if "sql" in rule else []
    said += [f"{key}: {compact(value)}" for key, value in rule.items() if key not in (*left_out, "severity", "sql")]
    return RuleAnswer(name=name, kind=kind, severity=str(rule.get("severity", "error")), text="; ".join(said))


def _settings(document: Document) -> Iterator[tuple[str, str]]:
    for name in _SETTINGS:
        yield from _leaves(name, document.get(name))
    quality = _part(document.get("quality"))
    yield from _leaves("quality", {name: value for name, value in quality.items() if name not in _QUALITY_RULES})


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves(f"{path}.{name}", each)
    elif value is not None:
        yield path, compact(value)


def _parts(value: Any) -> list[Document]:
    """The parts of a list; a document that someone edited may hold anything."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _part(value: Any) -> Document:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _owner(owner: Any) -> str | None:
    if not isinstance(owner, dict):
        return None
    return ", ".join(str(owner[name]) for name in ("team", "contact") if owner.get(name)) or None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
