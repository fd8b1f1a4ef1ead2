"""A build of weights as a job of the store: killed in the middle, another worker goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tomli_w

from models.data.provenance import read_object
from surveillance.cli import main
from tests.surveillance.live.live_room import write_site
from tests.train.test_build import ROOT, STAGES, small
from vision.detect.openvino_runtime import load_card

WITHIN_S = 1200.0
WITHOUT_PHOTOGRAPHS = {name for name in STAGES if "phone" not in name and "photographs" not in name}


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_build_is_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "film.mp4").write_bytes(b"no film")
    site = str(write_site(tmp_path, "film.mp4"))
    monkeypatch.chdir(tmp_path)
    recipe = small(tmp_path).model_dump(mode="json", exclude_none=True)
    recipe["photographs"]["sets"] = []
    (tmp_path / "small.toml").write_text(tomli_w.dumps(recipe), encoding="utf-8")
    command = ["model", "build", "--recipe", "small.toml", "--device", "cpu", "--out", "made"]
    assert main(["jobs", "add", "--config", site, "--", *command]) == 0
    stages = tmp_path / "made" / "stages"

    def done() -> set[str]:
        return {path.stem for path in stages.glob("*.json")}

    begin = [sys.executable, "-m", "surveillance", "jobs", "run", "--config", site]
    own = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    worker = subprocess.Popen(begin, env=own, start_new_session=True)
    until = time.monotonic() + WITHIN_S
    while len(done()) < 2:
        assert worker.poll() is None
        assert time.monotonic() < until
        time.sleep(0.1)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    before = {name: (stages / f"{name}.json").stat().st_mtime_ns for name in done()}
    assert 2 <= len(before) < len(WITHOUT_PHOTOGRAPHS)

    subprocess.run(begin, env=own, check=True, timeout=WITHIN_S)
    capsys.readouterr()
    assert main(["jobs", "list", "--config", site, "--json"]) == 0
    (row,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (row["state"], row["share"], row["message"]) == ("done", 1.0, "")
    # What was finished is not made again, and the weights are whole.
    assert {name: (stages / f"{name}.json").stat().st_mtime_ns for name in before} == before
    assert done() >= {"views", "detector", "reader", "sides", "strips"}
    assert set(load_card(tmp_path / "made" / "weights")["models"]) == {
        "detector", "reader", "strips",
    }  # fmt: skip
    assert all(read_object(path)["sha256"] for path in stages.glob("*.json"))
