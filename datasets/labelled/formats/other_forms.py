"""Forms of labels that are recognised but not read: their names, and a workaround for each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from datasets.labelled.source_files import is_junk

MOST_FILES = 2000
"""Files looked at to know a form by."""

_HEAD_BYTES = 4096
_DATUM = (
    "pip install 'datumaro[cli]'; datum convert -i DIR -if {name} -f coco -o OUT -- --save-media"
)
_WAY = "turn it into COCO and import that: "


def other_form(path: Path) -> str | None:
    """Why a folder or file of another known form is refused, and the way round; else None."""
    for file in islice(_files(path), MOST_FILES):
        found = _known(file)
        if found is not None:
            name, way = found
            return f"is of the form {name} ({file.name}), which is not read; {_WAY}{way}"
    return None


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from (p for p in sorted(path.rglob("*")) if not is_junk(p.name) and p.is_file())


def _known(file: Path) -> tuple[str, str] | None:
    name = file.name.lower()
    for endings, form, way in _BY_NAME:
        if name.endswith(endings):
            return form, way
    if name.endswith((".json", ".csv", ".xml", ".txt", ".jsonl", ".ndjson")):
        try:
            with file.open("rb") as stream:
                head = stream.read(_HEAD_BYTES).decode("utf-8", "replace")
        except OSError:
            return None
        for suffix, marks, form, way in _BY_TEXT:
            if name.endswith(suffix) and all(mark in head for mark in marks):
                return form, way
    return None


_BY_NAME = (
    ((".tfrecord", ".tfrecords", ".record"), "TFRecord", "export the set from its source as COCO"),
    (("_annotations.createml.json",), "CreateML", _DATUM.format(name="roboflow_create_ml")),
    ((".vott",), "VoTT", "export from VoTT as Pascal VOC, which is read"),
    (("vott-json-export",), "VoTT", _DATUM.format(name="vott_json")),
    (("samples.json",), "FiftyOneDataset",
     "fiftyone: dataset.export(export_dir=..., dataset_type=fiftyone.types.COCODetectionDataset)"),
    ((".manifest",), "SageMaker Ground Truth", "export it with its own converter as COCO"),
    ((".arrow", ".parquet"), "Arrow or Parquet", _DATUM.format(name="arrow")),
)  # fmt: skip

_BY_TEXT = (
    (".json", ('"_via_',), "VGG Image Annotator (VIA)", "Annotation, Export (COCO format) in VIA"),
    (".json", ('"regions"', '"shape_attributes"'), "VGG Image Annotator (VIA)",
     "Annotation, Export (COCO format) in VIA"),
    (".json", ('"annotation"', '"coordinates"', '"image"'), "CreateML",
     _DATUM.format(name="roboflow_create_ml")),
    (".json", ('"annotations"', '"coordinates"', '"image"'), "CreateML",
     _DATUM.format(name="roboflow_create_ml")),
    (".json", ('"data_row"',), "Labelbox", "labelbox: COCO export of the project"),
    (".ndjson", ('"data_row"',), "Labelbox", "labelbox: COCO export of the project"),
    (".json", ('"frames"', '"box2d"'), "BDD100K or Scalabel", "scalabel.label.to_coco"),
    (".csv", ("ImageID", "LabelName", "XMin"), "Open Images", _DATUM.format(name="open_images")),
    (".csv", ("filename", "xmin", "xmax"), "CSV with boxes", "Roboflow or CVAT export it as COCO"),
    (".xml", ("<annotation>", "<polygon>", "<pt>"), "LabelMe XML", _DATUM.format(name="label_me")),
    (".txt", ("imagesource:",), "DOTA", _DATUM.format(name="dota")),
)  # fmt: skip
