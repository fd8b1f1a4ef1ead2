"""What is imported: the options, a source with its labels, and a first look over its entries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from datasets.labelled import archive
from datasets.labelled.card_names import card_named
from datasets.labelled.checks.enclosure import NOTE, Encloses, detect_enclosure
from datasets.labelled.formats.base import (
    Bad,
    Entry,
    Format,
    FormatModule,
    Reader,
    WrongBoxes,
    checked_name,
    find_file_format,
    find_format,
    module_of,
    place_of,
)
from datasets.labelled.manifest import Dataset
from datasets.labelled.pictures import picture_size
from datasets.labelled.records import Box, Picture
from datasets.labelled.relabel import LabelMap
from datasets.labelled.sidecar import Kept, Sidecar, open_sidecar
from datasets.labelled.video import video_reader
from settlement.errors import FeltwatchError

MOST_FILES = 200
"""Entries looked at before the first is written."""


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


class NothingImported(FeltwatchError):  # noqa: N818
    """Every entry of a source is wrong; `faults` names what is wrong with each."""

    def __init__(self, message: str, faults: tuple[str, ...]) -> None:
        """An error of that `message`."""
        super().__init__(message)
        self.faults = faults


def faults_of(error: FeltwatchError) -> tuple[FeltwatchError, ...]:
    """The faults that an error stands for."""
    return error.errors if isinstance(error, WrongBoxes) else (error,)


def placed(error: FeltwatchError, place: str) -> FeltwatchError:
    """The same error with its place; those of boxes have their own."""
    return error if isinstance(error, WrongBoxes) else place_of(error, place)


def listed_twice(entry: Entry, name: str) -> FeltwatchError:
    """An entry whose image another one names too."""
    return FeltwatchError(f"{entry.place}: {name} is listed twice")


def entry_boxes(
    entry: Entry, size: tuple[int, int], options: ImportOptions
) -> tuple[tuple[Box, ...], tuple[FeltwatchError, ...]]:
    """The boxes of an entry, and why others are left out where the options allow that."""
    try:
        return entry.boxes(*size), ()
    except WrongBoxes as wrong:
        if not options.skip_boxes:
            raise
        return wrong.good, wrong.errors


def entry_size(entry: Entry) -> tuple[int, int]:
    """The size that an entry states, or that of its image; 1 x 1 where neither is known."""
    if entry.width and entry.height:
        return entry.width, entry.height
    return (picture_size(entry.path) if entry.path else None) or (1, 1)


@contextmanager
def opened_source(
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


class Look:
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
                    boxes, wrong = entry_boxes(entry, entry_size(entry), self._options)
                    boxes = self._options.labels.boxes(boxes)
                except FeltwatchError as error:
                    if self._options.strict:
                        raise placed(error, entry.place) from error
                    boxes, wrong = (), faults_of(error)
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


def enclosure_of(
    dataset: Dataset | None, sidecar: Sidecar, look: Look, options: ImportOptions
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
