"""Exporting a dataset: goes on where it was interrupted, never over something else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from datasets.labelled.formats import yolo
from datasets.labelled.formats.base import WRITABLE, Format, Progress, module_of
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Picture
from datasets.labelled.sidecar import write_sidecar
from settlement.errors import FeltwatchError

MARK = "feltwatch-export.json"
_NAMES = {
    Format.YOLO: yolo.export_name,
    Format.YOLO_OBB: yolo.export_name,
    Format.YOLO_SEG: yolo.export_name,
    Format.VOC: Dataset.export_name,
}
"""How formats name images that do not take their names as they are."""


@dataclass(frozen=True)
class ExportSummary:
    """What an export wrote."""

    format: str
    out: str
    pictures: int
    missing: int

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset export --json`."""
        return asdict(self)


def export_labels(
    dataset: Dataset,
    out: Path,
    format: Format,
    progress: Progress = lambda _done, _total: None,
) -> ExportSummary:
    """Write the dataset to `out` in a format, with a sidecar so that all of it comes back.

    What does not go along is the history of changes. An export that was interrupted is
    run again; raises FeltwatchError when `out` holds something else, a finished export, or
    an unfinished one of a dataset that was changed since.
    """
    if format not in WRITABLE:
        raise FeltwatchError(f"{format} can be imported, not exported; {', '.join(WRITABLE)} can")
    state = {"format": str(format), "state": dataset.state()}
    mark = out / MARK
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        _check_unfinished(mark, out, state)
    out.mkdir(parents=True, exist_ok=True)
    mark.write_text(json.dumps(state | {"finished": False}) + "\n", encoding="utf-8")
    module_of(format).write(dataset, out, progress)
    write_sidecar(dataset, out, _names(dataset, format), str(format))
    if dataset.state() != state["state"]:
        raise FeltwatchError(f"{dataset.folder}: changed while it was exported; export it again")
    mark.write_text(json.dumps(state | {"finished": True}) + "\n", encoding="utf-8")
    missing = sum(1 for p in dataset.pictures() if not dataset.path(p).is_file())
    return ExportSummary(str(format), str(out), len(dataset), missing)


def _names(dataset: Dataset, format: Format) -> Iterator[tuple[Picture, str]]:
    name = _NAMES.get(format)
    for picture in dataset.pictures():
        yield picture, name(dataset, picture) if name else picture.file


def _check_unfinished(mark: Path, out: Path, state: dict[str, Any]) -> None:
    if not mark.is_file():
        raise FeltwatchError(f"{out}: is not empty; choose another folder")
    begun = json.loads(mark.read_text(encoding="utf-8"))
    if begun.get("finished"):
        raise FeltwatchError(f"{out}: holds a finished export; remove it or choose another folder")
    if {k: begun.get(k) for k in state} != state:
        raise FeltwatchError(
            f"{out}: holds the begun export of another state of the dataset; "
            "remove it or choose another folder"
        )


def pack(out: Path) -> Path:
    """Put a finished export into a .zip beside it, as CVAT takes it; gives back its path."""
    part = Path(shutil.make_archive(f"{out}.part", "zip", out))
    target = out.with_name(f"{out.name}.zip")
    part.replace(target)
    return target
