"""The views behind an alert, without anything drawn over them, cut again from its bundle.

Live watching keeps no views for labelling: the bundle has the clip as the camera sent it, the
table file it was read with and what was seen where, and so each view can be cut again just
as the reader had it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from datasets.labelled.harvest import CANDIDATES, VIEWS, Candidate, CandidateBox
from settlement.errors import FeltwatchError
from surveillance.evidence.bundle import part_names, part_span, read_part
from surveillance.evidence.images import PictureName
from surveillance.store import AlertRow
from surveillance.web.services.evidence.clip_stills import open_stretch
from surveillance.web.services.evidence.evidence_files import Stretch, media_type
from vision.geometry.calibration import VIEW_PX, Calibration
from vision.geometry.table import Place, TableFile

JPEG_QUALITY = 95
"""JPEG quality of images to train on, finer than evidence."""

_LEAD_S = 0.05
"""An image counts as the one of a time when it is no further from it than this."""

Image = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str
    at: PictureName
    seat: int | None
    clip_s: float


def cut_views(bundle: Path, alert: AlertRow, round_id: str, video: str, folder: Path) -> int:
    """Leave an alert's views and their lines in `folder`, as an audit with --candidates does.

    `video` names the source in each line. Returns how many there are. Raises
    FeltwatchError when the bundle lacks the clip or table file, or cannot be read.
    """
    table = _table(bundle)
    if table.camera is None:
        raise FeltwatchError(f"{bundle.name}: its table file has no camera")
    names = part_names(bundle)
    clip = next((name for name in names if name.startswith("clip.")), None)
    start = json.loads(read_part(bundle, "manifest.json")).get("clip_start_s")
    if clip is None or start is None:
        raise FeltwatchError(f"{bundle.name}: holds no clip to cut views from")
    wanted = list(_wanted(alert, float(start)))
    seen = _seen(bundle)
    model = _model(bundle)
    calibration = Calibration.fit(table.camera)
    stretch = Stretch(bundle, *part_span(bundle, clip), media_type(clip))
    lines = []
    for want, picture in _pictures(stretch, wanted):
        view = calibration.warp_view(picture, _place(table, want.seat), VIEW_PX)
        boxes = seen.get((want.seat, want.at.what, want.at.at_s), ())
        lines.append(
            Candidate(
                file=want.name,
                width=VIEW_PX,
                height=VIEW_PX,
                video=video,
                table=alert.table,
                round_id=round_id,
                seat=want.seat,
                what=want.at.what,
                at_s=want.at.at_s,
                model=model,
                sureness=min((box.score for box in boxes), default=1.0),
                alerts=(alert.alert.alert_id,),
                boxes=tuple(boxes),
            )
        )
        _write(folder / VIEWS / want.name, view)
    if lines:
        text = "".join(line.model_dump_json() + "\n" for line in lines)
        (folder / CANDIDATES).write_text(text, encoding="utf-8")
    return len(lines)


def _table(bundle: Path) -> TableFile:
    try:
        return TableFile.model_validate(tomllib.loads(read_part(bundle, "table.toml").decode()))
    except (ValidationError, ValueError) as error:
        raise FeltwatchError(f"{bundle.name}: its table file cannot be read") from error


def _model(bundle: Path) -> str:
    try:
        sha256 = json.loads(read_part(bundle, "versions.json"))["model"]["sha256"]
    except (FeltwatchError, ValueError, KeyError, TypeError):
        return "unknown"
    return str(sha256)[:12]


def _wanted(alert: AlertRow, start_s: float) -> Iterator[_Wanted]:
    for path in alert.alert.pictures:
        at = PictureName.parse(path)
        # The clip, and the calibration that views are cut by, are the first camera's.
        if at is not None and not at.camera and at.what != "reach":
            seat = None if at.place == "dealer" else int(at.place.removeprefix("seat"))
            yield _Wanted(PurePosixPath(path).name, at, seat, float(at.at_s) - start_s)


def _seen(bundle: Path) -> dict[tuple[Any, Any, Any], list[CandidateBox]]:
    found: dict[tuple[Any, Any, Any], list[CandidateBox]] = {}
    for line in read_part(bundle, "detections.jsonl").splitlines():
        detection = json.loads(line)
        box = CandidateBox(
            label=detection["label"], score=detection["score"], xyxy=tuple(detection["xyxy"])
        )
        found.setdefault((detection["seat"], detection["what"], detection["at_s"]), []).append(box)
    return found


def _place(table: TableFile, seat: int | None) -> Place:
    return table.dealer.place if seat is None else table.seat(seat).place


def _pictures(stretch: Stretch, wanted: list[_Wanted]) -> Iterator[tuple[_Wanted, Image]]:
    """The clip's images at the wanted times, each as uint8 (h, w, 3) BGR."""
    waiting = sorted(wanted, key=lambda want: want.clip_s)
    if not waiting:
        return
    with open_stretch(stretch) as (container, stream):
        base = stream.time_base
        begin = stream.start_time or 0
        assert base is not None, "a video stream has a time base"
        first = begin + int(max(0.0, waiting[0].clip_s) / base)
        container.seek(first, stream=stream)
        for frame in container.decode(stream):
            at_s = float((frame.pts - begin) * base) if frame.pts is not None else 0.0
            image: Image | None = None
            while waiting and waiting[0].clip_s <= at_s + _LEAD_S:
                want = waiting.pop(0)
                if want.clip_s >= at_s - _LEAD_S:
                    if image is None:
                        image = np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
                    yield want, image
            if not waiting:
                return


def _write(path: Path, image: Image) -> None:
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise FeltwatchError(f"{path.name}: the view could not be encoded")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.tobytes())
