"""Draws whole tables: camera, lamps, felt, groups of stacks and laid samples. NumPy alone."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from benchmarks.mitsuba_stacks.chips import draw_kinds, linear
from benchmarks.mitsuba_stacks.piles import REACH_MM, hidden_share, pile, sample_pile, set_group
from benchmarks.traced_stacks.truth import (
    Floats,
    Point,
    Rgb,
    TracedCamera,
    TracedGroup,
    TracedLamp,
    TracedStack,
    TracedTable,
)

GROUPS = 3
DIAMETERS_MM = (37.0, 39.0, 40.0, 43.0)
THICKNESS_MM = 3.3
OFF_VERTICAL_DEG = (22.0, 48.0)
PX_PER_CHIP = (2.0, 6.0)
MOST_PX_PER_MM = 2.7
"""A frame that shows less felt has no room for three groups and the samples."""

KELVINS = (2700.0, 3000.0, 3500.0, 4000.0, 5000.0, 6500.0)
LIGHTS = ("above", "one-sided", "several", "panel")
_FELTS = (
    (24, 92, 58), (12, 62, 44), (30, 66, 128), (18, 34, 74), (128, 26, 40), (84, 20, 34),
    (74, 44, 100), (96, 98, 100), (34, 34, 38), (28, 110, 112), (156, 120, 80),
)  # fmt: skip
_INKS = ((236, 230, 206), (232, 196, 84), (214, 70, 60), (240, 240, 240), (20, 22, 24))
_WORDS = ("PLAYER", "BANKER", "TIE", "ANTE", "PLAY", "BET", "BONUS", "INSURANCE", "PASS", "FIELD")


class _NoRoomError(Exception):
    """What was drawn does not fit into the frame."""


def draw_table(seed: int, number: int) -> TracedTable:
    """Table `number` of a seed: the same for the same two numbers."""
    rng = np.random.default_rng([seed, number, 7919])
    while True:
        try:
            return _drawn(rng, seed, number)
        except _NoRoomError:
            continue


def _drawn(rng: np.random.Generator, seed: int, number: int) -> TracedTable:
    kinds = draw_kinds(rng)
    diameter = float(rng.choice(DIAMETERS_MM))
    camera = _camera(rng)
    middles, spots = _places(rng, camera, len(kinds), diameter)
    camera = _marked(rng, camera)
    groups = tuple(
        TracedGroup(
            center_mm=at, angle_deg=round(float(rng.uniform(-60, 60)), 1),
            word=str(rng.choice(_WORDS)), ring_mm=round(float(rng.uniform(84, 108)), 1),
        )
        for at in middles
    )  # fmt: skip
    stacks: list[TracedStack] = []
    for group, at in enumerate(middles):
        piles = [pile(rng, kinds, group) for _ in range(int(rng.integers(2, 7)))]
        tries = (set_group(rng, piles, camera, at, diameter) for _ in range(8))
        own = next((one for one in tries if one is not None), None)
        if own is None:
            raise _NoRoomError
        stacks += own
    laid = zip(rng.permutation(len(kinds)), spots, strict=True)
    samples = [sample_pile(rng, kinds[int(i)], at) for i, at in laid]
    stacks, samples = _measured(camera, diameter, stacks, samples)
    light, lamps = _lamps(rng, camera)
    felt, ink = _felt(rng)
    return TracedTable(
        seed=seed, number=number, camera=camera, kinds=kinds, diameter_mm=diameter,
        thickness_mm=THICKNESS_MM, bevel_mm=round(float(rng.uniform(0.3, 0.65)), 2),
        groups=groups, stacks=tuple(stacks), samples=tuple(samples), light=light, lamps=lamps,
        ambient=round(float(rng.uniform(0.06, 0.16)), 3), felt=felt, print_rgb=ink,
        crf=int(rng.integers(17, 26)),
    )  # fmt: skip


def _camera(rng: np.random.Generator) -> TracedCamera:
    """A camera over the table, anywhere about it, without its marks."""
    tilt = math.radians(rng.uniform(OFF_VERTICAL_DEG[0] + 1, OFF_VERTICAL_DEG[1] - 1))
    per_mm = THICKNESS_MM * math.sin(tilt)
    high = min(PX_PER_CHIP[1], MOST_PX_PER_MM * per_mm)
    scale = float(rng.uniform(PX_PER_CHIP[0] * 1.05, high)) / per_mm
    height = float(rng.uniform(1900, 3400))
    way = rng.uniform(0, 2 * math.pi)
    target = rng.uniform(-300, 300, 2)
    foot = target + height * math.tan(tilt) * np.array([math.cos(way), math.sin(way)])
    return TracedCamera(
        place_mm=(round(float(foot[0]), 2), round(float(foot[1]), 2), round(height, 2)),
        target_mm=(round(float(target[0]), 2), round(float(target[1]), 2)),
        roll_deg=round(float(rng.normal(0, 2.5)), 3),
        focal_px=round(scale * height / math.cos(tilt), 2),
    )


def _marked(rng: np.random.Generator, camera: TracedCamera) -> TracedCamera:
    """The camera with marks over the whole frame, as a careful person clicks them."""
    across, down = np.meshgrid(np.linspace(0.12, 0.88, 4), np.linspace(0.14, 0.86, 3))
    size = np.array([camera.width_px, camera.height_px])
    rough = np.column_stack([across.ravel(), down.ravel()]) + rng.uniform(-0.06, 0.06, (12, 2))
    keep = rng.permutation(12)[: int(rng.integers(8, 13))]
    felt = np.round(camera.to_felt(rough[np.sort(keep)] * size), 1)
    seen = camera.to_image(np.column_stack([felt, np.zeros(len(felt))]))
    seen = np.round(seen + rng.normal(0, 0.3, seen.shape), 2)
    points = tuple(
        ((float(at[0]), float(at[1])), (float(px[0]), float(px[1])))
        for at, px in zip(felt, seen, strict=True)
    )
    return replace(camera, points=points)


def _in_view(camera: TracedCamera, middles: Floats, reach: float, height: float) -> bool:
    """Whether upright cylinders on the felt lie in the frame, clear of its border."""
    angle = np.linspace(0, 2 * math.pi, 13)[:-1]
    rim = reach * np.column_stack([np.cos(angle), np.sin(angle)])
    flat = (middles[:, None] + rim).reshape(-1, 2)
    both = [np.column_stack([flat, np.full(len(flat), high)]) for high in (0.0, height)]
    seen = camera.to_image(np.vstack(both))
    limit = np.array([camera.width_px, camera.height_px]) - 40
    return bool(((seen > 40) & (seen < limit)).all())


def _places(
    rng: np.random.Generator, camera: TracedCamera, kinds: int, diameter: float
) -> tuple[list[Point], list[Point]]:  # fmt: skip
    """Middles of the groups and spots of the samples, all in view and clear of each other."""
    size = np.array([camera.width_px, camera.height_px])
    for _ in range(60):
        start = camera.to_felt(rng.uniform(0.12, 0.88, (1, 2)) * size)
        right = camera.to_felt(np.array([[1920.0, 1080.0], [2020.0, 1080.0]]))
        way = right[1] - right[0]
        turn = math.atan2(way[1], way[0]) + rng.normal(0, 0.15)
        step = (diameter + rng.uniform(28, 55)) * (np.arange(kinds) - (kinds - 1) / 2)
        row = start + step[:, None] * [math.cos(turn), math.sin(turn)]
        row = np.round(row + rng.normal(0, 2.5, row.shape), 2)
        if not _in_view(camera, row, diameter, 30.0):
            continue
        middles: list[Floats] = []
        for _ in range(60):
            at = np.round(camera.to_felt(rng.uniform(0.05, 0.95, (1, 2)) * size), 1)
            clear = np.linalg.norm(row - at, axis=1).min() > REACH_MM + diameter + 20
            apart = all(np.linalg.norm(at - one) > 2 * REACH_MM + 30 for one in middles)
            if clear and apart and _suits(camera, at):
                middles.append(at)
            if len(middles) == GROUPS:
                return [_point(one[0]) for one in middles], [_point(one) for one in row]
    raise _NoRoomError


def _suits(camera: TracedCamera, middle: Floats) -> bool:
    """Whether a group there is in view, at angles and sizes within the limits."""
    if not _in_view(camera, middle, REACH_MM + 15, 75.0):
        return False
    for turn in np.linspace(0, 2 * math.pi, 9)[:-1]:
        at = _point(middle[0] + REACH_MM * np.array([math.cos(turn), math.sin(turn)]))
        px, off = camera.px_per_chip(at, THICKNESS_MM), camera.off_vertical_deg(at)
        if not (PX_PER_CHIP[0] <= px <= PX_PER_CHIP[1]):
            return False
        if not (OFF_VERTICAL_DEG[0] <= off <= OFF_VERTICAL_DEG[1]):
            return False
    return True


def _measured(
    camera: TracedCamera, diameter: float, stacks: list[TracedStack], samples: list[TracedStack]
) -> tuple[list[TracedStack], list[TracedStack]]:
    """Both with how far each is hidden and how large a chip is there; no sample is hidden."""
    every = [*stacks, *samples]
    out = [
        replace(
            one,
            hidden=hidden_share(
                one, every[:i] + every[i + 1 :], camera, diameter, THICKNESS_MM
            ),
            px_per_chip=round(camera.px_per_chip(one.base_mm, THICKNESS_MM), 4),
        )
        for i, one in enumerate(every)
    ]  # fmt: skip
    own, laid = out[: len(stacks)], out[len(stacks) :]
    if any(one.hidden for one in laid):
        raise _NoRoomError
    return own, laid


def _lamps(
    rng: np.random.Generator, camera: TracedCamera
) -> tuple[str, tuple[TracedLamp, ...]]:  # fmt: skip
    """Lamps higher than the camera, so that none stands before it."""
    light = str(rng.choice(LIGHTS))
    kelvin = float(rng.choice(KELVINS))
    count = {"above": 1, "one-sided": 1, "several": int(rng.integers(3, 6)), "panel": 2}[light]
    way = rng.uniform(0, 2 * math.pi)
    lamps = []
    for i in range(count):
        height = camera.place_mm[2] + rng.uniform(60, 700)
        lean = {"above": (0.0, 0.3), "one-sided": (0.8, 1.5), "several": (0.2, 1.0)}
        far = height * rng.uniform(*lean.get(light, (0.1, 0.6)))
        turn = way + 2 * math.pi * i / count + rng.normal(0, 0.3)
        aim = np.array(camera.target_mm) + rng.uniform(-150, 150, 2)
        size = rng.uniform(700, 1300) if light == "panel" else rng.uniform(180, 500)
        # Single lamps of a room may be of another make.
        own = float(rng.choice(KELVINS)) if i and rng.random() < 0.2 else kelvin
        lamps.append(
            TracedLamp(
                place_mm=(
                    round(float(aim[0] + far * math.cos(turn)), 1),
                    round(float(aim[1] + far * math.sin(turn)), 1), round(float(height), 1),
                ),
                target_mm=_point(aim), size_mm=round(float(size), 1), kelvin=own,
                power=round(float(rng.uniform(0.7, 1.3)), 3),
            )
        )  # fmt: skip
    return light, tuple(lamps)


def _felt(rng: np.random.Generator) -> tuple[Rgb, Rgb]:
    """The felt's colour and that of its print, which shows on it."""
    felt = np.clip(np.array(_FELTS[int(rng.integers(len(_FELTS)))]) + rng.normal(0, 6, 3), 8, 200)
    inks = [ink for ink in _INKS if math.dist(ink, felt) > 90]
    ink = inks[int(rng.integers(len(inks)))]
    return linear(tuple(float(v) for v in felt)), linear(ink)


def _point(at: Floats) -> Point:
    return (round(float(at[0]), 2), round(float(at[1]), 2))
