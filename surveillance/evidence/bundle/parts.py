"""Looking into a bundle: its parts, and where their bytes lie."""

from __future__ import annotations

import zipfile
from pathlib import Path

from settlement.errors import FeltwatchError
from settlement.input_file import reading
from surveillance.evidence.bundle.archive import regions
from surveillance.evidence.bundle.manifest import Manifest, find_manifest, manifest_part

MANIFEST_MAX_BYTES = 4_000_000


def part_names(bundle: Path) -> tuple[str, ...]:
    """The names of a bundle's parts, the manifest first; raises FeltwatchError."""
    try:
        with zipfile.ZipFile(bundle) as archive:
            return tuple(archive.namelist())
    except (OSError, zipfile.BadZipFile) as error:
        raise FeltwatchError(f"{bundle}: is no bundle that can be read: {error}") from None


def read_part(bundle: Path, name: str) -> bytes:
    """The bytes of a part; raises FeltwatchError when it is not there or damaged."""
    try:
        with zipfile.ZipFile(bundle) as archive:
            return archive.read(name)
    except KeyError:
        raise FeltwatchError(f"{bundle}: has no part {name!r}") from None
    except (OSError, zipfile.BadZipFile) as error:
        raise FeltwatchError(f"{bundle}: {name}: cannot be read: {error}") from None


def part_span(bundle: Path, name: str) -> tuple[int, int]:
    """Offset and size in bytes of a part within the file, for sending a stretch of it.

    Parts lie stored, so these are the part's own bytes. Raises FeltwatchError.
    """
    with reading(bundle), bundle.open("rb") as handle:
        text, value = find_manifest(handle.read(MANIFEST_MAX_BYTES))
    if value is None:
        raise FeltwatchError(f"{bundle}: its manifest is damaged: try feltwatch verify {bundle}")
    listed = [part.to_part() for part in Manifest.model_validate(value).parts]
    for region in regions([manifest_part(text), *listed]):
        if region.what == "data" and region.part is not None and region.part.name == name:
            return region.offset, region.size
    raise FeltwatchError(f"{bundle}: has no part {name!r}")
