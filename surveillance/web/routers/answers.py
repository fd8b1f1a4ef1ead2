"""Answers that a browser may keep: entity tags and `304 Not Modified`."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import FileResponse, Response

REVALIDATE = "private, no-cache"
"""Keep it, but ask each time whether it is still right."""

_PICTURE_TYPES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
}


def picture_type(path: Path) -> str:
    """The media type of an image by its name; one that no browser shows when it is unknown.

    >>> picture_type(Path("a.JPG")), picture_type(Path("a.svg"))
    ('image/jpeg', 'application/octet-stream')
    """
    return _PICTURE_TYPES.get(path.suffix.lower(), "application/octet-stream")


def is_known(request: Request, tag: str) -> bool:
    """Whether the browser says that it has the thing with this entity tag."""
    asked = request.headers.get("if-none-match", "")
    return tag in (part.strip().removeprefix("W/") for part in asked.split(",")) or asked == "*"


def not_modified(tag: str) -> Response:
    """The answer to a browser that has it already."""
    return Response(status_code=304, headers={"etag": tag, "cache-control": REVALIDATE})


def tagged_json(request: Request, form: BaseModel) -> Response:
    """A form as JSON with an entity tag of its content."""
    content = form.model_dump_json(warnings=False).encode()
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    if is_known(request, tag):
        return not_modified(tag)
    headers = {"etag": tag, "cache-control": REVALIDATE}
    return Response(content, media_type="application/json", headers=headers)


def tagged_bytes(request: Request, content: bytes, media_type: str, tag: str) -> Response:
    """Bytes with an entity tag."""
    if is_known(request, f'"{tag}"'):
        return not_modified(f'"{tag}"')
    headers = {"etag": f'"{tag}"', "cache-control": REVALIDATE}
    return Response(content, media_type=media_type, headers=headers)


def tagged_file(request: Request, path: Path, tag: str) -> Response:
    """An image's file with an entity tag."""
    if is_known(request, f'"{tag}"'):
        return not_modified(f'"{tag}"')
    headers = {"etag": f'"{tag}"', "cache-control": REVALIDATE}
    return FileResponse(path, media_type=picture_type(path), headers=headers)
