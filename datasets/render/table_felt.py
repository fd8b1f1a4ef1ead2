"""The empty table of a shift: its look, and its felt with print, tray and rack."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from datasets.render.appearance import CameraFaults, felt_rgb, felt_texture, print_rgb
from datasets.render.cards.suit_marks import Picture
from datasets.render.felt_print import FeltPrint, print_box, print_seat, put_word
from datasets.render.overlay import Stamp
from datasets.render.shake import Shake
from vision.geometry.table import FloatArray, Polygon, Rgb, TableFile

CANVAS_PX_PER_MM = 2.4
MARGIN_MM = 220.0
PLAIN_PRINT = FeltPrint(ink=(0, 0, 0), second=(0, 0, 0))


@dataclass(frozen=True)
class Look:
    """The appearance of one shift: felt, print, camera faults.

    `layout` is how the felt is printed, in `print_rgb`; `unevenness` how much the light
    differs over the table (0 even, 1 much) and `glare` how bright lamps shine on cards and
    chips (0 to 1), both drawn from `seed`; `shake` moves the camera; `stamp` prints the
    clock; `flicker` is the share by which the lamps' beat brightens and dims the image.
    """

    felt_rgb: Rgb
    print_rgb: Rgb
    rail_rgb: Rgb
    faults: CameraFaults
    layout: FeltPrint = PLAIN_PRINT
    unevenness: float = 0.0
    glare: float = 0.0
    shake: Shake | None = None
    stamp: Stamp = field(default_factory=Stamp)
    flicker: float = 0.0
    seed: int = 0

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Look:
        """A look at random: a camera in order, a felt as casinos have them."""
        felt = felt_rgb(rng)
        ink = print_rgb(rng, felt)
        level = float(rng.uniform(0.85, 1.1))
        return cls(
            felt_rgb=felt,
            print_rgb=ink,
            rail_rgb=tuple(int(v) for v in rng.integers(18, 70, 3)),  # type: ignore[arg-type]
            faults=CameraFaults(
                gain=tuple(float(level * rng.uniform(0.95, 1.05)) for _ in range(3)),  # type: ignore[arg-type]
                gamma=float(rng.uniform(0.9, 1.1)),
                blur_px=float(rng.uniform(0.4, 0.65)),
                noise=float(rng.uniform(1.0, 2.2)),
            ),
            layout=FeltPrint.draw(rng, ink, print_rgb(rng, felt)),
            unevenness=float(rng.uniform(0.1, 0.6)),
            glare=float(rng.uniform(0.0, 0.5)),
            shake=Shake(
                float(rng.uniform(0.1, 0.8)), float(rng.uniform(2.5, 8)), int(rng.integers(1000))
            ),
            stamp=Stamp.draw(rng),
            flicker=float(rng.uniform(0.0, 0.008)) if rng.random() < 0.5 else 0.0,
            seed=int(rng.integers(2**31)),
        )


def paint_felt(rng: np.random.Generator, table: TableFile, look: Look) -> Picture:
    """The empty table with its print, in the felt's plane with MARGIN_MM around it."""
    s, m = CANVAS_PX_PER_MM, MARGIN_MM
    w, h = (round((v + 2 * m) * s) for v in (table.felt.width_mm, table.felt.height_mm))
    canvas = felt_texture(rng, h, w, look.rail_rgb, 2.0)
    cloth = felt_texture(rng, h, w, look.felt_rgb, 4.0)
    shape = _outline(table, w, h)
    cv2.copyTo(cloth, shape, canvas)
    edge = cv2.morphologyEx(shape, cv2.MORPH_GRADIENT, np.ones((9, 9), np.uint8))
    canvas[edge > 0] = (np.array(look.rail_rgb[::-1]) * 0.6).astype(np.uint8)

    def to_px(points_mm: FloatArray) -> FloatArray:
        out: FloatArray = (np.asarray(points_mm, np.float64) + m) * s
        return out

    second = look.layout.second if look.layout is not PLAIN_PRINT else look.print_rgb
    own = replace(look.layout, ink=look.print_rgb, second=second)
    for seat in table.seats:
        spots = {
            name: (polygon.center_mm, _radius(polygon)) for name, polygon in seat.spots.items()
        }
        boxes = {"low": seat.low.array, "high": seat.high.array}
        print_seat(canvas, own, spots, boxes, seat.place.angle_deg, to_px)
    for polygon in (table.dealer.low, table.dealer.high):
        print_box(canvas, own, polygon.array, to_px)
    cx = table.felt.width_mm / 2
    for y, line in (
        (430.0, "EMPEROR'S CHALLENGE"), (475.0, "DEALER ACE HIGH PAI GOW: ALL MAIN WAGERS PUSH"),
    ):  # fmt: skip
        put_word(canvas, line, (cx, y), 420.0, 0.0, to_px, own.ink, own.font, own.dense)
    _draw_tray(rng, canvas, table)
    return canvas


def _radius(polygon: Polygon) -> float:
    """Half the breadth of a spot, mm."""
    span = polygon.array.max(axis=0) - polygon.array.min(axis=0)
    return float(span.min() / 2)


def _outline(table: TableFile, w: int, h: int) -> Picture:
    """255 where there is cloth: straight at the dealer's side, curved at the players'."""
    s, m = CANVAS_PX_PER_MM, MARGIN_MM
    shape = np.zeros((h, w), np.uint8)
    x0, y0 = round(m * s), round(m * s)
    x1, y1 = round((m + table.felt.width_mm) * s), round((m + table.felt.height_mm) * s)
    mid = (x0 + x1) // 2
    cv2.rectangle(shape, (x0, y0), (x1, y0 + round(260 * s)), 255, -1)
    cv2.ellipse(
        shape, (mid, y0 + round(255 * s)), ((x1 - x0) // 2, y1 - y0 - round(255 * s)),
        0, 0, 180, 255, -1, cv2.LINE_AA,
    )  # fmt: skip
    # Seats and boxes always lie on cloth, whatever the table's outline.
    for seat in table.seats:
        outline = np.vstack(
            [seat.high.array, seat.low.array, *(p.array for p in seat.spots.values())]
        )
        hull = cv2.convexHull(((outline + m) * s).astype(np.float32)).astype(np.int32)
        cv2.fillPoly(shape, [hull], 255)
        cv2.polylines(shape, [hull], True, 255, round(60 * s))
    return np.where(shape > 127, 255, 0).astype(np.uint8)


def _draw_tray(rng: np.random.Generator, canvas: Picture, table: TableFile) -> None:
    """The dealer's tray with its tubes of chips, and the discard rack."""
    s, m = CANVAS_PX_PER_MM, MARGIN_MM
    for part, rgb in ((table.dealer.tray, (60, 58, 56)), (table.dealer.rack, (70, 20, 20))):
        cv2.fillPoly(canvas, [((part.array + m) * s).astype(np.int32)], rgb[::-1], cv2.LINE_AA)
        dark = tuple(round(v * 0.5) for v in rgb[::-1])
        cv2.polylines(canvas, [((part.array + m) * s).astype(np.int32)], True, dark, round(3 * s),
                      cv2.LINE_AA)  # fmt: skip
    x0, y0 = table.dealer.tray.array.min(axis=0) + 6
    x1, y1 = table.dealer.tray.array.max(axis=0) - 6
    names = list(table.chips)
    for k, x in enumerate(np.arange(x0 + 18, x1 - 18, 44.0)):
        rgb = table.chips[names[k % len(names)]].rgb
        y = y0
        while y < y1 - rng.uniform(0, 14):
            tone = rng.uniform(0.75, 1.0)
            spot = rng.uniform(-16, 10)
            for u0, u1, tint in ((-18.0, 18.0, rgb), (spot, spot + 6, (225, 222, 214))):
                # A tube is round: its sides are darker than its ridge.
                for v0, v1 in ((u0, u1),):
                    level = tone * (1 - 0.25 * abs(v0 + v1) / 36)
                    a = (round((x + v0 + m) * s), round((y + m) * s))
                    b = (round((x + v1 + m) * s), round((y + 2.9 + m) * s))
                    cv2.rectangle(canvas, a, b, tuple(round(v * level) for v in tint[::-1]), -1)
            y += 3.3
        a = (round((x - 18 + m) * s), round((y0 + m) * s))
        b = (round((x - 11 + m) * s), round((y1 + m) * s))
        for left, right in ((a[0], b[0]), (round((x + 11 + m) * s), round((x + 18 + m) * s))):
            side = canvas[a[1] : b[1], left:right]
            np.copyto(side, cv2.convertScaleAbs(side, alpha=0.72))
