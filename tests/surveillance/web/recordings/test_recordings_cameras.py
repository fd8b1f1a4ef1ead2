"""Recordings of further cameras, audited with the first one's from the pages and the API."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from surveillance.audit import recording
from surveillance.audit.further import CameraVideo
from surveillance.audit.run import AuditSummary
from surveillance.recordings.stop_flag import StopFlag
from surveillance.recordings.worker import Job, run_audit
from surveillance.store import CameraFile, Store
from surveillance.web.access import Role
from tests.surveillance.conftest import table_text
from tests.surveillance.web.recordings.recordings_made import hold_audits
from tests.surveillance.web.recordings.test_recordings import state, until
from tests.vision.sources.live_films import write_film
from vision.geometry.table import FurtherCamera, TableFile

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, video: Path, table: TableFile) -> Path:
    """A video and two of another camera, one of another size, with their table file."""
    assert table.camera is not None
    folder = tmp_path / "recordings"
    folder.mkdir()
    for name in ("night.mp4", "night-low.mp4", "low2.mp4"):
        shutil.copy(video, folder / name)
    write_film(folder / "small.mp4", 1.0)
    low = FurtherCamera(name="low", **dict(table.camera))
    text = table_text(table.model_copy(update={"cameras": (low,)}))
    (folder / "table.toml").write_text(text)
    return folder


def question(folder: Path, *cameras: dict[str, Any]) -> dict[str, Any]:
    return {
        "folder": str(folder), "file": "night.mp4", "table_file": str(folder / "table.toml"),
        "cameras": list(cameras),
    }  # fmt: skip


LOW = {"name": "low", "file": "night-low.mp4", "offset_s": -0.5, "more_files": []}


def test_a_further_cameras_recording_is_audited_too_also_when_it_goes_on(
    client: TestClient, folder: Path, store: Store
) -> None:
    found = client.get("/api/recordings/videos", params={"folder": str(folder)}).json()
    assert found["videos"][0]["table_files"][0]["cameras"] == ["low"]
    hold_audits(folder, 1.0)
    answer = client.post("/api/recordings", json=question(folder, LOW))
    assert answer.status_code == 201, answer.text
    id = answer.json()["id"]
    assert answer.json()["cameras"] == [LOW]
    assert store.recordings.get(id).cameras == (CameraFile("low", "night-low.mp4", -0.5),)
    again = client.post("/api/recordings", json=question(folder, LOW))
    assert f"already, as recording {id}" in again.json()["detail"]

    until(lambda: client.get(f"/api/recordings/{id}").json()["at_s"] >= 0.8, "it is at it")
    client.post(f"/api/recordings/{id}/stop")
    until(lambda: state(client, id) == "stopped", "it stopped")
    hold_audits(folder, None)
    client.post(f"/api/recordings/{id}/resume")
    until(lambda: state(client, id) == "done", "it is done")
    assert "low: night-low.mp4 -0.5" in store.recordings.get(id).message


def test_with_another_cameras_file_it_is_another_audit(client: TestClient, folder: Path) -> None:
    hold_audits(folder, 0.0)
    ids = []
    for cameras in ([], [LOW], [{"name": "low", "file": "low2.mp4"}]):
        answer = client.post("/api/recordings", json=question(folder, *cameras))
        assert answer.status_code == 201, answer.text
        ids.append(answer.json()["id"])
    assert len(set(ids)) == 3
    hold_audits(folder, None)


@pytest.mark.parametrize(
    ("cameras", "message"),
    [
        (({**LOW, "name": "side"},), "no such camera under [[cameras]]; it has low"),
        (({**LOW, "file": "gone.mp4"},), "gone.mp4: no such file"),
        (({**LOW, "file": "../w.mp4"},), "lies outside the folders"),
        (({**LOW, "file": "small.mp4"},), "but camera 'low' of"),
        (({**LOW, "file": "night.mp4"},), "is the first camera's"),
        (({**LOW, "more_files": ["night.mp4"]},), "night.mp4: is the first camera's"),
        (({**LOW, "more_files": ["night-low.mp4"]},), "night-low.mp4: a file is named twice"),
        (({**LOW, "more_files": ["gone.mp4"]},), "gone.mp4: no such file"),
        (({**LOW, "more_files": ["small.mp4"]},), "small.mp4: its frames are 320 x 192"),
        (({**LOW, "more_files": ["x.mp4"] * 200},), "more_files"),
        ((LOW, {**LOW, "file": "low2.mp4"}), "camera 'low' is named twice"),
        (({**LOW, "offset_s": 1e9},), "offset_s"),
        (({**LOW, "name": "Side Camera"},), "name"),
    ],
)
def test_what_cannot_be_read_beside_it_is_refused(
    client: TestClient, folder: Path, cameras: tuple[dict[str, Any], ...], message: str
) -> None:
    answer = client.post("/api/recordings", json=question(folder, *cameras))
    assert answer.status_code == 422
    assert message in str(answer.json()["detail"])


def test_several_files_of_a_camera_are_one_shift_in_whatever_order(
    client: TestClient, folder: Path, store: Store, video: Path
) -> None:
    names = ["low_20261122_180004.mp4", "low_20261122_180000.mp4"]
    for name in names:
        shutil.copy(video, folder / name)
    hold_audits(folder, 0.0)
    first, second = ({**LOW, "file": a, "more_files": [b]} for a, b in (names, names[::-1]))
    answer = client.post("/api/recordings", json=question(folder, first))
    assert answer.status_code == 201, answer.text
    assert answer.json()["cameras"] == [second]
    id = answer.json()["id"]
    kept = CameraFile("low", names[1], -0.5, (names[0],))
    assert store.recordings.get(id).cameras == (kept,)
    again = client.post("/api/recordings", json=question(folder, second))
    assert f"already, as recording {id}" in again.json()["detail"]
    hold_audits(folder, None)
    until(lambda: state(client, id) == "done", "it is done")
    assert f"low: {names[1]}, {names[0]} -0.5" in store.recordings.get(id).message


def test_a_file_that_is_gone_when_its_turn_comes_fails_the_audit(
    client: TestClient, folder: Path, asking: Callable[[Role], TestClient]
) -> None:
    hold_audits(folder, 0.0)
    client.post("/api/recordings", json=question(folder))
    id = client.post("/api/recordings", json=question(folder, LOW)).json()["id"]
    (folder / "night-low.mp4").unlink()
    hold_audits(folder, None)
    until(lambda: state(client, id) == "failed", "it failed")
    form = asking(Role.VIEWER).get(f"/api/recordings/{id}").json()
    assert "night-low.mp4: no such file" in form["message"]


def test_the_worker_passes_the_cameras_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: dict[str, Any] = {}

    def audit(*_: Any, **more: Any) -> AuditSummary:
        passed.update(more)
        return AuditSummary(
            video="", table="t1", out="", duration_s=1, wall_s=1, speed=1, rounds=0, alerts=0,
            alerts_by_code={}, undecided=0,
        )  # fmt: skip

    monkeypatch.setattr(recording, "audit", audit)
    # What it sets for its own process is not for this one.
    monkeypatch.setattr("os.nice", lambda _: 0)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    cameras = {"low": CameraVideo((folder / "night-low.mp4",), 0.25)}
    job = Job((folder / "night.mp4",), folder / "table.toml", folder, folder, cameras=cameras)
    ours, theirs = multiprocessing.Pipe(duplex=False)
    run_audit(job, theirs, StopFlag())
    assert ours.recv().kind == "done"
    assert passed["cameras"] == cameras
