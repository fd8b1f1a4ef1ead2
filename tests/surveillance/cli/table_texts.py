"""Table files of usual tables."""

from __future__ import annotations

from pathlib import Path

from datasets.simulate.shift import write_table as write_table_file
from settlement.rules import TableRules
from vision.geometry.standard_layout import standard_table

PAYTABLES = {"emperors_treasure": "PT-FLT-EC-ET-02", "envy": "E02"}


def write_table(path: Path, **rules: object) -> Path:
    """A table file of the usual game with these rules; gives its path back."""
    whole = {"game": "emperors_challenge_exposed", **rules}
    write_table_file(standard_table(TableRules.model_validate(whole)), path)
    return path
