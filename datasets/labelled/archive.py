"""Archives of labelled pictures: unpacked into a folder of their own once all is in order."""

from __future__ import annotations

import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from datasets.labelled.records import checked_file
from settlement.errors import FeltwatchError

MAX_RATIO = 200
"""Most that a member may grow when unpacked; pictures hardly do, label text does by tens."""

MAX_BYTES = 200 * 2**30


@contextmanager
def opened(path: Path, scratch: Path | None = None) -> Iterator[Path]:
    """The folder itself, or the one a .zip was unpacked into for the while, below `scratch`.

    Where the archive holds nothing but one folder, that one. Raises FeltwatchError naming
    the member for names that lead elsewhere, links, damaged members and such as would fill
    the disk.
    """
    if path.is_dir():
        yield path
        return
    if not path.is_file():
        raise FeltwatchError(f"{path}: is not there; give a folder or a .zip")
    if not zipfile.is_zipfile(path):
        raise FeltwatchError(f"{path}: is neither a folder nor a .zip that can be read")
    if scratch is not None:
        scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, prefix=".unpacked-") as temporary:
        folder = Path(temporary)
        try:
            with zipfile.ZipFile(path) as archive:
                _check(archive, path, folder)
                for member in archive.infolist():
                    _unpack(archive, member, path, folder)
        except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
            raise FeltwatchError(f"{path}: is damaged ({error})") from error
        inside = list(folder.iterdir())
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _check(archive: zipfile.ZipFile, path: Path, folder: Path) -> None:
    whole = 0
    seen: set[str] = set()
    for member in archive.infolist():
        name = member.filename
        try:
            checked_file(name.rstrip("/") if member.is_dir() else name)
        except FeltwatchError as error:
            raise FeltwatchError(f"{path}: {error}") from error
        if stat.S_ISLNK(member.external_attr >> 16):
            raise FeltwatchError(f"{path}: {name} is a link; archives with links are not taken")
        if member.flag_bits & 1:
            raise FeltwatchError(f"{path}: {name} is locked with a password; unlock it first")
        if member.file_size > MAX_RATIO * max(member.compress_size, 1024):
            raise FeltwatchError(
                f"{path}: {name} would grow {member.file_size // max(1, member.compress_size)} "
                f"times when unpacked; {MAX_RATIO} are allowed"
            )
        if not member.is_dir() and name in seen:
            raise FeltwatchError(f"{path}: {name} is in it twice")
        seen.add(name)
        whole += member.file_size
    free = shutil.disk_usage(folder).free
    if whole > min(MAX_BYTES, free):
        raise FeltwatchError(
            f"{path}: unpacked it takes {whole / 2**30:.1f} GiB, {free / 2**30:.1f} are free"
        )


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, folder: Path) -> None:
    target = folder / member.filename
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with archive.open(member) as source, target.open("xb") as file:
            shutil.copyfileobj(source, file)
    except (zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        raise FeltwatchError(f"{path}: {member.filename}: is damaged ({error})") from error
    except Exception as error:
        # zlib.error, lzma.LZMAError and their like have no base of their own.
        raise FeltwatchError(f"{path}: {member.filename}: is damaged ({error})") from error
