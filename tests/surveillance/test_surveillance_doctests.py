"""The examples in the docstrings."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "alerts.model",
        "audit.footage",
        "audit.identity",
        "reports.cards_view",
        "evidence.images",
        "reports.round_view",
        "staging",
        "store.sharing.assignments",
        "store.jobs.jobs",
        "cli.server.jobs_cmd",
    ],
)
def test_docstring_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"surveillance.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
