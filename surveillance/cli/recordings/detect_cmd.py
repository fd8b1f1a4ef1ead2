"""`feltwatch detect`: the cards in still photographs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import cv2
import typer

from models.networks import backends
from models.weights.folder import default_weights
from surveillance.cli.options import Model
from surveillance.reports.photo_view import DrawnPhotos
from vision.cards.photo import PhotoError, PhotoReader, PhotoResult, read_photo
from vision.networks import load_for_photographs


def readable(image: str, result: PhotoResult) -> str:
    """A result as lines: the image, then a card or another thing each."""
    lines = [f"{image}: {len(result.cards)} cards ({result.width} x {result.height} px)"]
    used = {n for own in result.members for n in own}
    rest = [found for n, found in enumerate(result.detections) if n not in used]
    for found in sorted(result.cards, key=lambda card: (card.xyxy[0], card.xyxy[1])):
        lines.append(_line(found.label, found.score, found.xyxy))
    for found in rest:
        name = "index, not sure which" if found.label == "index" else found.label
        lines.append(_line(name, found.score, found.xyxy))
    return "\n".join(lines)


def _line(name: str, score: float, xyxy: tuple[float, float, float, float]) -> str:
    x0, y0, x1, y1 = (round(v) for v in xyxy)
    return f"  {name:<22} {score:.2f}  at {x0},{y0} to {x1},{y1}"


@contextmanager
def _quiet_opencv() -> Iterator[None]:
    """Keep OpenCV's own lines off stderr: what cannot be read is reported with its file."""
    logging = cv2.utils.logging
    level = logging.setLogLevel(logging.LOG_LEVEL_SILENT)
    try:
        yield
    finally:
        logging.setLogLevel(level)


def detect_command(
    photos: Annotated[list[Path], typer.Argument(help="Image files of any size.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per image.")
    ] = False,
    draw: Annotated[
        Path | None, typer.Option("--draw", help="Folder for images with boxes and names.")
    ] = None,
    model: Model = None,
) -> None:
    """Find and read the cards in photographs; no table file is needed.

    A card that cannot be determined is listed as an index and not among the cards, a card that lies
    face down among the backs. An image of more than 48 million pixels is read at half its
    size. JPEG, PNG, WebP, AVIF, JPEG 2000, GIF, BMP and TIFF are read, HEIC is not. An image
    that cannot be read, or is an animation, is named on stderr, the others are read;
    the exit code is then 2.

    Examples:

      feltwatch detect fan.jpg

      feltwatch detect *.jpg --json --draw seen > cards.jsonl
    """
    backends.register()
    photo_reader: PhotoReader | None = None
    drawn = DrawnPhotos(draw) if draw is not None else None
    failed = 0
    for path in photos:
        try:
            with _quiet_opencv():
                image, by = read_photo(path)
        except PhotoError as error:
            failed += 1
            print(f"feltwatch: error: {' '.join(str(error).split())}", file=sys.stderr)
            continue
        if photo_reader is None:
            # Only now: a large image takes most memory while it is decoded.
            photo_reader = PhotoReader(*load_for_photographs(model or default_weights()))
        seen = photo_reader.read(image)
        result = seen.enlarged(by)
        if as_json:
            typer.echo(json.dumps(result.as_dict(str(path))))
        else:
            typer.echo(readable(str(path), result))
        if drawn is not None:
            drawn.write(path.name, image, seen)
        # The next one is decoded before this would be let go.
        del image
    if failed:
        raise typer.Exit(2)
