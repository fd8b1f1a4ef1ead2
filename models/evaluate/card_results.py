"""What a model card reports of its weights: held-out views, changed views and photographs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from models.data.photo_labels import held_out
from models.evaluate.photo_score import ReadsPhotos, score_photos
from models.evaluate.robustness import TrialOptions, robustness
from models.evaluate.rows import percent

STEPS = {
    ("turn", "45°"): "at 45 degrees",
    ("turn", "180°"): "upside down",
    ("cover", "50%"): "half of the card covered",
    ("glare", "45%"): "glare of 45%",
    ("resolution", "1/2"): "half the resolution",
    ("blur", "2 px"): "out of focus by 2 px",
    ("dark", "25%"): "a quarter of the light",
}
"""The steps of `feltwatch model robustness` that a card reports, and how it words them."""

Show = Callable[[float], None] | None


def photograph_result(
    folder: Path, after: str | None, share: float | None, reader: ReadsPhotos
) -> dict[str, Any]:
    """One line of the card: the share of held-out photographs' cards that is read right.

    Held out is what was taken from HH:MM (`after`) on, or a share by the hash of the name. Raises
    FeltwatchError for a folder without labels, images or a held-out part.
    """
    score = score_photos(folder, held_out(folder, after, share), reader)
    cards = score["cards"]
    seen = max(1, cards["seen"])
    part = f"taken after {after}" if after is not None else "held out by minute of capture"
    option = f"--after {after}" if after is not None else f"--share {share:g}"
    return {
        "kind": "photographs",
        "data": f"{folder.name}, the {score['pictures']} {part}",
        "figure": "cards read right",
        "value": round(cards["right"] / seen, 4),
        "samples": (
            f"{cards['seen']:,} cards; {percent(cards['wrong'] / seen)} wrong, "
            f"{percent(cards['unread'] / seen)} unread"
        ),
        "command": f"feltwatch model photos {folder.name} {option}",
    }


def robustness_results(
    weights: Path, data: Path, split: str, progress: Show = None
) -> list[dict[str, Any]]:
    """Lines of the card: indices found and read right on all views of a set, changed by STEPS."""
    forms = tuple(dict.fromkeys(form for form, _ in STEPS))
    options = TrialOptions(split=split, most_pictures=None, forms=forms)
    results = robustness(weights, data, options, progress)
    steps = {
        (form["form"], step["step"]): step for form in results["forms"] for step in form["steps"]
    }
    views = results["data"]["pictures"]
    return [
        {
            "kind": "robustness",
            "data": f"{results['data']['name']}, {views} views with indices, found and read right",
            "figure": words,
            "value": steps[step]["read_right"],
            "samples": f"{steps[step]['labelled']:,} indices",
            "command": f"feltwatch model robustness --data {results['data']['name']} "
            f"--form {step[0]} --pictures {views}",
        }
        for step, words in STEPS.items()
    ]
