"""Files of an import: text in its encoding, names in any case, links that lead elsewhere."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from settlement.errors import FeltwatchError

MAX_YAML_BYTES = 16 * 2**20
_JUNK = {"__macosx", ".ds_store", "thumbs.db", "desktop.ini"}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLOCK = 1 << 16


def is_junk(name: str) -> bool:
    """Whether a path is one that macOS or Windows leaves beside the files of a person.

    >>> is_junk("__MACOSX/set/._a.jpg"), is_junk("set/.DS_Store"), is_junk("set/a.jpg")
    (True, True, False)
    """
    return any(part.lower() in _JUNK or part.startswith("._") for part in name.split("/"))


def files_with(folder: Path, *suffixes: str) -> list[Path]:
    """The files of one folder that end so, in any case, by name; none where it is no folder."""
    if not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.iterdir()
        if path.name.lower().endswith(suffixes) and not is_junk(path.name) and path.is_file()
    )


def walk(folder: Path, suffixes: Iterable[str]) -> Iterator[Path]:
    """All files below a folder that end so, in any case, in the order of their names."""
    endings = tuple(suffixes)
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_junk(name))
        for name in sorted(files):
            if name.lower().endswith(endings) and not name.startswith("."):
                yield Path(place) / name


@lru_cache(maxsize=64)
def _real(folder: Path) -> Path:
    return folder.resolve()


def check_inside(path: Path, folder: Path, place: str) -> Path:
    """`path` as it is; raises FeltwatchError where a link or `..` leads it out of `folder`."""
    if not path.resolve().is_relative_to(_real(folder)):
        raise FeltwatchError(
            f"{place}: {path.name} leads out of {folder}; copy the file it links to into the folder"
        )
    return path


def find_any_case(folder: Path, name: str) -> Path | None:
    """The file `name` below `folder`, else the one that differs in upper and lower case only.

    Raises FeltwatchError where several do.
    """
    path = folder / name
    if path.is_file():
        return path
    at = folder
    for part in Path(name).parts:
        if (at / part).exists():
            at = at / part
            continue
        if part in ("..", "."):
            return None
        try:
            alike = _listing(at, at.stat().st_mtime_ns).get(part.casefold(), ())
        except OSError:
            return None
        if len(alike) > 1:
            raise FeltwatchError(f"{at}: {part} could be {' or '.join(alike)}; rename one of them")
        if not alike:
            return None
        at = at / alike[0]
    return at if at.is_file() else None


def find_folder(folder: Path, *names: str) -> Path | None:
    """The first sub-folder of one of these names, in any case."""
    if not folder.is_dir():
        return None
    wanted = {name.casefold() for name in names}
    return next((p for p in sorted(folder.iterdir()) if p.name.casefold() in wanted
                 and p.is_dir()), None)  # fmt: skip


@lru_cache(maxsize=256)
def _listing(folder: Path, _changed_ns: int) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in sorted(os.listdir(folder)):  # noqa: PTH208
        found[name.casefold()] = (*found.get(name.casefold(), ()), name)
    return found


def read_text(path: Path) -> str:
    """A text file in UTF-8, or in UTF-16 with its mark; raises FeltwatchError for others."""
    data = path.read_bytes()
    encoding = _encoding(data[:4])
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise FeltwatchError(
            f"{path}: byte {error.start} is not {encoding.removesuffix('-sig').upper()}; "
            "save the file as UTF-8"
        ) from error


def _encoding(head: bytes) -> str:
    return next((name for mark, name in _BOMS if head.startswith(mark)), "utf-8")


class _AsUtf8:
    """A binary file of another encoding, read as UTF-8."""

    def __init__(self, file: BinaryIO, path: Path, encoding: str) -> None:
        self._file, self._path = file, path
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        while True:
            block = self._file.read(_BLOCK if size < 0 else max(size, 2))
            try:
                text = self._decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise FeltwatchError(f"{self._path}: is not UTF-16; save it as UTF-8") from error
            if text or not block:
                return text.encode("utf-8")


def as_utf8(file: BinaryIO, path: Path) -> Any:
    """An open file without its byte order mark, UTF-16 turned into UTF-8 as it is read."""
    encoding = _encoding(file.read(4))
    file.seek(len(codecs.BOM_UTF8) if encoding == "utf-8-sig" else 0)
    return _AsUtf8(file, path, encoding) if encoding == "utf-16" else file


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases, which can grow without limit, and without keys that come twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(
                None, None, "aliases (*name) are not read; write the value out", mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[Any] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} is there twice", key.start_mark
                )
            if isinstance(key.value, str):
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """A YAML file of plain values; raises FeltwatchError naming the line that is wrong."""
    if path.stat().st_size > MAX_YAML_BYTES:
        raise FeltwatchError(f"{path}: is larger than {MAX_YAML_BYTES >> 20} MiB")
    text = read_text(path)
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except RecursionError as error:
        raise FeltwatchError(f"{path}: is not YAML that can be read (nested too deep)") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        words = f"{place}{error.problem or error.context}"
        ours = isinstance(error, yaml.composer.ComposerError | yaml.constructor.ConstructorError)
        raise FeltwatchError(f"{path}: {words if ours else f'is not YAML ({words})'}") from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise FeltwatchError(f"{path}: is not YAML ({' '.join(str(error).split())})") from error
