"""A page in which a person points at what is laid out, on the server of `feltwatch calibrate`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
from playwright.sync_api import Browser

from tests.surveillance.web.tools_made import SAMPLE, Watched


@contextmanager
def calibrate_page(browser: Browser, source: Path, table: Path) -> Iterator[Watched]:
    """The page that `feltwatch calibrate` opens for a recording or an image and a table."""
    command = [sys.executable, "-m", "surveillance", "calibrate", str(source),
               "--table", str(table), "--port", "0", "--no-open"]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=SAMPLE.parent,
        env=os.environ | {"COLUMNS": "400"},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            found = re.search(r"(http://127\.0\.0\.1:\d+)(/\S+)", process.stdout.readline())
            assert found
            opened = browser.new_page(viewport={"width": 1366, "height": 768})
            watched = Watched(opened, found[1])
            opened.goto(found[0])
            yield watched
            opened.close()
            watched.assert_calm()
        finally:
            process.terminate()


@contextmanager
def laid_page(browser: Browser, table: Path, frame: np.ndarray, link: str) -> Iterator[Watched]:
    """The page behind a link of the calibration, with an image of that table."""
    image = table.parent / "laid.png"
    cv2.imwrite(str(image), frame)
    with calibrate_page(browser, image, table) as watched:
        watched.page.click(f"text={link}")
        watched.page.wait_for_selector("body[data-editor=ready]")
        watched.until("document.querySelector('#canvas image')")
        yield watched


def window_point(page: Watched, at_px: list[float]) -> tuple[float, float]:
    """Where the window shows a point of the picture."""
    x, y = page.page.evaluate(
        """([x, y]) => {
            const at = new DOMPoint(x, y).matrixTransform(
                document.getElementById('canvas').getScreenCTM());
            return [at.x, at.y];
        }""",
        at_px,
    )
    return x, y
