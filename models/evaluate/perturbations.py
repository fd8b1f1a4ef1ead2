"""Held-out images in changed form: turned, half covered, in glare, small, dark and so on.

Each change is a list of steps from slight to heavy. A step takes an image and what is on it
and gives both back changed; what a change hides or moves out is no longer asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np

from datasets.render.cards.deck import Picture, draw_deck
from datasets.render.sensor import motion_kernel
from models.evaluate.samples import Truth
from settlement.errors import FeltwatchError
from vision.cards.outline import CARD_HEIGHT, CARD_WIDTH, MARGIN_X, MARGIN_Y
from vision.cards.rotation import ASPECTS
from vision.geometry.table import FloatArray

Truths = tuple[Truth, ...]
Changed = tuple[Picture, Truths]
Change = Callable[[np.random.Generator, Picture, Truths], Changed]

LEAST_INSIDE = 0.7
"""Share of an index that must stay in the image for it to be asked for."""

HIDDEN = 0.15
"""An index of which a cover hides more is not asked for, unless the cover is put over it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One strength of a change, under the name it has in tables."""

    name: str
    change: Change


@dataclass(frozen=True, slots=True)
class Form:
    """A change with its steps; with `any_turn` indices are read at whatever turn they lie.

    The first step of a turning form is no turn, so that it is compared with its like. A form
    that `asks_less`, since it hides some indices, is compared with the same indices unhidden.
    """

    name: str
    words: str
    steps: tuple[Step, ...]
    any_turn: bool = False
    asks_less: bool = False


def quad_of(truth: Truth) -> FloatArray:
    """The corners (4, 2) of an index as it reads, those of its box where none are given."""
    if truth.quad is not None:
        return truth.quad
    x0, y0, x1, y1 = truth.xyxy
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64)


def turned(degrees: float) -> Change:
    """Turned about the image's middle; what leaves it is not asked for."""

    def change(_rng: np.random.Generator, image: Picture, truths: Truths) -> Changed:
        if not degrees:
            return image, truths
        h, w = image.shape[:2]
        middle = ((w - 1) / 2, (h - 1) / 2)
        matrix = np.asarray(cv2.getRotationMatrix2D(middle, -degrees, 1.0), np.float64)
        ground = [float(v) for v in np.median(image.reshape(-1, 3), axis=0)]
        out = cv2.warpAffine(
            image, matrix, (w, h), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT,
            borderValue=ground,
        )  # fmt: skip
        moved = tuple(_moved(t, matrix, w, h) for t in truths)
        return np.asarray(out, np.uint8), tuple(t for t in moved if t is not None)

    return change


def _moved(truth: Truth, matrix: FloatArray, width: int, height: int) -> Truth | None:
    points = quad_of(truth) @ matrix[:, :2].T + matrix[:, 2]
    low, high = points.min(axis=0), points.max(axis=0)
    inside_low = np.maximum(low, 0)
    inside_high = np.minimum(high, (width, height))
    sides = np.maximum(inside_high - inside_low, 0)
    part = float(sides.prod() / max(1e-6, float((high - low).prod())))
    if part <= 0:
        return None
    x0, y0, x1, y1 = (float(v) for v in (*inside_low, *inside_high))
    return replace(
        truth, xyxy=(x0, y0, x1, y1), quad=None if truth.quad is None else points,
        labelled=truth.labelled and part >= LEAST_INSIDE,
    )  # fmt: skip


def on_pixels(function: Callable[[np.random.Generator, Picture], Picture]) -> Change:
    """A change of the image alone."""

    def change(rng: np.random.Generator, image: Picture, truths: Truths) -> Changed:
        return function(rng, image), truths

    return change


def smaller(factor: float) -> Change:
    """As from a camera with so many times fewer pixels a side, enlarged again."""

    def shrink(_rng: np.random.Generator, image: Picture) -> Picture:
        h, w = image.shape[:2]
        small = cv2.resize(
            image, (max(1, round(w / factor)), max(1, round(h / factor))),
            interpolation=cv2.INTER_AREA,
        )  # fmt: skip
        return np.asarray(cv2.resize(small, (w, h), interpolation=cv2.INTER_LINEAR), np.uint8)

    return on_pixels(shrink)


def blurred(sigma_px: float) -> Change:
    """Out of focus."""
    return on_pixels(
        lambda _rng, image: np.asarray(cv2.GaussianBlur(image, (0, 0), sigma_px), np.uint8)
    )


def motion_blurred(length_px: float) -> Change:
    """Moved by so much while the image was taken, in any direction."""

    def smear(rng: np.random.Generator, image: Picture) -> Picture:
        kernel = motion_kernel(length_px, float(rng.uniform(0, 180)))
        return np.asarray(cv2.filter2D(image, -1, kernel), np.uint8)

    return on_pixels(smear)


def darker(gain: float) -> Change:
    """So much of the light, with the sensor's noise as it was."""

    def dim(rng: np.random.Generator, image: Picture) -> Picture:
        noise = rng.normal(0, 2.0, image.shape)
        return np.asarray(np.clip(image * gain + noise, 0, 255).round(), np.uint8)

    return on_pixels(dim)


def cast(strength: float) -> Change:
    """A warm light that nobody balanced: more red, less blue."""

    def tint(_rng: np.random.Generator, image: Picture) -> Picture:
        gains = np.array([1 - 0.7 * strength, 1 - 0.2 * strength, 1 + 0.3 * strength])
        return np.asarray(np.clip(image * gains, 0, 255).round(), np.uint8)

    return on_pixels(tint)


def packed(quality: int) -> Change:
    """As JPEG of that quality."""

    def squeeze(_rng: np.random.Generator, image: Picture) -> Picture:
        data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
        return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)

    return on_pixels(squeeze)


def glared(strength: float) -> Change:
    """A bright soft spot by every index; at 1 its middle is white."""

    def change(rng: np.random.Generator, image: Picture, truths: Truths) -> Changed:
        light = np.zeros(image.shape[:2], np.float32)
        ys, xs = np.mgrid[: image.shape[0], : image.shape[1]].astype(np.float32)
        for truth in truths:
            if truth.kind not in ASPECTS:
                continue
            corners = quad_of(truth)
            tall = float(np.hypot(*(corners[3] - corners[0])))
            x, y = corners.mean(axis=0) + rng.normal(0, 0.25 * tall, 2)
            reach = tall * float(rng.uniform(0.7, 1.2))
            spot = np.exp(-((xs - x) ** 2 + (ys - y) ** 2) / (2 * reach**2))
            light = np.maximum(light, spot)
        out = image + (255.0 * strength) * light[..., None]
        return np.asarray(np.clip(out, 0, 255), np.uint8), truths

    return change


def covered(share: float) -> Change:
    """A card lies over so much of an index's card, from its far end; all else is not asked for.

    At 0.5 half of the card is hidden, its other index with it; near 0.9 the cover ends
    beside the index.
    """
    return _covering(CARD_HEIGHT * (1 - share) - MARGIN_Y, on_index=False)


def covered_index(share: float) -> Change:
    """A card lies over so much of the index itself, from its suit up."""
    return _covering(1 - share, on_index=True)


def _covering(begin: float, *, on_index: bool) -> Change:
    """Cover cards from `begin` down, in heights of the index from its upper edge."""

    def change(rng: np.random.Generator, image: Picture, truths: Truths) -> Changed:
        out = image.copy()
        indices = [n for n, t in enumerate(truths) if t.kind in ASPECTS]
        kept: list[int] = []
        covers: list[FloatArray] = []
        for n in rng.permutation(indices).tolist():
            if not truths[n].labelled:
                continue
            cover = _cover(quad_of(truths[n]), truths[n].kind, begin)
            free = all(_hidden(quad_of(truths[k]), cover) <= HIDDEN for k in kept)
            under = max((_hidden(quad_of(truths[n]), c) for c in covers), default=0.0)
            if free and under <= HIDDEN and (
                on_index or _hidden(quad_of(truths[n]), cover) <= HIDDEN
            ):  # fmt: skip
                kept.append(n)
                covers.append(cover)
        for cover in covers:
            _lay(out, cover)
        return out, tuple(
            t if t.kind not in ASPECTS or n in kept else replace(t, labelled=False)
            for n, t in enumerate(truths)
        )

    return change


def _cover(quad: FloatArray, kind: str, begin: float) -> FloatArray:
    """The corners (4, 2) of a card laid over that of an index, beginning below it."""
    down = (quad[3] - quad[0] + quad[2] - quad[1]) / 2
    tall = max(1e-6, float(np.hypot(*down)))
    axis = down / tall
    right = np.array([axis[1], -axis[0]])
    # A joker's word is about twice as tall as an index of its deck.
    unit = tall / 2 if kind == "joker" else tall
    start = begin * tall if begin <= 1 else begin * unit
    corner = (quad[0] + quad[3]) / 2 - axis * tall / 2 - right * MARGIN_X * unit + axis * start
    across, along = right * CARD_WIDTH * unit, axis * CARD_HEIGHT * unit
    return np.array([corner, corner + across, corner + across + along, corner + along])


def _hidden(quad: FloatArray, cover: FloatArray) -> float:
    """The share of a quad's area under another, both convex."""
    area, _ = cv2.intersectConvexConvex(quad.astype(np.float32), cover.astype(np.float32))
    return float(area) / max(1e-6, float(cv2.contourArea(quad.astype(np.float32))))


def _lay(image: Picture, corners: FloatArray) -> None:
    """Paint the back of a card into four corners."""
    back = _back()
    h, w = back.shape[:2]
    matrix = cv2.getPerspectiveTransform(
        np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32), corners.astype(np.float32)
    )
    size = (image.shape[1], image.shape[0])
    laid = cv2.warpPerspective(back, matrix, size, flags=cv2.INTER_AREA)
    left = 1 - laid[..., 3:].astype(np.float32) / 255
    image[:] = np.clip(laid[..., :3] + image * left, 0, 255).astype(np.uint8)


@lru_cache(maxsize=1)
def _back() -> Picture:
    """The back of a drawn deck, premultiplied, uint8 (h, w, 4)."""
    return draw_deck().back.bgra


def _steps(values: Sequence[float], name: str, make: Callable[[float], Change]) -> tuple[Step, ...]:
    return tuple(Step(name.format(value), make(value)) for value in values)


FORMS: tuple[Form, ...] = (
    Form(
        "turn", "turned about the image's middle, read at any turn",
        _steps((0, 15, 30, 45, 60, 90, 135, 180, 270), "{:g}°", turned), any_turn=True,
    ),
    Form(
        "cover", "another card over part of the card, then (+) of the index",
        (
            *_steps((0.25, 0.5, 0.65), "{:.0%}", covered),
            *_steps((0.1, 0.2, 0.3, 0.4, 0.5), "+{:.0%}", covered_index),
        ),
        asks_less=True,
    ),
    Form("glare", "a bright soft spot by every index",
         _steps((0.15, 0.3, 0.45, 0.6, 0.75, 0.9), "{:.0%}", glared)),
    Form("resolution", "a camera with fewer pixels a side",
         _steps((1.25, 1.5, 2, 2.5, 3, 4), "1/{:g}", smaller)),
    Form("blur", "out of focus, sigma in px of the view",
         _steps((0.5, 1, 1.5, 2, 3, 4), "{:g} px", blurred)),
    Form("motion", "moved while it was taken, by px of the image, in any direction",
         _steps((3, 5, 7, 9, 13), "{:g} px", motion_blurred)),
    Form("dark", "share of the light left", _steps((0.6, 0.4, 0.25, 0.15, 0.1), "{:.0%}", darker)),
    Form("cast", "a warm cast that nobody balanced",
         _steps((0.25, 0.5, 0.75, 1.0), "{:.0%}", cast)),
    Form("jpeg", "JPEG quality",
         tuple(Step(str(q), packed(q)) for q in (70, 50, 35, 20, 10))),
)  # fmt: skip

PIXEL_FORMS = ("resolution", "blur", "motion", "dark", "cast", "jpeg")
"""The forms that leave every label where it is."""


def pixel_change(form: str, step: str) -> Change:
    """The change of one step of a form that leaves labels where they are.

    Raises FeltwatchError naming the forms, or the steps of the form.
    """
    own = next((one for one in FORMS if one.name == form and form in PIXEL_FORMS), None)
    if own is None:
        raise FeltwatchError(f"form {form}: expected one of {', '.join(PIXEL_FORMS)}")
    change = next((one.change for one in own.steps if one.name == step), None)
    if change is None:
        known = ", ".join(one.name for one in own.steps)
        raise FeltwatchError(f"step {step} of form {form}: expected one of {known}")
    return change
