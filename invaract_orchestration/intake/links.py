"""Links of a contract: where their rows are, and what they hold, as part of what a submission is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from invaract_orchestration.contract.model import Link
from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.column_names import fold
from invaract_orchestration.intake.csv_header import FileHeader
from invaract_orchestration.intake.digests import digest_files
from invaract_orchestration.intake.listing import ListedFile, Listing, list_files, verify_unchanged
from invaract_orchestration.intake.wording import quoted

_FORMATS = {"csv": "csv", "tsv": "csv", "txt": "csv", "json": "json", "jsonl": "json", "ndjson": "json", "parquet": "parquet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRows:
    """What is read for one link: its files, or a Delta table's place with its version."""

    link: Link
    format: str
    files: tuple[ListedFile, ...] = ()
    table: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The links of a batch, the digest of what they hold, and how to see later that they are still the same."""

    rows: tuple[LinkRows, ...]
    digest: str
    verify: Callable[[], None]


def check_link_header(link: str, header: FileHeader) -> None:
    """Raises InputUnreadable where the columns of a link cannot be told: no header, or a name that is there twice."""
    names = [fold(name) for name in header.names]
    twice = next((name for name, folded in zip(header.names, names, strict=True) if names.count(folded) > 1), None)
    problem = header.problems[0].sentence if header.problems else f"column {quoted(twice)} is there twice" if twice else None
    if problem is not None:
        raise InputUnreadable(f"the link {link!r}: {problem}", hint="letter case does not make two names" if twice else None)


def receive_links(
    links: tuple[Link, ...], base: Path, table_place: Callable[[str], str], table_version: Callable[[str], int | None]
) -> Links:  # fmt: skip
    """Find every link, and take the digests of files and the versions of tables.

    Raises:
        InputUnreadable: nothing is there, or a file cannot be read.
    """
    rows: list[LinkRows] = []
    parts: list[object] = []
    listings: list[tuple[Listing, str]] = []
    for link in links:
        format_ = link.format or _FORMATS.get(link.location.lower().removesuffix(".gz").rpartition(".")[2], "delta")
        if format_ == "delta":
            place = table_place(link.location)
            version = table_version(place)
            if version is None:
                raise InputUnreadable(
                    f"link {link.name!r}: there is no Delta table at its location", code="input.missing",
                    hint="check the place; a file's format follows its name, or is said in links.format",
                )  # fmt: skip
            rows.append(LinkRows(link=link, format=format_, table=place, version=version))
            parts.append([link.name, place, version])
            continue
        listing = list_files(link.location, base=base)
        listings.append((listing, link.location))
        rows.append(LinkRows(link=link, format=format_, files=listing.files))
        parts.append([link.name, sorted((d.name, d.digest) for d in digest_files(listing.files))])
    digest = hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()

    def verify() -> None:
        for listing, location in listings:
            verify_unchanged(listing, location, base)

    return Links(rows=tuple(rows), digest=digest, verify=verify)
