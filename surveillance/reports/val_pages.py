"""Pages of a model's evaluation: figures, confusions, and the worst mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from datasets.labelled.crops import Rgb, cut, data_uri, open_picture
from datasets.labelled.records import Box
from models.evaluate.charts import reliability_chart, steps_chart
from models.evaluate.errors import Mistake
from models.evaluate.robustness import BROKEN, MEASURES
from models.evaluate.rows import (
    FINDING_HEADS,
    calibration_rows,
    finding_rows,
    percent,
    reading_rows,
)
from surveillance.reports.dataset_pages import FIRST, SECOND, write_page

CROP_PX = 260
AROUND = 0.9
"""Margin shown around a mistake's box, in box sides."""

MOST_PAIRS = 14
KIND_WORDS = {
    "wrong name": ("wrong_label", "Read wrong", "highest confidence first"),
    "nothing there": ("extra", "Found where nothing is labelled", "highest confidence first"),
    "missed": ("missing", "Missed", "the plainest to see first"),
}
MEASURE_WORDS = {"recall": "found", "ap50": "AP50", "read_right": "read right"}


def write_val_page(
    figures: dict[str, Any], mistakes: dict[str, list[Mistake]], target: Path
) -> None:
    """Write the page of `feltwatch model val`, one file with all its images."""
    read = figures["end_to_end"]
    values = {
        "figures": figures,
        "tiles": list(_tiles(figures)),
        "heads": FINDING_HEADS,
        "scenes": [
            (name, finding_rows(own["detector"]),
             reading_rows(own["end_to_end"]) if own["end_to_end"] else [])
            for name, own in (("all", figures), *figures["scenes"].items())
        ],
        "limits": read["by_limit"] if read else [],
        "pairs": [
            (what, read["confusions"][what][:MOST_PAIRS])
            for what in ("cards", "ranks", "suits")
            if read and read["confusions"][what]
        ],
        "classes": figures["detector"]["confusions"][:MOST_PAIRS],
        "chart": Markup(reliability_chart(figures["calibration"])),
        "calibration": calibration_rows(figures["calibration"]),
        "kinds": [
            (words, title, order, _cards(mistakes[kind]))
            for kind, (words, title, order) in KIND_WORDS.items()
        ],
        "percent": percent,
    }  # fmt: skip
    write_page("model_val.html.j2", values, target)


def _tiles(figures: dict[str, Any]) -> Iterator[tuple[str, str]]:
    detector, read = figures["detector"], figures["end_to_end"]
    yield "Images", f"{figures['data']['pictures']:,}"
    yield "mAP50, finding", percent(detector["map50"])
    yield "mAP50-95, finding", percent(detector["map50_95"])
    if read:
        work = read["working"]
        yield "mAP50, found and read", percent(read["map50"])
        one_in = work["wrong_one_in"]
        yield "Wrong cards", f"1 in {one_in:,.0f}" if one_in else f"0 in {work['seen']:,}"
        yield "Undecided", percent(work["undecided_share"])
        yield "Labelled and read right", percent(work["read_right_of_labelled"])


def _cards(mistakes: Sequence[Mistake]) -> Iterator[dict[str, Any]]:
    for number, one in enumerate(mistakes, start=1):
        image = open_picture(Path(one.path))
        drawn: list[tuple[Box, Rgb]] = []
        for xyxy, colour in ((one.true_xyxy, FIRST), (one.found_xyxy, SECOND)):
            if xyxy is not None:
                drawn.append((Box("box", *xyxy), colour))
        uri = None
        if image is not None and drawn:
            uri = data_uri(cut(image, _around([own for own, _ in drawn]), CROP_PX, AROUND, drawn))
        yield {
            "number": number, "uri": uri, "picture": one.picture, "scene": one.scene,
            "true": one.true, "found": one.found, "sureness": f"{one.sureness:.2f}",
        }  # fmt: skip


def _around(boxes: Sequence[Box]) -> Box:
    """The box about all of them."""
    return Box(
        "all", min(b.x0 for b in boxes), min(b.y0 for b in boxes),
        max(b.x1 for b in boxes), max(b.y1 for b in boxes),
    )  # fmt: skip


def write_robustness_page(result: dict[str, Any], target: Path) -> None:
    """Write the page of `feltwatch model robustness`: a chart and a table for each form."""
    values = {"result": result, "forms": list(_forms(result)), "percent": percent,
              "broken": percent(BROKEN)}  # fmt: skip
    write_page("model_robustness.html.j2", values, target)


def _forms(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for form in result["forms"]:
        yield form | {"chart": Markup(form_chart(form))}


def form_chart(form: dict[str, Any]) -> str:
    """The chart of one form as SVG: each measure against the plain image's."""
    names = [step["step"] for step in form["steps"]]
    plain = form["plain"]
    lines = {
        MEASURE_WORDS[m]: [_against(step[m], step.get("plain", plain)[m]) for step in form["steps"]]
        for m in MEASURES
    }
    at = names.index(form["break"]) if form["break"] is not None else None
    return steps_chart(f"{form['form']}: {form['words']}", names, lines, at, BROKEN)


def _against(value: float | None, plain: float | None) -> float | None:
    """Return the value as a fraction of the plain image's.

    >>> _against(0.45, 0.9)
    0.5
    """
    return None if value is None or not plain else value / plain
