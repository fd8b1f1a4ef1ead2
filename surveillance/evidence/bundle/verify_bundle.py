"""Check of one bundle: reports every byte that is not as its manifest says."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from settlement.errors import FeltwatchError
from settlement.input_file import reading
from surveillance.evidence.bundle.archive import Region, regions
from surveillance.evidence.bundle.manifest import MANIFEST, Manifest, find_manifest, manifest_part
from surveillance.evidence.bundle.parts import MANIFEST_MAX_BYTES
from surveillance.evidence.bundle.problem import Kind, Problem

_CHUNK_BYTES = 1 << 20


def refuse_no_bundle(path: Path) -> None:
    """Raise FeltwatchError for a file that nobody would take for a bundle.

    A bundle that was damaged is none of these: it has the name of one, a zip's directory or a
    manifest, and what was changed in it is reported.
    """
    if path.suffix.lower() == ".zip":
        return
    with reading(path), path.open("rb") as file:
        if find_manifest(file.read(MANIFEST_MAX_BYTES))[1] is None and not zipfile.is_zipfile(file):
            raise FeltwatchError(
                f"{path}: no bundle: expected the .zip of an alert, or an evidence folder"
            )


def verify_bundle(path: Path) -> tuple[Problem, ...]:
    """Return the changes found in a bundle; empty when it is as it was written.

    Checked by itself: that it is the one that was written says the log beside it, see
    `verify_folder`. Raises FeltwatchError when the file is not there or cannot be read.
    """
    with reading(path), path.open("rb") as file:
        return tuple(_problems(path, file))


def _problems(path: Path, file: BinaryIO) -> Iterator[Problem]:
    name = str(path)
    size = os.fstat(file.fileno()).st_size
    text, value = find_manifest(file.read(MANIFEST_MAX_BYTES))
    if value is None:
        yield Problem("altered", name, "is not as it was written", part=MANIFEST)
        yield from _by_the_zip_itself(path, size)
        return
    try:
        manifest = Manifest.model_validate(value)
    except ValidationError:
        yield Problem(
            "altered",
            name,
            "is of a form this program does not know: a newer feltwatch may",
            part=MANIFEST,
        )
        return
    parts = [manifest_part(text), *(part.to_part() for part in manifest.parts)]
    whole = list(regions(parts))
    stated = whole[-1].offset + whole[-1].size
    if size != stated:
        yield from _of_another_size(name, file, whole, size, stated)
        return
    for region in whole:
        yield from _check(name, file, region)


def _of_another_size(
    name: str, file: BinaryIO, whole: list[Region], size: int, stated: int
) -> Iterator[Problem]:
    """Bytes are missing or too many: the first place where that shows, and how many."""
    kind: Kind = "removed" if size < stated else "added"
    difference = abs(size - stated)
    message = f"{difference} bytes are {'missing' if size < stated else 'too many'}"
    for region in whole:
        found = next(_check(name, file, region), None)
        if found is not None:
            yield Problem(
                kind,
                name,
                f"{message}, from {_place(region)} on; what follows lies elsewhere",
                part=found.part,
            )
            return
    yield Problem(kind, name, f"{message}, at the end")


def _check(name: str, file: BinaryIO, region: Region) -> Iterator[Problem]:
    part = None if region.part is None else region.part.name
    file.seek(region.offset)
    if region.expected is None:
        assert region.part is not None, "only parts have bytes of their own"
        if _hash(file, region.size) != region.part.sha256:
            yield Problem("altered", name, "is not what was put in", part=part)
        return
    found = file.read(region.size)
    if found != region.expected:
        at = next(
            (i for i, (a, b) in enumerate(zip(found, region.expected, strict=False)) if a != b),
            len(found),
        )
        yield Problem("altered", name, f"{_place(region)}, byte {region.offset + at}", part=part)


def _place(region: Region) -> str:
    owner = "" if region.part is None else f" of {region.part.name}"
    return f"the {'bytes' if region.what == 'data' else f'zip {region.what}'}{owner}"


def _hash(file: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    while size > 0 and (chunk := file.read(min(size, _CHUNK_BYTES))):
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()


def _by_the_zip_itself(path: Path, size: int) -> Iterator[Problem]:
    """Without a manifest the parts' own checksums still say which of them are damaged too."""
    name = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if not entries or entries[0].filename != MANIFEST:
                yield Problem("altered", name, "the zip directory lists other parts")
            for entry in entries:
                if entry.filename != MANIFEST and not _is_sound(archive, entry, size):
                    yield Problem("altered", name, "is damaged", part=entry.filename)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        yield Problem("altered", name, f"the zip directory cannot be read: {error}")


def _is_sound(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, size: int) -> bool:
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > size:
        return False
    try:
        with archive.open(entry) as data:
            crc = 0
            while chunk := data.read(_CHUNK_BYTES):
                crc = zlib.crc32(chunk, crc)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, NotImplementedError):
        return False
    return crc == entry.CRC
