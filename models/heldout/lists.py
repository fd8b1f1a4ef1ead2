"""Held-out sets: images that no network is trained on, listed with their hashes.

A list in `models/heldout/NAME.json` names every image of a set, of rendered views with deck,
camera and shift, or of photographs. The images themselves lie elsewhere. `check_folder`
checks whether a folder holds them unchanged, `refuse_held_out` keeps them out of training.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from models.data.provenance import read_object
from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.input_file import file_fault, reading

LISTS = Path(__file__).parent
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp"})
Sha256 = Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the file.")


class HeldFile(Form):
    """One file of a set."""

    file: str = Field(min_length=1, description="Path in the set's folder, parted by '/'.")
    sha256: str = Sha256
    bytes: int = Field(ge=0)


class HeldPicture(HeldFile):
    """One image; what it shows is reported where it is known."""

    shift: str | None = Field(None, description="Recording it was cut from.")
    deck: str | None = Field(None, description="Name of the deck's design or folder.")
    camera: str | None = Field(None, description="Camera, or the seed that drew it.")


class HeldSet(Form):
    """A list of what is held out."""

    name: str = Field(pattern="^[a-z0-9-]+$")
    purpose: str = Field(min_length=1, description="What the set is to show.")
    kind: Literal["views", "photographs"]
    made: tuple[str, ...] = Field((), description="Commands that made the set, or chose it.")
    look: str | None = Field(None, description="Version of the look of what was rendered.")
    versions: Mapping[str, str] = Field(
        default_factory=dict, description="Libraries it was made with: others round otherwise."
    )
    pictures: tuple[HeldPicture, ...] = Field(min_length=1)
    crops: tuple[HeldFile, ...] = Field((), description="Files of index crops of the images.")


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """What of a held-out set a folder holds: counts, and the files that differ or lack."""

    name: str
    folder: Path
    right: int
    changed: tuple[str, ...] = field(default=())
    missing: tuple[str, ...] = field(default=())

    @property
    def whole(self) -> bool:
        """Whether everything is there and unchanged."""
        return not self.changed and not self.missing

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "set": self.name, "folder": str(self.folder), "right": self.right,
            "changed": list(self.changed), "missing": list(self.missing),
        }  # fmt: skip


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in hex; raises FeltwatchError."""
    with reading(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_list(path: Path) -> HeldSet:
    """One list; raises FeltwatchError naming the file and the key."""
    try:
        return HeldSet.model_validate(read_object(path))
    except ValidationError as error:
        raise file_fault(path, error) from error


@lru_cache(maxsize=4)
def held_sets(folder: Path = LISTS) -> tuple[HeldSet, ...]:
    """All lists of a folder, those of the project by default, by name."""
    return tuple(read_list(path) for path in sorted(folder.glob("*.json")))


def note_set(
    folder: Path,
    files: Iterable[HeldPicture],
    out: Path,
    *,
    name: str,
    purpose: str,
    kind: Literal["views", "photographs"],
    made: Sequence[str] = (),
    look: str | None = None,
    versions: Mapping[str, str] | None = None,
) -> HeldSet:
    """Write the list of a set into `out`/NAME.json; crops of the folder's crops/val go in too.

    Raises FeltwatchError where there is a list of that name already: a set stays as it is.
    """
    path = out / f"{name}.json"
    if path.exists():
        raise FeltwatchError(f"{path}: is there already; a held-out set does not change")
    crops = sorted((folder / "crops" / "val").glob("*.npy")) if kind == "views" else []
    try:
        held = HeldSet(
            name=name, purpose=purpose, kind=kind, made=tuple(made), look=look,
            versions=versions or {}, pictures=tuple(files),
            crops=tuple(_held_file(folder, crop) for crop in crops),
        )  # fmt: skip
    except ValidationError as error:
        raise file_fault(name, error) from error
    form = held.model_dump(mode="json", exclude_none=True)
    # One line an image, so that a difference can be read.
    lists = {key: form.pop(key) for key in ("pictures", "crops")}
    head = json.dumps(form, indent=1)[:-2]
    parts = [
        f' "{key}": [\n' + ",\n".join(f"  {json.dumps(one)}" for one in ones) + "\n ]"
        for key, ones in lists.items() if ones
    ]  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    path.write_text(head + ",\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    return held


def view_pictures(folder: Path) -> list[HeldPicture]:
    """The images of a folder of views with `meta.jsonl` (`datasets.training.shift_views`), by
    name.

    Raises FeltwatchError for one that meta.jsonl does not list, or the other way round.
    """
    listed = {}
    try:
        for line in (folder / "meta.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            listed[one["image"]] = one
    except (OSError, ValueError, KeyError) as error:
        raise FeltwatchError(
            f"{folder / 'meta.jsonl'}: cannot be read; 'feltwatch dataset views' writes it"
        ) from error
    files = {path.name: path for path in _pictures(folder / "images" / "val")}
    if files.keys() != listed.keys():
        odd = sorted(files.keys() ^ listed.keys())
        raise FeltwatchError(f"{folder}: images and meta.jsonl do not agree on {odd[0]}")
    return [
        HeldPicture(
            **_held_file(folder, files[name]).model_dump(), shift=listed[name]["shift"],
            deck=listed[name]["deck"], camera=str(listed[name]["camera_seed"]),
        )
        for name in sorted(files)
    ]  # fmt: skip


def photo_pictures(folder: Path, names: Iterable[str]) -> list[HeldPicture]:
    """Photographs of a folder by their names in it, such as images/a.jpg."""
    return [HeldPicture(**_held_file(folder, folder / name).model_dump()) for name in sorted(names)]


def _held_file(folder: Path, path: Path) -> HeldFile:
    sha256 = file_sha256(path)
    return HeldFile(
        file=path.relative_to(folder).as_posix(), sha256=sha256, bytes=path.stat().st_size
    )


def check_folder(folder: Path, held: HeldSet) -> FolderCheck:
    """Whether a folder holds a set unchanged; every file is read."""
    changed, missing, right = [], [], 0
    for one in (*held.pictures, *held.crops):
        path = folder / one.file
        if not path.is_file():
            missing.append(one.file)
        elif path.stat().st_size != one.bytes or file_sha256(path) != one.sha256:
            changed.append(one.file)
        else:
            right += 1
    return FolderCheck(held.name, folder, right, tuple(changed), tuple(missing))


def sets_of(folder: Path, sets: Sequence[HeldSet]) -> list[HeldSet]:
    """The sets of which a folder holds an image of the same name at the same place."""
    return [s for s in sets if any((folder / one.file).is_file() for one in s.pictures)]


def refuse_held_out(folders: Iterable[Path], sets: Sequence[HeldSet] | None = None) -> None:
    """Raise FeltwatchError when a folder that is to be trained on holds what is held out.

    Images and files of crops are recognised by their hash, at any place below the folder;
    photographs also by a name that the harvest gives them (FOLDER-NAME), for one that was
    saved again has another hash. The folder's val parts count too: weights are chosen by them.
    """
    known = held_sets() if sets is None else sets
    sizes: dict[int, dict[str, str]] = {}
    names: dict[str, str] = {}
    for held in known:
        for one in (*held.pictures, *held.crops):
            sizes.setdefault(one.bytes, {})[one.sha256] = held.name
            if held.kind == "photographs":
                names[Path(one.file).stem] = held.name
    for folder in folders:
        for path in _files(folder):
            # Only a file as long as a held-out one can be it: few have to be read.
            own = sizes.get(path.stat().st_size)
            name = own.get(file_sha256(path)) if own else None
            if name is None and path.suffix.lower() in SUFFIXES:
                name = _by_name(path.stem, names)
            if name is not None:
                raise FeltwatchError(
                    f"{path}: is held out (set {name!r}) and must not be trained on; take it out "
                    f"of {folder}, or check with it: feltwatch model val --data {folder}"
                )


def _by_name(stem: str, names: Mapping[str, str]) -> str | None:
    """The set of a photograph of that name, by itself or behind what a harvest puts before it."""
    tail = stem
    while tail not in names:
        _, dash, tail = tail.partition("-")
        if not dash:
            return None
    return names[tail]


def _files(folder: Path) -> Iterator[Path]:
    """Images and files of crops below a folder."""
    for path in sorted(folder.rglob("*")):
        suffix = path.suffix.lower()
        if (suffix in SUFFIXES or suffix == ".npy") and path.is_file():
            yield path


def _pictures(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.suffix.lower() in SUFFIXES)
