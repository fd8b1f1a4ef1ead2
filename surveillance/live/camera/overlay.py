"""The live picture for the pages: small, and with what is seen drawn over it."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.rounds.live_view import OutlineNow, TableNow

WIDE_PX = 1280
JPEG_QUALITY = 80

Image = npt.NDArray[np.uint8]
Bgr = tuple[int, int, int]

_DARK: Bgr = (28, 24, 22)
_COLOURS: dict[str, Bgr] = {
    "card": (255, 214, 92),
    "back": (190, 186, 182),
    "chips": (64, 176, 255),
    "lammer": (222, 128, 255),
}
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_SIZE = 0.4


def draw_now(picture: Image, now: TableNow, source_wide_px: int) -> Image:
    """A copy of the small picture (h, w, 3) with outlines and labels of what was read last.

    Views that are in motion are left out: what was read there is no more.
    """
    scale = picture.shape[1] / source_wide_px
    out = picture.copy()
    shown = [v for v in now.views if v.seat not in now.moving]
    for view in shown:
        for outline in view.outlines:
            corners = np.round(np.asarray(outline.corners_px) * scale).astype(np.int32)
            cv2.polylines(out, [corners], True, _DARK, 3, cv2.LINE_AA)
            cv2.polylines(out, [corners], True, _COLOURS[outline.kind], 1, cv2.LINE_AA)
    for view in shown:
        for outline in view.outlines:
            if outline.kind != "back":
                _label(out, outline, scale)
    return out


def _label(out: Image, outline: OutlineNow, scale: float) -> None:
    corners = np.asarray(outline.corners_px) * scale
    text = (
        f"${outline.label}" if outline.kind == "chips" and outline.label != "?" else outline.label
    )
    (width, height), _ = cv2.getTextSize(text, _FONT, _SIZE, 1)
    x = round(float(corners[:, 0].mean()) - width / 2)
    y = round(float(corners[:, 1].min()) - 3)
    cv2.rectangle(out, (x - 2, y - height - 2), (x + width + 2, y + 3), _DARK, -1)
    cv2.putText(out, text, (x, y), _FONT, _SIZE, _COLOURS[outline.kind], 1, cv2.LINE_AA)


def jpeg(picture: Image) -> bytes:
    """A picture as JPEG; raises ValueError when it cannot be."""
    done, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise ValueError("the picture could not be encoded")
    return bytes(data.tobytes())
