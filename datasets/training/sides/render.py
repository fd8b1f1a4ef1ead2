"""Strips of ray-cast chip stacks with their labels, to train the stack reader on.

A shard holds tables (a house's chips under one camera and one light, each chip sampled as an
enrolment would) and strips of stacks on them. `render_strips` writes shards and goes on where
it was stopped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.appearance import felt_rgb, felt_texture, print_rgb
from datasets.render.sensor import CameraFaults, degrade, table_faults
from datasets.training.sides.drawn_chips import draw_chips
from datasets.training.sides.painted import draw_painted
from datasets.training.sides.scene import MOST, Bytes, Chips, Floats, Lamps, Stacks, cast
from datasets.training.sides.shards import MOST_KINDS, StripSet, save_strips
from settlement.errors import FeltwatchError
from vision.chips.network_input.chip_sample import SAMPLE_CHIPS, cut_sample
from vision.chips.network_input.side_strip import (
    BELOW_CHIPS,
    MOST_CHIPS,
    ROWS,
    ROWS_PER_CHIP,
    ChipSize,
    sample,
    strip_points,
)

STRIPS_PER_TABLE = 24
TABLES_PER_SHARD = 60
FELT_PX_PER_MM, FELT_SIDE_MM = 2.0, 190.0

NOTHING_SHARE = 0.06
LEAN_SHARE, UNTIDY_SHARE, WANDER_SHARE = 0.4, 0.22, 0.2
MASKED_SHARE = 0.75
PAD = 6
HELD_SHARE = 0.03
RECIPE_FILE = "recipe.json"


@dataclass(frozen=True, slots=True, eq=False)
class _Camera:
    """A pinhole over the felt: felt mm to px (3, 3) and back, its foot (2,) and height."""

    to_px: Floats
    to_felt: Floats
    foot: Floats
    height: float
    density: float
    tilt: float

    @property
    def px_per_chip(self) -> float:
        return 3.3 * math.sin(self.tilt) * self.density


def _look(height: float, tilt: float, turn: float, roll: float, density: float) -> _Camera:
    """A camera that sees the origin `tilt` off the vertical with `density` px to the mm."""
    away = height * math.tan(tilt)
    eye = np.array([away * math.cos(turn), away * math.sin(turn), height])
    ahead = np.array([0, 0, 20.0]) - eye
    far = float(np.linalg.norm(ahead))
    ahead /= far
    right = np.cross(ahead, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    down = np.cross(ahead, right)
    spin = np.array([[math.cos(roll), -math.sin(roll)], [math.sin(roll), math.cos(roll)]])
    axes = np.vstack([spin @ np.vstack([right, down]), ahead])
    focal = density * far
    inner = np.diag([focal, focal, 1.0])
    plane = np.column_stack([axes[:, 0], axes[:, 1], -axes @ eye])
    to_px = inner @ plane
    return _Camera(to_px, np.linalg.inv(to_px), eye[:2], height, density, tilt)


def _moved(camera: _Camera, at: Floats) -> _Camera:
    """The same camera with the felt's origin at another felt point (2,)."""
    shift = np.eye(3)
    shift[:2, 2] = at
    to_px = camera.to_px @ shift
    return _Camera(
        to_px,
        np.asarray(np.linalg.inv(to_px)),
        camera.foot - at,
        camera.height,
        camera.density,
        camera.tilt,
    )


def _lamps(rng: np.random.Generator) -> Lamps:
    hard = rng.random() < 0.4
    return Lamps(
        side=float(rng.uniform(0.3, 1.0)),
        ambient=float(rng.uniform(0.35, 0.75) if hard else rng.uniform(0.75, 1.0)),
        toward=float(rng.uniform(0, 2 * math.pi)),
        contact=float(rng.uniform(0, 0.6)),
        contact_mm=float(rng.uniform(1.5, 7)),
        groove=float(rng.uniform(0.06, 0.75)),
        groove_wide=float(rng.uniform(0.06, 0.2)),
        bevel=float(rng.uniform(0, 0.4)) if rng.random() < 0.6 else 0.0,
        sheen=float(rng.uniform(0, 0.35)) if rng.random() < 0.4 else 0.0,
        sheen_toward=float(rng.uniform(0, 2 * math.pi)),
        sheen_wide=float(rng.uniform(0.1, 0.6)),
        shadow=float(rng.uniform(0.1, 0.7)),
        shadow_mm=float(rng.uniform(1.5, 9)),
        shadow_long=float(rng.uniform(0, 0.9)),
        face_sheen=float(rng.uniform(0, 0.25)),
    )


def _felt(rng: np.random.Generator, bodies: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Printed felt about a spot, RGB float32 (n, n, 3)."""
    n = round(FELT_SIDE_MM * FELT_PX_PER_MM)
    rgb = felt_rgb(rng)
    if rng.random() < 0.2:
        near = bodies[int(rng.integers(len(bodies)))] * 255 * rng.uniform(0.6, 1.4)
        rgb = tuple(int(v) for v in np.clip(near + rng.normal(0, 12, 3), 8, 235))  # type: ignore[assignment]
    ground = np.ascontiguousarray(felt_texture(rng, n, n, rgb, float(rng.uniform(1, 7)))[..., ::-1])
    ink = tuple(int(v) for v in print_rgb(rng, rgb))
    middle = n / 2
    for _ in range(int(rng.integers(0, 4))):
        at = (middle + rng.normal(0, 14, 2) * FELT_PX_PER_MM).round().astype(int).tolist()
        wide = round(rng.uniform(1, 3.5) * FELT_PX_PER_MM)
        chance = rng.random()
        if chance < 0.5:
            cv2.circle(
                ground, at, round(rng.uniform(22, 40) * FELT_PX_PER_MM), ink, wide, cv2.LINE_AA
            )
        elif chance < 0.75:
            a, b = rng.uniform(0, n, (2, 2)).round().astype(int).tolist()
            cv2.line(ground, a, b, ink, wide, cv2.LINE_AA)
        else:
            text = str(rng.choice(["TREASURE", "INSURANCE", "BET", "7", "PAY 3 TO 1"]))
            scale = float(rng.uniform(0.4, 1.3))
            cv2.putText(ground, text, [v - 40 for v in at], cv2.FONT_HERSHEY_DUPLEX, scale, ink,
                        max(1, wide // 2), cv2.LINE_AA)  # fmt: skip
    if rng.random() < 0.2:
        # A card or a lammer beside the stack.
        turn, far = rng.uniform(0, 2 * math.pi), rng.uniform(45, 75)
        where = middle + np.array([math.cos(turn), math.sin(turn)]) * far * FELT_PX_PER_MM
        box = ((float(where[0]), float(where[1])),
               (63 * FELT_PX_PER_MM, 88 * FELT_PX_PER_MM), float(rng.uniform(0, 180)))  # fmt: skip
        if rng.random() < 0.6:
            cv2.fillPoly(ground, [cv2.boxPoints(box).round().astype(np.int32)], (236, 234, 230))
        else:
            colour = [int(v) for v in rng.integers(20, 255, 3)]
            cv2.circle(ground, where.round().astype(int).tolist(), 32, colour, -1, cv2.LINE_AA)
    return np.asarray(ground / 255, np.float32)


def _count(rng: np.random.Generator) -> int:
    if rng.random() < 0.2:
        return int(rng.integers(1, 4))
    return int(rng.integers(1, MOST_CHIPS + 1))


def _kinds(rng: np.random.Generator, n: int, many: int) -> npt.NDArray[np.int64]:
    """Kinds of n chips from the bottom up: mostly runs."""
    if rng.random() < 0.12:
        return rng.integers(0, many, n)
    runs = int(min(n, rng.choice([1, 2, 3, 4], p=[0.4, 0.3, 0.2, 0.1])))
    cuts = np.sort(rng.choice(np.arange(1, n), max(0, runs - 1), replace=False))
    own = rng.permutation(many)[: max(runs, 1)]
    own = np.resize(own, runs)
    return np.repeat(own, np.diff([0, *cuts, n])).astype(np.int64)


def _pile(
    rng: np.random.Generator, kinds: npt.NDArray[np.int64], at: Floats
) -> tuple[Floats, float]:
    """Centres (n, 2) mm of the chips of a stack, and its lean in mm a chip."""
    n = len(kinds)
    own = np.clip(rng.normal(0, 0.35, (n, 2)), -0.95, 0.95)
    own[0] = 0
    lean = 0.0
    if rng.random() < LEAN_SHARE:
        a, lean = rng.uniform(0, 2 * math.pi), abs(rng.normal(0, 0.45))
        reach = np.arange(n) * lean
        if rng.random() < 0.3:
            reach = reach * np.linspace(0.3, 1.7, n)
        reach = np.minimum(reach, 11.0)
        own += reach[:, None] * (math.cos(a), math.sin(a))
    if rng.random() < UNTIDY_SHARE:
        loose = rng.random(n) < rng.uniform(0.1, 0.6)
        loose[0] = False
        turns, far = rng.uniform(0, 2 * math.pi, n), rng.uniform(1.5, 6.5, n) * loose
        own += far[:, None] * np.column_stack([np.cos(turns), np.sin(turns)])
    if rng.random() < WANDER_SHARE:
        own[1:] += np.cumsum(rng.normal(0, rng.uniform(0.2, 0.9), (n - 1, 2)), axis=0)
    return own + at, lean


def _stacks(rng: np.random.Generator, piles: list[tuple[npt.NDArray[np.int64], Floats]]) -> Stacks:
    many = len(piles)
    kind, at = np.zeros((many, MOST), np.int64), np.zeros((many, MOST, 2))
    for s, (kinds, centres) in enumerate(piles):
        kind[s, : len(kinds)], at[s, : len(kinds)] = kinds, centres
    return Stacks(
        kind, at, rng.uniform(0, 2 * math.pi, (many, MOST)),
        np.clip(rng.normal(1, 0.04, (many, MOST)), 0.8, 1.2),
        np.array([len(kinds) for kinds, _ in piles], np.int64),
    )  # fmt: skip


def _neighbours(
    rng: np.random.Generator, camera: _Camera, many: int, radius: float
) -> list[tuple[npt.NDArray[np.int64], Floats]]:
    out: list[tuple[npt.NDArray[np.int64], Floats]] = []
    toward = math.atan2(camera.foot[1], camera.foot[0])
    places: list[Floats] = [np.zeros(2)]
    for _ in range(int(rng.choice([0, 1, 2, 3], p=[0.45, 0.32, 0.15, 0.08]))):
        turn = toward + rng.normal(0, 0.6) if rng.random() < 0.4 else rng.uniform(0, 2 * math.pi)
        far = 2 * radius + abs(rng.normal(0, 4)) + 0.3
        at = np.array([math.cos(turn), math.sin(turn)]) * far
        if min(math.dist(at, other) for other in places) < 2 * radius:
            continue
        places.append(at)
        kinds = _kinds(rng, int(min(MOST_CHIPS, 1 + rng.geometric(0.2))), many)
        out.append((kinds, _pile(rng, kinds, at)[0]))
    return out


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    chips: Chips
    bodies: npt.NDArray[np.float32]
    camera: _Camera
    lamps: Lamps
    tint: npt.NDArray[np.float32]
    faults: CameraFaults
    felts: list[npt.NDArray[np.float32]]


def _table(rng: np.random.Generator) -> _Table:
    chips, bodies = draw_chips(rng)
    if rng.random() < 0.1:
        # The second camera, low over the dealer's shoulder.
        tilt, height = math.radians(rng.uniform(52, 74)), float(rng.uniform(600, 1500))
    else:
        tilt, height = math.radians(rng.uniform(17, 50)), float(rng.uniform(2200, 3700))
    density = float(np.exp(rng.uniform(math.log(1.15), math.log(3.2))))
    camera = _look(height, tilt, rng.uniform(0, 2 * math.pi), rng.uniform(0, 2 * math.pi), density)
    warm = float(rng.uniform(-0.3, 1.0)) * (1.0 if rng.random() < 0.4 else 0.25)
    tint = np.array([1 + 0.3 * warm, 1, 1 - 0.42 * warm], np.float32) * rng.uniform(0.8, 1.25)
    felts = [_felt(rng, bodies) for _ in range(3)]
    return _Table(chips, bodies, camera, _lamps(rng), tint, table_faults(rng), felts)


def _film(
    rng: np.random.Generator, table: _Table, camera: _Camera, stacks: Stacks, points: Floats
) -> tuple[Bytes, npt.NDArray[np.int64], Floats]:
    """The image about felt points (n, 2), BGR, what its pixels show, and felt to its px."""
    flat = points.reshape(-1, 2)
    shown = np.column_stack([flat, np.ones(len(flat))]) @ camera.to_px.T
    shown = shown[:, :2] / shown[:, 2:]
    # The pixel raster lies anyhow under the stack.
    corner = np.floor(shown.min(axis=0)) - PAD + rng.random(2)
    size = np.ceil(shown.max(axis=0) - corner).astype(int) + PAD
    shift = np.array([[1, 0, -corner[0]], [0, 1, -corner[1]], [0, 0, 1.0]])
    to_px = shift @ camera.to_px
    felt = table.felts[int(rng.integers(len(table.felts)))]
    rgb, who = cast(
        np.asarray(np.linalg.inv(to_px)), camera.foot, camera.height,
        (int(size[0]), int(size[1])), felt, FELT_PX_PER_MM, stacks, table.chips, table.lamps,
    )  # fmt: skip
    lit = np.clip(rgb * table.tint * 255, 0, 255)[..., ::-1]
    image = degrade(rng, np.ascontiguousarray(lit.astype(np.uint8)), table.faults)
    return image, who, to_px


def _at(points: Floats, to_px: Floats) -> Floats:
    shape = points.shape
    flat = points.reshape(-1, 2)
    out = np.column_stack([flat, np.ones(len(flat))]) @ to_px.T
    return np.asarray(out[:, :2] / out[:, 2:]).reshape(shape)


def _sampled(rng: np.random.Generator, table: _Table, kind: int) -> tuple[Bytes, Bytes]:
    """A chip's own sample and the mean colour of its face, as enrolment takes them."""
    place = rng.normal(0, 250, 2)
    camera = _moved(table.camera, place)
    kinds = np.full(SAMPLE_CHIPS, kind, np.int64)
    centres = np.clip(rng.normal(0, 0.35, (SAMPLE_CHIPS, 2)), -0.95, 0.95)
    size = ChipSize(2 * table.chips.radius_mm, table.chips.thickness_mm)
    points = strip_points(camera.foot, camera.height, rng.normal(0, 0.7, 2), size)[: ROWS // 2]
    image, _, to_px = _film(rng, table, camera, _stacks(rng, [(kinds, centres)]), points)
    strip = sample(image, _at(points, to_px))
    turn = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    rings = [np.column_stack([np.cos(turn), np.sin(turn)]) * table.chips.radius_mm * r
             for r in (0.25, 0.55, 0.85)]  # fmt: skip
    high = SAMPLE_CHIPS * table.chips.thickness_mm
    share = camera.height / (camera.height - high)
    face = camera.foot + (np.vstack(rings) - camera.foot) * share
    top = sample(image, _at(face[None], to_px)).reshape(-1, 3).mean(axis=0)
    return cut_sample(strip), top.round().astype(np.uint8)


def _strip(
    rng: np.random.Generator, table: _Table
) -> tuple[Bytes, npt.NDArray[np.int64], list[float]]:
    """One strip with its mask, its chips from the bottom up, and its facts."""
    camera = _moved(table.camera, rng.normal(0, 250, 2))
    radius, thick = table.chips.radius_mm, table.chips.thickness_mm
    many = len(table.bodies)
    away = -camera.foot / np.hypot(*camera.foot)
    side = np.array([-away[1], away[0]])
    share = camera.height / (camera.height - thick)
    per_chip = float(np.hypot(*camera.foot)) * (share - 1)
    nothing = rng.random() < NOTHING_SHARE
    kinds = _kinds(rng, _count(rng), many)
    chance = rng.random()
    along = rng.normal(0, 1.8) if chance < 0.75 else rng.normal(0, 4.0)
    if chance > 0.95:
        along = rng.uniform(0, min(12.0, 6 * per_chip))
    # The base is never farther off than the strip has room for.
    along = float(np.clip(along, -3.0 * per_chip, 3.5 * per_chip))
    across = float(rng.normal(0, 1.1) if rng.random() < 0.8 else rng.normal(0, 2.8))
    error = away * along + side * across
    piles: list[tuple[npt.NDArray[np.int64], Floats]] = []
    lean = 0.0
    if nothing:
        kinds = kinds[:0]
        if rng.random() < 0.7:
            # Beside a stack, or between two.
            turn = rng.uniform(0, 2 * math.pi)
            at = np.array([math.cos(turn), math.sin(turn)]) * rng.uniform(1.1, 2.2) * radius
            own = _kinds(rng, _count(rng), many)
            piles.append((own, _pile(rng, own, at)[0]))
            if rng.random() < 0.4:
                own = _kinds(rng, _count(rng), many)
                piles.append((own, _pile(rng, own, at - 2.05 * radius * at / np.hypot(*at))[0]))
    else:
        centres, lean = _pile(rng, kinds, np.zeros(2))
        piles.append((kinds, centres))
        piles += _neighbours(rng, camera, many, radius)
    believed = ChipSize(
        2 * radius + float(rng.normal(0, 0.15)), thick * float(rng.normal(1, 0.012))
    )
    points = strip_points(camera.foot, camera.height, error, believed)
    if not piles:
        piles = [(np.zeros(1, np.int64), np.full((1, 2), 1e4))]
    image, who, to_px = _film(rng, table, camera, _stacks(rng, piles), points)
    px = _at(points, to_px)
    strip = sample(image, px)
    nearest = np.clip(px.round().astype(int), 0, np.array(who.shape[::-1]) - 1)
    own = who[nearest[..., 1], nearest[..., 0]]
    hidden = np.zeros(own.shape, bool)
    if not nothing:
        near = math.dist((0, 0), camera.foot)
        for s in range(1, len(piles)):
            if math.dist(piles[s][1][0], camera.foot) < near:
                hidden |= own == s
        base_row = ROWS_PER_CHIP * (BELOW_CHIPS - along / per_chip)
        low, high = max(0, round(base_row)), round(base_row + len(kinds) * ROWS_PER_CHIP)
        visible = float((own[low:high, 8:40] == 0).mean()) if high > low else 0.0
    else:
        base_row, visible = -1.0, 0.0
    mask = np.zeros(own.shape, np.uint8)
    if rng.random() < MASKED_SHARE:
        mask[hidden] = 255
        shift = int(rng.integers(-1, 2))
        mask = np.roll(mask, shift, axis=1)
    facts = [base_row, camera.px_per_chip, math.sin(camera.tilt), visible, lean, across]
    return np.dstack([strip, mask]), kinds, facts


def draw_strips(rng: np.random.Generator, tables: int, each: int = STRIPS_PER_TABLE) -> StripSet:
    """`each` strips of each of so many tables."""
    strips, count, colours, place, facts = [], [], [], [], []
    samples, rgbs, tops = [], [], []
    for t in range(tables):
        table = _table(rng)
        many = len(table.bodies)
        got = [_sampled(rng, table, kind) for kind in range(many)]
        own = np.zeros((MOST_KINDS, *got[0][0].shape), np.uint8)
        own[:many] = [one for one, _ in got]
        faces = np.zeros((MOST_KINDS, 3), np.uint8)
        faces[:many] = [top for _, top in got]
        rgb = np.full((MOST_KINDS, 3), -1, np.int16)
        rgb[:many] = np.clip(table.bodies * 255 + rng.normal(0, 5, (many, 3)), 0, 255).round()
        samples.append(own)
        tops.append(faces)
        rgbs.append(rgb)
        for _ in range(each):
            strip, kinds, fact = _strip(rng, table)
            row = np.full(MOST_CHIPS, -1, np.int8)
            row[: len(kinds)] = kinds
            strips.append(strip)
            count.append(len(kinds))
            colours.append(row)
            place.append(t)
            facts.append(fact)
    return StripSet(
        np.stack(strips), np.array(count, np.int8), np.stack(colours), np.array(place, np.int32),
        np.array(facts, np.float32), np.stack(samples), np.stack(rgbs), np.stack(tops),
    )  # fmt: skip


def _shard(seed: int, number: int, path: Path, tables: int, painted: bool) -> None:
    if path.is_file():
        return
    cv2.setNumThreads(1)
    rng = np.random.default_rng([seed, number, 11])
    draw = draw_painted if painted else draw_strips
    save_strips(path, draw(rng, tables, STRIPS_PER_TABLE))


def render_strips(
    out: Path, count: int, seed: int = 1, workers: int = 1,
    progress: Callable[[float], None] | None = None, *, painted: bool = False,
) -> int:  # fmt: skip
    """Render about `count` strips into shards of `out/train` and a few of `out/val`; how many.

    `painted`: by the painter of simulated tables in place of the ray caster. Goes on where it
    was stopped; the same seed gives the same strips, whatever `workers`. Raises FeltwatchError
    where `out` holds strips of another recipe.
    """
    out.mkdir(parents=True, exist_ok=True)
    tables = min(TABLES_PER_SHARD, max(1, -(-count // (2 * STRIPS_PER_TABLE))))
    shards = max(2, -(-count // (tables * STRIPS_PER_TABLE)))
    held = max(1, round(shards * HELD_SHARE))
    recipe = {"strips": shards * tables * STRIPS_PER_TABLE, "seed": seed, "painted": painted}
    note = out / RECIPE_FILE
    if note.is_file() and json.loads(note.read_text(encoding="utf-8")) != recipe:
        raise FeltwatchError(f"{out}: holds strips of another recipe; choose another folder")
    note.write_text(json.dumps(recipe) + "\n", encoding="utf-8")
    places = [out / ("val" if k < held else "train") / f"{k:05d}.npz" for k in range(shards)]
    for split in ("train", "val"):
        (out / split).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(min(workers, shards), get_context("spawn")) as pool:
        jobs = [
            pool.submit(_shard, seed, k, path, tables, painted) for k, path in enumerate(places)
        ]
        for done, job in enumerate(as_completed(jobs), start=1):
            job.result()
            if progress:
                progress(done / shards)
    return shards * tables * STRIPS_PER_TABLE
