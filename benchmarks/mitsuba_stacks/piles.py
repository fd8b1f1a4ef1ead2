"""How chips are piled: counts, order, postures, and what hides what. NumPy alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.traced_stacks.truth import Floats, Point, TracedCamera, TracedKind, TracedStack

REACH_MM = 95.0
"""Radius of a group; its chips stay within it."""

APART_MM = 0.3
"""Least gap between the chips of two stacks."""

UPRIGHT, LEANING, UNTIDY = "upright", "leaning", "untidy"
POSTURES = {UPRIGHT: 0.55, LEANING: 0.28, UNTIDY: 0.17}
COUNTS = {(1, 2): 0.20, (3, 5): 0.30, (6, 10): 0.25, (11, 22): 0.25}
_SINGLE = COUNTS[1, 2] / 2


def pile(
    rng: np.random.Generator, kinds: Sequence[TracedKind], group: int
) -> TracedStack:  # fmt: skip
    """A stack at the origin."""
    low, high = list(COUNTS)[int(rng.choice(len(COUNTS), p=list(COUNTS.values())))]
    count = int(rng.integers(low, high + 1))
    posture = UPRIGHT
    if count > 1:
        # One chip is always upright: the others make up for it.
        odds = np.array([POSTURES[UPRIGHT] - _SINGLE, POSTURES[LEANING], POSTURES[UNTIDY]])
        posture = str(rng.choice(list(POSTURES), p=odds / odds.sum()))
    return TracedStack(
        base_mm=(0.0, 0.0),
        chips=_order(rng, kinds, count),
        offsets_mm=_offsets(rng, count, posture),
        turns=_turns(rng, count),
        posture=posture,
        group=group,
    )


def sample_pile(
    rng: np.random.Generator, kind: TracedKind, base: Point
) -> TracedStack:  # fmt: skip
    """Six chips of one kind, laid with care."""
    return TracedStack(
        base_mm=base, chips=(kind.name,) * 6, offsets_mm=_offsets(rng, 6, UPRIGHT, 0.15),
        turns=_turns(rng, 6), posture=UPRIGHT, group=-1,
    )  # fmt: skip


def _order(rng: np.random.Generator, kinds: Sequence[TracedKind], count: int) -> tuple[str, ...]:
    """Names from the bottom up; mostly one kind or high values under low ones."""
    names = [kind.name for kind in kinds]
    several = int(rng.choice([1, 2, 3, 4], p=[0.42, 0.30, 0.18, 0.10]))
    own = [names[i] for i in rng.choice(len(names), min(several, count), replace=False)]
    chips = own + [str(one) for one in rng.choice(own, count - len(own))]
    chips.sort(key=names.index, reverse=True)
    habit = rng.random()
    if habit < 0.25:
        chips = [chips[i] for i in rng.permutation(count)]
    elif habit < 0.35:
        chips.reverse()
    return tuple(chips)


def _turns(rng: np.random.Generator, count: int) -> tuple[float, ...]:
    return tuple(round(float(turn), 4) for turn in rng.uniform(0, 2 * math.pi, count))


def _offsets(
    rng: np.random.Generator, count: int, posture: str, spread: float | None = None
) -> tuple[Point, ...]:
    """Where each chip lies from the lowest one, mm."""
    level = np.arange(count)[:, None]
    spread = float(rng.uniform(0.15, 0.45)) if spread is None else spread
    off = rng.normal(0, spread, (count, 2))
    if posture == LEANING:
        most = 13.0 / max(count - 1, 1)
        step = min(float(rng.uniform(0.25, 1.0)), most)
        way = rng.uniform(0, 2 * math.pi)
        # Hands that push a stack bend it more at one end.
        bend = (level / max(count - 1, 1)) ** float(rng.uniform(0.8, 1.5))
        off = off + step * (count - 1) * bend * [math.cos(way), math.sin(way)]
    elif posture == UNTIDY:
        walk = np.cumsum(rng.normal(0, 0.35, (count, 2)), axis=0)
        off = off + walk + rng.normal(0, float(rng.uniform(0.7, 1.5)), (count, 2))
        off = np.clip(off, -6.0, 6.0)
    off = off - off[0]
    return tuple((round(float(x), 3), round(float(y), 3)) for x, y in off)


def centres(stack: TracedStack) -> Floats:
    """The centre of each chip on the felt (n, 2), mm."""
    return np.asarray(np.array(stack.base_mm) + np.array(stack.offsets_mm), np.float64)


def collide(one: TracedStack, two: TracedStack, diameter_mm: float) -> bool:
    """Whether chips of two stacks are in each other or nearer than APART_MM."""
    n = min(len(one.chips), len(two.chips))
    far = np.linalg.norm(centres(one)[:n] - centres(two)[:n], axis=1)
    return bool((far < diameter_mm + APART_MM).any())


def set_group(
    rng: np.random.Generator, own: Sequence[TracedStack], camera: TracedCamera, middle: Point,
    diameter_mm: float,
) -> list[TracedStack] | None:  # fmt: skip
    """The stacks set down about a middle, free of each other; None where they do not fit."""
    room = REACH_MM - diameter_mm / 2
    away = np.array(middle) - np.array(camera.place_mm[:2])
    away /= np.linalg.norm(away)
    set_down: list[TracedStack] = []
    for stack in own:
        for _ in range(80):
            beside = bool(set_down) and rng.random() < 0.55
            if beside:
                by = set_down[int(rng.integers(len(set_down)))]
                way = rng.uniform(0, 2 * math.pi)
                if rng.random() < 0.4:
                    way = math.atan2(away[1], away[0]) + rng.normal(0, 0.4)
                gap = diameter_mm + APART_MM + rng.exponential(3.0)
                at = np.array(by.base_mm) + gap * np.array([math.cos(way), math.sin(way)])
            else:
                way, far = rng.uniform(0, 2 * math.pi), room * math.sqrt(rng.random())
                at = np.array(middle) + far * np.array([math.cos(way), math.sin(way)])
            moved = replace(stack, base_mm=(round(float(at[0]), 2), round(float(at[1]), 2)))
            out = np.linalg.norm(centres(moved) - np.array(middle), axis=1).max() > room
            if not out and not any(collide(moved, one, diameter_mm) for one in set_down):
                set_down.append(moved)
                break
        else:
            return None
    return set_down


def hidden_share(
    stack: TracedStack, others: Sequence[TracedStack], camera: TracedCamera, diameter_mm: float,
    thickness_mm: float,
) -> float:  # fmt: skip
    """The share of a stack's wall towards the camera that other stacks hide.

    Points of the wall, even over the width that is seen, are followed to the camera.
    """
    radius = diameter_mm / 2
    eye = np.array(camera.place_mm)
    middle = centres(stack)
    to_eye = eye[:2] - middle
    facing = np.arctan2(to_eye[:, 1], to_eye[:, 0])
    round_about = np.arcsin(np.linspace(-0.95, 0.95, 21))
    up = (np.array([0.25, 0.75]) + np.arange(len(middle))[:, None]) * thickness_mm
    angle = facing[:, None] + round_about
    wall = middle[:, None] + radius * np.stack([np.cos(angle), np.sin(angle)], axis=2)
    flat = np.broadcast_to(wall[:, None], (len(middle), 2, len(round_about), 2)).reshape(-1, 2)
    high = np.broadcast_to(up[:, :, None], (len(middle), 2, len(round_about))).reshape(-1)
    hides = np.zeros(len(high), bool)
    for other in others:
        for level, at in enumerate(centres(other)):
            hides |= _crosses(flat, high, eye, at, radius, level * thickness_mm, thickness_mm)
    return round(float(hides.mean()), 4)


def _crosses(
    flat: Floats, high: Floats, eye: Floats, at: Floats, radius: float, low: float, thick: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which lines from points (n, 2) at heights (n,) to the eye pass through a disc of a chip."""
    rise = eye[2] - high
    start = np.clip((low - high) / rise, 0, 1)
    end = np.clip((low + thick - high) / rise, 0, 1)
    way = eye[:2] - flat
    # The nearest that each line comes to the disc's axis, between its heights.
    nearest = ((at - flat) * way).sum(axis=1) / np.maximum((way * way).sum(axis=1), 1e-9)
    share = np.clip(nearest, start, end)
    far = np.linalg.norm(flat + share[:, None] * way - at, axis=1)
    return np.asarray((end > start) & (far < radius - 1e-6))
