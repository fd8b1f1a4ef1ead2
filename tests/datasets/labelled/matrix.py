"""The matrix of docs/label-formats.md: which tests, with which outside library, each cell rests on.

`python -m tests.datasets.labelled.matrix` prints the table.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

FORMS = {
    "coco": "COCO (`coco`), also Roboflow's, FiftyOne's and supervision's layout",
    "cvat": "CVAT for images 1.1 (`cvat`)",
    "cvat-video": "CVAT for video 1.1 (`cvat`, `--video`)",
    "voc": "Pascal VOC (`voc`), also VOCdevkit and Roboflow's layout",
    "yolo": "YOLO detection (`yolo`)",
    "yolo-obb": "YOLO OBB (`yolo`, export `yolo-obb`)",
    "yolo-seg": "YOLO segmentation (`yolo`, export `yolo-seg`)",
    "yolo-pose": "YOLO pose (`yolo`)",
    "darknet": "Darknet (`darknet`): `obj.data`, `classes.txt`",
    "datumaro": "Datumaro JSON (`datumaro`)",
    "labelme": "LabelMe JSON (`labelme`)",
    "label-studio": "Label Studio JSON, JSON-MIN (`label-studio`)",
    "supervisely": "Supervisely (`supervisely`)",
}
EXPORTED = ("coco", "cvat", "voc", "yolo", "yolo-obb", "yolo-seg")
COLUMNS = ("boxes", "rotation", "polygons", "splits", "attributes")
DOCUMENTED = "documentation"
"""In place of a tool: the test writes the file as the form's documentation has it."""

NO_FIELD = {
    "voc": {"polygons"},
    "yolo": {"rotation", "polygons", "attributes"},
    "yolo-obb": {"polygons", "attributes"},
    "yolo-seg": {"attributes"},
    "yolo-pose": {"rotation", "attributes"},
    "darknet": {"rotation", "polygons", "attributes"},
    "label-studio": {"splits", "attributes"},
    "supervisely": {"rotation"},
}
MODULES = (
    "test_label_form_matrix", "test_label_form_outlines", "test_label_form_tools",
    "test_labelled_defects", "test_labelled_formats",
)  # fmt: skip

Test = TypeVar("Test", bound=Callable[..., object])
_covered: dict[tuple[str, str, str], set[str]] = {}


def covers(tool: str, *cells: str) -> Callable[[Test], Test]:
    """Mark a test as what cells rest on; `cells` are such as "coco import boxes splits"."""
    for cell in cells:
        form, way, *columns = cell.split()
        assert form in FORMS, cell
        assert way == "import" or (way == "export" and form in EXPORTED), cell
        for column in columns:
            assert column in COLUMNS, cell
            _covered.setdefault((form, way, column), set()).add(tool)
    return lambda test: test


def rows() -> list[tuple[str, ...]]:
    """Form, way and the cells of each line; a cell without a test is empty."""
    for name in MODULES:
        import_module(f"tests.datasets.labelled.{name}")
    return [
        (form, way, *(_cell(form, way, column) for column in COLUMNS))
        for form in FORMS
        for way in (("import", "export") if form in EXPORTED else ("import",))
    ]


def _cell(form: str, way: str, column: str) -> str:
    tools = _covered.get((form, way, column), set())
    if column in NO_FIELD.get(form, ()):
        assert not tools, (form, way, column)
        return "—"
    # What a library wrote or read stands for more than what was written by hand.
    return ", ".join(sorted(tools - {DOCUMENTED} or tools))


def table() -> str:
    """The matrix as Markdown."""
    lines = [f"| form | way | {' | '.join(COLUMNS)} |", "|---" * 7 + "|"]
    before = ""
    for form, way, *cells in rows():
        lines.append(f"| {FORMS[form] if form != before else ''} | {way} | {' | '.join(cells)} |")
        before = form
    return "\n".join(lines)


if __name__ == "__main__":
    # The tests fill the module of that name, not this one.
    print(import_module("tests.datasets.labelled.matrix").table())
