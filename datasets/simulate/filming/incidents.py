"""Troubles of the camera: when they come, and what they do to the frames.

They are applied to the finished frames, I420 planes as a coder takes them; the stamp of a
recorder that goes on is printed again by the film where it should stay readable.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.scene import Event
from datasets.simulate.mistakes.catalogue import WAYS
from datasets.simulate.script import Played

Planes = npt.NDArray[np.uint8]
Restamp = Callable[[Planes, float], object]
"""Prints the clock on a luma plane, uint8 (h, w), in place, for a time in seconds."""

_FADE_S = 0.4


def camera_event(way: str | None, played: Played, round_id: str, rng: random.Random) -> Event:
    """A trouble of the camera within a round; a way is drawn where none is given."""
    kind = way or rng.choice(list(WAYS["CAMERA"]))
    span = played.end_s - played.start_s
    begin = played.start_s + rng.uniform(0.1, 0.6) * span
    end = min(begin + rng.uniform(4.0, 20.0), played.end_s)
    if kind in ("moved", "turned"):
        end = played.end_s
    return Event(
        kind=f"camera/{kind}", t0_s=round(begin, 3), t1_s=round(max(end, begin + 2.0), 3),
        note=f"{kind}: {WAYS['CAMERA'][kind]}", code="CAMERA", round_id=round_id,
        seed=rng.randrange(2**31),
    )  # fmt: skip


@dataclass
class Troubles:
    """Puts the camera's troubles into a run of frames; call `frames` once."""

    events: tuple[Event, ...]
    restamp: Restamp | None = None
    _held: dict[int, Planes] = field(default_factory=dict)

    def frames(self, frames: Iterable[tuple[float, Planes]]) -> Iterator[tuple[float, Planes]]:
        """The frames (seconds, I420 planes uint8 (h * 3 / 2, w)) with their troubles."""
        mine = [event for event in self.events if event.kind.startswith("camera/")]
        for t, planes in frames:
            out = planes
            for number, event in enumerate(mine):
                if event.t0_s <= t <= event.t1_s:
                    out = self._spoilt(number, event, t, out)
            yield t, out

    def _spoilt(self, number: int, event: Event, t_s: float, planes: Planes) -> Planes:
        way = event.kind.removeprefix("camera/")
        if way in ("frozen", "stuck"):
            held = self._held.setdefault(number, planes.copy())
            out = held.copy()
        else:
            share = min(1.0, (t_s - event.t0_s) / _FADE_S, (event.t1_s - t_s) / _FADE_S + 0.15)
            rng = np.random.default_rng(event.seed)
            length = event.t1_s - event.t0_s
            out = _EFFECTS[way](planes, max(0.0, share), (t_s - event.t0_s) / length, rng)
        if self.restamp is not None and way not in ("frozen", "lost"):
            self.restamp(out[: planes.shape[0] * 2 // 3], t_s)
        return out


Effect = Callable[[Planes, float, float, np.random.Generator], Planes]
"""Planes, how far the trouble has come (0 to 1), the share of its time that is gone."""


def _split(planes: Planes) -> tuple[Planes, Planes]:
    """Views of the luma (h, w) and of both chroma planes (2, h / 2, w / 2)."""
    h = planes.shape[0] * 2 // 3
    w = planes.shape[1]
    return planes[:h], planes[h:].reshape(2, h // 2, w // 2)


def _black(planes: Planes, share: float, _gone: float, rng: np.random.Generator) -> Planes:
    return _dimmed(planes, 1.0 if share > 0 else 0.0, 16.0 + float(rng.uniform(0, 3)))


def _dimmed(planes: Planes, share: float, floor: float) -> Planes:
    out = planes.copy()
    luma, chroma = _split(out)
    keep = 1.0 - share
    luma[:] = cv2.convertScaleAbs(luma, alpha=keep, beta=floor * share)
    chroma[:] = cv2.convertScaleAbs(chroma, alpha=keep, beta=128 * share).reshape(chroma.shape)
    return out


def _lost(planes: Planes, _share: float, _gone: float, rng: np.random.Generator) -> Planes:
    out = planes.copy()
    luma, chroma = _split(out)
    luma[:] = int(rng.integers(16, 130))
    chroma[:] = 128
    h, w = luma.shape
    scale = w / 1400
    (wide, tall), _ = cv2.getTextSize("NO SIGNAL", cv2.FONT_HERSHEY_SIMPLEX, scale, 2)
    at = ((w - wide) // 2, (h + tall) // 2)
    cv2.putText(luma, "NO SIGNAL", at, cv2.FONT_HERSHEY_SIMPLEX, scale, 225,
                max(1, round(2 * scale)), cv2.LINE_AA)  # fmt: skip
    return out


def _dark(planes: Planes, share: float, _gone: float, rng: np.random.Generator) -> Planes:
    """The light goes; hardly anything can be distinguished."""
    return _dimmed(planes, float(rng.uniform(0.86, 0.96)) * share, 20.0)


def _focus(planes: Planes, share: float, _gone: float, rng: np.random.Generator) -> Planes:
    out = planes.copy()
    luma, chroma = _split(out)
    sigma = max(0.3, float(rng.uniform(0.006, 0.014)) * luma.shape[1] * share)
    luma[:] = _soft(luma, sigma)
    for plane in chroma:
        plane[:] = _soft(plane, sigma / 2)
    return out


def _soft(plane: Planes, sigma: float) -> Planes:
    """A wide blur by way of a smaller image."""
    small = max(1, int(sigma / 2))
    h, w = plane.shape
    part = cv2.resize(plane, (max(2, w // small), max(2, h // small)), interpolation=cv2.INTER_AREA)
    part = cv2.GaussianBlur(part, (0, 0), max(0.3, sigma / small))
    return np.asarray(cv2.resize(part, (w, h), interpolation=cv2.INTER_LINEAR), np.uint8)


def _blocking(share_of_picture: tuple[float, float]) -> Effect:
    def effect(planes: Planes, share: float, gone: float, rng: np.random.Generator) -> Planes:
        """Something dark and out of focus near the lens that sways a little."""
        out = planes.copy()
        luma, chroma = _split(out)
        h, w = luma.shape
        big = float(rng.uniform(*share_of_picture)) * w
        side = rng.choice(np.array([(0.0, 0.5), (1.0, 0.5), (0.5, 0.0), (0.5, 1.0)]), axis=0)
        if share_of_picture[0] >= 1:
            side = np.array([0.5, 0.5])
        sway = 0.02 * w * math.sin(gone * 19)
        small = 8
        mask = np.zeros((h // small, w // small), np.uint8)
        center = (side * (w, h) + sway) / small
        axes = (max(1, round(big / small)), max(1, round(big * 0.8 / small)))
        cv2.ellipse(mask, (round(center[0]), round(center[1])), axes,
                    float(rng.uniform(0, 180)), 0, 360, 255, -1)  # fmt: skip
        mask = cv2.GaussianBlur(mask, (0, 0), max(1.0, 0.02 * w / small))
        cover = float(rng.uniform(0.93, 1.0)) * share
        tone, tints = int(rng.integers(22, 70)), rng.integers(118, 139, 2)
        for plane, value in ((luma, tone), (chroma[0], int(tints[0])), (chroma[1], int(tints[1]))):
            a = cv2.resize(mask, plane.shape[::-1]).astype(np.float32) * (cover / 255)
            plane[:] = np.clip(plane * (1 - a) + value * a, 0, 255).astype(np.uint8)
        return out

    return effect


def _moving(turning: bool) -> Effect:
    def effect(planes: Planes, _share: float, gone: float, rng: np.random.Generator) -> Planes:
        """The image shifted and turned, at once or little by little."""
        out = planes.copy()
        luma, chroma = _split(out)
        far = min(1.0, gone * 1.5) if turning else 1.0
        a = float(rng.choice([-1, 1]) * rng.uniform(0.03, 0.12)) * far
        shift = rng.choice([-1, 1], 2) * rng.uniform(0.04, 0.14, 2) * far
        for plane in (luma, chroma[0], chroma[1]):
            h, w = plane.shape
            turn = np.asarray(
                cv2.getRotationMatrix2D((w / 2, h / 2), math.degrees(a), 1.0), np.float64
            )
            turn[:, 2] += shift * (w, h)
            edge = 18 if plane is luma else 128
            plane[:] = cv2.warpAffine(plane, turn, (w, h), borderValue=edge)
        return out

    return effect


_EFFECTS: Mapping[str, Effect] = {
    "black": _black,
    "lost": _lost,
    "blocked": _blocking((0.22, 0.42)),
    "covered": _blocking((1.0, 1.4)),
    "dark": _dark,
    "focus": _focus,
    "moved": _moving(turning=False),
    "turned": _moving(turning=True),
}
