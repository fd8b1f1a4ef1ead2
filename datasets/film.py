"""Filming a shift: the whole felt through one camera, picture by picture.

The felt is kept as one raster in its own plane. When something changes, only its
surroundings are painted again and only that part of the camera's picture is warped again;
arms are drawn over a copy of the picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from datasets.arms import SKINS, SLEEVES, draw_arm
from datasets.camera import SyntheticCamera
from datasets.deck import Deck, Picture
from datasets.look import (
    CameraFaults,
    chip_looks,
    felt_rgb,
    felt_texture,
    lammer_sprites,
    print_rgb,
    random_light,
)
from datasets.paint import Painter, item_reach, painting_order
from datasets.scene import Change, FeltState, Item, Reach, ShiftPlan, StackItem
from vision.calibration import map_points
from vision.table import FloatArray, Point, Polygon, Rgb, TableFile

CANVAS_PX_PER_MM = 2.4
MARGIN_MM = 220.0
ARM_HEIGHT_MM = 70.0
SPOT_WORDS = {
    "main": "PAI GOW",
    "pai_gow_insurance": "INSURANCE",
    "ace_high_pai_gow_insurance": "ACE HIGH",
    "emperors_treasure": "TREASURE",
}


@dataclass(frozen=True)
class Look:
    """How one shift looks: felt, print, camera faults."""

    felt_rgb: Rgb
    print_rgb: Rgb
    rail_rgb: Rgb
    faults: CameraFaults

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Look:
        """A look at random: a camera in order, a felt as casinos have them."""
        felt = felt_rgb(rng)
        level = float(rng.uniform(0.85, 1.1))
        return cls(
            felt_rgb=felt,
            print_rgb=print_rgb(rng, felt),
            rail_rgb=tuple(int(v) for v in rng.integers(18, 70, 3)),  # type: ignore[arg-type]
            faults=CameraFaults(
                gain=tuple(float(level * rng.uniform(0.95, 1.05)) for _ in range(3)),  # type: ignore[arg-type]
                gamma=float(rng.uniform(0.9, 1.1)),
                blur_px=float(rng.uniform(0.4, 0.65)),
                noise=float(rng.uniform(1.0, 2.2)),
            ),
        )


def paint_felt(rng: np.random.Generator, table: TableFile, look: Look) -> Picture:
    """The empty table with its print, in the felt's plane with MARGIN_MM around it."""
    s, m = CANVAS_PX_PER_MM, MARGIN_MM
    w, h = (round((v + 2 * m) * s) for v in (table.felt.width_mm, table.felt.height_mm))
    canvas = felt_texture(rng, h, w, look.rail_rgb, 2.0)
    cloth = felt_texture(rng, h, w, look.felt_rgb, 4.0)
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
    np.copyto(canvas, cloth, where=(shape > 127)[..., None])
    edge = cv2.morphologyEx(shape, cv2.MORPH_GRADIENT, np.ones((9, 9), np.uint8))
    canvas[edge > 0] = (np.array(look.rail_rgb[::-1]) * 0.6).astype(np.uint8)
    ink = look.print_rgb[::-1]
    wide = round(2.4 * s)

    def trace(polygon: Polygon) -> None:
        points = ((polygon.array + m) * s * 8).round().astype(np.int32)
        cv2.polylines(canvas, [points], True, ink, wide, cv2.LINE_AA, 3)

    for seat in table.seats:
        for polygon in (seat.low, seat.high, *seat.spots.values()):
            trace(polygon)
        for name, spot in seat.spots.items():
            word = SPOT_WORDS.get(name, name.upper())
            _word(canvas, word, spot.center_mm, seat.place.angle_deg, 44.0, ink)
        for word, part in (("LOW", seat.low), ("HIGH", seat.high)):
            _word(canvas, word, part.center_mm, seat.place.angle_deg, 46.0, ink)
    for polygon in (table.dealer.low, table.dealer.high):
        trace(polygon)
    cx = table.felt.width_mm / 2
    _word(canvas, "EMPEROR'S CHALLENGE", (cx, 430.0), 0.0, 420.0, ink)
    _word(canvas, "DEALER ACE HIGH PAI GOW: ALL MAIN WAGERS PUSH", (cx, 475.0), 0.0, 420.0, ink)
    _draw_tray(rng, canvas, table)
    return canvas


def _word(
    canvas: Picture,
    word: str,
    center: Point,
    angle_deg: float,
    width_mm: float,
    ink: tuple[int, ...],
) -> None:
    """A word across the felt, `width_mm` long, read from the seat."""
    s = CANVAS_PX_PER_MM
    font = cv2.FONT_HERSHEY_DUPLEX
    (w, h), base = cv2.getTextSize(word, font, 1.0, 1)
    scale = width_mm * s / w
    (w, h), base = cv2.getTextSize(word, font, scale, max(1, round(scale * 1.3)))
    mask = np.zeros((h + base + 6, w + 6), np.uint8)
    cv2.putText(mask, word, (3, h + 3), font, scale, 255, max(1, round(scale * 1.3)), cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D(((w + 6) / 2, (h + base + 6) / 2), -angle_deg, 1.0)
    cx, cy = (center[0] + MARGIN_MM) * s, (center[1] + MARGIN_MM) * s
    side = int(np.hypot(w, h)) + 12
    turn[0, 2] += side / 2 - (w + 6) / 2
    turn[1, 2] += side / 2 - (h + base + 6) / 2
    laid = cv2.warpAffine(mask, turn, (side, side), flags=cv2.INTER_LINEAR)
    x, y = int(cx - side / 2), int(cy - side / 2)
    spot = canvas[y : y + side, x : x + side]
    if spot.shape[:2] != (side, side):
        return
    a = (laid.astype(np.float32) / 255 * 0.9)[..., None]
    np.copyto(spot, (spot * (1 - a) + np.array(ink, np.float32) * a).astype(np.uint8))


def _draw_tray(rng: np.random.Generator, canvas: Picture, table: TableFile) -> None:
    """The dealer's tray with its tubes of chips, and the discard rack."""
    s, m = CANVAS_PX_PER_MM, MARGIN_MM
    for part, rgb in ((table.dealer.tray, (60, 58, 56)), (table.dealer.rack, (70, 20, 20))):
        cv2.fillPoly(canvas, [((part.array + m) * s).astype(np.int32)], rgb[::-1], cv2.LINE_AA)
    x0, y0 = table.dealer.tray.array.min(axis=0) + 6
    x1, y1 = table.dealer.tray.array.max(axis=0) - 6
    names = list(table.chips)
    for k, x in enumerate(np.arange(x0 + 18, x1 - 18, 44.0)):
        rgb = table.chips[names[k % len(names)]].rgb
        y = y0
        while y < y1 - rng.uniform(0, 14):
            a = (round((x - 18 + m) * s), round((y + m) * s))
            b = (round((x + 18 + m) * s), round((y + 3.0 + m) * s))
            tone = rng.uniform(0.75, 1.0)
            cv2.rectangle(canvas, a, b, tuple(round(v * tone) for v in rgb[::-1]), -1)
            y += 3.3


@dataclass
class Film:
    """Pictures of a shift through one camera; call `frames` once."""

    table: TableFile
    camera: SyntheticCamera
    deck: Deck
    look: Look
    rng: np.random.Generator
    _canvas: Picture = field(init=False)
    _bare: Picture = field(init=False)
    _picture: Picture = field(init=False)
    _planes: Picture = field(init=False)
    _painter: Painter = field(init=False)
    _to_picture: FloatArray = field(init=False)
    _noise: npt.NDArray[np.int16] = field(init=False)

    def __post_init__(self) -> None:
        """Paint the empty table and see it through the camera."""
        self._bare = paint_felt(self.rng, self.table, self.look)
        self._canvas = self._bare.copy()
        s, m = CANVAS_PX_PER_MM, MARGIN_MM
        sprites, sizes = lammer_sprites(self.rng, self.table.lammers, vary=False)
        self._painter = Painter(
            canvas=self._canvas,
            to_px=np.array([[s, 0, m * s], [0, s, m * s]]),
            foot_mm=self.camera.foot_mm,
            height_mm=self.camera.height_mm,
            deck=self.deck,
            chips=chip_looks(self.rng, self.table.chips),
            lammers=sprites,
            lammer_mm=sizes,
            light=random_light(self.rng),
        )
        from_canvas = np.array([[1 / s, 0, -m], [0, 1 / s, -m], [0, 0, 1]])
        self._to_picture = self.camera.homography @ from_canvas
        w, h = self.camera.width_px, self.camera.height_px
        levels = np.arange(256) / 255
        faults = self.look.faults
        lut = np.stack([255 * g * levels**faults.gamma for g in faults.gain], axis=1)
        self._lut = np.clip(lut, 0, 255).astype(np.uint8).reshape(256, 1, 3)
        self._picture = np.zeros((h, w, 3), np.uint8)
        self._see(0, 0, w, h)
        self._noise = np.asarray(
            np.clip(self.rng.normal(0, faults.noise, (h + 64, w + 64)), -60, 60).round(), np.int16
        )

    def _see(self, x0: int, y0: int, x1: int, y1: int) -> None:
        """Warp a rectangle of the picture (px) again from the felt's raster."""
        pad = 4
        left, top = max(0, x0 - pad), max(0, y0 - pad)
        right, bottom = min(self.camera.width_px, x1 + pad), min(self.camera.height_px, y1 + pad)
        if right <= left or bottom <= top:
            return
        shift = np.array([[1, 0, -left], [0, 1, -top], [0, 0, 1.0]])
        part = cv2.warpPerspective(
            self._canvas, shift @ self._to_picture, (right - left, bottom - top),
            flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(18, 18, 20),
        )  # fmt: skip
        part = cv2.GaussianBlur(part, (0, 0), self.look.faults.blur_px)
        part = cv2.LUT(part, self._lut)
        inner = part[y0 - top : y1 - top, x0 - left : x1 - left]
        self._picture[y0:y1, x0:x1] = inner

    def apply(self, items: dict[str, Item], touched: tuple[Item, ...]) -> None:
        """Paint the surroundings of what went or came again."""
        s, m = CANVAS_PX_PER_MM, MARGIN_MM
        for group in _groups(touched, self.camera.height_mm):
            x0, y0, x1, y1 = group
            cx0, cy0 = max(0, int((x0 + m) * s)), max(0, int((y0 + m) * s))
            cx1 = min(self._canvas.shape[1], int((x1 + m) * s) + 1)
            cy1 = min(self._canvas.shape[0], int((y1 + m) * s) + 1)
            if cx1 <= cx0 or cy1 <= cy0:
                continue
            self._canvas[cy0:cy1, cx0:cx1] = self._bare[cy0:cy1, cx0:cx1]
            painter = self._painter
            painter.canvas = self._canvas[cy0:cy1, cx0:cx1]
            painter.to_px = np.array([[s, 0, m * s - cx0], [0, s, m * s - cy0]])
            for item in painting_order(items.values(), self.camera.foot_mm):
                reach = item_reach(item, self.camera.height_mm)
                x, y = item.center_mm
                if x0 - reach < x < x1 + reach and y0 - reach < y < y1 + reach:
                    painter.paint(item)
            corners = np.array([[cx0, cy0], [cx1, cy0], [cx1, cy1], [cx0, cy1]], np.float64)
            seen = map_points(self._to_picture, corners)
            px0, py0 = np.maximum(np.floor(seen.min(axis=0)).astype(int) - 2, 0).tolist()
            px1, py1 = (np.ceil(seen.max(axis=0)).astype(int) + 2).tolist()
            px1, py1 = min(px1, self.camera.width_px), min(py1, self.camera.height_px)
            if px1 > px0 and py1 > py0:
                self._see(px0, py0, px1, py1)

    def _draw_reach(self, picture: Picture, reach: Reach, t_s: float) -> None:
        share = (t_s - reach.t0_s) / max(1e-6, reach.t1_s - reach.t0_s)
        places = np.asarray(reach.hand_mm, np.float64)
        at = share * (len(places) - 1)
        k = min(int(at), len(places) - 2)
        hand = places[k] + (places[k + 1] - places[k]) * (at - k)
        both = self.camera.project(np.vstack([reach.shoulder_mm, hand]), ARM_HEIGHT_MM)
        near = self.camera.project(np.vstack([hand, hand + np.array([1.0, 0.0])]), ARM_HEIGHT_MM)
        scale = float(np.hypot(*(near[1] - near[0])))
        person = 0 if reach.who == "dealer" else 1 + int(abs(reach.shoulder_mm[0])) % 5
        look = np.random.default_rng([int(self.look.felt_rgb[0]), person])
        sleeve = SLEEVES[1 if person == 0 else int(look.integers(len(SLEEVES)))]
        skin = SKINS[int(look.integers(len(SKINS)))]
        draw_arm(picture, both[0], both[1], scale, sleeve, skin)

    def frames(self, plan: ShiftPlan, fps: int) -> Iterator[tuple[float, Picture]]:
        """Pictures of the whole plan as (seconds, I420 planes uint8 (h * 3 / 2, w))."""
        state = FeltState()
        changes: list[Change] = sorted(plan.changes, key=lambda c: c.t_s)
        at = 0
        w, h = self.camera.width_px, self.camera.height_px
        still: Picture | None = None
        for number in range(round(plan.duration_s * fps)):
            t = number / fps
            while at < len(changes) and changes[at].t_s <= t:
                self.apply(state.items, state.apply(changes[at]))
                at += 1
                still = None
            arms = [r for r in plan.reaches if r.t0_s <= t <= r.t1_s]
            if arms:
                picture = self._picture.copy()
                for reach in arms:
                    self._draw_reach(picture, reach, t)
                planes = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), np.uint8)
            else:
                if still is None:
                    still = np.asarray(
                        cv2.cvtColor(self._picture, cv2.COLOR_BGR2YUV_I420), np.uint8
                    )
                planes = still.copy()
            y, x = (int(v) for v in self.rng.integers(0, 64, 2))
            luma = planes[:h]
            np.copyto(luma, cv2.add(luma, self._noise[y : y + h, x : x + w], dtype=cv2.CV_8U))
            _stamp_time(luma, t)
            yield t, planes

    def bgr(self) -> Picture:
        """The picture as it is now, without noise and arms; uint8 (h, w, 3) BGR."""
        return self._picture.copy()


def _stamp_time(luma: Picture, t_s: float) -> None:
    """The clock in the corner, as regulations ask."""
    h = luma.shape[0]
    text = f"{int(t_s) // 3600:02d}:{int(t_s) // 60 % 60:02d}:{t_s % 60:05.2f}"
    scale = h / 1500
    at = (round(16 * scale), h - round(18 * scale))
    cv2.putText(luma, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, 16, round(5 * scale), cv2.LINE_AA)
    cv2.putText(
        luma, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, 230, round(2 * scale) or 1, cv2.LINE_AA
    )


def _groups(items: tuple[Item, ...], height_mm: float) -> list[tuple[float, float, float, float]]:
    """Rectangles (mm) that hold the items, those that touch joined."""
    rects: list[tuple[float, float, float, float]] = []
    for item in items:
        reach = item_reach(item, height_mm) + (4 if isinstance(item, StackItem) else 2)
        x, y = item.center_mm
        own = (x - reach, y - reach, x + reach, y + reach)
        merged = True
        while merged:
            merged = False
            for other in rects:
                if (
                    own[0] < other[2]
                    and other[0] < own[2]
                    and own[1] < other[3]
                    and other[1] < own[3]
                ):
                    rects.remove(other)
                    own = (
                        min(own[0], other[0]), min(own[1], other[1]),
                        max(own[2], other[2]), max(own[3], other[3]),
                    )  # fmt: skip
                    merged = True
                    break
        rects.append(own)
    return rects
