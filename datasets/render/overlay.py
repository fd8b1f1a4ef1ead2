"""Time stamps and camera names that recorders print on the image."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from datasets.render.cards.suit_marks import Picture

FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_PLAIN, cv2.FONT_HERSHEY_DUPLEX)
FORMATS = (
    "{h:02d}:{m:02d}:{s:05.2f}",
    "{day} {h:02d}:{m:02d}:{si:02d}",
    "{camera}  {day}  {h:02d}:{m:02d}:{si:02d}.{cs:02d}",
    "{h:02d}:{m:02d}:{si:02d} {camera}",
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """How a recorder prints the time.

    `corner` is 'bl', 'br', 'tl' or 'tr'; `height` the text's height as a share of the
    image's; `ground` prints it on a dark bar; `start_s` is the clock at the recording's
    start, seconds after midnight.
    """

    corner: str = "bl"
    height: float = 0.0143
    font: int = cv2.FONT_HERSHEY_SIMPLEX
    form: int = 0
    ground: bool = False
    level: int = 230
    start_s: float = 0.0
    day: str = "2024-03-09"
    camera: str = "CAM 12"

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Stamp:
        """A recorder's way at random."""
        return cls(
            corner=str(rng.choice(["bl", "br", "tl", "tr"])),
            height=float(rng.uniform(0.011, 0.02)),
            font=FONTS[int(rng.integers(len(FONTS)))],
            form=int(rng.integers(len(FORMATS))),
            ground=bool(rng.random() < 0.3),
            level=int(rng.integers(180, 250)),
            start_s=float(rng.integers(0, 86400)),
            day=f"20{rng.integers(18, 30)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}",
            camera=f"{rng.choice(['CAM', 'PGP', 'TBL', 'PTZ'])} {rng.integers(1, 90)}",
        )

    def text(self, t_s: float) -> str:
        """The words at `t_s` seconds of the recording.

        >>> Stamp().text(3723.5)
        '01:02:03.50'
        """
        t = (self.start_s + t_s) % 86400
        return FORMATS[self.form].format(
            h=int(t) // 3600, m=int(t) // 60 % 60, s=t % 60, si=int(t) % 60,
            cs=int(t * 100) % 100, day=self.day, camera=self.camera,
        )  # fmt: skip

    def print(self, grey: Picture, t_s: float) -> tuple[int, int, int, int]:
        """Print on a grey image or luma plane, uint8 (h, w), in place.

        Returns the part that may have changed, (x0, y0, x1, y1).
        """
        h, w = grey.shape
        halo, ink = _letters(self.text(t_s), self.font, max(6, round(self.height * h)))
        halo, ink = halo[:h, :w], ink[:h, :w]
        tall, wide = halo.shape
        edge = min(max(2, round(h * 0.008)), h - tall, w - wide)
        x = edge if self.corner[1] == "l" else w - wide - edge
        y = h - tall - edge if self.corner[0] == "b" else edge
        spot = grey[y : y + tall, x : x + wide]
        if self.ground:
            spot[:] = 20
        else:
            _mix(spot, halo, 16)
        _mix(spot, ink, self.level)
        return x, y, x + wide, y + tall


def _letters(text: str, font: int, tall: int) -> tuple[Picture, Picture]:
    """A text's halo and its ink, uint8 and of one size, cut to the halo.

    The text size that OpenCV returns before drawing is not always what it draws.
    """
    (_, one), _ = cv2.getTextSize(text, font, 1.0, 1)
    scale = tall / one
    thick = max(1, round(scale * 2))
    room = np.zeros((4 * tall, (len(text) + 4) * tall * 2), np.uint8)
    halo, ink = room, room.copy()
    at = (2 * tall, 2 * tall + tall // 2)
    cv2.putText(halo, text, at, font, scale, 255, thick * 2 + 1, cv2.LINE_AA)
    cv2.putText(ink, text, at, font, scale, 255, thick, cv2.LINE_AA)
    both = np.maximum(halo, ink)
    rows, columns = np.flatnonzero(both.max(axis=1)), np.flatnonzero(both.max(axis=0))
    cut = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return np.ascontiguousarray(halo[cut]), np.ascontiguousarray(ink[cut])


def _mix(spot: Picture, ink: Picture, level: int) -> None:
    """Print ink of one brightness on a piece of a grey image."""
    kept = cv2.multiply(spot, 255 - ink, scale=1 / 255)
    np.copyto(spot, cv2.add(kept, cv2.convertScaleAbs(ink, alpha=level / 255)))
