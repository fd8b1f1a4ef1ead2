"""Random tables for the path tracer: chips, stacks, lamps and a camera, by seed and number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.traced_stacks.truth import (
    Floats,
    Point,
    Rgb,
    TracedCamera,
    TracedGroup,
    TracedKind,
    TracedLamp,
    TracedStack,
    TracedTable,
)

THICKNESS_MM = 3.3
SAMPLE_CHIPS = 6
GROUPS = 3
REACH_MM = 95.0
"""A group's stacks stand so near to its middle."""

CELLS = [(x, y) for y in (0.31, 0.71) for x in (0.19, 0.5, 0.81)]
"""Where groups lie in the image, as shares of its sides."""

MARK_SD_PX = 0.3
"""Error of a clicked mark."""

WORDS = ("PAI GOW", "BONUS", "WAGER", "FORTUNE", "PLAYER", "BET", "INSURE", "PLACE")

COLOURS: dict[str, tuple[int, Rgb]] = {
    "white": (100, (0.78, 0.76, 0.70)),
    "blue": (1000, (0.03, 0.09, 0.36)),
    "red": (500, (0.46, 0.02, 0.03)),
    "green": (2500, (0.01, 0.17, 0.06)),
    "black": (10000, (0.012, 0.012, 0.014)),
    "purple": (50000, (0.13, 0.03, 0.25)),
    "yellow": (100000, (0.72, 0.45, 0.03)),
    "pink": (250, (0.72, 0.25, 0.31)),
    "orange": (2000, (0.70, 0.16, 0.02)),
    "grey": (200, (0.26, 0.26, 0.27)),
    "brown": (500000, (0.13, 0.055, 0.025)),
    "aqua": (5000, (0.05, 0.36, 0.42)),
}
"""Name: value in cents and linear body colour, before a table's own variation."""

FELTS: tuple[Rgb, ...] = (
    (0.015, 0.13, 0.055), (0.02, 0.075, 0.21), (0.20, 0.014, 0.024), (0.09, 0.008, 0.02),
    (0.01, 0.12, 0.13), (0.085, 0.03, 0.15), (0.10, 0.10, 0.105), (0.26, 0.17, 0.09),
    (0.02, 0.021, 0.024),
)  # fmt: skip

AMBIENT = {"above": (0.5, 1.8), "spots": (0.5, 1.5), "one side": (0.4, 1.0)}
"""Light on the felt from the whole room, to one part of the lamps': with none from the lamps a
stack's side is at 0.15 to 0.35 of its top."""

STYLES = ("plain", "spots", "many spots", "split spots", "line", "slanted print")
MORE_STYLES = ("two lines", "letters", "zigzag", "checks", "edges", "half spots")
MORE_SPOTS = {"letters": (3, 9), "zigzag": (8, 24), "checks": (10, 36), "half spots": (3, 15)}
TRAINING_GROUPS = 5


def traced_table(seed: int, number: int, *, training: bool = False) -> TracedTable:
    """The table of a seed and a number, with its truth.

    `training`: one to train on, with more groups and with rims of more makes.
    """
    rng = np.random.default_rng([seed, number])
    many = TRAINING_GROUPS if training else GROUPS
    diameter = float(rng.choice([37.0, 39.0, 40.0, 43.0], p=[0.2, 0.4, 0.2, 0.2]))
    kinds = drawn_kinds(rng, training=training)
    camera, centers = _camera(rng, many)
    groups = tuple(
        TracedGroup(at, float(rng.uniform(-40, 40)), str(rng.choice(WORDS)),
                    float(rng.choice([0.0, 55.0, 70.0, 90.0])))
        for at in centers[:many]
    )  # fmt: skip
    stacks: list[TracedStack] = []
    for place, group in enumerate(groups):
        stacks += _group(rng, place, group, kinds, diameter)
    light, lamps, ambient = drawn_lamps(rng)
    felt, printed = drawn_felt(rng)
    table = TracedTable(
        seed, number, camera, kinds, diameter, THICKNESS_MM, float(rng.uniform(0.25, 0.6)),
        groups, tuple(stacks), _samples(rng, centers[many], kinds, many), light, lamps, ambient,
        felt, printed, int(rng.integers(23, 29)),
    )  # fmt: skip
    return replace(
        table,
        stacks=tuple(_measured(table, one) for one in table.stacks),
        samples=tuple(_measured(table, one) for one in table.samples),
    )


def drawn_felt(rng: np.random.Generator) -> tuple[Rgb, Rgb]:
    """The colours of a felt and of what is printed on it."""
    felt = FELTS[int(rng.integers(len(FELTS)))]
    felt = _rgb(np.array(felt) * rng.uniform(0.75, 1.3, 3))
    return felt, (0.05, 0.05, 0.05) if sum(felt) > 0.3 else (0.62, 0.58, 0.40)


def drawn_kinds(rng: np.random.Generator, *, training: bool = False) -> tuple[TracedKind, ...]:
    """The kinds of chips of a table, at random; `training`: half of them with MORE_STYLES."""
    names = [str(name) for name in rng.permutation(list(COLOURS))[: int(rng.integers(5, 9))]]
    # One maker's set: most kinds of a table share their manner.
    own = str(rng.choice(STYLES, p=[0.15, 0.3, 0.2, 0.15, 0.08, 0.12]))
    face = str(rng.choice(["inlay", "stamped", "printed"]))
    roughness, coat = float(rng.uniform(0.32, 0.62)), float(rng.choice([0.0, 0.0, 0.15, 0.35]))
    kinds = []
    for name in names:
        cents, body = COLOURS[name]
        other = [c for n, (_, c) in COLOURS.items() if n != name]
        spot, second = (_varied(rng, other[int(rng.integers(len(other)))]) for _ in range(2))
        if rng.random() < 0.5:
            spot = _varied(rng, COLOURS["white" if name != "white" else "black"][1])
        style = own if rng.random() < 0.75 else str(rng.choice(STYLES))
        if training and rng.random() < 0.5:
            style = str(rng.choice(MORE_STYLES))
        spots = {
            "plain": 0, "line": 0, "spots": int(rng.choice([4, 6, 8])),
            "many spots": int(rng.choice([12, 14, 16])), "split spots": int(rng.choice([4, 6, 8])),
            "slanted print": int(rng.choice([6, 8, 10])),
        }.get(style, 0)  # fmt: skip
        if style in MORE_SPOTS:
            spots = int(rng.integers(*MORE_SPOTS[style]))
        inlay = (0.74, 0.72, 0.66) if rng.random() < 0.6 else _varied(rng, spot)
        kinds.append(
            TracedKind(name, cents, style, _varied(rng, body), spot, second, inlay, spots,
                       float(rng.uniform(0.25, 0.5)), face, roughness, coat)
        )  # fmt: skip
    return tuple(kinds)


def _varied(rng: np.random.Generator, rgb: Rgb) -> Rgb:
    return _rgb(np.array(rgb) * rng.uniform(0.8, 1.2, 3) * rng.uniform(0.8, 1.15))


def _rgb(values: Floats) -> Rgb:
    red, green, blue = np.clip(values, 0.004, 0.82).round(4).tolist()
    return red, green, blue


def _camera(rng: np.random.Generator, groups: int) -> tuple[TracedCamera, list[Point]]:
    """A camera and the felt points about which groups lie, the samples' last."""
    while True:
        camera = drawn_camera(rng, (24, 46))
        size = np.array([camera.width_px, camera.height_px])
        cells = np.array(CELLS)[rng.permutation(len(CELLS))[: groups + 1]]
        px = (cells + rng.uniform(-0.02, 0.02, cells.shape)) * size
        felt = [(float(x), float(y)) for x, y in camera.to_felt(px).round(1)]
        off = [camera.off_vertical_deg(at) for at in felt]
        if min(off) >= 22 and max(off) <= 48:
            return replace(camera, points=drawn_marks(rng, camera)), felt


def drawn_camera(
    rng: np.random.Generator, tilt_deg: tuple[float, float], size_px: tuple[int, int] = (3840, 2160)
) -> TracedCamera:
    """A ceiling camera at random, without its marks, that looks at the middle of the felt."""
    height = float(rng.uniform(2300, 3500))
    tilt = math.radians(float(rng.uniform(*tilt_deg)))
    around = rng.normal(0, 35) if rng.random() < 0.75 else rng.uniform(-180, 180)
    turn = math.radians(90 + float(around))
    away = height * math.tan(tilt)
    return TracedCamera(
        (away * math.cos(turn), away * math.sin(turn), height), (0.0, 0.0),
        float(rng.normal(0, 2)), float(rng.uniform(1.3, 2.6)) * height / math.cos(tilt), *size_px,
    )  # fmt: skip


def drawn_marks(rng: np.random.Generator, camera: TracedCamera) -> tuple[tuple[Point, Point], ...]:
    """Felt marks with their clicked places in a camera's image."""
    size = np.array([camera.width_px, camera.height_px])
    shares = [(x, y) for y in (0.06, 0.5, 0.94) for x in (0.05, 0.35, 0.65, 0.95)]
    felt = camera.to_felt(np.array(shares) * size).round(0)
    seen = camera.to_image(np.column_stack([felt, np.zeros(len(felt))]))
    seen += rng.normal(0, MARK_SD_PX, seen.shape)
    return tuple(
        ((float(x), float(y)), (round(float(u), 2), round(float(v), 2)))
        for (x, y), (u, v) in zip(felt, seen, strict=True)
    )


def drawn_lamps(rng: np.random.Generator) -> tuple[str, tuple[TracedLamp, ...], float]:
    """The kind of light, its lamps and the light that comes from everywhere."""
    light = str(rng.choice(["above", "one side", "spots"], p=[0.4, 0.35, 0.25]))
    kelvin = float(rng.choice([2700, 3000, 3500, 4000, 5000, 6500]))
    if light == "one side":
        turn, low = rng.uniform(0, 2 * math.pi), math.radians(rng.uniform(24, 50))
        far = rng.uniform(1800, 3000)
        at = (far * math.cos(low) * math.cos(turn), far * math.cos(low) * math.sin(turn),
              far * math.sin(low))  # fmt: skip
        lamp = TracedLamp(at, (0, 0), float(rng.uniform(250, 900)), kelvin, 1.0)
        return light, (lamp,), float(rng.uniform(*AMBIENT["one side"]))
    lamps = []
    many, size = (int(rng.integers(1, 3)), (600, 1600)) if light == "above" else (4, (60, 180))
    for _ in range(many):
        x, y = rng.uniform(-1100, 1100, 2)
        lamps.append(
            TracedLamp((x, y, float(rng.uniform(1900, 2800))), (x / 2, y / 2),
                       float(rng.uniform(*size)), kelvin, float(rng.uniform(0.6, 1.0)) / many)
        )  # fmt: skip
    return light, tuple(lamps), float(rng.uniform(*AMBIENT[light]))


def _count(rng: np.random.Generator) -> int:
    low, high = [(1, 2), (3, 5), (6, 10), (11, 22)][int(rng.choice(4, p=[0.2, 0.3, 0.25, 0.25]))]
    return int(rng.integers(low, high + 1))


def _chips(rng: np.random.Generator, kinds: Sequence[TracedKind], count: int) -> tuple[str, ...]:
    """Chips from the bottom up, larger values below."""
    many = min(count, int(rng.choice([1, 2, 3, 4], p=[0.5, 0.28, 0.15, 0.07])))
    used = sorted(rng.choice(len(kinds), many, replace=False), key=lambda k: -kinds[k].value_cents)
    cuts = np.sort(rng.choice(np.arange(1, count), many - 1, replace=False))
    runs = np.diff([0, *cuts.tolist(), count])
    return tuple(kinds[k].name for k, run in zip(used, runs, strict=True) for _ in range(run))


def drawn_stack(
    rng: np.random.Generator, at: Point, group: int, kinds: Sequence[TracedKind]
) -> TracedStack:
    """A stack of random chips at a felt point."""
    chips = _chips(rng, kinds, _count(rng))
    n = len(chips)
    posture = str(rng.choice(["upright", "leaning", "untidy"], p=[0.55, 0.28, 0.17]))
    if n == 1:
        posture = "upright"
    offsets = rng.normal(0, {"upright": 0.25, "leaning": 0.35, "untidy": 0.5}[posture], (n, 2))
    if posture == "untidy":
        offsets += np.cumsum(rng.normal(0, 0.6, (n, 2)), axis=0)
    if posture == "leaning":
        turn = rng.uniform(0, 2 * math.pi)
        most = min(9.0, 0.75 * n)
        lean = np.array([math.cos(turn), math.sin(turn)]) * rng.uniform(0.35, 1.0) * most
        offsets += np.linspace(0, 1, n)[:, None] ** rng.uniform(0.8, 1.6) * lean
    offsets -= offsets[0]
    return TracedStack(
        at, chips, tuple((round(float(x), 3), round(float(y), 3)) for x, y in offsets),
        tuple(float(t) for t in rng.uniform(0, 2 * math.pi, n).round(3)), posture, group,
    )  # fmt: skip


def _group(
    rng: np.random.Generator, number: int, group: TracedGroup, kinds: Sequence[TracedKind],
    diameter: float,
) -> list[TracedStack]:  # fmt: skip
    """Stacks about a group's middle: alone, touching, or some way off; none within another."""
    wanted = int(rng.choice([2, 3, 4, 5, 6], p=[0.1, 0.2, 0.3, 0.25, 0.15]))
    middle = np.array(group.center_mm)
    out: list[TracedStack] = []
    for _ in range(400):
        if len(out) == wanted:
            break
        if not out:
            at = middle + rng.normal(0, 8, 2)
        else:
            turn = rng.uniform(0, 2 * math.pi)
            near = rng.random() < 0.6
            far = diameter * rng.uniform(1.01, 1.3) if near else rng.uniform(55, 100)
            beside = np.array(out[int(rng.integers(len(out)))].base_mm)
            at = beside + far * np.array([math.cos(turn), math.sin(turn)])
        if np.hypot(*(at - middle)) > REACH_MM:
            continue
        base = (round(float(at[0]), 2), round(float(at[1]), 2))
        one = drawn_stack(rng, base, number, kinds)
        if all(_apart(one, other, diameter) for other in out):
            out.append(one)
    return out


def _apart(one: TracedStack, other: TracedStack, diameter: float) -> bool:
    n = min(len(one.chips), len(other.chips))
    off = (
        np.array(one.offsets_mm[:n]) + one.base_mm - np.array(other.offsets_mm[:n]) - other.base_mm
    )
    return float(np.hypot(*off.T).min()) >= diameter + 0.3


def _samples(
    rng: np.random.Generator, middle: Point, kinds: Sequence[TracedKind], group: int
) -> tuple[TracedStack, ...]:
    """One upright stack of six of each kind, well apart, in two rows."""
    out = []
    for place, kind in enumerate(kinds):
        at = np.array([place % 4 - 1.5, place // 4 - 0.5]) * [64, 84] + rng.normal(0, 3, 2)
        base = np.array(middle) + at
        offsets = rng.normal(0, 0.2, (SAMPLE_CHIPS, 2))
        offsets -= offsets[0]
        out.append(
            TracedStack(
                (float(base[0].round(2)), float(base[1].round(2))), (kind.name,) * SAMPLE_CHIPS,
                tuple((float(x), float(y)) for x, y in offsets.round(3)),
                tuple(float(t) for t in rng.uniform(0, 2 * math.pi, SAMPLE_CHIPS).round(3)),
                "upright", group,
            )
        )  # fmt: skip
    return tuple(out)


def _measured(table: TracedTable, stack: TracedStack) -> TracedStack:
    others = [one for one in (*table.stacks, *table.samples) if one is not stack]
    return replace(
        stack, hidden=round(hidden_share(table, stack, others), 3),
        px_per_chip=round(table.camera.px_per_chip(stack.base_mm, table.thickness_mm), 3),
    )  # fmt: skip


def hidden_share(table: TracedTable, stack: TracedStack, others: Sequence[TracedStack]) -> float:
    """The share of a stack's near wall that other stacks hide from the camera, 0 to 1.

    Points of the wall are followed towards the camera in steps of 2 mm as far as any stack is
    high.
    """
    near_by = [one for one in others if math.dist(one.base_mm, stack.base_mm) < 200]
    eye = np.array(table.camera.place_mm)
    radius, thick = table.diameter_mm / 2, table.thickness_mm
    near = math.atan2(eye[1] - stack.base_mm[1], eye[0] - stack.base_mm[0])
    turns = near + np.radians(np.linspace(-65, 65, 15))
    levels = (np.arange(len(stack.chips)) + 0.5) * thick
    middles = np.array(stack.offsets_mm) + stack.base_mm
    ring = np.column_stack([np.cos(turns), np.sin(turns)]) * radius
    wall = np.concatenate([(middles[:, None] + ring).reshape(-1, 2),
                           np.repeat(levels, len(turns))[:, None]], axis=1)  # fmt: skip
    ways = eye - wall
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    covered = np.zeros(len(wall), bool)
    for step in np.arange(2.0, 170.0, 2.0):
        at = wall + ways * step
        level = np.floor(at[:, 2] / thick).astype(int)
        for other in near_by:
            within = level < len(other.chips)
            centers = (np.array(other.offsets_mm) + other.base_mm)[
                np.minimum(level, len(other.chips) - 1)
            ]
            covered |= within & (np.hypot(*(at[:, :2] - centers).T) < radius)
    return float(covered.mean())
