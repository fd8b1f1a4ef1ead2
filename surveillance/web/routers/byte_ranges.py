"""A stretch of a file as an answer: whole, or the range that was asked for (RFC 9110, 14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import SEEK_CUR
from typing import BinaryIO

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from surveillance.web.services.evidence.evidence_files import Stretch

_RANGE = re.compile(r"bytes=(\d*)-(\d*)$", re.ASCII)
_CHUNK_BYTES = 256 * 1024


def wanted_range(header: str | None, size: int) -> tuple[int, int] | None:
    """First byte and the one after the last; None for all. Raises ValueError for none there is.

    Several ranges at once are answered with the whole, which the standard allows.

    >>> wanted_range("bytes=0-99", 1000), wanted_range("bytes=900-", 1000)
    ((0, 100), (900, 1000))
    >>> wanted_range("bytes=-100", 1000), wanted_range("bytes=1-2,5-6", 1000)
    ((900, 1000), None)
    """
    found = _RANGE.match(header.strip()) if header else None
    if found is None or (not found[1] and not found[2]) or max(map(len, found.groups())) > 18:
        return None
    if not found[1]:
        many = int(found[2])
        if many == 0 or size == 0:
            raise ValueError(header)
        return max(0, size - many), size
    first = int(found[1])
    last = int(found[2]) if found[2] else max(first, size - 1)
    if last < first:
        return None
    if first >= size:
        raise ValueError(header)
    return first, min(last, size - 1) + 1


def stretch_response(request: Request, stretch: Stretch) -> Response:
    """The bytes of a stretch, or 206 with those asked for, or 416. Raises NotThereError."""
    headers = {"accept-ranges": "bytes", "cache-control": "private, max-age=300"}
    try:
        wanted = wanted_range(request.headers.get("range"), stretch.size)
    except ValueError:
        return Response(
            status_code=416, headers=headers | {"content-range": f"bytes */{stretch.size}"}
        )
    first, after = wanted or (0, stretch.size)
    headers["content-length"] = str(after - first)
    if wanted is not None:
        headers["content-range"] = f"bytes {first}-{after - 1}/{stretch.size}"
    return StreamingResponse(
        _bytes(stretch.open(), first, after - first),
        status_code=200 if wanted is None else 206,
        headers=headers,
        media_type=stretch.media_type,
    )


def _bytes(file: BinaryIO, skip: int, left: int) -> Iterator[bytes]:
    with file:
        file.seek(skip, SEEK_CUR)
        while left > 0 and (chunk := file.read(min(left, _CHUNK_BYTES))):
            left -= len(chunk)
            yield chunk
