"""Rendering as a job of the store: what it leaves is what the command leaves."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from surveillance.cli import main
from tests.surveillance.live.live_room import write_site

RENDER = ["model", "render", "--views", "2", "--size", "64", "--strips", "0", "--workers", "1"]


def files_of(folder: Path) -> dict[str, str]:
    """Hash of each file below a folder, by its name from there on."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != "data.yaml")
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in found
    }


@pytest.mark.slow
@pytest.mark.render
def test_a_rendering_is_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "film.mp4").write_bytes(b"no film")
    site = str(write_site(tmp_path, "film.mp4"))
    monkeypatch.chdir(tmp_path)
    asked = ["jobs", "add", "--config", site, "--", *RENDER, "--out", "queued"]
    assert main(asked) == main(asked) == 0
    assert main(["jobs", "run", "--config", site]) == 0
    capsys.readouterr()
    assert main(["jobs", "list", "--config", site, "--json"]) == 0
    (row,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (row["state"], row["share"], row["message"]) == ("done", 1.0, "")
    assert main([*RENDER, "--quiet", "--out", "direct"]) == 0
    made = files_of(tmp_path / "queued")
    assert sum(name.startswith("images/") for name in made) >= 4
    assert made == files_of(tmp_path / "direct")
