"""Import labelled images into a dataset; an interrupted import continues where it stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from datasets.labelled.checks.enclosure import NOTE
from datasets.labelled.formats.base import Bad, Entry, FormatModule, Progress
from datasets.labelled.import_source import (
    ImportOptions,
    Look,
    NothingImported,
    enclosure_of,
    entry_boxes,
    entry_size,
    faults_of,
    listed_twice,
    opened_source,
    own_name,
    placed,
)
from datasets.labelled.leftovers import remove_leftovers
from datasets.labelled.manifest import Dataset, NewPicture
from datasets.labelled.pictures import PictureFile, inspect, put_file
from datasets.labelled.records import Box, Picture, checked_author
from datasets.labelled.sidecar import Kept, Sidecar, restored
from datasets.labelled.store import PICTURES
from settlement.errors import FeltwatchError

CHUNK = 50
"""Images of one step: an interruption loses no more than these, and they are imported again."""

WORKERS = 2
EXAMPLES = 10
FAULTS = 1000
"""Faults that are listed one by one; all are counted."""
_DETAILS = ("source", "time_s", "deck", "camera", "shift", "deal", "split", "labelled_by")


@dataclass
class ImportSummary:
    """What an import did, or with `dry_run` would do.

    `missing` and `broken` images were imported with their labels; `skipped` entries were
    not, `skipped_examples` names their faults, `faults` in number. `wrong_boxes` were left out
    of images that were imported (`ImportOptions.skip_boxes`), `wrong_box_examples` names them;
    FAULTS of each are named. `encloses`: what boxes of cards enclose, None where it
    could not be seen. `has_cards`: cards are among the labels.
    `unused`: names to be mapped that no label had.
    """

    format: str
    added: int = 0
    present: int = 0
    updated: int = 0
    boxes: int = 0
    missing: int = 0
    broken: int = 0
    skipped: int = 0
    faults: int = 0
    wrong_boxes: int = 0
    encloses: str | None = None
    has_cards: bool = False
    dry_run: bool = False
    labels: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)
    skipped_examples: list[str] = field(default_factory=list)
    wrong_box_examples: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    def skip(self, bad: Bad) -> None:
        """Count an entry that was left out."""
        self.skipped += 1
        for error in faults_of(bad.error):
            self.faults += 1
            if len(self.skipped_examples) < FAULTS:
                self.skipped_examples.append(str(error))

    def leave_out(self, errors: tuple[FeltwatchError, ...]) -> None:
        """Count boxes that were left out of an image."""
        self.wrong_boxes += len(errors)
        left = FAULTS - len(self.wrong_box_examples)
        self.wrong_box_examples += [str(error) for error in errors[:left]]

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset import --json`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Job:
    """An image to be read, and what is known of it already."""

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
    """Import a folder, archive or label file with its images into the dataset of `folder`.

    The dataset is made when there is none. Images that are there already are left alone
    (but see `ImportOptions.update`), so an import that was interrupted is simply run again.
    Wrong entries are left out and counted, unless `strict`. Raises FeltwatchError where
    nothing is to be imported, or reading cannot go on; what came before stays imported.
    """
    options = options or ImportOptions()
    scratch = folder if folder.is_dir() else None
    remove_leftovers(folder, folder / PICTURES)
    with opened_source(source, scratch, options) as (format, reader, sidecar, module):
        look = Look(source, _there(folder), sidecar, options)
        entries = look.over(reader.entries())
        with look.dataset or _dataset(folder) as dataset:
            encloses = enclosure_of(dataset, sidecar, look, options)
            dataset.add_labels(options.labels.labels(sidecar.labels))
            dataset.add_labels(options.labels.labels(reader.labels))
            notes = sidecar.notes if sidecar.is_there else reader.notes
            for key, value in notes.items():
                if dataset.note(key) is None:
                    note = options.labels.categories(value) if key == "coco" else value
                    dataset.set_note(key, note)
            if encloses is not None:
                dataset.set_note(NOTE, str(encloses))
            name = _name(source, options)
            summary = ImportSummary(
                format, encloses=encloses and str(encloses), has_cards=look.has_cards
            )
            work = _Import(dataset, module, sidecar, options, name, summary)
            work.run(entries, reader.count, progress)
    summary.unused = options.labels.unused
    if summary.skipped and not (summary.added or summary.present or summary.updated):
        raise NothingImported(
            f"{source}: nothing was imported, all {summary.skipped} entries were left out; "
            f"{summary.skipped_examples[0]}",
            tuple(summary.skipped_examples),
        )
    return summary


def preview_labels(
    source: Path, folder: Path, options: ImportOptions | None = None
) -> ImportSummary:
    """What `import_labels` would do; nothing is written. Raises FeltwatchError as it does."""
    options = options or ImportOptions()
    with opened_source(source, None, options) as (format, reader, sidecar, _):
        look = Look(source, _there(folder), sidecar, options)
        counts: Counter[str] = Counter()
        names: set[str] = set()
        summary = ImportSummary(format, dry_run=True)
        try:
            for entry in look.over(reader.entries()):
                if isinstance(entry, Bad):
                    summary.skip(entry)
                    continue
                try:
                    name = own_name(entry, sidecar.kept(entry.file), options)
                    there = look.dataset.find(name) if look.dataset is not None else None
                    if name in names:
                        raise listed_twice(entry, name)
                    size = entry_size(entry)
                    read, wrong = entry_boxes(entry, size, options)
                    boxes = options.labels.boxes(read)
                except FeltwatchError as error:
                    summary.skip(Bad(entry.place, error))
                    continue
                names.add(name)
                if there is None or options.update:
                    summary.leave_out(wrong)
                summary.present += there is not None
                summary.added += there is None
                if there is None and entry.path is None:
                    summary.missing += 1
                    if len(summary.examples) < EXAMPLES:
                        summary.examples.append(f"missing: {entry.file}")
                if there is None:
                    counts.update(box.label for box in boxes)
            encloses = enclosure_of(look.dataset, sidecar, look, options)
        finally:
            if look.dataset is not None:
                look.dataset.close()
    if options.strict and summary.skipped:
        raise FeltwatchError(summary.skipped_examples[0])
    summary.boxes, summary.labels = sum(counts.values()), dict(sorted(counts.items()))
    summary.encloses = encloses and str(encloses)
    summary.has_cards = look.has_cards
    summary.unused = options.labels.unused
    return summary


def _name(source: Path, options: ImportOptions) -> str:
    name = options.name or source.resolve().name.partition(".")[0] or source.resolve().name
    checked_author(f"import:{name}")
    return name


def _dataset(folder: Path) -> Dataset:
    # An empty dataset is false.
    there = _there(folder)
    return Dataset.create(folder, ()) if there is None else there


def _there(folder: Path) -> Dataset | None:
    return Dataset.open(folder) if Dataset.is_there(folder) else None


@dataclass
class _Import:
    dataset: Dataset
    module: FormatModule
    sidecar: Sidecar
    options: ImportOptions
    name: str
    summary: ImportSummary

    def run(self, entries: Iterator[Entry | Bad], total: int | None, progress: Progress) -> None:
        done = 0
        before = self.dataset.last_picture()
        listed = bytearray(before + 1)  # by number, of the images that were there before
        with ThreadPoolExecutor(WORKERS) as pool:
            while chunk := list(islice(entries, CHUNK)):
                jobs: list[_Job] = []
                names: set[str] = set()
                for entry in chunk:
                    try:
                        if isinstance(entry, Bad):
                            raise entry.error
                        job = self._job(entry)
                        id = job.present.id if job.present is not None else 0
                        if id > before or listed[id] or job.file in names:
                            raise listed_twice(entry, job.file)
                        names.add(job.file)
                        listed[id] = id > 0
                        jobs.append(job)
                    except FeltwatchError as error:
                        self._skip(Bad(entry.place, error))
                found = list(pool.map(self._read, jobs))
                with self.dataset.batch():
                    for job, one in zip(jobs, found, strict=True):
                        try:
                            if isinstance(one, FeltwatchError):
                                raise one
                            self._take(job, one)
                        except FeltwatchError as error:
                            self._remove_orphan(job, one)
                            self._skip(Bad(job.entry.place, placed(error, job.entry.place)))
                done += len(chunk)
                progress(done, total and max(done, total))

    def _skip(self, bad: Bad) -> None:
        if self.options.strict:
            raise bad.error
        self.summary.skip(bad)

    def _remove_orphan(self, job: _Job, found: PictureFile | FeltwatchError | None) -> None:
        """Remove the file of an image that was left out after it was put in place."""
        if isinstance(found, PictureFile) and self.dataset.find(job.file) is None:
            (self.dataset.folder / PICTURES / job.file).unlink(missing_ok=True)

    def _job(self, entry: Entry) -> _Job:
        kept = self.sidecar.kept(entry.file)
        file = own_name(entry, kept, self.options)
        return _Job(entry, file, kept, self.dataset.find(file))

    def _read(self, job: _Job) -> PictureFile | FeltwatchError | None:
        """Read the image and put it in place, where that is still to be done."""
        path = job.entry.path
        if path is None or (job.present is not None and job.present.sha256):
            return None
        try:
            data = path.read_bytes()
        except OSError as error:
            return FeltwatchError(f"{path}: cannot be read ({error.strerror})")
        found = inspect(data)
        put_file(data, self.dataset.folder / PICTURES / job.file)
        return found

    def _take(self, job: _Job, found: PictureFile | None) -> None:
        if job.present is not None:
            self._again(job, job.present, found)
            return
        entry = job.entry
        if found is None:
            self._tell(entry, "missing")
        elif found.is_broken:
            self._tell(entry, "broken")
        # Boxes in px refer to the size that their file states; 1 x 1 where it is unknown.
        width = entry.width or (found.width if found else 0) or 1
        height = entry.height or (found.height if found else 0) or 1
        read, wrong = entry_boxes(entry, (width, height), self.options)
        boxes, values = self._values(job, read)
        boxes = self.options.labels.boxes(boxes)
        new = NewPicture(job.file, width, height, **values)
        if found is not None:
            new = replace(new, sha256=found.sha256, phash=found.phash)
        self.dataset.add_picture(new, boxes, found.thumb if found else None)
        self.summary.added += 1
        self.summary.boxes += len(boxes)
        self.summary.leave_out(wrong)

    def _values(self, job: _Job, read: tuple[Box, ...]) -> tuple[tuple[Box, ...], dict[str, Any]]:
        """The boxes and details of a new image, with what the sidecar kept of them."""
        details = {name: getattr(self.options, name, None) for name in _DETAILS}
        details |= {"source": self.name} | job.entry.details
        author = f"import:{self.name}"
        values: dict[str, Any] = {n: details.get(n) for n in _DETAILS}
        values["labelled_by"] = details.get("labelled_by") or author
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
        """An image that is there already."""
        author = f"import:{self.name}"
        if found is not None:
            self.dataset.set_file(present.id, by=author, found=found)
        elif job.entry.path is not None:
            there = self.dataset.path(present)
            if there.is_file() and there.stat().st_size != job.entry.path.stat().st_size:
                raise FeltwatchError(
                    f"another image {job.file} is in the dataset already; give --prefix NAME"
                )
        if self.options.update:
            read, wrong = entry_boxes(job.entry, (present.width, present.height), self.options)
            self.summary.leave_out(wrong)
            read = self.options.labels.boxes(read)
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
