"""How soon the review page shows what a key did, with very many boxes and on large images.

The real page in the Chromium of this machine: from the key to the frame that shows its effect.
"""

from __future__ import annotations

import math
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from benchmarks.room.served import served
from datasets.labelled.manifest import PICTURES, Box, Dataset, NewPicture
from settlement.errors import FeltwatchError
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

STEPS: tuple[tuple[str, dict[str, bool]], ...] = (
    ("Tab", {}), ("ArrowRight", {}), ("ArrowDown", {"shiftKey": True}), (".", {}),
    ("Delete", {}), ("z", {"ctrlKey": True}), ("Tab", {}), ("Tab", {}), ("Escape", {}),
    ("ArrowLeft", {"shiftKey": True}), ("v", {}), ("v", {}), ("v", {}), ("+", {}), ("-", {}),
)  # fmt: skip
"""Keys with what is held: select, move, turn, delete, undo, deselect, hide names, zoom."""

_LABELS = ("AS", "KD", "QH", "2C", "chip")
_PAGE_TIMEOUT_MS = 60_000
_AT_REST_MS = 700

_MEASURE = """async ([key, held]) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  await frame();
  const start = performance.now();
  document.getElementById("stage").dispatchEvent(new KeyboardEvent("keydown", {
    key, bubbles: true, cancelable: true, ...held }));
  await frame();
  return performance.now() - start;
}"""


def bench_review(
    boxes: int,
    width: int,
    height: int,
    repeats: int,
    *,
    report: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Return the times in ms of each step on one image of `width` x `height` px with `boxes`.

    Each repeat is a page loaded again. Raises FeltwatchError without Chromium or playwright.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError as error:
        raise FeltwatchError(
            "the browser cannot be driven: playwright is not installed; try: pip install playwright"
        ) from error
    chromium = next((path for name in CHROMIUMS if (path := shutil.which(name))), None)
    if chromium is None:
        raise FeltwatchError(f"no Chromium on the PATH: install one of {', '.join(CHROMIUMS)}")
    with tempfile.TemporaryDirectory(prefix="feltwatch-bench-") as work:
        folder = crowded_dataset(Path(work, "crowded"), boxes, width, height)
        app = create_app(WebSettings(datasets=(folder,), person="bench"))
        with served(app) as base_url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium)
            try:
                runs = []
                for n in range(repeats):
                    report(f"{boxes:,} boxes on {width} x {height} px, {n + 1} of {repeats}")
                    address = f"{base_url}/datasets/{folder.name}/review?picture=1"
                    runs.append(_step_times(browser, address))
            finally:
                browser.close()
    steps = [_step(*step, [times[n] for times in runs]) for n, step in enumerate(STEPS)]
    return {
        "boxes": boxes,
        "width_px": width,
        "height_px": height,
        "repeats": repeats,
        "worst_median_ms": max(step["median_ms"] for step in steps),
        "worst_ms": max(step["worst_ms"] for step in steps),
        "load_average": round(os.getloadavg()[0], 2),
        "steps": steps,
    }


def crowded_dataset(folder: Path, boxes: int, width: int, height: int) -> Path:
    """Write a dataset of one noise image of `width` x `height` px with so many boxes in rows."""
    across = math.ceil(math.sqrt(boxes * width / height))
    step = width / across
    made = []
    for n in range(boxes):
        left, top = step * (n % across), step * (n // across)
        score = 0.5 if n % 3 else None
        made.append(
            Box(
                _LABELS[n % len(_LABELS)], left + 2, top + 2,
                left + 0.8 * step, top + 0.8 * step, score=score,
            )
        )  # fmt: skip
    noise = np.random.default_rng(3).integers(0, 255, (90, 160, 3), np.uint8)
    jpeg = cv2.imencode(".jpg", cv2.resize(noise, (width, height)))[1].tobytes()
    with Dataset.create(folder, _LABELS) as dataset:
        (folder / PICTURES / "1.jpg").write_bytes(jpeg)
        dataset.add_picture(NewPicture("1.jpg", width, height, sha256="0" * 64), boxes=made)
    return folder


def _step_times(browser: Browser, address: str) -> list[float]:
    """Milliseconds from a key to the frame that shows its effect, for each of `STEPS`."""
    context = browser.new_context(viewport={"width": 1920, "height": 1080})
    try:
        page = context.new_page()
        page.set_default_timeout(_PAGE_TIMEOUT_MS)
        page.goto(address)
        page.wait_for_selector("body[data-ready=true]")
        page.wait_for_timeout(2 * _AT_REST_MS)
        times = []
        for step in STEPS:
            times.append(float(page.evaluate(_MEASURE, list(step))))
            page.wait_for_timeout(_AT_REST_MS)
        page.wait_for_selector("#saved.good")
        return times
    finally:
        context.close()


def _step(key: str, held: dict[str, bool], times: list[float]) -> dict[str, Any]:
    return {
        "key": "+".join([*(name.removesuffix("Key").capitalize() for name in held), key]),
        "median_ms": round(statistics.median(times), 1),
        "worst_ms": round(max(times), 1),
    }
