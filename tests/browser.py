"""A real browser for tests: Debian's Chromium, driven by Playwright, with axe to judge whether people can use what it shows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or ""
FLAGS = [
    "--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDTHS = {"desk": 1280, "phone": 390}

marks = [
    pytest.mark.skipif(not CHROMIUM, reason="needs chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""For every module that opens one."""


@contextmanager
def open_browser() -> Iterator[Any]:
    """Chromium, until the end of the block."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


class Tab:
    """A page of the browser that notes whatever it complains of."""

    def __init__(self, browser: Any, *, width: str = "desk", scheme: str = "light", state: Any = None) -> None:
        viewport = {"width": WIDTHS[width], "height": 800}
        self.context = browser.new_context(viewport=viewport, color_scheme=scheme, storage_state=state)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", self._note_failure)
        self.page.on("dialog", self._note_dialog)

    def _note_failure(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page was left while its icon was still on the way
            self.complaints.append(request.url)

    def _note_dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def __enter__(self) -> Tab:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def barriers(frame: Any, *, but: Sequence[str] = ()) -> list[str]:
    """What keeps people from using a page, by axe's rules: contrast, labels, landmarks, headings, and the rest of WCAG."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(frame).response["violations"]
    return [f"{each['id']}: {node['target']}" for each in found if each["id"] not in but for node in each["nodes"]]
