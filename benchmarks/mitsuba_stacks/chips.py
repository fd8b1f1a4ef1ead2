"""Sets of chips as a casino's cage holds them: values, colours and makes. NumPy alone."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.traced_stacks.truth import Rgb, TracedKind

VALUES = (1, 2, 5, 10, 20, 25, 50, 100, 250, 500, 1000, 5000)

STYLES = {
    "bars": 0.22,
    "split": 0.14,
    "triple": 0.13,
    "fork": 0.12,
    "band": 0.10,
    "dashes": 0.08,
    "ceramic": 0.13,
    "plain": 0.08,
}
"""Makes of rims with their shares."""

# Display colours (sRGB bytes) that dealers know the values by.
_BODIES: dict[int, tuple[tuple[int, int, int], ...]] = {
    1: ((226, 222, 210), (92, 132, 178), (206, 206, 204)),
    2: ((232, 206, 96), (206, 150, 168)),
    5: ((178, 34, 40), (150, 30, 44), (198, 62, 46)),
    10: ((40, 92, 158), (88, 154, 190)),
    20: ((214, 186, 60), (120, 74, 46)),
    25: ((30, 112, 66), (16, 86, 58), (66, 140, 92)),
    50: ((224, 128, 46), (40, 70, 128)),
    100: ((34, 33, 36), (48, 46, 50)),
    250: ((212, 112, 146), (150, 56, 92)),
    500: ((92, 50, 124), (116, 78, 150)),
    1000: ((228, 190, 48), (218, 138, 40), (160, 106, 62)),
    5000: ((122, 96, 74), (128, 132, 136), (60, 128, 128)),
}
_MARKS = (
    (238, 234, 222), (240, 208, 70), (226, 120, 40), (190, 32, 42), (222, 120, 152),
    (110, 60, 140), (40, 84, 160), (110, 176, 206), (28, 116, 70), (140, 188, 80),
    (30, 30, 32), (130, 130, 132), (120, 78, 48),
)  # fmt: skip
_INLAYS = ((238, 234, 224), (222, 206, 164), (206, 210, 214), (40, 40, 44))


def linear(shown: tuple[float, ...]) -> Rgb:
    """Linear RGB of display bytes."""
    red, green, blue = (
        v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
        for v in (min(max(one, 0.0), 255.0) / 255 for one in shown)
    )
    return (round(red, 5), round(green, 5), round(blue, 5))


def draw_kinds(rng: np.random.Generator) -> tuple[TracedKind, ...]:
    """Five to eight kinds of one set, the lowest value first, with bodies of distinct colours."""
    count = int(rng.integers(5, 9))
    lowest = int(rng.integers(0, len(VALUES) - count + 1))
    near = np.arange(lowest, min(len(VALUES), lowest + count + 3))
    values = [VALUES[i] for i in sorted(rng.choice(near, count, replace=False))]
    bodies = _bodies(rng, values)
    # A cage buys most of its chips of one make.
    main = str(rng.choice(list(STYLES), p=list(STYLES.values())))
    rough, coat = float(rng.uniform(0.14, 0.38)), float(rng.uniform(1.35, 1.55))
    kinds = []
    for value, body in zip(values, bodies, strict=True):
        style = main
        if rng.random() < 0.5:
            style = str(rng.choice(list(STYLES), p=list(STYLES.values())))
        spot, second = _marks(rng, body)
        ceramic = style == "ceramic"
        kinds.append(
            TracedKind(
                name=f"{value}", value_cents=value * 100, style=style, body=linear(body),
                spot=linear(spot), second=linear(second),
                inlay=linear(_jittered(rng, _INLAYS[int(rng.choice(4, p=[0.5, 0.2, 0.2, 0.1]))])),
                spots=int(rng.choice([3, 4, 6, 8], p=[0.2, 0.28, 0.32, 0.2])),
                spot_share=round(float(rng.uniform(0.2, 0.5)), 3),
                face="printed" if ceramic else str(rng.choice(["inlay", "hub", "stamp"])),
                roughness=round(float(np.clip(rough + rng.normal(0, 0.03), 0.1, 0.45)), 3),
                coat=round(float(np.clip(coat + 0.05 * ceramic, 1.3, 1.6)), 3),
            )
        )  # fmt: skip
    return tuple(kinds)


def _bodies(rng: np.random.Generator, values: list[int]) -> list[tuple[float, ...]]:
    """A body colour for each value, no two near each other."""
    usual = rng.random() < 0.7
    while True:
        given = values if usual else [int(v) for v in rng.choice(VALUES, len(values), False)]
        out = [
            _jittered(rng, _BODIES[value][int(rng.integers(len(_BODIES[value])))])
            for value in given
        ]  # fmt: skip
        far = [math.dist(one, two) for i, one in enumerate(out) for two in out[:i]]
        if min(far) > 42:
            return out


def _marks(
    rng: np.random.Generator, body: tuple[float, ...]
) -> tuple[tuple[float, ...], tuple[float, ...]]:  # fmt: skip
    """Two colours of marks that show on a body and beside each other."""
    while True:
        one, two = (_MARKS[int(i)] for i in rng.choice(len(_MARKS), 2, replace=False))
        if math.dist(one, body) > 90 and math.dist(two, body) > 60 and math.dist(one, two) > 60:
            return _jittered(rng, one), _jittered(rng, two)


def _jittered(rng: np.random.Generator, shown: tuple[int, int, int]) -> tuple[float, ...]:
    light = rng.normal(0, 6)
    return tuple(float(np.clip(v + light + rng.normal(0, 5), 4, 246)) for v in shown)
