"""Film a shift: the whole felt through one camera, frame by frame.

The empty table is seen through the camera once. When something changes, only its
surroundings are painted again, straight into the camera's image, and only that part is
turned into planes again; arms are drawn over the parts they cover. The camera's slow shake
moves the finished planes in quarters of a px, and only when it has come a step further.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import cv2
import numpy as np

from datasets.render.appearance import chip_styles, lammer_sprites, random_light
from datasets.render.arms import ArmStyle, draw_arm, known_arm_styles, lay_arm
from datasets.render.banker_markers import MarkerLook
from datasets.render.camera import SyntheticCamera
from datasets.render.cards.deck import Deck, Picture
from datasets.render.chips import ChipLook
from datasets.render.dice import DiceLook
from datasets.render.lens import NO_MAP, Lens, warp_map
from datasets.render.light import glare_mask, light_field
from datasets.render.painter import Painter, item_reach, painting_order
from datasets.render.scene import Change, FeltState, Item, Reach, ShiftPlan, StackItem
from datasets.render.sensor import tone_table
from datasets.render.shake import moved
from datasets.render.table_felt import CANVAS_PX_PER_MM, MARGIN_MM, Look, paint_felt
from vision.geometry.table import FloatArray, TableFile

ARM_HEIGHT_MM = 70.0
NOISE_SPARE_PX = 64
SURROUND = (18, 18, 20)
Number = TypeVar("Number", int, float)
Rect = tuple[int, int, int, int]
"""x0, y0, x1, y1 in px of the image."""


@dataclass
class Film:
    """Frames of a shift through one camera; call `frames` once."""

    table: TableFile
    camera: SyntheticCamera
    deck: Deck
    look: Look
    rng: np.random.Generator
    markers: dict[str, MarkerLook] = field(default_factory=dict)
    dice: dict[str, DiceLook] = field(default_factory=dict)
    _bare: Picture = field(init=False)
    _raw: Picture = field(init=False)
    _unshaded: Picture = field(init=False)
    _picture: Picture = field(init=False)
    _planes: Picture = field(init=False)
    _painter: Painter = field(init=False)

    def __post_init__(self) -> None:
        """Paint the empty table and see it through the camera."""
        w, h = self.camera.width_px, self.camera.height_px
        if w % 2 or h % 2:
            raise ValueError(f"the frame must be even both ways, found {w} x {h}")
        felt = paint_felt(self.rng, self.table, self.look)
        sprites, sizes = lammer_sprites(self.rng, self.table.lammers, vary=False)
        self._painter = Painter(
            canvas=felt, to_px=self.camera.homography, foot_mm=self.camera.foot_mm,
            height_mm=self.camera.height_mm, deck=self.deck,
            chips=chip_styles(self.rng, self.table.chips), lammers=sprites, lammer_mm=sizes,
            light=random_light(self.rng), lens=self.camera.lens,
            markers=self.markers, dice=self.dice,
        )  # fmt: skip
        self._tones = tone_table(self.look.faults)
        light = np.random.default_rng([self.look.seed, 2])
        self._field = light_field(light, w, h, self.look.unevenness)
        self._glare = glare_mask(light, w, h, self.look.glare)
        self._bare = self._see_felt(felt)
        self._raw = self._bare.copy()
        self._unshaded = self._bare.copy()
        self._picture = np.zeros((h, w, 3), np.uint8)
        self._planes = np.zeros((h * 3 // 2, w), np.uint8)
        self._finish((0, 0, w, h))
        side = (h + NOISE_SPARE_PX, w + NOISE_SPARE_PX)
        noise = self.rng.standard_normal(side, np.float32) * self.look.faults.noise
        self._brighter = cv2.convertScaleAbs(np.maximum(noise, 0))
        self._darker = cv2.convertScaleAbs(np.minimum(noise, 0))

    @property
    def chips(self) -> dict[str, ChipLook]:
        """How each kind of chip is drawn; it may be changed before the first stack is."""
        return self._painter.chips

    def _see_felt(self, felt: Picture) -> Picture:
        """The felt's raster through camera and lens."""
        w, h = self.camera.width_px, self.camera.height_px
        s, m = CANVAS_PX_PER_MM, MARGIN_MM
        to_canvas = np.array([[s, 0, m * s], [0, s, m * s], [0, 0, 1.0]])
        back = to_canvas @ np.linalg.inv(self.camera.homography)
        where = warp_map(back, 0, 0, w, h, self.camera.lens)
        seen = cv2.remap(felt, where, NO_MAP, cv2.INTER_LINEAR, borderValue=SURROUND)
        return np.asarray(seen, np.uint8)

    def _finish(self, rect: Rect) -> None:
        """Light, blur and tones of a part of the image, and its planes, from what is painted."""
        w, h = self.camera.width_px, self.camera.height_px
        x0, y0, x1, y1 = _even(rect, w, h)
        if x1 <= x0 or y1 <= y0:
            return
        pad = 4
        left, top = max(0, x0 - pad), max(0, y0 - pad)
        right, bottom = min(w, x1 + pad), min(h, y1 + pad)
        part: Picture | cv2.typing.MatLike = self._raw[top:bottom, left:right]
        if self._field is not None:
            part = cv2.multiply(part, self._field[top:bottom, left:right], scale=1 / 128)
        if self._glare is not None:
            # Cards and chips shine, cloth does not, in a shadow neither.
            bare = self._bare[top:bottom, left:right]
            other = cv2.absdiff(self._unshaded[top:bottom, left:right], bare).max(axis=2) > 12
            shine = cv2.copyTo(self._glare[top:bottom, left:right], other.astype(np.uint8))
            share = cv2.cvtColor(shine, cv2.COLOR_GRAY2BGR)
            part = cv2.add(part, cv2.multiply(255 - part, share, scale=1 / 255))
        part = cv2.GaussianBlur(part, (0, 0), self.look.faults.blur_px)
        part = cv2.LUT(part, self._tones)
        self._picture[y0:y1, x0:x1] = part[y0 - top : y1 - top, x0 - left : x1 - left]
        _put_planes(self._planes, self._picture[y0:y1, x0:x1], x0, y0)

    def apply(self, items: dict[str, Item], touched: tuple[Item, ...]) -> list[Rect]:
        """Paint the surroundings of what went or came again; gives back the parts painted."""
        done = []
        for rect in _joined([self._rect(g) for g in _groups(touched, self.camera.height_mm)]):
            x0, y0, x1, y1 = rect
            if x1 <= x0 or y1 <= y0:
                continue
            self._paint(items, rect)
            self._finish((x0 - 3, y0 - 3, x1 + 3, y1 + 3))
            done.append((x0 - 3, y0 - 3, x1 + 3, y1 + 3))
        return done

    def _rect(self, group: tuple[float, float, float, float]) -> Rect:
        """The part of the image that a rectangle of the felt (mm) is seen in."""
        x0, y0, x1, y1 = group
        # Points along the sides: a lens bends them.
        t = np.linspace(0, 1, 5)
        sides = [np.column_stack([x0 + (x1 - x0) * t, np.full(5, y)]) for y in (y0, y1)]
        sides += [np.column_stack([np.full(5, x), y0 + (y1 - y0) * t]) for x in (x0, x1)]
        seen = self.camera.project(np.vstack(sides))
        low = np.maximum(np.floor(seen.min(axis=0)).astype(int) - 2, 0).tolist()
        high = (np.ceil(seen.max(axis=0)).astype(int) + 3).tolist()
        return (low[0], low[1], min(high[0], self.camera.width_px),
                min(high[1], self.camera.height_px))  # fmt: skip

    def _paint(self, items: dict[str, Item], rect: Rect) -> None:
        """Paint a part of the image again; without shadows too where something may shine."""
        x0, y0, x1, y1 = rect
        self._paint_on(self._raw, items, rect)
        if self._glare is not None and self._glare[y0:y1, x0:x1].any():
            light = self._painter.light
            self._painter.light = replace(light, depth=0.0)
            self._paint_on(self._unshaded, items, rect)
            self._painter.light = light

    def _paint_on(self, canvas: Picture, items: dict[str, Item], rect: Rect) -> None:
        """Paint the felt and whatever may reach into a part of the image on `canvas`."""
        x0, y0, x1, y1 = rect
        canvas[y0:y1, x0:x1] = self._bare[y0:y1, x0:x1]
        move = np.array([[1, 0, -x0], [0, 1, -y0], [0, 0, 1.0]])
        lens = self.camera.lens
        if lens is not None:
            cx, cy = lens.center_px
            lens = Lens(lens.k1, lens.k2, (cx - x0, cy - y0), lens.focal_px)
        painter = self._painter
        painter.canvas = canvas[y0:y1, x0:x1]
        painter.to_px = move @ self.camera.homography
        painter.lens = lens
        order = painting_order(items.values(), self.camera.foot_mm)
        if not order:
            return
        seen = painter.px(np.array([item.center_mm for item in order]))
        # Heights and the lens take a mm a little further than at the middle of the part.
        spread = 1.3 * painter.density(order[0].center_mm) + 0.4
        for item, (x, y) in zip(order, seen.tolist(), strict=True):
            far = item_reach(item, self.camera.height_mm) * spread
            if -far < x < x1 - x0 + far and -far < y < y1 - y0 + far:
                painter.paint(item)

    def _arm(self, reach: Reach, t_s: float) -> tuple[ArmStyle, FloatArray, float]:
        """An arm's look, its shoulder and hand (2, 2) px, and px per mm at the hand."""
        share = (t_s - reach.t0_s) / max(1e-6, reach.t1_s - reach.t0_s)
        places = np.asarray(reach.hand_mm, np.float64)
        at = share * (len(places) - 1)
        k = min(int(at), len(places) - 2)
        hand = places[k] + (places[k + 1] - places[k]) * (at - k)
        high = ARM_HEIGHT_MM if reach.height_mm is None else reach.height_mm
        both = self.camera.project(np.vstack([reach.shoulder_mm, hand]), high)
        near = self.camera.project(np.vstack([hand, hand + np.array([1.0, 0.0])]), high)
        scale = float(np.hypot(*(near[1] - near[0])))
        styles = known_arm_styles()
        person = 0 if reach.who == "dealer" else 1 + int(abs(reach.shoulder_mm[0]) // 97) % 7
        look = styles[(int(self.look.felt_rgb[0]) * 7 + person * 5) % len(styles)]
        if person == 0:
            sleeve = (236, 236, 234) if self.look.felt_rgb[1] % 2 else (24, 24, 28)
            look = replace(look, sleeve=sleeve, pattern=0, cuff=(240, 240, 238))
        pose = ("pinch", "flat", "fist", "flat")[int(reach.t0_s * 7) % 4]
        return replace(look, pose=pose), both, scale

    def _draw_arms(self, planes: Picture, arms: list[Reach], t_s: float) -> None:
        """Draw the arms over the shaken planes; only what they cover is computed again."""
        w, h = self.camera.width_px, self.camera.height_px
        drawn = [self._arm(reach, t_s) for reach in arms]
        rects: list[Rect] = []
        for _, (shoulder, hand), scale in drawn:
            reach_px = 240 * scale
            low = np.minimum(shoulder, hand) - reach_px
            high = np.maximum(shoulder, hand) + reach_px
            rects.append(_even((int(low[0]), int(low[1]), int(high[0]), int(high[1])), w, h))
        fall = np.asarray(self._painter.light.shift) * 45
        for x0, y0, x1, y1 in _joined(rects):
            if x1 - x0 < 4 or y1 - y0 < 4:
                continue
            part = self._picture[y0:y1, x0:x1].copy()
            for look, (shoulder, hand), scale in drawn:
                lay_arm(part, draw_arm(look), shoulder - (x0, y0), hand - (x0, y0), scale,
                        shadow=(float(fall[0]), float(fall[1])), depth=0.4)  # fmt: skip
            self._put_moved(planes, part, x0, y0, t_s)

    def _put_moved(self, planes: Picture, part: Picture, x0: int, y0: int, t_s: float) -> None:
        """Planes of a part of the image, moved as the camera shakes, but for its border."""
        dx, dy = self.shift_px(t_s)
        own = np.asarray(cv2.cvtColor(part, cv2.COLOR_BGR2YUV_I420), np.uint8)
        if not (dx or dy):
            _paste(planes, own, x0, y0, 0)
            return
        h, w = part.shape[:2]
        _paste(planes, _moved_planes(own, w, h, dx, dy), x0, y0, 4)

    def shift_px(self, t_s: float) -> tuple[float, float]:
        """How far (right, down) the shake has moved the image from the camera's map, px."""
        return (0.0, 0.0) if self.look.shake is None else self.look.shake.at(t_s)

    def frames(self, plan: ShiftPlan, fps: int) -> Iterator[tuple[float, Picture]]:
        """Frames of the whole plan as (seconds, I420 planes uint8 (h * 3 / 2, w))."""
        state = FeltState()
        changes: list[Change] = sorted(plan.changes, key=lambda c: c.t_s)
        at = 0
        w, h = self.camera.width_px, self.camera.height_px
        shown, place = self._planes.copy(), (0.0, 0.0)
        for number in range(round(plan.duration_s * fps)):
            t = number / fps
            parts: list[Rect] = []
            while at < len(changes) and changes[at].t_s <= t:
                parts += self.apply(state.items, state.apply(changes[at]))
                at += 1
            where = self.shift_px(t)
            if where != place:
                shown, place = _moved_planes(self._planes, w, h, *where), where
            else:
                for part in parts:
                    x0, y0, x1, y1 = _even(
                        (part[0] - 8, part[1] - 8, part[2] + 8, part[3] + 8), w, h
                    )
                    self._put_moved(shown, self._picture[y0:y1, x0:x1], x0, y0, t)
            planes = shown.copy()
            arms = [r for r in plan.reaches if r.t0_s <= t <= r.t1_s]
            if arms:
                self._draw_arms(planes, arms, t)
            self._grain(planes[:h], t)
            self.look.stamp.print(planes[:h], t)
            yield t, planes

    def _grain(self, luma: Picture, t_s: float) -> None:
        """Sensor noise and the lamps' beat on a luma plane, in place."""
        h, w = luma.shape
        if self.look.flicker:
            gain = 1 + self.look.flicker * math.sin(2 * math.pi * 0.83 * t_s)
            cv2.convertScaleAbs(luma, luma, gain, 0)
        y, x = (int(v) for v in self.rng.integers(0, NOISE_SPARE_PX, 2))
        cv2.add(luma, self._brighter[y : y + h, x : x + w], luma)
        cv2.subtract(luma, self._darker[y : y + h, x : x + w], luma)

    def bgr(self) -> Picture:
        """The current frame without noise, shake and arms; uint8 (h, w, 3) BGR."""
        return self._picture.copy()


def _even(rect: Rect, w: int, h: int) -> Rect:
    """The rectangle grown to even px and cut to the image."""
    x0, y0, x1, y1 = rect
    return (max(0, x0 // 2 * 2), max(0, y0 // 2 * 2), min(w, -(-x1 // 2) * 2),
            min(h, -(-y1 // 2) * 2))  # fmt: skip


def _put_planes(planes: Picture, part: Picture, x0: int, y0: int) -> None:
    """A part of the image, uint8 (h, w, 3) of even size at even px, into I420 planes."""
    own = cv2.cvtColor(np.ascontiguousarray(part), cv2.COLOR_BGR2YUV_I420)
    _paste(planes, np.asarray(own, np.uint8), x0, y0, 0)


def _split(planes: Picture, w: int, h: int) -> tuple[Picture, Picture, Picture]:
    """Views of Y (h, w), U and V (h / 2, w / 2) of I420 planes."""
    flat = planes.reshape(-1)
    u, v = flat[h * w : h * w * 5 // 4], flat[h * w * 5 // 4 :]
    return planes[:h], u.reshape(h // 2, w // 2), v.reshape(h // 2, w // 2)


def _paste(planes: Picture, own: Picture, x0: int, y0: int, border: int) -> None:
    """Planes of a part at even px into the whole image's, less a border of even px."""
    w, h = own.shape[1], own.shape[0] * 2 // 3
    whole = _split(planes, planes.shape[1], planes.shape[0] * 2 // 3)
    for plane, part, k in zip(whole, _split(own, w, h), (1, 2, 2), strict=True):
        b = border // k
        x, y = x0 // k, y0 // k
        # At the image's own edge there is nothing beyond the border.
        left, top = (0 if x == 0 else b), (0 if y == 0 else b)
        right = part.shape[1] - (0 if x + part.shape[1] == plane.shape[1] else b)
        bottom = part.shape[0] - (0 if y + part.shape[0] == plane.shape[0] else b)
        plane[y + top : y + bottom, x + left : x + right] = part[top:bottom, left:right]


def _moved_planes(planes: Picture, w: int, h: int, dx: float, dy: float) -> Picture:
    """I420 planes moved right and down."""
    out = np.empty_like(planes)
    for k, (source, target) in enumerate(zip(_split(planes, w, h), _split(out, w, h), strict=True)):
        half = 1.0 if k == 0 else 0.5
        target[:] = moved(source, dx * half, dy * half)
    return out


def _groups(items: tuple[Item, ...], height_mm: float) -> list[tuple[float, float, float, float]]:
    """Rectangles (mm) that hold the items, those that touch joined."""
    rects = []
    for item in items:
        reach = item_reach(item, height_mm) + (4 if isinstance(item, StackItem) else 2)
        x, y = item.center_mm
        rects.append((x - reach, y - reach, x + reach, y + reach))
    return _joined(rects)


def _joined(
    rects: Sequence[tuple[Number, Number, Number, Number]],
) -> list[tuple[Number, Number, Number, Number]]:
    """The rectangles, those that overlap made one."""
    out: list[tuple[Number, Number, Number, Number]] = []
    for x0, y0, x1, y1 in rects:
        while True:
            hit = [r for r in out if x0 < r[2] and r[0] < x1 and y0 < r[3] and r[1] < y1]
            if not hit:
                break
            out = [r for r in out if r not in hit]
            x0, y0 = min(x0, *(r[0] for r in hit)), min(y0, *(r[1] for r in hit))
            x1, y1 = max(x1, *(r[2] for r in hit)), max(y1, *(r[3] for r in hit))
        out.append((x0, y0, x1, y1))
    return out


__all__ = ["CANVAS_PX_PER_MM", "MARGIN_MM", "Film", "Look", "paint_felt"]
