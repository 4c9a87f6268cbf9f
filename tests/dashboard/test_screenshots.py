"""Screenshots of documents: NEWSCRAWL_SCREENSHOTS=docs/img stores them there."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from PIL import Image
from playwright.sync_api import Browser

from tests.browsers import Watched, chromium
from tests.dashboards import HELD, TRAM, dashboard
from tests.serving import served
from tests.site.crawling import PROJECT

FOLDER = os.environ.get("NEWSCRAWL_SCREENSHOTS")
IMAGES = Path(__file__).parents[2] / "docs" / "img"
LARGEST = 150_000  # bytes
QUERY = "(tram OR ferry) NEAR/10 (harbour OR quay) NOT football"
SHOTS = {
    "overview": ("/", 1180, 900),
    "company": ("/company/Siemens?split=source", 1180, 1160),
    "company-dark": ("/company/Airbus?count=mentions", 1180, 860),
    "compare": ("/compare?company=Airbus&company=Boeing&company=Siemens", 1180, 1000),
    "report": ("/report?company=Siemens&company=Airbus&company=Boeing", 900, 1150),
    "report-company": ("/report?company=Siemens", 900, 1180),
    "proof": ("/proof?counted=mentions&company=Siemens&source=harbour-courier", 1180, 900),
    "article": (f"/article?url={quote(TRAM, safe='')}", 1180, 900),
    "quarantine": ("/quarantine", 1180, 480),
    "held": (f"/article?url={quote(HELD, safe='')}", 1180, 1000),
    "sources": ("/sources", 1180, 640),
    "alerts": ("/alerts", 1180, 760),
    "search": ("/search?q=harbour+siemens", 1180, 700),
    "query": (f"/queries/edit?text={quote(QUERY)}", 1180, 800),
    "editor": ("/registry/edit?name=Siemens", 1180, 860),
    "phone": ("/company/Siemens", 390, 1060),
}


def test_docs_show_every_screenshot():
    text = IMAGES.parent.joinpath("dashboard.md").read_text("utf-8")
    assert set(re.findall(r"img/dashboard-([\w-]+)\.png", text)) == SHOTS.keys()
    files = {file.name for file in IMAGES.glob("dashboard-*.png")}
    assert files == {f"dashboard-{name}.png" for name in SHOTS}
    assert max((IMAGES / name).stat().st_size for name in files) < LARGEST


@pytest.mark.thorough
def test_screenshots_can_be_made(tmp_path):
    folder = Path(FOLDER).absolute() if FOLDER else tmp_path
    # The papers are all decent here, and there is a period before the last.
    with dashboard(tmp_path, days=75, hostile=False) as url, chromium() as browser:
        for name, (path, width, height) in SHOTS.items():
            file = folder / f"dashboard-{name}.png"
            _take(browser, url, path, (width, height), file)
            assert 10_000 < file.stat().st_size < LARGEST


@pytest.mark.thorough
def test_picture_of_the_demo_can_be_made(tmp_path):
    demo = [sys.executable, "-m", "tests.site.demo", str(tmp_path)]
    subprocess.run(demo, cwd=PROJECT, check=True, capture_output=True)
    file = (Path(FOLDER).absolute() if FOLDER else tmp_path) / "demo-company.png"
    with served(tmp_path, "--database", "sqlite:///demo.sqlite") as url, chromium() as browser:
        _take(browser, url, "company/Siemens", (1180, 780), file)
    assert 10_000 < file.stat().st_size < LARGEST


def _take(browser: Browser, url: str, path: str, size: tuple[int, int], file: Path) -> None:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if file.stem.endswith("dark") else "light",
    )
    page = Watched(context.new_page(), url).open(path)
    page.wait_for_timeout(500)
    page.screenshot(path=file)
    context.close()
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(
            256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )
    few.save(file, optimize=True)
