"""A real Chromium for tests: Debian's, or what CHROMIUM names; without one they are skipped."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

CHECKS = Path(__file__).with_name("browser_checks.js").read_text("utf-8")
# A page that is there within a second is not on a machine that does much else.
PATIENCE = 120_000  # milliseconds; it ends a test that hangs
expect.set_options(timeout=60_000)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_chromium() -> str | None:
    """The browser's program: that of the environment, or one on the path."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window; skips the test where there is none or it does not start."""
    program = find_chromium()
    if program is None:
        pytest.skip("no browser found: apt-get install chromium, or name one in CHROMIUM")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
        except Error as error:
            pytest.skip(f"the browser {program} does not start: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


class Watched:
    """A page, and what went wrong on it: errors, warnings, requests to elsewhere."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.said: list[str] = []
        self.elsewhere: list[str] = []
        page.on("console", lambda message: self._hear(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self._note(request.url))

    def _hear(self, said: str) -> None:
        # htmx says so of a request that a newer one replaced; those that fail, it names otherwise.
        if not said.startswith(("error: htmx:afterRequest,", "error: htmx:sendAbort,")):
            self.said.append(said)

    def _note(self, url: str) -> None:
        if not url.startswith((self.base, "data:")):
            self.elsewhere.append(url)

    def open(self, path: str) -> Page:
        """The page at a path, when it has come to rest."""
        self.page.goto(self.base + path, wait_until="load", timeout=PATIENCE)
        self.rest()
        return self.page

    def rest(self) -> None:
        """Wait for what a page asks for once it is there: the trial of a definition."""
        expect(self.page.locator(".htmx-request")).to_have_count(0)

    def check(self, name: str) -> Any:
        """What a function of browser_checks.js says of the page."""
        return self.page.evaluate(f"({CHECKS}).{name}()")

    def violations(self) -> list[str]:
        """The rules of axe-core that the page breaks, with the elements that do."""
        script = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
        # Not by a script element, which the page's content policy would refuse.
        self.page.evaluate(script)
        found = self.page.evaluate("axe.run({ resultTypes: ['violations'] })")
        return [
            f"{rule['id']}: {node['html']}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]
