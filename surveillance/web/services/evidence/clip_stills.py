"""Single images of a clip, for browsers that cannot play its codec (H.265, say)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, BinaryIO, cast

import av
import cv2
import numpy.typing as npt
from av.container import InputContainer
from av.video.stream import VideoStream

from surveillance.web.services.errors import NotThereError
from surveillance.web.services.evidence.evidence_files import Stretch

MAX_WIDTH_PX = 1600
JPEG_QUALITY = 85


class _Window(io.RawIOBase):
    """The bytes of a stretch as a file of their own."""

    def __init__(self, stretch: Stretch) -> None:
        self._file = stretch.open()
        self._offset, self._size, self._at = stretch.offset, stretch.size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + place)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        many = max(0, min(len(view), self._size - self._at))
        self._file.seek(self._offset + self._at)
        data = self._file.read(many)
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def open_stretch(stretch: Stretch) -> Iterator[tuple[InputContainer, VideoStream]]:
    """A clip and its video stream. Raises NotThereError when it cannot be decoded."""
    with _Window(stretch) as window:
        try:
            with av.open(cast(BinaryIO, window), "r") as container:
                stream = container.streams.video[0]
                stream.thread_type = "AUTO"
                yield container, stream
        except (av.FFmpegError, IndexError, OSError, ValueError) as error:
            raise NotThereError(f"the clip cannot be decoded: {error}") from error


def still(stretch: Stretch, at_s: float) -> bytes:
    """The image shown `at_s` seconds into the clip, JPEG; the last one beyond its end.

    Raises NotThereError when the clip holds no image that can be decoded.
    """
    found: av.VideoFrame | None = None
    with open_stretch(stretch) as (container, stream):
        begin = stream.start_time or 0
        base = stream.time_base or Fraction(1, 90_000)
        wanted = begin + int(Fraction(at_s).limit_denominator(1_000_000) / base)
        container.seek(wanted, stream=stream)
        for frame in container.decode(stream):
            if found is not None and frame.pts is not None and frame.pts > wanted:
                break
            found = frame
    if found is None:
        raise NotThereError("the clip holds no frame")
    image: npt.NDArray[Any] = found.to_ndarray(format="bgr24")
    if image.shape[1] > MAX_WIDTH_PX:
        size = (MAX_WIDTH_PX, round(image.shape[0] * MAX_WIDTH_PX / image.shape[1]))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise NotThereError("the clip's frame could not be encoded")
    return bytes(data.tobytes())
