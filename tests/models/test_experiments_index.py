"""The log of experiments names every file of weights that is shipped."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from models.weights.folder import default_weights

LOG = (Path(__file__).parents[2] / "models" / "EXPERIMENTS.md").read_text(encoding="utf-8")
SHIPPED = sorted(p for p in default_weights().iterdir() if p.suffix in {".onnx", ".xml", ".bin"})


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_shipped_file_has_its_line_in_the_index(path: Path) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    lines = [line for line in LOG.splitlines() if f"`{found}`" in line and "to now" in line]
    assert len(lines) == 1, f"{path.name} ({found}): needs one line 'to now' in the index"
    assert lines[0].startswith(f"| {path.name} |")


def test_the_index_leads_to_every_entry() -> None:
    def anchor(title: str) -> str:
        return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")

    titles = [line[3:] for line in LOG.splitlines() if line.startswith("## ")]
    anchors = {anchor(title) for title in titles if title != "Index"}
    linked = set(re.findall(r"\]\(#([^)]+)\)", LOG))
    assert anchors == linked


def test_each_entry_has_its_date_commit_and_commands() -> None:
    index = LOG.split("\n## ")[1]
    tables = [part.strip().splitlines() for part in index.split("\n\n") if part.startswith("|")]
    for table in tables:
        cells = [row.strip("|").split("|") for row in table]
        assert {len(row) for row in cells} == {len(cells[0])}
    titles = {line[3:] for line in LOG.splitlines() if line.startswith("## ")} - {"Index"}
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in tables[1][2:]]
    assert len(rows) == len(titles)
    for title, date, commit, commands, shipped in rows:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date), title
        assert re.fullmatch(r"[0-9a-f]{7}", commit), title
        assert commands, title
        assert shipped, title
