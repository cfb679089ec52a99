"""`invaract demo`: a year of real flights through the gate."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.cli.console import to_stdout
from invaract_orchestration.errors import UsageError

_MARK = "this-folder-belongs-to-invaract-demo"


def demo(
    *, folder: Annotated[str, Parameter(help="where to deliver and publish; emptied first")] = ".demo"
) -> int:  # fmt: skip
    """Publish a year of real flights under two contracts, good months and bad ones."""
    from invaract_orchestration.cli.history import print_attempts
    from invaract_orchestration.demo.story import Story
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import open_audit, open_gate

    started, place = time.monotonic(), Path(folder)
    _empty(place)
    lake = place.absolute() / "lake"
    settings = replace(read_settings({}), lake_root=lake, audit_url=f"sqlite:///{lake / '_invaract' / 'audit.db'}")
    with open_gate(settings) as gate:
        story = Story(gate=gate, folder=place, contracts=_contracts(), tell=to_stdout)
        story.run()
    to_stdout(f"\n4. What is on record ({time.monotonic() - started:.0f} s after the start)\n")
    with open_audit(settings, read_only=True) as audit:
        print_attempts(audit.attempts(limit=len(story.results)))
    _where_to_look(place, [r.attempt_id for r in story.results if r.state == "rejected"])
    return 0


def _where_to_look(place: Path, rejected: list[str]) -> None:
    contracts, program = _near(_contracts()), _program()
    to_stdout(f"""
Where to look:
    export INVARACT_LAKE_ROOT={place / "lake"}
    {program} status
    {program} show {rejected[0][:10]}
    {program} quarantine list {contracts}/departures.yaml
    {program} quarantine show {contracts}/departures.yaml --limit 3
    {program} audit verify
The contracts are in {contracts}/, what was delivered in {place / "landing"}/, the tables in {place / "lake"}/.""")


def _program() -> str:
    """How this program was called, or can be."""
    called = Path(sys.argv[0])
    is_on_path = shutil.which("invaract") == str(called.absolute())
    return _near(called) if called.name == "invaract" and not is_on_path else "invaract"


def _near(path: Path) -> str:
    """A path as it is written from here, when it is below."""
    here = Path.cwd()
    return str(path.absolute().relative_to(here)) if path.absolute().is_relative_to(here) else str(path)


def _empty(place: Path) -> None:
    """An empty folder with our mark. A folder that is not ours is never emptied."""
    if place.exists():
        if any(place.iterdir()) and not (place / _MARK).exists():
            raise UsageError(f"{place} holds something that is not a demonstration's", hint="name another --folder")
        shutil.rmtree(place)
    place.mkdir(parents=True)
    (place / _MARK).touch()


def _contracts() -> Path:
    """The worked examples: of the working copy, or of the installed package."""
    package = Path(__file__).parents[1]
    beside = package.parent / "contracts"
    return beside if (beside / "flights.yaml").is_file() else package / "contracts"
