"""Importing labelled pictures into a dataset: goes on where it was interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from datasets.labelled import archive
from datasets.labelled.formats.base import (
    Entry,
    Format,
    FormatModule,
    Progress,
    find_format,
    module_of,
    place_of,
    told_name,
)
from datasets.labelled.manifest import Dataset
from datasets.labelled.pictures import PictureFile, inspect, put_file
from datasets.labelled.records import Box, Picture, checked_author
from datasets.labelled.sidecar import Kept, Sidecar, open_sidecar, restored
from datasets.labelled.store import MANIFEST, PICTURES
from settlement.errors import FeltwatchError

CHUNK = 50
"""Pictures of one step: an interruption loses no more than these, and they come again."""

WORKERS = 2
EXAMPLES = 10
_DETAILS = ("source", "time_s", "deck", "camera", "shift", "deal", "split", "labelled_by")


@dataclass(frozen=True)
class ImportOptions:
    """How a folder is imported.

    `name` stands in `labelled_by` (`import:NAME`) and as the source, the folder's own name
    unless told. `prefix` is a folder that the pictures are put in. `deck`, `camera`,
    `shift`, `deal` and `split` hold for all pictures that tell none. `update`: pictures
    that are there already get the labels of this import.
    """

    format: Format | None = None
    name: str | None = None
    prefix: str | None = None
    deck: str | None = None
    camera: str | None = None
    shift: str | None = None
    deal: str | None = None
    split: str | None = None
    update: bool = False


@dataclass
class ImportSummary:
    """What an import did; `missing` and `broken` pictures were imported with their labels."""

    format: str
    added: int = 0
    present: int = 0
    updated: int = 0
    boxes: int = 0
    missing: int = 0
    broken: int = 0
    examples: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset import --json`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Job:
    """A picture to be read, and what is known of it already."""

    entry: Entry
    file: str
    kept: Kept | None
    present: Picture | None


def import_labels(
    source: Path,
    folder: Path,
    options: ImportOptions | None = None,
    progress: Progress = lambda _done, _total: None,
) -> ImportSummary:
    """Import a folder or .zip of labels and pictures into the dataset of `folder`.

    The dataset is made when there is none. Pictures that are there already are left alone
    (but see `ImportOptions.update`), so an import that was interrupted is simply run again.
    Raises FeltwatchError naming the file and line of a wrong label; what came before it
    stays imported.
    """
    options = options or ImportOptions()
    if not (source.is_dir() or source.is_file()):
        raise FeltwatchError(f"{source}: is not there; give a folder or a .zip")
    scratch = folder if folder.is_dir() else None
    labels_file = source if source.is_file() and source.suffix in (".xml", ".json") else None
    with (
        archive.opened(source.parent if labels_file else source, scratch) as unpacked,
        open_sidecar(unpacked) as sidecar,
    ):
        format, file = find_format(unpacked, options.format)
        module = module_of(format)
        reader = module.read(unpacked, labels_file or file)
        name = options.name or source.resolve().stem
        checked_author(f"import:{name}")
        with _dataset(folder) as dataset:
            dataset.add_labels(sidecar.labels)
            dataset.add_labels(reader.labels)
            notes = sidecar.notes if sidecar.is_there else reader.notes
            for key, value in notes.items():
                if dataset.note(key) is None:
                    dataset.set_note(key, value)
            work = _Import(dataset, module, sidecar, options, name, ImportSummary(format))
            work.run(reader.entries(), reader.count, progress)
    return work.summary


def _dataset(folder: Path) -> Dataset:
    return Dataset.open(folder) if (folder / MANIFEST).is_file() else Dataset.create(folder, ())


@dataclass
class _Import:
    dataset: Dataset
    module: FormatModule
    sidecar: Sidecar
    options: ImportOptions
    name: str
    summary: ImportSummary

    def run(self, entries: Iterator[Entry], total: int | None, progress: Progress) -> None:
        done = 0
        with ThreadPoolExecutor(WORKERS) as pool:
            while chunk := list(islice(entries, CHUNK)):
                jobs = [self._job(entry) for entry in chunk]
                found = list(pool.map(self._read, jobs))
                with self.dataset.batch():
                    for job, one in zip(jobs, found, strict=True):
                        try:
                            self._take(job, one)
                        except FeltwatchError as error:
                            raise place_of(error, job.entry.place) from error
                done += len(chunk)
                progress(done, total)

    def _job(self, entry: Entry) -> _Job:
        kept = self.sidecar.kept(entry.file)
        file = str(kept.picture["file"]) if kept else entry.file
        if self.options.prefix:
            file = f"{self.options.prefix}/{file}"
        told_name(file, entry.place)
        return _Job(entry, file, kept, self.dataset.find(file))

    def _read(self, job: _Job) -> PictureFile | None:
        """Read the picture and put it in place, where that is still to be done."""
        path = job.entry.path
        if path is None or (job.present is not None and job.present.sha256):
            return None
        try:
            data = path.read_bytes()
        except OSError as error:
            raise FeltwatchError(f"{path}: cannot be read ({error.strerror})") from error
        found = inspect(data)
        put_file(data, self.dataset.folder / PICTURES / job.file)
        return found

    def _take(self, job: _Job, found: PictureFile | None) -> None:
        if job.present is not None:
            self._again(job, job.present, found)
            return
        entry = job.entry
        if self.dataset.find(job.file) is not None:
            raise FeltwatchError(f"{job.file} is listed twice")
        if found is None:
            self._tell(entry, "missing")
        elif found.is_broken:
            self._tell(entry, "broken")
        # Boxes in px hold for the size their file tells; where nobody knows it, 1 x 1.
        width = entry.width or (found.width if found else 0) or 1
        height = entry.height or (found.height if found else 0) or 1
        boxes, values = self._values(job, entry.boxes(width, height))
        self.dataset.add_picture(
            job.file,
            width,
            height,
            sha256=found.sha256 if found else "",
            phash=found.phash if found else None,
            thumb=found.thumb if found else None,
            boxes=boxes,
            **values,
        )
        self.summary.added += 1
        self.summary.boxes += len(boxes)

    def _values(self, job: _Job, read: tuple[Box, ...]) -> tuple[tuple[Box, ...], dict[str, Any]]:
        """The boxes and details of a new picture, with what the sidecar kept of them."""
        told = {name: getattr(self.options, name, None) for name in _DETAILS}
        told |= {"source": self.name} | job.entry.details
        author = f"import:{self.name}"
        values: dict[str, Any] = {n: told.get(n) for n in _DETAILS}
        values["labelled_by"] = told.get("labelled_by") or author
        values["attributes"] = job.entry.attributes
        if job.kept is None:
            return read, values
        boxes, unchanged = restored(read, job.kept.boxes, self.module)
        kept = job.kept.picture
        values = {n: kept.get(n) for n in _DETAILS}
        values["attributes"] = tuple((kept.get("attributes") or {}).items())
        if unchanged:
            values |= {n: kept.get(n) for n in ("confirmed_by", "confirmed_at")}
        else:
            values["labelled_by"] = author
        return boxes, values

    def _again(self, job: _Job, present: Picture, found: PictureFile | None) -> None:
        """A picture that is there already."""
        author = f"import:{self.name}"
        if found is not None:
            self.dataset.set_file(present.id, by=author, found=found)
        elif job.entry.path is not None:
            there = self.dataset.path(present)
            if there.is_file() and there.stat().st_size != job.entry.path.stat().st_size:
                raise FeltwatchError(
                    f"another picture {job.file} is in the dataset already; give --prefix NAME"
                )
        if self.options.update:
            read = job.entry.boxes(present.width, present.height)
            boxes, unchanged = restored(read, self.dataset.boxes(present.id), self.module)
            if not unchanged:
                self.dataset.set_boxes(present.id, boxes, by=author, revision=present.revision)
                self.summary.updated += 1
                return
        self.summary.present += 1

    def _tell(self, entry: Entry, what: str) -> None:
        setattr(self.summary, what, getattr(self.summary, what) + 1)
        if len(self.summary.examples) < EXAMPLES:
            self.summary.examples.append(f"{what}: {entry.file}")
