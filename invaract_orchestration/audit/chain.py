"""The hash chain of the audit: every event names the one before it and the rows it put on record.

An event's hash covers its own content, the hash of the event before it, and a digest of every other row written with
it, so that an edited, removed, reordered or smuggled-in row no longer fits. The chain finds such a change; it cannot
prevent it, and whoever may rewrite the whole store may rewrite the whole chain. Against that, note the head elsewhere
and give it to `verify`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

Scalar = str | int | datetime | None
Row = Mapping[str, Scalar]


def canonical_json(value: object) -> str:
    """JSON of one spelling: keys sorted, no spaces, ASCII alone."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def utc_text(at: datetime) -> str:
    """A moment in UTC with microseconds, of fixed width: it sorts as text the way it does in time."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").zfill(27)


def row_digest(row: Row) -> str:
    """The digest of a row as it is stored; times count as UTC with microseconds, booleans as 0 and 1."""
    return hashlib.sha256(canonical_json({name: _stored(value) for name, value in row.items()}).encode()).hexdigest()


def _stored(value: Scalar) -> str | int | None:
    if isinstance(value, datetime):
        return utc_text(value)
    if isinstance(value, bool):
        return int(value)
    return value if value is None or isinstance(value, str | int) else repr(value)  # somebody changed it by hand


def first_hash(store_id: str) -> str:
    """What the first event of a store follows; events of another store do not fit behind it."""
    return hashlib.sha256(f"invaract audit {store_id}".encode()).hexdigest()


def link_hash(previous: str, content: Row) -> str:
    """The hash of an event with this content that follows the event with hash `previous`."""
    return hashlib.sha256(f"{previous} {row_digest(content)}".encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The last link of a store's chain. Written down elsewhere, it shows later whether history was rewritten."""

    store_id: str
    position: int
    hash: str

    def __str__(self) -> str:
        return f"{self.position}:{self.hash}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An event as it is stored now. `covers` are the digests it recorded, `found` those of the same rows now.

    A row that `covers` names and `found` lacks is gone; one that `found` alone names was not there.
    """

    position: int
    previous: str
    hash: str
    content: Row
    covers: Mapping[str, str]
    found: Mapping[str, str]


class ChainSource(Protocol):
    """What a verification reads; all of it from one snapshot."""

    def head(self) -> Head | None:
        """The recorded head; null when it is gone."""

    def links(self) -> Iterator[Link]:
        """Every event by position."""

    def position_of(self, link: str) -> int | None:
        """The position of the event with this hash; null when there is none."""

    def strays(self, covered: frozenset[str]) -> Iterator[str]:
        """Places of rows that no event covers."""

    def stale_states(self) -> Iterator[str]:
        """Places of derived states that differ from the last event of their attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that does not fit; `place` is the table and the key of the row."""

    kind: Literal["edited", "removed", "reordered", "added"]
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}: {self.message}"


def verify(source: ChainSource, *, expected_head: str | None = None) -> tuple[Finding, ...]:
    """Every row that was edited, removed, reordered or added behind the gate's back; none: the record is whole.

    `expected_head` is a head noted earlier (`position:hash`): the chain must still pass through it.
    """
    head = source.head()
    walk = _Walk(source, head)
    for link in source.links():
        walk.take(link)
    walk.finish(head, expected_head)
    return tuple(walk.findings.values())


class _Walk:
    """One pass over the chain, in order."""

    def __init__(self, source: ChainSource, head: Head | None) -> None:
        self.findings: dict[tuple[str, str], Finding] = {}
        self._source = source
        self._covered: set[str] = set()
        self._passed: dict[int, str] = {}
        self._position = 0
        self._first = self._hash = first_hash(head.store_id) if head else None
        self._is_sound = True
        self._expected: str | None = None

    def take(self, link: Link) -> None:
        if link.position < 1:
            self._find("added", _event(link.position), "the first event has number 1")
            return
        self._check_order(link)
        is_sound = link_hash(link.previous, link.content) == link.hash
        if not is_sound:
            self._find("edited", _event(link.position), "its content is not what its hash was made over")
        self._check_rows(link)
        self._position, self._hash, self._is_sound = link.position, link.hash, is_sound

    def finish(self, head: Head | None, expected_head: str | None) -> None:
        self._check_head(head)
        for place in self._source.strays(frozenset(self._covered)):
            self._find("added", place, "no event records it")
        for place in self._source.stale_states():
            self._find("edited", place, "it differs from what is recorded of the attempt")
        if expected_head is not None:
            self._check_expected(expected_head)

    def _check_order(self, link: Link) -> None:
        if link.position > self._position + 1:
            self._find("removed", _events(self._position + 1, link.position - 1), "the numbering has a gap here")
        elif self._hash is not None and link.previous != self._hash:
            self._check_misfit(link)

    def _check_misfit(self, link: Link) -> None:
        predecessor = self._source.position_of(link.previous)
        if predecessor is not None:
            self._find("reordered", _event(link.position), f"it was recorded right after event {predecessor}")
        elif self._position == 0:
            self._find("removed", _event(link.position), "it is not the first event of this store")
        elif self._is_sound:
            self._find(
                "edited", _event(self._position),
                f"event {link.position} followed another one: this was replaced, or one between them is gone",
            )  # fmt: skip

    def _check_rows(self, link: Link) -> None:
        self._covered.update(link.covers)
        for place, digest in link.covers.items():
            if place not in link.found:
                self._find("removed", place, f"event {link.position} recorded it")
            elif link.found[place] != digest:
                self._find("edited", place, f"it is not what event {link.position} recorded")
        for place in link.found.keys() - link.covers.keys():
            self._find("added", place, f"event {link.position} did not record it")

    def _check_head(self, head: Head | None) -> None:
        if head is None:
            self._find("removed", "chain_head", "the store does not say where its chain ends")
        elif head.position > self._position:
            self._find("removed", _events(self._position + 1, head.position), "the chain once ended after it")
        elif head.position < self._position:
            self._find("added", _events(head.position + 1, self._position), "the chain ends before it")
        elif self._hash != head.hash:
            self._find("edited", "chain_head", "it is not the hash of the last event")

    def _check_expected(self, expected: str) -> None:
        position, _, link = expected.partition(":")
        if position == "0" and link == self._first:
            return  # noted when nothing was recorded yet
        found = self._source.position_of(link)
        if found is None:
            self._find("removed", f"event {position}", "the chain does not pass through the head noted earlier")
        elif str(found) != position:
            self._find("reordered", f"event {position}", f"the head noted earlier is event {found} now")

    def _find(self, kind: Literal["edited", "removed", "reordered", "added"], place: str, message: str) -> None:
        # several events may cover one row: the first that does not fit is enough
        self.findings.setdefault((kind, place), Finding(kind=kind, place=place, message=message))


def _event(position: int) -> str:
    return f"event {position}"


def _events(first: int, last: int) -> str:
    return _event(first) if first == last else f"events {first} to {last}"
