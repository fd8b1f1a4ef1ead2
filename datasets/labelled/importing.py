"""Import labelled images into a dataset; an interrupted import continues where it stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from datasets.labelled import archive
from datasets.labelled.card_names import card_named
from datasets.labelled.checks.enclosure import NOTE, Encloses, detect_enclosure
from datasets.labelled.formats.base import (
    Bad,
    Entry,
    Format,
    FormatModule,
    Progress,
    Reader,
    WrongBoxes,
    checked_name,
    find_file_format,
    find_format,
    module_of,
    place_of,
)
from datasets.labelled.leftovers import remove_leftovers
from datasets.labelled.manifest import Dataset, NewPicture
from datasets.labelled.pictures import PictureFile, inspect, picture_size, put_file
from datasets.labelled.records import Box, Picture, checked_author
from datasets.labelled.relabel import LabelMap
from datasets.labelled.sidecar import Kept, Sidecar, open_sidecar, restored
from datasets.labelled.store import PICTURES
from datasets.labelled.video import video_reader
from settlement.errors import FeltwatchError

CHUNK = 50
"""Images of one step: an interruption loses no more than these, and they are imported again."""

WORKERS = 2
MOST_FILES = 200
"""Entries looked at before the first is written."""
EXAMPLES = 10
FAULTS = 1000
"""Faults that are listed one by one; all are counted."""
_DETAILS = ("source", "time_s", "deck", "camera", "shift", "deal", "split", "labelled_by")


@dataclass(frozen=True)
class ImportOptions:
    """How a folder is imported.

    `name` stands in `labelled_by` (`import:NAME`) and as the source; the default is the
    folder's name. `prefix` is a folder that the images are put in. `deck`, `camera`,
    `shift`, `deal` and `split` hold for all images without their own. `update`: images
    that are there already get the labels of this import. `strict`: the first wrong entry
    ends the import. `skip_boxes`: an image with wrong boxes comes in with its other boxes, where
    it is left out by default: it would show things without a label. `unlabelled`: images
    without any box are accepted. `labels` renames labels; `encloses` says what the boxes of
    cards enclose. `video` is the recording that tracks of CVAT belong to, of whose frames
    every `every`th is taken.
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
    strict: bool = False
    skip_boxes: bool = False
    unlabelled: bool = False
    labels: LabelMap = field(default_factory=LabelMap)
    encloses: Encloses | None = None
    video: Path | None = None
    every: int = 1


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
        for error in _faults(bad.error):
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


class NothingImported(FeltwatchError):  # noqa: N818
    """Every entry of a source is wrong; `faults` names what is wrong with each."""

    def __init__(self, message: str, faults: tuple[str, ...]) -> None:
        """An error of that `message`."""
        super().__init__(message)
        self.faults = faults


def _faults(error: FeltwatchError) -> tuple[FeltwatchError, ...]:
    """The faults that an error stands for."""
    return error.errors if isinstance(error, WrongBoxes) else (error,)


def _placed(error: FeltwatchError, place: str) -> FeltwatchError:
    """The same error with its place; those of boxes have their own."""
    return error if isinstance(error, WrongBoxes) else place_of(error, place)


def _listed_twice(entry: Entry, name: str) -> FeltwatchError:
    return FeltwatchError(f"{entry.place}: {name} is listed twice")


def _boxes(
    entry: Entry, size: tuple[int, int], options: ImportOptions
) -> tuple[tuple[Box, ...], tuple[FeltwatchError, ...]]:
    """The boxes of an entry, and why others are left out where the options allow that."""
    try:
        return entry.boxes(*size), ()
    except WrongBoxes as wrong:
        if not options.skip_boxes:
            raise
        return wrong.good, wrong.errors


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
    with _opened(source, scratch, options) as (format, reader, sidecar, module):
        look = _Look(source, _there(folder), sidecar, options)
        entries = look.over(reader.entries())
        with look.dataset or _dataset(folder) as dataset:
            encloses = _enclosure(dataset, sidecar, look, options)
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
    with _opened(source, None, options) as (format, reader, sidecar, _):
        look = _Look(source, _there(folder), sidecar, options)
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
                        raise _listed_twice(entry, name)
                    size = _size(entry)
                    read, wrong = _boxes(entry, size, options)
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
            encloses = _enclosure(look.dataset, sidecar, look, options)
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


def _size(entry: Entry) -> tuple[int, int]:
    if entry.width and entry.height:
        return entry.width, entry.height
    return (picture_size(entry.path) if entry.path else None) or (1, 1)


def _name(source: Path, options: ImportOptions) -> str:
    name = options.name or source.resolve().name.partition(".")[0] or source.resolve().name
    checked_author(f"import:{name}")
    return name


@contextmanager
def _opened(
    source: Path, scratch: Path | None, options: ImportOptions
) -> Iterator[tuple[Format, Reader, Sidecar, FormatModule]]:
    """The reader of a source, its sidecar and the module that its boxes compare with."""
    if not (source.is_dir() or source.is_file()):
        raise FeltwatchError(f"{source}: is not there; give a folder, an archive or a label file")
    alone = source.is_file() and not archive.is_archive(source)
    with ExitStack() as stack:
        if alone:
            format, folder = find_file_format(source, options.format)
            file = source
        else:
            folder = stack.enter_context(archive.opened(source, scratch))
            format, file = find_format(folder, options.format)
        if options.video is not None:
            reader: Reader = stack.enter_context(video_reader(folder, file, options, scratch))
        else:
            reader = module_of(format).read(folder, file, alone)
        sidecar = stack.enter_context(open_sidecar(folder))
        known = sidecar.format if sidecar.format in set(Format) else None
        yield format, reader, sidecar, module_of(Format(known) if known else format)


def _dataset(folder: Path) -> Dataset:
    # An empty dataset is false.
    there = _there(folder)
    return Dataset.create(folder, ()) if there is None else there


def _there(folder: Path) -> Dataset | None:
    return Dataset.open(folder) if Dataset.is_there(folder) else None


class _Look:
    """A look over the first entries before anything is written: is there something at all?"""

    def __init__(
        self, source: Path, dataset: Dataset | None, sidecar: Sidecar, options: ImportOptions
    ) -> None:
        """Of `source`, into `dataset` where there is one already."""
        self.dataset = dataset
        self._source, self._sidecar, self._options = source, sidecar, options
        self.boxes: list[tuple[Box, ...]] = []

    def find(self, entry: Entry) -> Picture | None:
        """The image of the dataset that an entry is of."""
        if self.dataset is None:
            return None
        return self.dataset.find(own_name(entry, self._sidecar.kept(entry.file), self._options))

    @property
    def has_cards(self) -> bool:
        """Whether a card is among the labels that were looked at."""
        return any(card_named(box.label) for own in self.boxes for box in own)

    def over(self, entries: Iterator[Entry | Bad]) -> Iterator[Entry | Bad]:
        """All entries again; raises FeltwatchError where no image or no box is among them."""
        seen: list[Entry | Bad] = []
        faults: list[str] = []
        missing: Entry | None = None
        pictures = labelled = False
        for entry in entries:
            seen.append(entry)
            if isinstance(entry, Bad):
                if self._options.strict:
                    raise entry.error
                faults.append(str(entry.error))
            else:
                found = entry.path is not None or self.find(entry) is not None
                pictures |= found
                missing = missing if found else missing or entry
                try:
                    boxes, wrong = _boxes(entry, _size(entry), self._options)
                    boxes = self._options.labels.boxes(boxes)
                except FeltwatchError as error:
                    if self._options.strict:
                        raise _placed(error, entry.place) from error
                    boxes, wrong = (), _faults(error)
                faults += map(str, wrong)
                labelled |= bool(boxes)
                self.boxes.append(boxes)
            if pictures and labelled and len(seen) >= MOST_FILES:
                break
        self._refuse(seen, pictures, labelled, faults, missing)
        return chain(seen, entries)

    def _refuse(
        self,
        seen: list[Entry | Bad],
        pictures: bool,
        labelled: bool,
        faults: list[str],
        missing: Entry | None,
    ) -> None:
        good = sum(1 for entry in seen if isinstance(entry, Entry))
        if (not good or not labelled) and faults:
            of = f"the first of {len(faults)} faults: " if len(faults) > 1 else ""
            raise NothingImported(
                f"{self._source}: nothing can be imported; {of}{faults[0]}", tuple(faults)
            )
        if not good:
            raise FeltwatchError(f"{self._source}: lists no images; nothing was imported")
        if not pictures:
            assert missing is not None
            raise FeltwatchError(
                f"{self._source}: none of its {good} images is there (first: {missing.file}); "
                "put them into the folder images beside the labels, or name the folder that "
                "holds both"
            )
        if not labelled and not self._options.unlabelled and not self._sidecar.is_there:
            raise FeltwatchError(
                f"{self._source}: its {good} images carry no boxes; import images without "
                "labels with --unlabelled"
            )


def _enclosure(
    dataset: Dataset | None, sidecar: Sidecar, look: _Look, options: ImportOptions
) -> Encloses | None:
    """What boxes of cards enclose: by option, by the sidecar, or as detected.

    Raises FeltwatchError where two kinds mix.
    """
    there = None if dataset is None else dataset.note(NOTE)
    seen = options.encloses or sidecar.notes.get(NOTE) or detect_enclosure(look.boxes)
    if there is not None and seen is not None and str(there) != str(seen):
        raise FeltwatchError(
            f"{dataset.folder if dataset else ''}: its boxes enclose {_WHAT[Encloses(there)]}, "
            f"those of the import {_WHAT[Encloses(seen)]}; import them into another dataset, or "
            f"say --boxes {there} where they do not"
        )
    encloses = seen or there
    return None if encloses is None else Encloses(encloses)


_WHAT = {Encloses.INDEX: "indices", Encloses.CARD: "whole cards"}


def own_name(entry: Entry, kept: Kept | None, options: ImportOptions) -> str:
    """The name that an entry has in the dataset."""
    file = str(kept.picture["file"]) if kept else entry.file
    return checked_name(f"{options.prefix}/{file}" if options.prefix else file, entry.place)


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
                            raise _listed_twice(entry, job.file)
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
                            self._skip(Bad(job.entry.place, _placed(error, job.entry.place)))
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
        read, wrong = _boxes(entry, (width, height), self.options)
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
            read, wrong = _boxes(job.entry, (present.width, present.height), self.options)
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
