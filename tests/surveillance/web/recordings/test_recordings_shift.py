"""Several files of one shift as one recording: in any order, stopped, gone on with, played."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import av
import pytest
from fastapi.testclient import TestClient

from settlement.errors import FeltwatchError
from surveillance.audit.recording import audit
from surveillance.evidence.bundle import read_part
from surveillance.store import AlertFilter, Store
from surveillance.web.access import Role
from tests.surveillance.audit.test_audit_resume import CountingWatcher
from tests.surveillance.conftest import HEIGHT, WIDTH
from tests.surveillance.web.recordings.recordings_made import hold_audits, manager_of
from tests.surveillance.web.recordings.test_recordings import state, until
from tests.vision.sources.live_films import write_film
from tests.vision.sources.recorder_cuts import cut

pytestmark = pytest.mark.slow
RATE = 10
FILES = ("t3_20261122_180000.mp4", "t3_20261122_180003.mp4", "t3_20261122_180005.mp4")


@pytest.fixture
def folder(tmp_path: Path, table_path: Path) -> Path:
    """Three files of a shift of 8 s; the first two overlap by a second."""
    folder = tmp_path / "recordings"
    folder.mkdir()
    film = write_film(tmp_path / "film.mp4", 8.0, RATE, size=(WIDTH, HEIGHT))
    for name, (a, b) in zip(FILES, ((0, 4), (3, 5), (5, 8)), strict=True):
        cut(film, folder / name, a, b)
    shutil.copy(table_path, folder / "table.toml")
    return folder


def question(folder: Path, *files: str) -> dict[str, object]:
    return {
        "folder": str(folder), "file": files[0], "more_files": list(files[1:]),
        "table_file": str(folder / "table.toml"),
    }  # fmt: skip


def test_they_are_audited_and_played_as_one(
    client: TestClient,
    store: Store,
    folder: Path,
    tmp_path: Path,
) -> None:
    audit(
        [folder / name for name in FILES], folder / "table.toml", tmp_path / "local",
        make_watcher=lambda *_: CountingWatcher(),
    )  # fmt: skip
    hold_audits(folder, 4.4)
    answer = client.post("/api/recordings", json=question(folder, FILES[2], FILES[0], FILES[1]))
    assert answer.status_code == 201, answer.text
    form = answer.json()
    assert (form["file"], form["files"]) == (FILES[0], list(FILES))
    assert form["duration_s"] == pytest.approx(8.0)
    id = form["id"]
    # In another order it is the same recording, which waits already.
    again = client.post("/api/recordings", json=question(folder, *FILES))
    assert again.status_code == 422
    assert f"already, as recording {id}" in again.json()["detail"]
    videos = client.get("/api/recordings/videos", params={"folder": str(folder)}).json()["videos"]
    assert [line["recording"] for line in videos] == [id] * 3

    until(lambda: client.get(f"/api/recordings/{id}").json()["at_s"] >= 4.0, "it is in the second")
    assert client.post(f"/api/recordings/{id}/stop").status_code == 200
    until(lambda: state(client, id) == "stopped", "it stopped")
    hold_audits(folder, None)
    assert client.post(f"/api/recordings/{id}/resume").status_code == 200
    told: list[float] = []
    until(
        lambda: (
            told.append(client.get(f"/api/recordings/{id}").json()["at_s"])
            or state(client, id) == "done"
        ),
        "it went on to its end",
    )
    assert min(told) >= 4.0
    out = tmp_path / "data/evidence" / str(store.recordings.get(id).out)
    for name in ("rounds.jsonl", "alerts.jsonl"):
        assert (out / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    timeline = client.get(f"/api/recordings/{id}/timeline").json()
    assert timeline["problem"] is None
    assert not timeline["playable"]

    # Every alert has a bundle; its clip goes on where a file ends.
    alerts = store.alerts.page(AlertFilter(), limit=100).rows
    assert len(alerts) == len(timeline["alerts"]) > 0
    across = next(
        row
        for row in alerts
        if float(row.alert.start_s or 0) < 5 < 6 < float(row.alert.end_s or 0) + 4
    )
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(read_part(tmp_path / "data/evidence" / str(across.bundle), "clip.mp4"))
    with av.open(str(clip)) as container:
        frames = sum(1 for _ in container.decode(video=0))
    assert frames > (5 + 1) * RATE

    assert client.get(f"/api/recordings/{id}/video").status_code == 404
    assert client.post(f"/api/recordings/{id}/preview").status_code == 200
    until(
        lambda: client.get(f"/api/recordings/{id}/timeline").json()["preview"]["state"] == "ready",
        "the preview is there",
    )
    preview = tmp_path / "preview.mp4"
    preview.write_bytes(client.get(f"/api/recordings/{id}/video", params={"preview": True}).content)
    with av.open(str(preview)) as container:
        times = [frame.time for frame in container.decode(video=0)]
    assert times[-1] == pytest.approx(7.9, abs=0.2)


def test_a_new_start_of_the_server_goes_on_with_a_shift(
    store: Store,
    folder: Path,
    tmp_path: Path,
) -> None:
    hold_audits(folder, 4.4)
    with manager_of(store, folder, tmp_path / "data") as manager:
        row = manager.add(
            str(folder), FILES[1], str(folder / "table.toml"), "ann", [FILES[2], FILES[0]]
        )
        assert row.files == FILES
        until(lambda: store.recordings.get(row.id).at_s >= 4.0, "it is in the second file")
    hold_audits(folder, None)
    with manager_of(store, folder, tmp_path / "data"):
        until(lambda: store.recordings.get(row.id).state == "done", "it is done")
    assert store.recordings.get(row.id).rounds == 9
    assert store.recordings.get(row.id).size == sum((folder / f).stat().st_size for f in FILES)


def test_what_is_no_shift_is_refused(
    store: Store,
    folder: Path,
    tmp_path: Path,
) -> None:
    manager = manager_of(store, folder, tmp_path / "data")
    table = str(folder / "table.toml")
    with pytest.raises(FeltwatchError, match="named twice; give each file once"):
        manager.add(str(folder), FILES[0], table, "ann", [FILES[0]])
    shutil.copy(folder / FILES[0], folder / "other.mp4")
    with pytest.raises(FeltwatchError, match=r"other.mp4: has no start time of its own"):
        manager.add(str(folder), FILES[0], table, "ann", ["other.mp4"])
    with pytest.raises(FeltwatchError, match="lies outside the folders"):
        manager.add(str(folder), FILES[0], table, "ann", ["../film.mp4"])
    assert store.recordings.page().rows == ()


def test_a_viewer_does_not_start_one(
    asking: Callable[[Role], TestClient],
    folder: Path,
) -> None:
    answer = asking(Role.VIEWER).post("/api/recordings", json=question(folder, *FILES))
    assert answer.status_code == 403
