"""Writes `docs/images/report.png`, the first screen of the demo's report on wine: `python -m tests.report_picture`."""

from __future__ import annotations

import tempfile
from base64 import b64decode
from io import BytesIO
from pathlib import Path

from PIL import Image

from congruence.cli import showcase
from tests.browser import Browser

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        showcase.pages(Path(folder), ["wine"])
        browser.size(1280, 900)
        browser.send("Emulation.setScrollbarsHidden", hidden=True)
        browser.open(Path(folder) / "wine.html")
        shot = browser.send("Page.captureScreenshot")["data"]
        Image.open(BytesIO(b64decode(shot))).convert("RGB").quantize(256).save(PICTURE, optimize=True)
