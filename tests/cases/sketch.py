"""A case folder: a neutral sketch of a contract, input, steps in words, and what has to come out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


class NotUnderstood(Exception):
    """Something in a case that the runner cannot read; such a case waits, it never passes."""


@dataclass(frozen=True)
class Case:
    """One folder. `contracts` is contract.yaml and, after it, its variants `contract_*.yaml`."""

    folder: Path
    expected: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.expected.get("id", self.folder.name))

    @property
    def title(self) -> str:
        return str(self.expected.get("title", ""))

    @property
    def kind(self) -> str:
        return str(self.expected.get("kind", ""))

    @property
    def steps(self) -> tuple[str, ...]:
        steps = self.expected.get("steps") or ["run"]
        return tuple(str(s) for s in ([steps] if isinstance(steps, str) else steps))

    @property
    def contracts(self) -> tuple[Path, ...]:
        first = self.folder / "contract.yaml"
        return ((first,) if first.exists() else ()) + tuple(sorted(self.folder.glob("contract_*.yaml")))

    @property
    def inputs(self) -> tuple[Path, ...]:
        return tuple(sorted(p for p in (self.folder / "input").rglob("*") if p.is_file()))

    def file(self, name: str) -> Path | None:
        path = self.folder / name
        return path if path.exists() else None


def read_cases(folder: Path) -> list[Case]:
    """Every folder below that says what it expects."""
    return [
        Case(path.parent, yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in sorted(folder.resolve().glob("*/expected.yaml"))
    ]
