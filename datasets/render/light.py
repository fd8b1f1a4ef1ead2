"""Light over the whole image: mixed lamps, patches of glare, shadows of people."""

from __future__ import annotations

import math

import cv2
import numpy as np

from datasets.render.cards.suit_marks import Picture


def light_field(
    rng: np.random.Generator, width: int, height: int, strength: float
) -> Picture | None:
    """Uneven light of warm and cool lamps: gains in 128ths, uint8 (h, w, 3); None for even light.

    `strength` 0 is even light, 1 very uneven.
    """
    side = int(rng.integers(2, 5))
    level = rng.normal(0, 0.16 * strength, (side, side, 1))
    warm = rng.normal(0, 0.09 * strength, (side, side, 1))
    if strength <= 0:
        return None
    tint = np.concatenate([-warm, np.zeros_like(warm), warm], axis=2)
    gain = np.clip(128 * (1 + level + tint), 40, 250).astype(np.uint8)
    field = cv2.resize(gain, (64, 64), interpolation=cv2.INTER_CUBIC)
    field = cv2.resize(field, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(field, np.uint8)


def mixed_light(rng: np.random.Generator, image: Picture, strength: float) -> Picture:
    """The image in uneven light; a new array."""
    h, w = image.shape[:2]
    field = light_field(rng, w, h, strength)
    if field is None:
        return image.copy()
    return np.asarray(cv2.multiply(image, field, scale=1 / 128), np.uint8)


def glare_mask(
    rng: np.random.Generator, width: int, height: int, strength: float
) -> Picture | None:
    """Reflections of lamps, uint8 (h, w), 255 where they blind; None without any.

    One to three tubes, spots or windows.
    """
    count = int(rng.integers(1, 4))
    if strength <= 0:
        return None
    part = 4 if max(width, height) < 1400 else 16
    mask = np.zeros((height // part + 1, width // part + 1), np.float32)
    for _ in range(count):
        x, y = rng.uniform(0, mask.shape[1]), rng.uniform(0, mask.shape[0])
        long = float(np.exp(rng.uniform(math.log(4), math.log(50))))
        wide = long * float(rng.uniform(0.12, 1.0))
        own = np.zeros_like(mask)
        turn, bright = float(rng.uniform(0, 180)), float(rng.uniform(0.2, 0.95))
        axes = (max(1, round(long)), max(1, round(wide)))
        cv2.ellipse(own, (round(x), round(y)), axes, turn, 0, 360, bright, -1)
        soft = max(0.8, wide * float(rng.uniform(0.15, 0.8)))
        mask = np.maximum(mask, cv2.GaussianBlur(own, (0, 0), soft))
    small = (mask * 255 * strength).clip(0, 255).astype(np.uint8)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def glare(
    rng: np.random.Generator, image: Picture, strength: float = 1.0,
    ground: Picture | None = None,
) -> Picture:  # fmt: skip
    """Reflections on an image; a new array. With `ground`, only on what is not the ground:
    cards and chips shine, cloth does not."""
    h, w = image.shape[:2]
    full = glare_mask(rng, w, h, strength)
    if full is None:
        return image.copy()
    if ground is not None:
        other = cv2.absdiff(image, ground).max(axis=2) > 14
        full = np.asarray(cv2.copyTo(full, other.astype(np.uint8)), np.uint8)
    warm = rng.uniform(0.85, 1.0)
    share = cv2.merge([cv2.convertScaleAbs(full, alpha=a) for a in (warm, 0.97, 1.0)])
    # Towards white: image + (255 - image) * share.
    return np.asarray(cv2.add(image, cv2.multiply(255 - image, share, scale=1 / 255)), np.uint8)


def people_shadow(rng: np.random.Generator, image: Picture, depth: float) -> Picture:
    """Soft shadows that fall in from the edges, as of people who lean in; a new array."""
    h, w = image.shape[:2]
    part = 8
    mask = np.zeros((h // part + 1, w // part + 1), np.uint8)
    size = max(mask.shape)
    for _ in range(int(rng.integers(1, 3))):
        a = rng.uniform(0, 2 * math.pi)
        off = rng.uniform(0.35, 0.75) * size
        x = mask.shape[1] / 2 + off * math.cos(a)
        y = mask.shape[0] / 2 + off * math.sin(a)
        axes = (round(size * rng.uniform(0.15, 0.45)), round(size * rng.uniform(0.1, 0.3)))
        cv2.ellipse(mask, (round(x), round(y)), axes, float(rng.uniform(0, 180)), 0, 360,
                    round(255 * depth), -1)  # fmt: skip
    soft = cv2.GaussianBlur(mask, (0, 0), size * float(rng.uniform(0.02, 0.12)))
    gain = 255 - cv2.resize(soft, (w, h), interpolation=cv2.INTER_LINEAR)
    return np.asarray(
        cv2.multiply(image, cv2.cvtColor(gain, cv2.COLOR_GRAY2BGR), scale=1 / 255), np.uint8
    )
