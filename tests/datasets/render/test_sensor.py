"""Light, blur, noise and codecs on a frame."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from datasets.render.light import glare, glare_mask, light_field, mixed_light, people_shadow
from datasets.render.sensor import (
    CameraFaults,
    add_noise,
    degrade,
    motion_kernel,
    photo_faults,
    table_faults,
    through_h264,
    tone_table,
)

CLEAR = CameraFaults(blur_px=0.0, noise=0.0, quality=100)


def scene(h: int = 181, w: int = 243) -> np.ndarray:
    rng = np.random.default_rng(1)
    return cv2.GaussianBlur(rng.integers(0, 255, (h, w, 3), dtype=np.uint8), (0, 0), 4)


def test_h264_returns_nearly_the_same_frame_and_always_the_same() -> None:
    image = scene()
    fine, coarse = (through_h264(image, crf) for crf in (12, 40))
    assert fine.shape == image.shape
    loss = [np.abs(image.astype(int) - v).mean() for v in (fine, coarse)]
    assert loss[0] < loss[1] < 12
    assert loss[0] < 3
    assert np.array_equal(fine, through_h264(image, 12))


def test_noise_has_the_given_strength_on_frames_larger_than_its_bank() -> None:
    image = np.full((2300, 2100, 3), 128, np.uint8)
    for grey in (False, True):
        noise = add_noise(np.random.default_rng(3), image, 5.0, grey=grey).astype(int) - 128
        assert noise.std() == pytest.approx(5.0, abs=0.1)
        assert abs(noise.mean()) < 0.1
        assert (noise[..., 0] == noise[..., 1]).all() == grey
        assert noise[2100:].std() == pytest.approx(5.0, abs=0.2)


def test_motion_spreads_along_its_direction_and_keeps_the_light() -> None:
    kernel = motion_kernel(9.0, 0.0)
    assert kernel.sum() == pytest.approx(1.0, abs=1e-5)
    assert kernel.max(axis=0).astype(bool).sum() == 9
    assert kernel.max(axis=1).astype(bool).sum() == 1
    dot = np.zeros((31, 31, 3), np.uint8)
    dot[15, 15] = 250
    faults = CameraFaults(blur_px=0.0, noise=0.0, quality=100, motion_px=9.0, motion_deg=90.0)
    out = degrade(np.random.default_rng(1), dot, faults)
    assert (out[11:20, 15] > 10).all()
    assert (out[15, :11] < 10).all()


def test_tones_follow_gain_gamma_and_veil() -> None:
    assert (tone_table(CameraFaults())[:, 0, 0] == np.arange(256)).all()
    dim = tone_table(CameraFaults(gain=(0.5, 1.0, 1.0)))
    assert dim[200, 0].tolist() == [100, 200, 200]
    veiled = tone_table(CameraFaults(veil=0.4))
    assert veiled[0, 0, 0] == 82
    assert veiled[255, 0, 0] < 255


@pytest.mark.parametrize("faults", [table_faults, photo_faults])
def test_faults_are_those_of_the_seed(faults) -> None:
    image = scene(160, 160)
    for seed in range(12):
        made = []
        for _ in range(2):
            rng = np.random.default_rng(seed)
            made.append(degrade(rng, image, faults(rng)))
        assert np.array_equal(made[0], made[1])
        assert made[0].shape == image.shape
        assert made[0].dtype == np.uint8


def test_a_clear_camera_changes_little() -> None:
    image = scene()
    assert np.abs(degrade(np.random.default_rng(1), image, CLEAR).astype(int) - image).mean() < 2.5


def test_glare_with_a_ground_lies_on_things_only_and_only_brightens() -> None:
    ground = np.full((300, 300, 3), 60, np.uint8)
    image = ground.copy()
    image[60:240, 80:220] = 130
    rng = np.random.default_rng(5)
    out = glare(rng, image, 1.0, ground)
    assert (out >= image).all()
    assert (out[60:240, 80:220] > 150).any()
    outside = np.ones((300, 300), bool)
    outside[60:240, 80:220] = False
    assert (out[outside] == 60).all()
    assert (glare(np.random.default_rng(5), image, 1.0) >= image).all()
    assert glare_mask(rng, 50, 40, 0.0) is None


def test_even_light_is_no_field_and_uneven_light_is_smooth() -> None:
    rng = np.random.default_rng(2)
    image = np.full((200, 240, 3), 100, np.uint8)
    assert light_field(rng, 240, 200, 0.0) is None
    assert np.array_equal(mixed_light(rng, image, 0.0), image)
    lit = mixed_light(rng, image, 0.8).astype(int)
    assert 8 < np.ptp(lit[..., 0]) < 120
    assert np.abs(np.diff(lit, axis=1)).max() <= 3
    shaded = people_shadow(rng, image, 0.5).astype(int)
    assert shaded.min() < 90
    assert shaded.max() <= 100
