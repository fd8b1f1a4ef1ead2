"""Archives of labelled images: unpacked into a folder of their own once all is in order."""

from __future__ import annotations

import lzma
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from datasets.labelled.leftovers import UNPACKED, held
from datasets.labelled.records import checked_file
from datasets.labelled.source_files import is_junk
from settlement.errors import FeltwatchError

MAX_RATIO = 200
"""Most that a member may grow when unpacked; images hardly do, label text does by tens."""

MAX_BYTES = 200 * 2**30
MAX_MEMBERS = 5_000_000
_DAMAGE = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError,
    NotImplementedError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Member:
    """One file or folder of an archive; `packed` its bytes in it, None where nobody knows."""

    name: str
    is_folder: bool
    size: int
    packed: int | None
    fault: str | None
    own: zipfile.ZipInfo | tarfile.TarInfo


def is_archive(path: Path) -> bool:
    """Whether a file is a .zip or a tar, packed or not."""
    return path.is_file() and (zipfile.is_zipfile(path) or _is_tar(path))


def _is_tar(path: Path) -> bool:
    names = (".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz")
    try:
        return path.name.lower().endswith(names) and tarfile.is_tarfile(path)
    except _DAMAGE:
        return False


@contextmanager
def opened(path: Path, scratch: Path | None = None) -> Iterator[Path]:
    """The folder itself, or the one an archive was unpacked into for the while, below `scratch`.

    Where the archive holds nothing but one folder, that one. Files that macOS and Windows
    leave behind are left out. Raises FeltwatchError naming the member for names that lead
    elsewhere, links, damaged members and such as would fill the disk.
    """
    if path.is_dir():
        yield path
        return
    if not path.is_file():
        raise FeltwatchError(f"{path}: is not there; give a folder, a .zip or a .tar")
    if not is_archive(path):
        raise FeltwatchError(f"{path}: is neither a folder nor an archive that can be read")
    if scratch is not None:
        scratch.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=scratch, prefix=UNPACKED) as temporary,
        held(Path(temporary)),
    ):
        folder = Path(temporary)
        try:
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as packed:
                    _unpack_all(path, folder, packed, [_of_zip(m) for m in packed.infolist()])
            else:
                with tarfile.open(path) as tar:
                    _unpack_all(path, folder, tar, [_of_tar(m) for m in _members(tar, path)])
        except _DAMAGE as error:
            raise FeltwatchError(f"{path}: is damaged ({error})") from error
        inside = list(folder.iterdir())
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _members(tar: tarfile.TarFile, path: Path) -> Iterator[tarfile.TarInfo]:
    # Listing unpacks the stream, so its length is bound before the disk is.
    most = MAX_RATIO * max(path.stat().st_size, 1 << 20)
    for number, member in enumerate(tar):
        if number > MAX_MEMBERS or tar.offset > most:
            raise FeltwatchError(f"{path}: would grow more than {MAX_RATIO} times when unpacked")
        yield member


def _of_zip(member: zipfile.ZipInfo) -> _Member:
    fault = None
    if stat.S_ISLNK(member.external_attr >> 16):
        fault = "is a link; archives with links are not taken"
    elif member.flag_bits & 1:
        fault = "is locked with a password; unlock it first"
    return _Member(
        member.filename, member.is_dir(), member.file_size, member.compress_size, fault, member
    )


def _of_tar(member: tarfile.TarInfo) -> _Member:
    fault = None
    if member.issym() or member.islnk():
        fault = "is a link; archives with links are not taken"
    elif not (member.isfile() or member.isdir()):
        fault = "is neither a file nor a folder"
    name = member.name.removeprefix("./")
    return _Member(name, member.isdir(), member.size, None, fault, member)


def _unpack_all(
    path: Path, folder: Path, packed: zipfile.ZipFile | tarfile.TarFile, members: list[_Member]
) -> None:
    kept = [m for m in members if not is_junk(m.name) and m.name not in ("", ".")]
    whole = 0
    seen: set[str] = set()
    for member in kept:
        _check(path, member)
        if not member.is_folder and member.name in seen:
            raise FeltwatchError(f"{path}: {member.name} is in it twice")
        seen.add(member.name)
        whole += member.size
    free = shutil.disk_usage(folder).free
    if whole > min(MAX_BYTES, free):
        raise FeltwatchError(
            f"{path}: unpacked it takes {whole / 2**30:.1f} GiB, {free / 2**30:.1f} are free"
        )
    for member in kept:
        target = folder / member.name
        if member.is_folder:
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with _stream(packed, member) as source, target.open("xb") as file:
                shutil.copyfileobj(source, file)
        except Exception as error:
            # Libraries of compression have no error in common.
            raise FeltwatchError(f"{path}: {member.name}: is damaged ({error})") from error


def _check(path: Path, member: _Member) -> None:
    name = member.name
    try:
        checked_file(name.rstrip("/") if member.is_folder else name)
    except FeltwatchError as error:
        raise FeltwatchError(f"{path}: {error}") from error
    if member.fault:
        raise FeltwatchError(f"{path}: {name} {member.fault}")
    if member.packed is not None and member.size > MAX_RATIO * max(member.packed, 1024):
        raise FeltwatchError(
            f"{path}: {name} would grow {member.size // max(1, member.packed)} "
            f"times when unpacked; {MAX_RATIO} are allowed"
        )


def _stream(packed: zipfile.ZipFile | tarfile.TarFile, member: _Member) -> IO[bytes]:
    if isinstance(packed, zipfile.ZipFile):
        assert isinstance(member.own, zipfile.ZipInfo)
        return packed.open(member.own)
    assert isinstance(member.own, tarfile.TarInfo)
    file = packed.extractfile(member.own)
    assert file is not None
    return file
