"""Opening what gives live images: an RTSP camera, a device, or a file played as if live."""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import dataclass
from pathlib import Path

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from vision.sources.base import SourceError
from vision.sources.file import FileSource
from vision.sources.limits import LiveLimits
from vision.sources.tls import tls_fault, tls_options
from vision.sources.url import Address, Kind, Transport

_RTSP_PROTOCOLS = "tcp,udp,rtp,srtp,tls,crypto"
_PROBE_US = 1_000_000
_NO_CAMERA = "it is no camera; 'v4l2-ctl --list-devices' lists the cameras"
_DEVICE_WORDS = {
    errno.EBUSY: "another program uses it; a device can be watched by one at a time",
    errno.EACCES: "this user may not open it; add the user to the group 'video'",
    errno.EPERM: "this user may not open it; add the user to the group 'video'",
    errno.ENOTTY: _NO_CAMERA,
    errno.ENODEV: _NO_CAMERA,
    errno.EINVAL: _NO_CAMERA,
}
_EARLY_REFUSALS = (
    (av.error.HTTPUnauthorizedError, "it refuses the user name or password"),
    (av.error.HTTPForbiddenError, "it forbids this user the stream"),
    (av.error.HTTPNotFoundError, "it has no such stream; check the path of the URL"),
)


@dataclass(frozen=True, slots=True)
class LivePlace:
    """What to open and how.

    `loop` plays a file again and again; `size_px` (width, height) is asked of a device.
    """

    address: Address
    transport: Transport = "tcp"
    loop: bool = False
    size_px: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """An open stream."""

    container: InputContainer
    stream: VideoStream


class LostError(SourceError):
    """The stream cannot be had now; worth another try. `refused` asks for patience."""

    def __init__(self, message: str, refused: bool = False) -> None:
        """The message holds no secret."""
        super().__init__(message)
        self.refused = refused


def open_place(place: LivePlace, limits: LiveLimits) -> Opened:
    """Open it; raises LostError when another try may help, SourceError when none will."""
    match place.address.kind:
        case Kind.RTSP:
            return _open_rtsp(place, limits)
        case Kind.DEVICE:
            return _open_device(place, limits)
        case Kind.FILE:
            return _open_file(place)


def why_lost(error: Exception) -> tuple[str, bool]:
    """A reason without anything the error quotes, and whether it is a refusal.

    FFmpeg's errors carry the address with its password, so only their kind is reported.
    """
    for kind, words in _EARLY_REFUSALS:
        if isinstance(error, kind):
            return words, True
    if isinstance(error, av.error.ExitError | av.error.TimeoutError | TimeoutError):
        return "it does not answer", False
    if isinstance(error, av.error.EOFError | EOFError):
        return "it ended the stream", False
    if isinstance(error, av.error.InvalidDataError):
        return "what it sends is no video that can be read", False
    if isinstance(error, av.error.FFmpegError | OSError) and error.errno:
        known = os.strerror(error.errno)
        if not known.startswith("Unknown error"):
            return known.lower(), False
    return f"the connection broke ({type(error).__name__})", False


def _open_rtsp(place: LivePlace, limits: LiveLimits) -> Opened:
    options = {
        "rtsp_transport": place.transport,
        "allowed_media_types": "video",
        "timeout": str(round(limits.give_up_s * 1e6)),
        "protocol_whitelist": _RTSP_PROTOCOLS,
        "analyzeduration": str(_PROBE_US),
    }
    address = place.address
    if not address.over_tls:
        return _open(place, limits, address.opened, "rtsp", options)
    options |= tls_options(address.ca_file)
    lost: LostError | None = None
    try:
        return _open(place, limits, address.opened, "rtsp", options)
    except LostError as error:
        lost = error
    # FFmpeg reports only the failure; the reason is looked for where it helps.
    fault = None if lost.refused else tls_fault(address.where, address.ca_file, limits.open_s)
    raise LostError(f"{address.shown}: {fault}") if fault else lost


def _open_device(place: LivePlace, limits: LiveLimits) -> Opened:
    where = place.address.where
    if not Path(where).exists():
        raise LostError(
            f"{where}: there is no such device; one that is plugged in again may get another "
            "number, its name in /dev/v4l/by-id stays"
        )
    options = {}
    if place.size_px is not None:
        options["video_size"] = f"{place.size_px[0]}x{place.size_px[1]}"
    # Raw images of a large size come a few times a second by USB, coded ones at full rate,
    # and only of coded ones clips are kept; FFmpeg by itself takes raw ones.
    with contextlib.suppress(LostError):
        return _open(place, limits, where, "v4l2", options | {"input_format": "mjpeg"})
    return _open(place, limits, where, "v4l2", options)


def _open(
    place: LivePlace, limits: LiveLimits, address: str, form: str, options: dict[str, str]
) -> Opened:
    lost: LostError | None = None
    try:
        container = av.open(
            address, format=form, options=options, timeout=(limits.open_s, limits.give_up_s)
        )
    except (av.error.FFmpegError, OSError, ValueError) as error:
        why, refused = why_lost(error)
        if place.address.kind is Kind.DEVICE:
            why = _DEVICE_WORDS.get(getattr(error, "errno", None) or 0, why)
        lost = LostError(f"{place.address.shown}: {why}", refused)
    if lost is not None:
        # Raised out here, it has no cause or context that would carry the address along.
        raise lost
    streams = container.streams.video
    if not streams:
        container.close()
        raise LostError(f"{place.address.shown}: there is no video in the stream")
    return Opened(container, _set_up(streams[0]))


def _open_file(place: LivePlace) -> Opened:
    # FileSource reports in detail what is wrong with a file that is no video.
    FileSource(Path(place.address.where)).close()
    path = str(Path(place.address.where).absolute())
    container = av.open(path, options={"protocol_whitelist": "file"})
    covers = av.stream.Disposition.attached_pic
    stream = next(s for s in container.streams.video if not s.disposition & covers)
    return Opened(container, _set_up(stream))


def _set_up(stream: VideoStream) -> VideoStream:
    # Threads by frame would hold every image back by some; a camera has one core at most.
    stream.thread_type = "NONE"
    stream.thread_count = 1
    return stream
