"""Index patches made into crops as cameras give them, many at once on the processor or a GPU.

A patch (`datasets.training.index_patches`) is partly covered, blurred by motion and by lack of
focus, taken by a camera of few px, with its noise and codec, in little or coloured light, and
cut out turned, moved and at another size. What a blurred index no longer shows, a network that
is trained on it reads with less confidence: nothing else teaches it doubt.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

from datasets.training.index_patches import CONTEXT, PATCH_PX
from datasets.training.training_set import CROP_MARGIN, CROP_PX, NONE_CLASS

WIDE_PX = 128
"""Side of a patch with its border repeated, so that a blur does not reach around it."""

RASTERS = (11, 13, 16, 19, 22, 26, 32, 40, 48, 64)
RASTER_SHARES = (0.04, 0.06, 0.09, 0.1, 0.1, 0.1, 0.11, 0.1, 0.08, 0.22)
"""Camera px over a crop's side, and how often."""

GROUPS = 8
"""Crops of a batch are of so many rasters."""

TURNED = 0.15
"""Share of crops turned by a quarter or more, which show no upright index."""

MOTION, STILL_MOTION, DEFOCUS, COVERED = 0.4, 0.1, 0.35, 0.2
MOST_MOTION_PX, MOST_DEFOCUS_PX = 9.0, 2.2
LEAST_SEEN = 0.55

_LUMA = (
    (16, 11, 10, 16, 24, 40, 51, 61), (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56), (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77), (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101), (72, 92, 95, 98, 112, 100, 103, 99),
)  # fmt: skip
"""JPEG's usual steps of brightness (ITU-T T.81, annex K)."""


@dataclass(frozen=True, slots=True)
class Degraded:
    """Crops float32 (n, 3, 64, 64) RGB in 0..1 and classes (n,)."""

    crops: torch.Tensor
    labels: torch.Tensor


def degrade(
    patches: torch.Tensor, labels: torch.Tensor, aspects: torch.Tensor, *,
    lies_still: bool = False, raster_shares: Sequence[float] | None = None,
) -> Degraded:  # fmt: skip
    """Crops of patches uint8 (n, 112, 112, 3) BGR with classes and aspects (n,).

    What `lies_still` is upright, uncovered and seldom moved, as a spread deck. `raster_shares` are
    how often each of RASTERS is drawn. Random numbers are those of torch's generator of the
    patches' device.
    """
    shown = patches.permute(0, 3, 1, 2).flip(1).float() / 255
    shown = _covered(shown, aspects, 0.0 if lies_still else COVERED)
    n = len(shown)
    groups = _groups(n, raster_shares or RASTER_SHARES)
    rasters = torch.cat([torch.full((m,), float(r)) for r, m in groups]).to(shown.device)
    shown = _blurred(shown, CROP_PX / rasters, STILL_MOTION if lies_still else MOTION)
    turned = torch.rand(n, device=shown.device) < (0.0 if lies_still else TURNED)
    theta = _placed(n, turned, shown.device)
    crops, first = [], 0
    for raster, many in groups:
        part = slice(first, first + many)
        grid = functional.affine_grid(theta[part], [many, 3, raster, raster], align_corners=False)
        own = functional.grid_sample(
            shown[part], grid, mode="bilinear", padding_mode="border", align_corners=False
        )
        own = coded(_exposed(own))
        if raster != CROP_PX:
            own = functional.interpolate(own, size=CROP_PX, mode="bilinear", align_corners=False)
        crops.append(own)
        first += many
    return Degraded(torch.cat(crops), torch.where(turned, NONE_CLASS, labels))


def _groups(n: int, raster_shares: Sequence[float]) -> list[tuple[int, int]]:
    """Rasters of the batch's groups, and how many crops each has."""
    many = [n // GROUPS + (k < n % GROUPS) for k in range(GROUPS)]
    drawn = torch.multinomial(torch.tensor(raster_shares), GROUPS, replacement=True)
    return [(RASTERS[int(r)], m) for r, m in zip(drawn, many, strict=True) if m]


def some(n: int, share: float, device: torch.device) -> torch.Tensor:
    """0 or 1 (n, 1, 1, 1), 1 with the given share."""
    return (torch.rand(n, 1, 1, 1, device=device) < share).float()


def _covered(shown: torch.Tensor, aspects: torch.Tensor, share: float) -> torch.Tensor:
    """Something over a part of some indices: another card's edge, or a finger."""
    n, device = len(shown), shown.device
    tall = PATCH_PX / (CROP_MARGIN * CONTEXT)
    half_w = torch.where(aspects < 1, tall * aspects, torch.full_like(aspects, tall)) / 2
    half_h = torch.where(aspects < 1, torch.full_like(aspects, tall), tall / aspects) / 2
    line = torch.arange(PATCH_PX, device=device) - (PATCH_PX - 1) / 2
    x, y = line[None, None, :], line[None, :, None]
    index = ((x.abs() <= half_w[:, None, None]) & (y.abs() <= half_h[:, None, None])).float()
    way = torch.rand(n, 1, 1, device=device) * 2 * math.pi
    ahead = x * torch.cos(way) + y * torch.sin(way)
    reach = (half_w[:, None, None] * torch.cos(way)).abs()
    reach = reach + (half_h[:, None, None] * torch.sin(way)).abs()
    edge = reach * (torch.rand(n, 1, 1, device=device) * 1.1 - 0.1)
    side = x * -torch.sin(way) + y * torch.cos(way)
    bend = torch.rand(n, 1, 1, device=device) * 0.03 * (torch.rand(n, 1, 1, device=device) < 0.4)
    over = (ahead - edge - bend * side**2).clamp(-0.5, 0.5) + 0.5
    seen = 1 - (over * index).sum((1, 2)) / index.sum((1, 2)).clamp(min=1)
    use = (seen >= LEAST_SEEN)[:, None, None, None] * some(n, share, device)
    other = shown.roll(1, 0).flip(2)
    flat = torch.rand(n, 3, 1, 1, device=device)
    pick = some(n, 0.6, device)
    cover = over[:, None] * use
    return shown * (1 - cover) + (other * pick + flat * (1 - pick)) * cover


def _blurred(shown: torch.Tensor, px: torch.Tensor, motion_share: float) -> torch.Tensor:
    """Motion, lack of focus and the camera's own px, of `px` (n,) patch px each.

    Done as products of spectra: each crop has its own way, length and width.
    """
    n, device = len(shown), shown.device
    pad = (WIDE_PX - PATCH_PX) // 2
    spectrum = torch.fft.rfft2(functional.pad(shown, (pad, pad, pad, pad), mode="replicate"))
    fy = torch.fft.fftfreq(WIDE_PX, device=device)[None, :, None]
    fx = torch.fft.rfftfreq(WIDE_PX, device=device)[None, None, :]
    px = px[:, None, None]
    way = torch.rand(n, 1, 1, device=device) * math.pi
    long = 1 + torch.rand(n, 1, 1, device=device) * (MOST_MOTION_PX - 1)
    long = long * (torch.rand(n, 1, 1, device=device) < motion_share) * px
    # More than most of an index's height leaves nothing to be learned.
    long = long.clamp(max=0.5 * CROP_PX)
    passed = torch.sinc(long * (fx * torch.cos(way) + fy * torch.sin(way)))
    wide = torch.rand(n, 1, 1, device=device) * MOST_DEFOCUS_PX
    wide = wide * (torch.rand(n, 1, 1, device=device) < DEFOCUS) * px
    passed = passed * torch.exp(
        -2 * math.pi**2 * wide.clamp(max=0.2 * CROP_PX) ** 2 * (fx**2 + fy**2)
    )
    own = (px - 1).clamp(min=0)
    passed = passed * torch.sinc(own * fx) * torch.sinc(own * fy)
    out = torch.fft.irfft2(spectrum * passed[:, None], s=(WIDE_PX, WIDE_PX))
    return out[..., pad : pad + PATCH_PX, pad : pad + PATCH_PX].clamp(0, 1)


def _placed(n: int, turned: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Affine maps (n, 2, 3) from crops to patches, in `grid_sample`'s own units."""
    turn = (torch.rand(n, device=device) * 2 - 1) * math.radians(16)
    quarter = torch.tensor([1.0, 2.0, 2.0, 3.0], device=device)
    more = quarter[torch.randint(0, 4, (n,), device=device)] * (math.pi / 2)
    turn = turn + more * turned
    size = torch.exp(torch.randn(n, 2, device=device) * 0.03)
    size = size * torch.exp(torch.randn(n, 1, device=device) * 0.12).clamp(0.7, 1.4)
    thin = torch.rand(n, 1, device=device) < 0.35
    squeezed = 0.82 + torch.rand(n, 1, device=device) * 0.36
    first = torch.rand(n, 1, device=device) < 0.5
    factor = torch.where(thin, squeezed, torch.ones_like(squeezed))
    size = size * torch.cat([torch.where(first, factor, 1.0), torch.where(first, 1.0, factor)], 1)
    size = size / CONTEXT
    shear = torch.randn(n, device=device) * 0.05
    cos, sin = torch.cos(turn), torch.sin(turn)
    shift = torch.randn(n, 2, device=device) * (2.8 * 2 / PATCH_PX)
    row0 = torch.stack([cos * size[:, 0], (-sin + cos * shear) * size[:, 1], shift[:, 0]], 1)
    row1 = torch.stack([sin * size[:, 0], (cos + sin * shear) * size[:, 1], shift[:, 1]], 1)
    return torch.stack([row0, row1], 1)


def _exposed(shown: torch.Tensor) -> torch.Tensor:
    """Light, its colour, glare, a grey image and noise, on the camera's own px."""
    n, device = len(shown), shown.device
    dim = some(n, 0.15, device)
    gain = 0.6 + torch.rand(n, 1, 1, 1, device=device) * 0.65
    gain = gain * (1 - dim * (0.35 + 0.5 * torch.rand(n, 1, 1, 1, device=device)))
    cast = torch.exp(torch.randn(n, 3, 1, 1, device=device) * 0.06)
    bias = (torch.rand(n, 1, 1, 1, device=device) - 0.5) * 0.18 * (1 - dim)
    gamma = torch.exp(torch.randn(n, 1, 1, 1, device=device) * 0.12)
    out = (shown.clamp(min=1e-4) ** gamma) * gain * cast + bias
    glare = some(n, 0.08, device) * torch.rand(n, 1, 1, 1, device=device) * 0.9
    line = torch.linspace(-1, 1, shown.shape[-1], device=device)
    at = torch.randn(n, 2, 1, 1, device=device) * 0.6
    wide = 0.2 + torch.rand(n, 1, 1, device=device)
    far = (line[None, None, :] - at[:, 0]) ** 2 + (line[None, :, None] - at[:, 1]) ** 2
    out = out + glare * torch.exp(-far / wide**2)[:, None]
    grey = some(n, 0.07, device)
    out = out * (1 - grey) + out.mean(1, keepdim=True) * grey
    noise = some(n, 0.5, device) * torch.rand(n, 1, 1, 1, device=device) * 0.04 * (1 + dim)
    return (out + noise * torch.randn_like(out)).clamp(0, 1)


def coded(shown: torch.Tensor, share: float = 0.35) -> torch.Tensor:
    """A share of images (n, 3, s, s) as JPEG gives them back: blocks of 8 px, a random quality."""
    n, device = len(shown), shown.device
    is_coded = some(n, share, device)
    side = shown.shape[-1]
    off = torch.randint(0, 8, (2,)).tolist()
    pad = [off[0], -(side + off[0]) % 8, off[1], -(side + off[1]) % 8]
    wide = functional.pad(shown * 255, pad, mode="replicate")
    red, green, blue = wide[:, 0], wide[:, 1], wide[:, 2]
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    planes = torch.stack([luma - 128, (blue - luma) * 0.564, (red - luma) * 0.713], 1)
    h, w = planes.shape[-2:]
    blocks = planes.reshape(n, 3, h // 8, 8, w // 8, 8)
    basis = _cosines(device)
    freq = torch.einsum("ua,nciajb,vb->nciujv", basis, blocks, basis)
    quality = 25 + torch.rand(n, 1, 1, 1, 1, 1, device=device) * 60
    scale = torch.where(quality < 50, 5000 / quality, 200 - 2 * quality) / 100
    steps = torch.tensor(_LUMA, device=device, dtype=torch.float32)[None, None, None, :, None]
    # Colour is coded at half the resolution.
    rough = torch.tensor([1.0, 1.8, 1.8], device=device)[None, :, None, None, None, None]
    steps = (steps * scale * rough).clamp(min=1)
    freq = torch.round(freq / steps) * steps
    planes = torch.einsum("ua,nciujv,vb->nciajb", basis, freq, basis).reshape(n, 3, h, w)
    luma = planes[:, 0] + 128
    blue, red = luma + planes[:, 1] / 0.564, luma + planes[:, 2] / 0.713
    green = (luma - 0.299 * red - 0.114 * blue) / 0.587
    back = torch.stack([red, green, blue], 1)[
        ..., off[1] : off[1] + side, off[0] : off[0] + side
    ] / 255  # fmt: skip
    return shown * (1 - is_coded) + back.clamp(0, 1) * is_coded


def _cosines(device: torch.device) -> torch.Tensor:
    """The 8 x 8 orthonormal basis of the discrete cosine transform."""
    k = torch.arange(8, device=device, dtype=torch.float32)
    basis = torch.cos(math.pi * (2 * k[None] + 1) * k[:, None] / 16) / 2
    basis[0] /= math.sqrt(2)
    return basis
