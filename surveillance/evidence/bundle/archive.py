"""The one form that a bundle's zip has: every byte follows from the parts.

Parts lie stored, in a fixed order, without times, owners or extra fields. So a check can say
of any byte whether it is as it was written, and which part it belongs to; a general zip
library reads such files but promises no form for what it writes.
Layout by PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from settlement.errors import FeltwatchError

LARGEST_BYTES = 2**32 - 2**20
"""Below what a zip without 64-bit fields can hold."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}")
_VERSION = 20
_MADE_BY = (3 << 8) | _VERSION  # 3: Unix, so that the file mode is understood
_FILE_MODE = 0o100644 << 16
_TIME, _DATE = 0, 0x21  # midnight of 1980-01-01, the first day a zip knows
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")


@dataclass(frozen=True, slots=True)
class Part:
    """A part by name, size in bytes, CRC-32 and SHA-256."""

    name: str
    size: int
    crc32: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of the file; `expected` None: the bytes of the part itself."""

    what: str
    part: Part | None
    offset: int
    size: int
    expected: bytes | None


def check_names(names: Iterable[str]) -> None:
    """Raise FeltwatchError for a name that is doubled or could not be unpacked everywhere."""
    seen: set[str] = set()
    for name in names:
        if not _NAME.fullmatch(name) or ".." in name or "//" in name or name.endswith("/"):
            raise FeltwatchError(f"bundle: {name!r} cannot be the name of a part")
        if name.lower() in seen:
            raise FeltwatchError(f"bundle: two parts are called {name!r}")
        seen.add(name.lower())


def regions(parts: Sequence[Part]) -> Iterator[Region]:
    """The whole file, stretch by stretch; raises FeltwatchError when it would be too large."""
    offset = 0
    offsets = []
    for part in parts:
        offsets.append(offset)
        header = _LOCAL.pack(
            b"PK\x03\x04",
            _VERSION,
            0,
            0,
            _TIME,
            _DATE,
            part.crc32,
            part.size,
            part.size,
            len(part.name),
            0,
        ) + part.name.encode("ascii")
        if offset + len(header) + part.size > LARGEST_BYTES:
            raise FeltwatchError(f"bundle: {part.name}: the parts are larger than 4 GB together")
        yield Region("header", part, offset, len(header), header)
        offset += len(header)
        yield Region("data", part, offset, part.size, None)
        offset += part.size
    start = offset
    for part, begins in zip(parts, offsets, strict=True):
        entry = _CENTRAL.pack(
            b"PK\x01\x02",
            _MADE_BY,
            _VERSION,
            0,
            0,
            _TIME,
            _DATE,
            part.crc32,
            part.size,
            part.size,
            len(part.name),
            0,
            0,
            0,
            0,
            _FILE_MODE,
            begins,
        ) + part.name.encode("ascii")
        yield Region("directory entry", part, offset, len(entry), entry)
        offset += len(entry)
    many = len(parts)
    end = _END.pack(b"PK\x05\x06", 0, 0, many, many, offset - start, start, 0)
    yield Region("end record", None, offset, len(end), end)


def data_offset(name: str) -> int:
    """Return the offset of the first part's bytes."""
    return _LOCAL.size + len(name)
