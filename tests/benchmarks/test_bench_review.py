"""`feltwatch bench review`: the page in Chromium, each step with its time."""

from __future__ import annotations

import json

import pytest

from benchmarks.review import STEPS, bench_review
from settlement.errors import FeltwatchError
from surveillance.cli import main
from tests.surveillance.web.review_browser import chromium


@pytest.mark.browser
def test_each_step_is_timed_and_the_size_reported(capsys: pytest.CaptureFixture[str]) -> None:
    chromium()
    size = ["--boxes", "40", "--width", "640", "--height", "360", "--repeats", "2"]
    assert main(["bench", "review", *size, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [step["key"] for step in found["steps"]][:6] == [
        "Tab", "ArrowRight", "Shift+ArrowDown", ".", "Delete", "Ctrl+z",
    ]  # fmt: skip
    assert len(found["steps"]) == len(STEPS)
    assert all(0 < step["median_ms"] <= step["worst_ms"] for step in found["steps"])
    assert found["worst_ms"] == max(step["worst_ms"] for step in found["steps"])
    assert (found["boxes"], found["width_px"], found["height_px"]) == (40, 640, 360)


def test_without_chromium_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FeltwatchError, match="no Chromium on the PATH: install one of chromium"):
        bench_review(10, 640, 360, 1)
