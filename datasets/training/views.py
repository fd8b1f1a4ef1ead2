"""Training views: pieces of felt with cards, chips and lammers, and the boxes on them.

Two kinds: views as a calibrated ceiling camera gives them (a fixed scale, hands in rows),
and loose images as a telephone takes them (any scale, any turn, steep perspective). Both
are drawn straight into the camera's image; a table's view is cut from it as the product
cuts it, so that it shows the camera's own raster, blur and codec.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from datasets.render.appearance import (
    CameraFaults,
    degrade,
    photo_faults,
    random_light,
    table_faults,
)
from datasets.render.arms import ArmStyle, draw_arm, lay_arm, random_arms
from datasets.render.boxes import Box, boxes_of, item_outlines
from datasets.render.camera import camera_axes
from datasets.render.cards.deck import Deck, Picture
from datasets.render.lens import NO_MAP, Lens, random_lens, warp_map
from datasets.render.light import glare, mixed_light, people_shadow
from datasets.render.overlay import Stamp
from datasets.render.painter import Painter, painting_order
from datasets.render.scene import CardItem, Item, StackItem
from datasets.training.asset_pool import (
    FELT_MM,
    FELT_PX_PER_MM,
    GROUND_PX,
    LAMMER_WORDS,
    House,
    Stage,
)
from datasets.training.view_items import CHIP_COLOURS, chip_items, loose_items, table_items
from vision.geometry.table import CHIP_THICKNESS_MM, VIEW_MM, FloatArray

CLASSES = ("index", "joker", "back", "chip", "lammer_envy", "lammer_dealer")
"""What the detector finds; rank and suit of an index are read from its crop."""

TABLE_SHARE = 0.6
STEEPEST_DEG = 62.0
LOWEST_VIEW_DEG = 84.0
"""Off the vertical: how flat the flattest ray of an image meets the table."""
CHIPS_ALONE = 0.07
"""Share of loose views that show chips and no cards."""
MOST_ARM_DENSITY = 5.0
"""Px per mm above which a drawn hand would show how coarse it is."""


@dataclass(frozen=True)
class LabelledView:
    """A rendered image, uint8 (h, w, 3) BGR, and what is on it.

    `partly` are things of which too little is seen to be labelled. `camera` is the image
    that a table's view was cut from and `to_view` (3, 3) the map from its px to the view's;
    None for an image that is the camera's own.
    """

    image: Picture
    boxes: tuple[Box, ...]
    partly: tuple[Box, ...] = ()
    camera: Picture | None = None
    to_view: FloatArray | None = None


def render_view(
    rng: np.random.Generator, decks: Sequence[Deck], *, size: int = 640, stage: Stage | None = None
) -> LabelledView:
    """One training view, of a table three times out of five, else loose.

    `stage` gives felts, chips and grounds that were drawn before; without it they are drawn
    for this view alone, which takes several times as long.
    """
    stage = stage or Stage.draw(rng, decks)
    deck = decks[int(rng.integers(len(decks)))]
    if rng.random() < TABLE_SHARE:
        return render_table_view(rng, deck, stage, size)
    return render_loose_view(rng, deck, stage, size)


def _painter(
    rng: np.random.Generator, canvas: Picture, deck: Deck, house: House, homography: FloatArray,
    foot: tuple[float, float], height: float, lens: Lens | None,
) -> Painter:  # fmt: skip
    return Painter(
        canvas=canvas, to_px=homography, foot_mm=foot, height_mm=height, deck=deck,
        chips=house.looks, lammers=house.lammers, lammer_mm=house.lammer_mm,
        light=random_light(rng), _sprites=house.sprites, lens=lens,
    )  # fmt: skip


def pinhole(
    foot: tuple[float, float], height: float, tilt: float, azimuth: float, roll: float, focal: float
) -> FloatArray:
    """The (3, 3) map from felt mm to px about the principal point, for angles in radians."""
    turn = camera_axes(tilt, azimuth, roll)
    shift = turn @ np.array([-foot[0], -foot[1], height])
    matrix: FloatArray = np.diag([focal, focal, 1.0]) @ np.column_stack(
        [turn[:, 0], turn[:, 1], shift]
    )
    return matrix


def _carry(matrix: FloatArray, points: FloatArray) -> FloatArray:
    flat = np.asarray(points, np.float64) @ matrix[:, :2].T + matrix[:, 2]
    out: FloatArray = flat[:, :2] / flat[:, 2:]
    return out


def _ground(
    texture: Picture, to_texture: FloatArray, homography: FloatArray, lens: Lens | None,
    width: int, height: int,
) -> Picture:  # fmt: skip
    """The ground as the camera sees it; `to_texture` (3, 3) maps felt mm to the texture's px."""
    where = warp_map(to_texture @ np.linalg.inv(homography), 0, 0, width, height, lens)
    seen = cv2.remap(texture, where, NO_MAP, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(seen, np.uint8)


def render_table_view(
    rng: np.random.Generator, deck: Deck, stage: Stage, size: int = 640,
    laid: Sequence[Item] | None = None, moment: np.random.Generator | None = None,
) -> LabelledView:  # fmt: skip
    """A seat's view as the product cuts it from the image of a ceiling camera.

    `laid` is what lies there, with no arm over it, in place of a seat at some moment. With
    `moment` the camera's noise and blur are drawn from it: the same view at several moments.
    """
    height = float(rng.uniform(2300, 3600))
    tilt = math.radians(float(rng.uniform(15, 54)))
    azimuth = float(rng.uniform(0, 2 * math.pi))
    away = height * math.tan(tilt)
    # The camera hangs towards +y at azimuth 0 and points at where its axis meets the felt.
    ahead = np.array([math.sin(azimuth), -math.cos(azimuth)])
    foot = (float(-away * ahead[0]), float(-away * ahead[1]))
    density = float(rng.uniform(1.25, 2.2))
    focal = density * height / math.cos(tilt) / math.sqrt(math.cos(tilt))
    aimed = tilt + float(rng.normal(0, 0.08))
    side = azimuth + float(rng.normal(0, 0.12))
    homography = pinhole(foot, height, aimed, side, float(rng.normal(0, 0.04)), focal)
    lens = random_lens(rng, 3840, 2160, focal) if rng.random() < 0.8 else None
    if lens is not None:
        lens = Lens(lens.k1, lens.k2, (0.0, 0.0), focal)
    zoom = size / VIEW_MM * float(rng.uniform(0.95, 1.05))
    shift = rng.normal(0, 6, 2) * size / 640
    marks = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * VIEW_MM * 0.8
    seen = _carry(homography, marks)
    if lens is not None:
        seen = lens.distort(seen)
    wanted = marks * zoom + size / 2 + shift - 0.5
    to_view = np.asarray(
        cv2.getPerspectiveTransform(seen.astype(np.float32), wanted.astype(np.float32)), np.float64
    )
    corners = np.array([[0, 0], [size, 0], [size, size], [0, size]], np.float64) - 0.5
    part = _carry(np.asarray(np.linalg.inv(to_view), np.float64), corners)
    low = np.floor(part.min(axis=0)) - 4
    wide, tall = (np.ceil(part.max(axis=0)) + 4 - low).astype(int).tolist()
    move = np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1.0]])
    homography = move @ homography
    if lens is not None:
        lens = Lens(lens.k1, lens.k2, (-float(low[0]), -float(low[1])), focal)
    to_view = to_view @ np.linalg.inv(move)
    felt = stage.felts[int(rng.integers(len(stage.felts)))]
    s = FELT_PX_PER_MM
    to_felt = np.array([[s, 0, FELT_MM * s / 2], [0, s, FELT_MM * s / 2], [0, 0, 1.0]])
    canvas = _ground(felt, to_felt, homography, lens, wide, tall)
    bare = canvas.copy()
    house = stage.houses[int(rng.integers(len(stage.houses)))]
    painter = _painter(rng, canvas, deck, house, homography, foot, height, lens)
    items = painting_order(table_items(rng) if laid is None else laid, foot)
    for item in items:
        painter.paint(item)
    covered: Picture | tuple[()] = ()
    if laid is None and rng.random() < 0.22:
        covered = random_arms(rng, canvas, density, stage.arms)
    canvas = _light(rng, canvas, 0.5, bare)
    if rng.random() < 0.03:
        _overlay(rng, canvas)
    faults = table_faults(rng)
    canvas = degrade(moment or rng, canvas, faults)
    view = np.asarray(cv2.warpPerspective(canvas, to_view, (size, size)), np.uint8)
    boxes = boxes_of(items, painter, to_view, size, covered, partly=True)
    return LabelledView(view, *_parted(boxes), camera=canvas, to_view=to_view)


def _parted(boxes: tuple[Box, ...]) -> tuple[tuple[Box, ...], tuple[Box, ...]]:
    """Boxes to be labelled, and the others."""
    return tuple(b for b in boxes if b.labelled), tuple(b for b in boxes if not b.labelled)


def _overlay(rng: np.random.Generator, canvas: Picture) -> None:
    """A recorder's stamp somewhere on the image."""
    grey = np.zeros(canvas.shape[:2], np.uint8)
    stamp = Stamp.draw(rng)
    box = Stamp(stamp.corner, 0.03, stamp.font, stamp.form).print(grey, float(rng.uniform(0, 9e4)))
    x0, y0, x1, y1 = box
    ink = grey[y0:y1, x0:x1, None]
    np.copyto(canvas[y0:y1, x0:x1], ink, where=ink > 60)


def _light(
    rng: np.random.Generator, canvas: Picture, most: float, ground: Picture | None = None
) -> Picture:
    """Uneven light, shadows of people and glare, each now and then.

    With `ground`, the bare cloth, most of the glare lies on cards and chips alone.
    """
    if rng.random() < 0.3:
        matt = ground if rng.random() < 0.8 else None
        canvas = glare(rng, canvas, float(rng.uniform(0.3, 1.0)), matt)
    if rng.random() < 0.7:
        canvas = mixed_light(rng, canvas, float(rng.uniform(0.05, 1.0)) * most * 2)
    if rng.random() < 0.25:
        canvas = people_shadow(rng, canvas, float(rng.uniform(0.15, 0.55)))
    return canvas


def render_loose_view(
    rng: np.random.Generator, deck: Deck, stage: Stage, size: int = 640
) -> LabelledView:
    """Cards anyhow, as a telephone sees them: any scale and turn, up to 60 degrees steep."""
    view_mm = float(np.exp(rng.uniform(math.log(75), math.log(560))))
    steep = abs(float(rng.normal(0, 25))) if rng.random() < 0.7 else float(rng.uniform(0, 62))
    chips = bool(rng.random() < CHIPS_ALONE)
    if chips:
        view_mm = float(rng.uniform(130, 420))
        steep = float(rng.uniform(15, 70))
    tilt = math.radians(min(steep, STEEPEST_DEG + (8 if chips else 0)))
    field = math.radians(float(rng.uniform(38, 68)))
    # No horizon: the uppermost corner still points down on the table.
    corner = math.atan(math.sqrt(2) * math.tan(field / 2))
    tilt = min(tilt, math.radians(LOWEST_VIEW_DEG) - corner)
    focal = size / 2 / math.tan(field / 2)
    distance = max(110.0, focal * view_mm / size)
    azimuth = float(rng.uniform(0, 2 * math.pi))
    height = distance * math.cos(tilt)
    ahead = np.array([math.sin(azimuth), -math.cos(azimuth)])
    foot = (
        float(-distance * math.sin(tilt) * ahead[0]),
        float(-distance * math.sin(tilt) * ahead[1]),
    )
    roll = float(rng.normal(0, 0.1)) if rng.random() < 0.6 else float(rng.uniform(0, 2 * math.pi))
    homography = pinhole(foot, height, tilt, azimuth, roll, focal)
    squash = np.diag([1.0, 1.0, 1.0])
    if rng.random() < 0.3:
        # Images of other shapes, stretched to a square.
        squash[int(rng.integers(2)), :] *= float(rng.uniform(0.7, 1.0))
        squash /= squash[2, 2]
    middle = (size - 1) / 2
    homography = np.array([[1, 0, middle], [0, 1, middle], [0, 0, 1.0]]) @ squash @ homography
    lens = None
    if rng.random() < 0.5:
        lens = Lens(float(rng.uniform(-0.09, 0.05)), 0.0, (middle, middle), focal)
    canvas = _loose_ground(rng, stage, homography, lens, size, view_mm)
    house = stage.houses[int(rng.integers(len(stage.houses)))]
    painter = _painter(rng, canvas, deck, house, homography, foot, height, lens)
    spread = view_mm * (1 + 0.5 * math.sin(tilt))
    items = [
        item for item in painting_order((chip_items if chips else loose_items)(rng, spread), foot)
        if _ahead(item, homography, size, height)
    ]  # fmt: skip
    for item in items:
        painter.paint(item)
    covered: Picture | tuple[()] = ()
    near = painter.density((0.0, 0.0))
    if near < MOST_ARM_DENSITY and rng.random() < 0.18:
        covered = _holding(rng, canvas, items, painter, stage)
    view = _light(rng, canvas, 0.55)
    view = degrade(rng, view, photo_faults(rng))
    if rng.random() < 0.15:
        grey = cv2.cvtColor(view, cv2.COLOR_BGR2GRAY)
        view = np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), np.uint8)
    if rng.random() < 0.08:
        dots = rng.random(view.shape[:2]) < 0.004
        view[dots] = np.where(rng.random((int(dots.sum()), 1)) < 0.5, 255, 0)
    return LabelledView(
        view, *_parted(boxes_of(items, painter, np.eye(3), size, covered, partly=True))
    )


def _ahead(item: Item, homography: FloatArray, size: int, height: float) -> bool:
    """Whether an item lies well before the camera and not absurdly near it."""
    if isinstance(item, StackItem) and len(item.colours) * CHIP_THICKNESS_MM > 0.45 * height:
        return False
    x, y = item.center_mm
    depth = homography[2] @ (x, y, 1.0)
    here = np.linalg.solve(homography, (size / 2, size / 2, 1.0))
    nominal = homography[2] @ (here / here[2])
    return bool(depth > 0.45 * nominal)


def _loose_ground(
    rng: np.random.Generator, stage: Stage, homography: FloatArray, lens: Lens | None, size: int,
    view_mm: float,
) -> Picture:  # fmt: skip
    felt = rng.random() < 0.25
    texture = (
        stage.felts[int(rng.integers(len(stage.felts)))]
        if felt
        else stage.grounds[int(rng.integers(len(stage.grounds)))]
    )
    a = rng.uniform(0, 2 * math.pi)
    per_mm = FELT_PX_PER_MM if felt else GROUND_PX / view_mm * float(rng.uniform(0.3, 0.9))
    at = rng.uniform(0.3, 0.7, 2) * texture.shape[0]
    c, s = math.cos(a) * per_mm, math.sin(a) * per_mm
    to_texture = np.array([[c, -s, at[0]], [s, c, at[1]], [0, 0, 1.0]])
    canvas = _ground(texture, to_texture, homography, lens, size, size)
    if not felt:
        gain = float(rng.uniform(0.55, 1.15))
        canvas = np.asarray(cv2.convertScaleAbs(canvas, alpha=gain), np.uint8)
    if rng.random() < 0.3:
        _beyond_the_edge(rng, canvas, stage)
    return canvas


def _beyond_the_edge(rng: np.random.Generator, canvas: Picture, stage: Stage) -> None:
    """A part of the image behind the table's edge: another ground, out of focus and shaded."""
    size = canvas.shape[0]
    a = float(rng.uniform(0, 2 * math.pi))
    out = np.array([math.cos(a), math.sin(a)])
    far = float(rng.uniform(0.25, 0.55)) * size
    middle = np.array([size / 2, size / 2]) + out * far
    side = np.array([-out[1], out[0]]) * size * 2
    region = np.array([middle - side, middle + side, middle + side + out * size * 2,
                       middle - side + out * size * 2])  # fmt: skip
    mask = np.zeros((size, size), np.uint8)
    cv2.fillPoly(mask, [np.round(region * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    other = stage.grounds[int(rng.integers(len(stage.grounds)))]
    y, x = (int(v) for v in rng.integers(0, other.shape[0] - min(size, 640) + 1, 2))
    piece = cv2.resize(other[y : y + 640, x : x + 640], (size // 4, size // 4))
    piece = cv2.GaussianBlur(piece, (0, 0), float(rng.uniform(0.3, 3)))
    piece = cv2.resize(piece, (size, size), interpolation=cv2.INTER_LINEAR)
    piece = cv2.convertScaleAbs(piece, alpha=float(rng.uniform(0.2, 0.9)))
    soft = cv2.merge([mask, mask, mask])
    kept = cv2.multiply(canvas, 255 - soft, scale=1 / 255)
    np.copyto(canvas, cv2.add(kept, cv2.multiply(piece, soft, scale=1 / 255)))


def _holding(
    rng: np.random.Generator, canvas: Picture, items: Sequence[Item], painter: Painter, stage: Stage
) -> Picture:
    """A hand that holds a card by its lower end, or reaches over the image."""
    cards = [i for i in items if isinstance(i, CardItem)]
    if not cards or rng.random() < 0.4:
        return random_arms(rng, canvas, painter.density((0.0, 0.0)), stage.arms)
    card = cards[int(rng.integers(len(cards)))]
    a = math.radians(card.angle_deg + float(rng.normal(0, 25)))
    down = np.array([-math.sin(a), math.cos(a)])
    at = np.asarray(card.center_mm) + down * float(rng.uniform(48, 85))
    ends = painter.px(np.vstack([at, at + down * 10]))
    mask = np.zeros(canvas.shape[:2], np.uint8)
    look = stage.arms[int(rng.integers(len(stage.arms)))]
    way = ends[1] - ends[0]
    scale = min(painter.density((float(at[0]), float(at[1]))), 12.0)
    lay_arm(canvas, draw_arm(look), ends[0] + way * 100, ends[0], scale,
            shadow=(4.0, 6.0), depth=0.3, mask=mask)  # fmt: skip
    return mask


__all__ = [
    "CHIP_COLOURS", "CLASSES", "LAMMER_WORDS", "ArmStyle", "Box", "CameraFaults", "LabelledView",
    "boxes_of", "item_outlines", "loose_items", "pinhole", "render_loose_view",
    "render_table_view", "render_view", "table_items",
]  # fmt: skip
