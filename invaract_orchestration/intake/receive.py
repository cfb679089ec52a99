"""Receiving a batch: which files or which table version, and the digest that makes it one closed submission."""

from __future__ import annotations

import glob
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from invaract_orchestration.contract.model import Contract, Source, SourceOptions
from invaract_orchestration.errors import InputUnreadable, UsageError
from invaract_orchestration.intake.batch import Batch, BatchFile
from invaract_orchestration.intake.digests import digest_files, intake_digest, linked_digest, query_digest, tables_digest
from invaract_orchestration.intake.identity import slice_digest, submission_id
from invaract_orchestration.intake.json_shape import json_shape
from invaract_orchestration.intake.links import Links, receive_links
from invaract_orchestration.intake.listing import ListedFile, Listing, list_files, verify_unchanged
from invaract_orchestration.intake.parameters import check_identifier, check_parameters, fill, placeholders
from invaract_orchestration.intake.query_tables import QueryTable, resolve_tables
from invaract_orchestration.intake.text_files import check_utf8_start
from invaract_orchestration.intake.transform import Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedFile:
    """A file's name, size in bytes, time of last change and content digest."""

    name: str
    size: int
    modified: datetime
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What a submission is for: contract, target and parameters."""

    contract: str
    target: str
    parameters: Mapping[str, str]

    @property
    def digest(self) -> str:
        """The slice's identity; the order of parameters does not matter."""
        return slice_digest(self.contract, self.target, self.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A batch with its identity, and how to see later that it is still the same."""

    batch: Batch
    files: tuple[ReceivedFile, ...]
    intake_digest: str
    submission_id: str
    verify: Callable[[], None]


def parameterised_texts(contract: Contract, target: str | None, location: str | None) -> list[str]:
    """The texts in which a contract's `{name}`s stand, with the target and the source's location of a call."""
    publish = contract.publish
    texts = [location, target, publish.where if publish else None, contract.source.sql if contract.source else None]
    texts += [*(publish.partition.values() if publish else ()), *(link.location for link in contract.links)]
    return [text for text in texts if text]


def slice_of(contract: Contract, target: str, parameters: Mapping[str, str], location: str | None) -> Slice:
    """The slice of a call, with ids and parameters checked before they become part of any name.

    Raises:
        UnsafeName: a parameter that could leave its place.
        UsageError: a parameter that is missing, or that nothing uses.
    """
    texts = parameterised_texts(contract, target, location)
    own = contract.source.location if contract.source else None
    if own is not None and set(placeholders(own)) <= set(parameters):
        texts.append(own)  # other files stand for this slice: its parameters are used all the same
    check_parameters(parameters, *texts)
    return Slice(contract=contract.contract, target=fill(target, parameters), parameters=dict(parameters))


def receive(
    contract: Contract, own: Slice, *, location: str | None, frame: Any, given_id: str | None,
    table_version: Callable[[str], int | None], table_place: Callable[[str], str],
) -> Received:  # fmt: skip
    """List and digest the batch of a slice.

    Raises:
        InputUnreadable: nothing is there, or a file cannot be read.
        UsageError: no source is named, or a frame comes without an id.
    """
    if given_id is not None:
        check_identifier("submission id", given_id)
    received = _source(contract, own, location, frame, given_id, table_version, table_place)
    if not contract.links:
        return received
    placed = tuple(link.model_copy(update={"location": fill(link.location, own.parameters)}) for link in contract.links)
    links = receive_links(placed, contract.base or Path.cwd(), table_place, table_version)
    return _with_links(received, links, own, given_id)


def _with_links(received: Received, links: Links, own: Slice, given_id: str | None) -> Received:
    """The batch with its links: what they hold is part of what it is."""
    verify = received.verify

    def verify_all() -> None:
        verify()
        links.verify()

    digest = received.intake_digest
    if not digest.startswith("given:"):
        digest = linked_digest(digest, links.digest)
    return replace(
        received, batch=replace(received.batch, links=links.rows), intake_digest=digest, verify=verify_all,
        submission_id=given_id or submission_id(own.digest, digest),
    )  # fmt: skip


def _source(
    contract: Contract, own: Slice, location: str | None, frame: Any, given_id: str | None,
    table_version: Callable[[str], int | None], table_place: Callable[[str], str],
) -> Received:  # fmt: skip
    source = contract.source or Source(format=format_of(location), options=SourceOptions(shape="any"))
    if frame is not None:
        return _frame(source, frame, given_id)
    if source.format == "sql":
        return _query(source, own, given_id, table_version, table_place)
    place = location or source.location
    if place is None:
        raise UsageError(
            f"contract {contract.contract}: no source is named",
            hint="add source.location, or name the files with --source",
        )
    filled = fill(place, own.parameters)
    if source.format in ("delta", "table"):
        return _table(source, own, table_place(filled), given_id, table_version)
    return _files(source, own, filled, contract.base or Path.cwd(), given_id)


def transformed(received: Received, transform: Transform | None) -> Received:
    """The batch with a function over its rows. The function is no part of what the batch is: the same rows are the same
    submission. One that finds its rows itself stands where a frame does.
    """
    if transform is None:
        return received
    frame = received.batch.frame if transform.takes_rows else None
    return replace(received, batch=replace(received.batch, frame=frame, transform=transform))


def unreadable_id(own: Slice) -> str:
    """An id for a batch that could not be read, so that the attempt is on record too."""
    return submission_id(own.digest, f"unreadable:{uuid.uuid4().hex}")


def format_of(location: str | None) -> Literal["csv", "json", "parquet"]:
    """The format that a file's name says, for a contract that names no source."""
    ending = (location or "").lower().removesuffix(".gz").rpartition(".")[2]
    return "json" if ending in ("json", "jsonl", "ndjson") else "parquet" if ending == "parquet" else "csv"


def _files(source: Source, own: Slice, location: str, base: Path, given_id: str | None) -> Received:
    listing: Listing = list_files(location, base=base)
    if source.format == "json":
        check_utf8_start(listing.files)
    if source.format == "json" and source.options.shape == "any":
        source = source.model_copy(update={"options": source.options.model_copy(update={"shape": json_shape(listing.files)})})
    digests = digest_files(listing.files)
    digest = intake_digest(digests)
    return Received(
        batch=Batch(source=source, files=tuple(BatchFile(file=f) for f in listing.files)),
        files=tuple(
            ReceivedFile(name=d.name, size=d.size, modified=_aware(f.modified_ns), digest=d.digest)
            for d, f in zip(digests, listing.files, strict=True)
        ),
        intake_digest=digest,
        submission_id=given_id or submission_id(own.digest, digest),
        verify=lambda: verify_unchanged(listing, location, base),
    )


def _table(
    source: Source, own: Slice, place: str, given_id: str | None, table_version: Callable[[str], int | None]
) -> Received:
    version = table_version(place)
    if version is None:
        raise InputUnreadable(
            "there is no Delta table at source.location",
            hint="check the place and its permissions; what has a slash is a path (./orders), anything else the name of a table",
        )
    digest = tables_digest({"source": version, place: version})
    return Received(
        batch=Batch(source=source, table=place, table_version=version), files=(), intake_digest=digest,
        submission_id=given_id or submission_id(own.digest, digest), verify=lambda: None,
    )  # fmt: skip


def _query(
    source: Source, own: Slice, given_id: str | None, table_version: Callable[[str], int | None],
    table_place: Callable[[str], str],
) -> Received:  # fmt: skip
    """A query over tables is one closed batch: the versions of its tables, their files and its text are its content."""
    sql = fill(source.sql or "", own.parameters)
    tables = resolve_tables(sql, source.inputs, table_place, table_version, _parquet_files)
    versions = {f"{t.name} at {t.place}": t.version for t in tables if t.version is not None}
    content = {t.name: digest_files(t.files) for t in tables if t.version is None}
    if given_id is None and not tables:
        raise UsageError(
            "a batch from a query without tables needs an id of its own",
            hint="give --submission-id; the orchestrators give one from asset and partition, or from dag, task and date",
        )
    digest = query_digest(sql, versions, content) if tables else f"given:{given_id}"
    return Received(
        batch=Batch(source=source, query=sql, tables=tables), files=(), intake_digest=digest,
        submission_id=given_id or submission_id(own.digest, digest), verify=lambda: _verify_tables(tables),
    )  # fmt: skip


def _parquet_files(place: str) -> tuple[ListedFile, ...]:
    """The Parquet files of a table of a query; none where nothing of the kind is input there."""
    try:
        return list_files(_parquet_location(place), base=Path("/")).files
    except InputUnreadable as problem:
        if problem.code not in ("input.missing", "input.none_readable"):
            raise
        return ()


def _verify_tables(tables: Sequence[QueryTable]) -> None:
    """Raises InputUnreadable where the files of a table are no longer those that were received."""
    for table in tables:
        if table.version is None:
            verify_unchanged(Listing(root=table.place, files=table.files), _parquet_location(table.place), Path("/"))


def _parquet_location(place: str) -> str:
    path = Path(place).absolute()
    return str(path) if path.suffix == ".parquet" and path.is_file() else f"{glob.escape(str(path))}/**/*.parquet"


def _frame(source: Source, frame: Any, given_id: str | None) -> Received:
    if given_id is None:
        raise UsageError("a frame handed in needs a submission id", hint="name the batch it stands for")
    typed = source.model_copy(update={"format": "sql", "sql": "handed in"})
    return Received(
        batch=Batch(source=typed, frame=frame), files=(), intake_digest=f"given:{given_id}", submission_id=given_id,
        verify=lambda: None,
    )  # fmt: skip


def _aware(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds // 1000 / 1_000_000, UTC)
