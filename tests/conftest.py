"""Marks tests by what they need, chooses the hypothesis profile, and keeps a file on one worker.

`slow`, `render` and `brute` stand in the test files; what follows from a test's fixtures, its
parameters or its folder is marked here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.profiles import PROFILE

TESTS = Path(__file__).parent
BY_FIXTURE = {"browser": "browser", "postgres_host": "postgres"}

settings.load_profile(PROFILE)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test; a file's tests run on one worker, as its fixtures are made once."""
    for item in items:
        for marker in _markers(item):
            item.add_marker(marker)
        place = item.path.relative_to(TESTS)
        # The store's tests share one PostgreSQL server.
        group = "store" if "store" in place.parts else place.as_posix()
        item.add_marker(pytest.mark.xdist_group(group))
    # Files with long tests begin first, so that no worker waits for another at the end.
    long = {item.path for item in items if {"e2e", "slow"} & {m.name for m in item.iter_markers()}}
    items.sort(key=lambda item: item.path not in long)


def _markers(item: pytest.Item) -> set[str]:
    found = {mark for name, mark in BY_FIXTURE.items() if name in getattr(item, "fixturenames", ())}
    if item.path.stem.endswith("_browser"):
        found.add("browser")
    if hasattr(getattr(item, "module", None), "RtspServer"):
        found.add("rtsp")
    callspec = getattr(item, "callspec", None)
    if callspec is not None and callspec.params.get("kind") == "postgresql":
        found.add("postgres")
    if "e2e" in item.path.relative_to(TESTS).parts:
        found.add("e2e")
    if is_hypothesis_test(getattr(item, "obj", None)):
        found.add("property")
    return found
