"""The JARs are fetched by one process at a time, and by nobody who has them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from invaract_orchestration.engines.spark import jars

NAME = "io.delta_" + jars.PACKAGES.split(":", 1)[1].replace(":", "-") + ".jar"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(jars, "_IVY", tmp_path / "ivy")
    return tmp_path / "ivy" / "jars"


def test_second_process_waits_for_the_one_that_fetches(cache: Path) -> None:
    fetching, fetched, said = Event(), Event(), []

    def fetch() -> None:
        with jars.fetched_once(None):
            fetching.set()
            assert fetched.wait(20)
            said.append("first")

    def wait() -> None:
        with jars.fetched_once(None):
            said.append("second")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fetch)
        assert fetching.wait(20)
        second = pool.submit(wait)
        with pytest.raises(TimeoutError):
            second.result(0.3)
        fetched.set()
        first.result(20)
        second.result(20)
    assert said == ["first", "second"]


@pytest.mark.parametrize("folder", [None, "own"])
def test_nobody_waits_for_jars_that_are_there(cache: Path, tmp_path: Path, folder: str | None) -> None:
    place = cache if folder is None else tmp_path / folder
    place.mkdir(parents=True)
    (place / NAME).touch()
    at = None if folder is None else str(place)
    with jars.fetched_once(at), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: jars.fetched_once(at).__enter__()).result(20) is None
    assert not (cache.parent / "invaract.lock").exists()


def test_place_that_cannot_be_written_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(jars, "_IVY", tmp_path / "file" / "ivy")
    with jars.fetched_once(None), pytest.raises(OSError, match="of the block"):
        raise OSError("of the block")
