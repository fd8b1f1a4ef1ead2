"""Chips of houses drawn at random, for `datasets.training.sides.scene`."""

from __future__ import annotations

import colorsys

import cv2
import numpy as np
import numpy.typing as npt

from datasets.training.sides.scene import FACE_PX, RIM_ROWS, RIM_STEPS, Chips
from datasets.training.sides.shards import MOST_KINDS

FEWEST_KINDS = 4
HUES = (
    (0.985, 0.02),
    (0.38, 0.05),
    (0.77, 0.04),
    (0.09, 0.02),
    (0.6, 0.05),
    (0.93, 0.03),
    (0.15, 0.02),
)
Colour = npt.NDArray[np.float32]


def _hsv(hue: float, saturation: float, value: float) -> Colour:
    return np.array(
        colorsys.hsv_to_rgb(hue % 1, min(max(saturation, 0), 1), min(max(value, 0), 1)), np.float32
    )


def _body(rng: np.random.Generator, kind: int) -> Colour:
    """Body colour of a chip: white, black, grey, or one of the usual hues."""
    if kind == 0:
        return _hsv(rng.random(), rng.uniform(0, 0.15), rng.uniform(0.7, 0.97))
    if kind == 1:
        return _hsv(rng.random(), rng.uniform(0, 0.3), rng.uniform(0.06, 0.2))
    if kind == 2:
        return _hsv(rng.random(), rng.uniform(0, 0.15), rng.uniform(0.35, 0.62))
    hue, spread = HUES[(kind - 3) % len(HUES)]
    return _hsv(rng.normal(hue, spread), rng.uniform(0.35, 0.97), rng.uniform(0.28, 0.92))


def _other(rng: np.random.Generator, body: Colour) -> Colour:
    """A colour that stands out from the body."""
    for _ in range(8):
        if rng.random() < 0.5:
            colour = _hsv(rng.random(), rng.uniform(0, 0.15), rng.uniform(0.75, 0.98))
        else:
            colour = _hsv(rng.random(), rng.uniform(0.3, 1), rng.uniform(0.1, 0.95))
        if np.abs(colour - body).max() > 0.25:
            return colour
    return np.asarray(1 - body, np.float32)


PLAIN, SPOTTED, STRIPED, BLOCKS, LINED, PATTERNED = range(6)
STYLE_SHARES = (0.13, 0.32, 0.16, 0.11, 0.14, 0.14)
"""How often most of a house's chips are of each style."""

_ALONG = np.arange(RIM_STEPS) / RIM_STEPS
_HIGH = (np.arange(RIM_ROWS) + 0.5) / RIM_ROWS


def _rim(rng: np.random.Generator, body: Colour, style: int) -> npt.NDArray[np.float32]:
    """A rim's look (RIM_ROWS, RIM_STEPS, 3) of a style, the lowest row first."""
    out = np.broadcast_to(body, (RIM_ROWS, RIM_STEPS, 3)).copy()
    if style == PLAIN:
        return out
    if style == BLOCKS:
        # Printed all round: blocks of several colours.
        inks = np.stack([body, *(_other(rng, body) for _ in range(3))])
        cuts = np.sort(rng.random(int(rng.integers(6, 40))))
        block = inks[rng.integers(0, 4, len(cuts) + 1)][np.searchsorted(cuts, _ALONG)]
        mix = float(rng.uniform(0.3, 1.0))
        out[:] = (1 - mix) * body + mix * block
    if style in (SPOTTED, STRIPED) or (style == LINED and rng.random() < 0.35):
        _lay_spots(rng, out, body, many=style == STRIPED)
    if style == PATTERNED:
        _lay_pattern(rng, out, body)
    if style == LINED or rng.random() < 0.08:
        _lay_lines(rng, out, body)
    if rng.random() < (0.4 if style == PATTERNED else 0.06):
        # Both edges have a colour of their own.
        wide = rng.uniform(0.08, 0.2)
        out[abs(_HIGH - 0.5) > 0.5 - wide] = _other(rng, body)
    return out


def _lay_spots(
    rng: np.random.Generator, rim: npt.NDArray[np.float32], body: Colour, *, many: bool
) -> None:
    """Edge spots over the whole thickness or a part of it, straight or slanted."""
    spots = int(rng.integers(10, 25)) if many else int(rng.integers(3, 9))
    share = float(rng.uniform(0.15, 0.5))
    bars = int(rng.choice([1, 1, 1, 2, 3]))
    slant = float(rng.uniform(-0.8, 0.8)) if rng.random() < 0.15 else 0.0
    along = _ALONG[None] * spots + slant * (_HIGH[:, None] - 0.5)
    inside = np.mod(along, 1) / share
    bar = np.floor(inside * (2 * bars - 1)).astype(int)
    spot = (inside < 1) & (bar % 2 == 0)
    if rng.random() < 0.12:
        low, high = np.sort(rng.uniform(0, 1, 2))
        spot &= ((low - 0.2 < _HIGH) & (high + 0.2 > _HIGH))[:, None]
    rim[spot] = _other(rng, body)
    if rng.random() < 0.35:
        rim[spot & (np.floor(along).astype(int) % 2 == 1)] = _other(rng, body)
    if bars > 1 and rng.random() < 0.4:
        rim[spot & (bar == 0)] = _other(rng, body)


def _lay_lines(rng: np.random.Generator, rim: npt.NDArray[np.float32], body: Colour) -> None:
    """One to three lines around the rim, whole or broken."""
    ink = _other(rng, body)
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        middle, half = rng.uniform(0.15, 0.85), rng.uniform(0.06, 0.22)
        line = np.broadcast_to((abs(_HIGH - middle) < half)[:, None], rim.shape[:2])
        if rng.random() < 0.25:
            line = line & (np.mod(_ALONG * rng.integers(6, 60), 1) < rng.uniform(0.3, 0.8))
        rim[line] = ink if rng.random() < 0.7 else _other(rng, body)


def _lay_pattern(rng: np.random.Generator, rim: npt.NDArray[np.float32], body: Colour) -> None:
    """Print that changes along the rim and over its thickness: slants, zigzags, checks, letters."""
    one, two = _other(rng, body), _other(rng, body)
    many, share = int(rng.integers(5, 40)), float(rng.uniform(0.25, 0.7))
    kind = int(rng.integers(4))
    if kind == 0:
        slant = float(rng.uniform(-1.6, 1.6))
        on = np.mod(_ALONG[None] * many + slant * _HIGH[:, None], 1) < share
    elif kind == 1:
        bend = float(rng.uniform(0.4, 1.6))
        on = np.mod(_ALONG[None] * many + bend * abs(_HIGH[:, None] - 0.5), 1) < share
    elif kind == 2:
        rows = np.floor(_HIGH * rng.integers(2, 4)).astype(int)[:, None]
        on = (np.floor(_ALONG[None] * 2 * many).astype(int) + rows) % 2 == 0
    else:
        # Letters are small marks in a band.
        cells = rng.random((int(rng.integers(3, 6)), int(rng.integers(40, 110)))) < share
        rows = np.floor(_HIGH * cells.shape[0]).astype(int)
        on = cells[rows][:, np.floor(_ALONG * cells.shape[1]).astype(int)]
        on &= (abs(_HIGH - 0.5) < rng.uniform(0.25, 0.5))[:, None]
    if rng.random() < 0.4:
        # In some places only.
        on &= np.mod(_ALONG * rng.integers(2, 9), 1)[None] < rng.uniform(0.3, 0.8)
    rim[on] = one
    if rng.random() < 0.3:
        rim[on & (np.mod(_ALONG * many, 2) < 1)[None]] = two


def _face(
    rng: np.random.Generator, body: Colour, rim: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """A chip's face (FACE_PX, FACE_PX, 3): its rim's spots, an inlay, print."""
    axis = (np.arange(FACE_PX) + 0.5) / FACE_PX * 2 - 1
    x, y = np.meshgrid(axis, axis)
    step = np.floor(np.mod(np.arctan2(y, x) / (2 * np.pi), 1) * RIM_STEPS).astype(int) % RIM_STEPS
    out = rim[-1][step].copy()
    far = np.hypot(x, y)
    out[far < rng.uniform(0.6, 0.8)] = body
    inlay = _other(rng, body) if rng.random() < 0.8 else body
    inner = float(rng.uniform(0.35, 0.98 if rng.random() < 0.25 else 0.7))
    out[far < inner] = inlay
    if rng.random() < 0.3:
        out[(far < inner) & (far > inner * 0.85)] = _other(rng, inlay)
    canvas = np.ascontiguousarray((out * 255).clip(0, 255).astype(np.uint8))
    ink = [int(v) for v in (_other(rng, inlay) * 255).clip(0, 255)]
    for _ in range(int(rng.integers(0, 5))):
        at = (FACE_PX / 2 + rng.normal(0, inner * FACE_PX / 5, 2)).round().astype(int).tolist()
        reach = int(rng.integers(2, max(3, round(inner * FACE_PX / 3))))
        if rng.random() < 0.5:
            cv2.circle(canvas, at, reach, ink, -1 if rng.random() < 0.5 else 2, cv2.LINE_AA)
        else:
            turn = float(rng.uniform(0, 180))
            cv2.ellipse(canvas, at, (reach, max(1, reach // 3)), turn, 0, 360, ink, -1, cv2.LINE_AA)
    if rng.random() < 0.7:
        text = str(rng.choice(["1", "5", "25", "100", "$5", "$25", "500", "1K", "A", "CASINO"]))
        wide = cv2.getTextSize(text, cv2.FONT_HERSHEY_DUPLEX, 1, 2)[0][0]
        scale = inner * FACE_PX * 0.75 / wide
        left = round(FACE_PX / 2 - wide * scale / 2), round(FACE_PX / 2 + 10 * scale)
        wide = max(1, round(2 * scale))
        cv2.putText(canvas, text, left, cv2.FONT_HERSHEY_DUPLEX, scale, ink, wide, cv2.LINE_AA)
    return np.asarray(canvas / 255, np.float32)


def draw_chips(rng: np.random.Generator) -> tuple[Chips, npt.NDArray[np.float32]]:
    """Chips of some house and their body colours (k, 3), RGB 0 to 1."""
    many = int(rng.integers(FEWEST_KINDS, MOST_KINDS + 1))
    kinds = rng.permutation(10)[:many]
    bodies = [_body(rng, int(kind)) for kind in kinds]
    if rng.random() < 0.3:
        # Two kinds hardly apart, as red and orange of some houses are.
        near = bodies[0] + rng.normal(0, 0.09, 3).astype(np.float32)
        bodies[1] = np.clip(near, 0.03, 0.98).astype(np.float32)
    # A house's chips are of one make: most share their style.
    style = int(rng.choice(len(STYLE_SHARES), p=STYLE_SHARES))
    rims, faces = [], []
    for body in bodies:
        own = style if rng.random() < 0.85 else int(rng.integers(len(STYLE_SHARES)))
        rims.append(_rim(rng, body, own))
        faces.append(_face(rng, body, rims[-1]))
    return (
        Chips(
            np.stack(rims).astype(np.float32), np.stack(faces).astype(np.float32),
            float(rng.uniform(18.5, 21.5) if rng.random() < 0.5 else rng.normal(19.5, 0.1)),
            float(rng.normal(3.3, 0.03)),
        ),
        np.stack(bodies),
    )  # fmt: skip
