"""A contract as it is recorded, with its versions."""

from __future__ import annotations

from typing import Any, Literal

from invaract_orchestration.ui.answers.answer import Answer
from invaract_orchestration.ui.answers.standing import ContractOverview


class FieldAnswer(Answer):
    """A field of a contract; `rules` says all that it promises besides its type."""

    path: str
    type: str
    description: str | None
    required: bool
    unique: bool
    rules: list[str]
    tags: list[str]


class RuleAnswer(Answer):
    """A rule beyond those of single fields."""

    name: str
    kind: str
    severity: str
    text: str


class Change(Answer):
    """One difference between two versions."""

    kind: Literal["added", "removed", "changed"]
    path: str
    before: str | None
    after: str | None


class VersionChanges(Answer):
    """What a version changed against the one before; null without one."""

    version: str
    digest: str
    before: str | None
    changes: list[Change]
    is_readable: bool = True


class ContractAnswer(Answer):
    """A contract as its newest recorded version says it, and its history."""

    contract: str
    version: str
    digest: str
    status: str
    description: str | None
    owner: str | None
    consumers: list[str]
    settings: list[tuple[str, str]]
    fields: list[FieldAnswer]
    rules: list[RuleAnswer]
    versions: list[VersionChanges]
    standing: list[ContractOverview]
    is_readable: bool


class ContractDocument(Answer):
    """One version of a contract in its canonical form."""

    contract: str
    version: str
    digest: str
    document: dict[str, Any]
