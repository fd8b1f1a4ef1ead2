"""The first part of a bundle: what it is about, and the hash of every other part."""

from __future__ import annotations

import hashlib
import zlib
from typing import Annotated, Any, Literal

from pydantic import Field

from settlement.form import Form
from surveillance.evidence.bundle.archive import Part, data_offset
from surveillance.evidence.bundle.canonical import canonical_json, opened, sealed

MANIFEST = "manifest.json"
FORMAT = "feltwatch-bundle"
NEXT_HEADER = b"PK\x03\x04"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ManifestPart(Form):
    """One part of the bundle."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$")]
    size: int = Field(ge=0, lt=2**32, description="Bytes.")
    crc32: int = Field(ge=0, lt=2**32)
    sha256: Sha256

    def to_part(self) -> Part:
        """The same for the archive."""
        return Part(self.name, self.size, self.crc32, self.sha256)


class ManifestClip(Form):
    """The clip of a further camera: its part, or why it is missing."""

    camera: str = Field(description="The camera's name in the table file.")
    part: str | None = Field(description="The part's name; null: there is no clip.")
    start_s: str | None = Field(description="First camera's seconds at the clip's first frame.")
    missing: str | None = Field(description="Why there is no clip, in words.")


class Manifest(Form):
    """Manifest of a bundle; `sha256` is of the manifest without this key."""

    format: Literal["feltwatch-bundle"] = "feltwatch-bundle"
    version: Literal[1] = 1
    alert_id: str
    table: str
    camera: str
    at: str = Field(description="Time of the alert, ISO 8601 in UTC.")
    clip_start_s: str | None = Field(description="Stream's seconds at the clip's first frame.")
    further_clips: tuple[ManifestClip, ...] | None = Field(
        None, description="Of each further camera; the key is left out where there is none."
    )
    parts: tuple[ManifestPart, ...] = Field(description="In the order they lie in.")
    sha256: Sha256 | None = None

    def to_bytes(self) -> bytes:
        """The text that goes into the bundle."""
        absent = {"sha256"} if self.further_clips else {"sha256", "further_clips"}
        return canonical_json(sealed(self.model_dump(exclude=absent)))


def manifest_part(text: bytes) -> Part:
    """The manifest itself as a part."""
    return Part(MANIFEST, len(text), zlib.crc32(text), hashlib.sha256(text).hexdigest())


def find_manifest(start: bytes) -> tuple[bytes, dict[str, Any] | None]:
    """The manifest's text in the first bytes of a bundle, and what it says if it is whole.

    It is found by where the next part's header begins, or else by the size in its own, so
    that a changed header does not hide it.
    """
    begin = data_offset(MANIFEST)
    after = start.find(NEXT_HEADER, begin)
    size = int.from_bytes(start[18:22], "little")
    candidates = [after] if after >= 0 else []
    candidates.append(begin + size)
    for end in candidates:
        text = start[begin:end]
        value = opened(text)
        if value is not None:
            return text, value
    return start[begin : candidates[0]], None
