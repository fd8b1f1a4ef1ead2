"""Pages about labelled datasets: statistics with samples, and differences with images."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

from datasets.labelled.crops import Rgb, cut, data_uri, open_picture
from datasets.labelled.diff import Difference, DiffSummary, Kind
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Box
from datasets.labelled.stats import (
    ASPECT_STEPS,
    HEAT_CELLS,
    SIZE_STEPS_PX,
    DatasetStats,
    sample_sheet,
)

STATS_SAMPLES = 10
DIFF_PICTURES = 200
IMAGE_SIZES = 12
HISTOGRAM_WIDTH = 616.0
CROP_PX = 240
FIRST: Rgb = (96, 200, 255)
SECOND: Rgb = (255, 176, 64)
KIND_WORDS = {
    Kind.WRONG_LABEL: "wrong label",
    Kind.MISSING: "missing",
    Kind.EXTRA: "extra",
    Kind.LOOSE_BOX: "loose box",
}


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("surveillance.reports", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = lambda number: f"{number:,}"
    return environment


def write_page(template: str, values: dict[str, Any], target: Path) -> None:
    """Write a page whole or not at all, piece by piece as the template yields it.

    Raises OSError with the name of the page.
    """
    try:
        _write_page(template, values, target)
    except OSError as error:
        # A full disk is reported without a name, other errors with that of the part.
        raise OSError(error.errno, error.strerror, str(target)) from error


def _write_page(template: str, values: dict[str, Any], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=target.parent, prefix=".page-", delete=False
    ) as file:
        part = Path(file.name)
        try:
            for piece in _environment().get_template(template).stream(values):
                file.write(piece)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    part.chmod(0o644)
    part.replace(target)


def write_stats_page(
    dataset: Dataset, stats: DatasetStats, target: Path, samples: int = STATS_SAMPLES
) -> None:
    """Write the page of statistics, one file with all its images."""
    labels = [c for c in stats.classes if c.boxes]
    values = {
        "name": dataset.folder.resolve().name,
        "stats": stats,
        "splits": list(stats.splits),
        "split_most": max(stats.splits.values(), default=1),
        "class_most": max((c.boxes for c in stats.classes), default=1) or 1,
        "histogram": size_histogram(stats.sizes),
        "aspects": aspect_histogram(stats.aspects),
        "heat": heat_map(stats.heat),
        "heat_cells": HEAT_CELLS,
        "image_sizes": dict(list(stats.image_sizes.items())[:IMAGE_SIZES]),
        "more_sizes": max(0, len(stats.image_sizes) - IMAGE_SIZES),
        "sheets": ((c, list(sample_sheet(dataset, c.label, samples))) for c in labels),
        "empty": [c.label for c in stats.classes if not c.boxes],
        "confirmed": stats.confirmed / stats.pictures if stats.pictures else 0.0,
    }
    write_page("dataset_stats.html.j2", values, target)


def size_histogram(sizes: tuple[int, ...]) -> dict[str, Any]:
    """Bars of the histogram of box sizes, in the units of its drawing.

    >>> size_histogram((0,) * 13 + (4,))["bars"][-1]["height"]
    150.0
    """
    return _histogram(sizes, SIZE_STEPS_PX, " px")


def aspect_histogram(counts: tuple[int, ...]) -> dict[str, Any]:
    """Bars of the histogram of aspect ratios, in the units of its drawing."""
    return _histogram(counts or (0,) * (len(ASPECT_STEPS) + 1), ASPECT_STEPS, "")


def _histogram(counts: tuple[int, ...], steps: tuple[float, ...], unit: str) -> dict[str, Any]:
    width, height = HISTOGRAM_WIDTH / len(counts), 150.0
    most = max(counts) or 1
    bars = []
    for n, count in enumerate(counts):
        low = steps[n - 1] if n else 0
        high = steps[n] if n < len(steps) else None
        tall = round(height * count / most, 1)
        bars.append(
            {
                "x": round(n * width + 14, 1),
                "y": round(height - tall + 18, 1),
                "height": tall,
                "count": count,
                "words": f"{low:g} to {high:g}{unit}" if high else f"{low:g}{unit} and more",
                "tick": f"{low:g}",
            }
        )
    return {
        "bars": bars,
        "width": HISTOGRAM_WIDTH + 20,
        "bar": round(width - 8, 1),
        "base": height + 18,
    }


def heat_map(heat: tuple[tuple[int, ...], ...]) -> list[dict[str, Any]]:
    """The cells of the map of places that hold boxes, as bright as the root of their count."""
    most = max((count for row in heat for count in row), default=0) or 1
    return [
        {"x": x, "y": y, "count": count, "bright": round((count / most) ** 0.5, 3)}
        for y, row in enumerate(heat)
        for x, count in enumerate(row)
        if count
    ]


def write_diff_page(
    dataset: Dataset,
    summary: DiffSummary,
    target: Path,
    first: str,
    second: str,
    limit: int = DIFF_PICTURES,
) -> None:
    """Write the page of differences, the worst first, each with the place it is about."""
    values = {
        "first": first,
        "second": second,
        "summary": summary,
        "kinds": [(KIND_WORDS[kind], summary.counts[kind], str(kind)) for kind in KIND_WORDS],
        "confusions": sorted(summary.confusions.items(), key=lambda c: (-c[1], c[0]))[:12],
        "rows": _rows(dataset, summary.worst[:limit]),
        "left": sum(summary.counts.values()) - min(len(summary.worst), limit),
    }
    write_page("dataset_diff.html.j2", values, target)


def _rows(dataset: Dataset, worst: list[Difference]) -> Iterator[dict[str, Any]]:
    for number, one in enumerate(worst, start=1):
        image = open_picture(dataset.path(dataset.picture(one.picture)))
        drawn = [(b, c) for b, c in ((one.first, FIRST), (one.second, SECOND)) if b is not None]
        uri = None
        if image is not None and drawn:
            uri = data_uri(cut(image, _around([b for b, _ in drawn]), CROP_PX, 0.45, drawn))
        yield {
            "number": number,
            "kind": str(one.kind),
            "words": KIND_WORDS[one.kind],
            "file": one.file,
            "uri": uri,
            "first": _told(one.first),
            "second": _told(one.second),
            "iou": f"{one.iou:.2f}" if one.first and one.second else None,
        }


def _around(boxes: list[Box]) -> Box:
    """The box about all of them."""
    return Box(
        boxes[0].label,
        min(b.x0 for b in boxes),
        min(b.y0 for b in boxes),
        max(b.x1 for b in boxes),
        max(b.y1 for b in boxes),
    )


def _told(box: Box | None) -> str | None:
    if box is None:
        return None
    return box.label if box.score is None else f"{box.label} {box.score:.2f}"
