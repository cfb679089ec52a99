"""The chain itself: its digests never change their form, and no single change of a chain goes unnoticed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from invaract_orchestration.audit.chain import Head, Link, first_hash, link_hash, row_digest, utc_text, verify
from invaract_orchestration.stores import SqlAuditStore
from invaract_orchestration.testing.audit_records import build_attempt, build_event, build_submission
from tests.postgres_server import engine_of


@dataclass(frozen=True, slots=True)
class ListedChain:
    """A chain in a list."""

    recorded: Head
    events: tuple[Link, ...]

    def head(self) -> Head:
        return self.recorded

    def links(self) -> Iterator[Link]:
        return iter(self.events)

    def position_of(self, link: str) -> int | None:
        return next((event.position for event in self.events if event.hash == link), None)

    def strays(self, covered: frozenset[str]) -> Iterator[str]:
        return iter(())

    def stale_states(self) -> Iterator[str]:
        return iter(())


def chain_of(messages: list[str]) -> ListedChain:
    links: list[Link] = []
    previous = first_hash("store")
    for position, message in enumerate(messages, start=1):
        content = {"message": message}
        link = link_hash(previous, content)
        covers = {f"row {position}": message}
        links.append(Link(position=position, previous=previous, hash=link, content=content, covers=covers, found=covers))
        previous = link
    return ListedChain(Head(store_id="store", position=len(links), hash=previous), tuple(links))


chains = st.lists(st.text(max_size=3), min_size=1, max_size=6).map(chain_of)


def changed(chain: ListedChain, index: int, **values: object) -> ListedChain:
    events = list(chain.events)
    events[index] = replace(events[index], **values)
    return replace(chain, events=tuple(events))


@given(chains)
def test_verify_whole_chain_finds_nothing(chain: ListedChain) -> None:
    assert verify(chain) == ()
    for event in chain.events:
        assert verify(chain, expected_head=f"{event.position}:{event.hash}") == ()


@given(chains, st.data())
def test_verify_any_edited_event_is_found(chain: ListedChain, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(chain.events) - 1))
    old = chain.events[index]
    content = {"message": f"{old.content['message']}!"}
    assert verify(changed(chain, index, content=content))
    rehashed = changed(chain, index, content=content, hash=link_hash(old.previous, content))
    assert verify(rehashed)
    assert verify(changed(chain, index, previous="0" * 64))


@given(chains, st.data())
def test_verify_any_removed_event_is_found_renumbered_or_not(chain: ListedChain, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(chain.events) - 1))
    left = chain.events[:index] + chain.events[index + 1 :]
    assert verify(replace(chain, events=left))
    renumbered = tuple(replace(event, position=number) for number, event in enumerate(left, start=1))
    assert verify(replace(chain, events=renumbered))
    head = replace(chain.recorded, position=len(left))
    assert verify(ListedChain(head, renumbered))


@given(chains.filter(lambda chain: len(chain.events) > 1), st.data())
def test_verify_any_two_swapped_events_are_found(chain: ListedChain, data: st.DataObject) -> None:
    first, second = data.draw(st.lists(st.integers(0, len(chain.events) - 1), min_size=2, max_size=2, unique=True).map(sorted))
    events = list(chain.events)
    events[first], events[second] = (
        replace(events[second], position=first + 1), replace(events[first], position=second + 1),
    )  # fmt: skip
    assert "reordered" in {finding.kind for finding in verify(replace(chain, events=tuple(events)))}


@given(chains, st.data())
def test_verify_any_changed_row_is_found_with_its_place(chain: ListedChain, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(chain.events) - 1))
    place = f"row {index + 1}"

    def kinds(found: dict[str, str]) -> list[tuple[str, str]]:
        return [(finding.kind, finding.place) for finding in verify(changed(chain, index, found=found))]

    assert kinds({place: "another digest"}) == [("edited", place)]
    assert kinds({}) == [("removed", place)]
    assert kinds({**chain.events[index].found, "row 9": "x"}) == [("added", "row 9")]


@given(chains)
def test_verify_chain_of_another_store_is_found(chain: ListedChain) -> None:
    assert verify(replace(chain, recorded=replace(chain.recorded, store_id="other")))


def test_finding_reads_as_place_kind_and_reason() -> None:
    (finding,) = verify(changed(chain_of(["a", "b"]), 0, found={}))
    assert str(finding) == "row 1: removed: event 1 recorded it"


def test_digests_keep_their_form() -> None:
    moment = datetime(2026, 3, 2, 0, 30, 0, 7, tzinfo=timezone(timedelta(hours=9)))
    assert utc_text(moment) == "2026-03-01T15:30:00.000007Z"
    assert utc_text(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000000Z"
    digest = row_digest({"b": 1, "a": "é", "at": moment, "yes": True, "none": None})
    assert digest == row_digest({"none": None, "yes": 1, "at": "2026-03-01T15:30:00.000007Z", "a": "é", "b": 1})
    assert digest == "1adee77bb1b021302167ed3b028dffe3ef0d4cea05fa4100c17a27950641ab4f"
    assert link_hash(first_hash("store"), {"message": "m"}) == "b64f033f1a288c33db43adee306f8c1e3a7275daa6dfcd2f87b64c0c45b495ab"


def test_rows_have_one_digest_on_every_database(store: SqlAuditStore, store_url: str) -> None:
    attempt = build_attempt(context={"dag_id": "load"}, environment=None)
    store.open_attempt(build_submission(), attempt, build_event())
    with engine_of(store_url).connect() as connection:
        covers = connection.scalar(text("SELECT covers FROM event"))
    assert covers == (
        '{"attempt att-1":"f30df423bec9bf1ad10c6199820d8f6fe05b808a39db16f85edd5c2e99e92fa2",'
        '"contract_version flights/1.0.0":"c641f7fb5e609075065bb41f56b9639ea2f138986bfc8dc63c7f50af16d86a86",'
        '"submission sub-1":"35e7a8d4926864bbc41ce2944e4e2197642f74f4ab4f2fc75079e5a93d9805f9"}'
    )
