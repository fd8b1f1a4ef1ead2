"""The examples in the docstrings."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "datasets.labelled.checks.deck_check", "datasets.labelled.diff",
        "datasets.labelled.formats.base",
        "datasets.labelled.manifest", "datasets.labelled.pictures", "datasets.labelled.records",
        "datasets.labelled.split", "surveillance.reports.dataset_pages",
    ],
)  # fmt: skip
def test_docstring_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0
