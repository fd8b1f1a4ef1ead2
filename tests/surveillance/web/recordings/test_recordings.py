"""Recordings: folders, audits in the background, stop and go on, timelines, the video."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import av
import pytest
from fastapi.testclient import TestClient

from settlement.errors import FeltwatchError
from surveillance.recordings import AllowedFolders, AuditManager, manager
from surveillance.recordings.preview import make_preview, video_facts
from surveillance.recordings.processes import WorkProcess
from surveillance.recordings.worker import run_audit
from surveillance.store import AuditFilter, Store
from surveillance.web.access import Role
from tests import waiting
from tests.surveillance.web.recordings.recordings_made import audit_and_die, manager_of
from vision.rounds import followed

pytestmark = pytest.mark.slow

until = partial(waiting.until, within_s=60.0)


@pytest.fixture
def folder(tmp_path: Path, video: Path, table_path: Path) -> Path:
    folder = tmp_path / "recordings"
    (folder / "pit 1").mkdir(parents=True)
    shutil.copy(video, folder / "pit 1" / "night.mp4")
    shutil.copy(table_path, folder / "pit 1" / "table.toml")
    return folder


def queue(client: TestClient, folder: Path) -> int:
    (line,) = client.get("/api/recordings/videos", params={"folder": str(folder)}).json()["videos"]
    answer = client.post(
        "/api/recordings",
        json={
            "folder": str(folder),
            "file": line["file"],
            "table_file": line["table_files"][0]["path"],
        },
    )
    assert answer.status_code == 201, answer.text
    number: int = answer.json()["id"]
    return number


def state(client: TestClient, id: int) -> str:
    reported: str = client.get(f"/api/recordings/{id}").json()["state"]
    return reported


def test_a_folder_shows_its_videos_with_their_table_files(client: TestClient, folder: Path) -> None:
    assert client.get("/api/recordings/folders").json() == [str(folder)]
    (line,) = client.get("/api/recordings/videos", params={"folder": str(folder)}).json()["videos"]
    assert line["file"] == "pit 1/night.mp4"
    assert [Path(t["path"]).name for t in line["table_files"]] == ["table.toml"]
    assert line["recording"] is None


def test_nothing_outside_the_folders_is_looked_at(
    client: TestClient, folder: Path, tmp_path: Path, video: Path
) -> None:
    shutil.copy(video, tmp_path / "secret.mp4")
    (folder / "link.mp4").symlink_to(tmp_path / "secret.mp4")
    (folder / "out").symlink_to(tmp_path, target_is_directory=True)
    listed = client.get("/api/recordings/videos", params={"folder": str(folder)}).json()["videos"]
    assert [line["file"] for line in listed] == ["pit 1/night.mp4"]
    table = str(folder / "pit 1" / "table.toml")
    for where, file in (
        (str(tmp_path), "secret.mp4"), (str(folder), "../secret.mp4"), (str(folder), "link.mp4"),
        (str(folder / "out"), "secret.mp4"), ("/etc", "passwd"), (str(folder), "\x00"),
        (str(folder), str(tmp_path / "secret.mp4")), ("", "x.mp4"),
    ):  # fmt: skip
        body = {"folder": where, "file": file, "table_file": table}
        answer = client.post("/api/recordings", json=body)
        assert answer.status_code == 422, (where, file)
    for text in (str(tmp_path), "/", str(folder / "out"), str(folder / "none")):
        answer = client.get("/api/recordings/videos", params={"folder": text})
        assert answer.status_code == 422
    body = {"folder": str(folder), "file": "pit 1/night.mp4", "table_file": "/etc/hostname"}
    assert client.post("/api/recordings", json=body).status_code == 422
    assert client.get("/api/recordings").json()["recordings"] == []


def test_an_audit_runs_to_its_results(client: TestClient, folder: Path, store: Store) -> None:
    id = queue(client, folder)
    seen: set[str] = set()
    until(lambda: seen.add(state(client, id)) or "done" in seen, "the audit is done")
    assert "running" in seen
    answer = client.get(f"/api/recordings/{id}/timeline").json()
    assert answer["recording"]["rounds"] == len(answer["rounds"]) == 5
    assert answer["recording"]["alerts"] == len(answer["alerts"]) > 0
    assert all(one["id"] for one in (*answer["rounds"], *answer["alerts"]))
    alert = store.alerts.get(answer["alerts"][0]["id"])
    assert alert.recording_id == id
    numbers = {one["round_id"]: one["id"] for one in answer["rounds"]}
    assert alert.round == numbers[answer["alerts"][0]["round_id"]]
    # Images are named from the evidence folder on.
    assert alert.alert.pictures[0].startswith(f"recordings/{id}/evidence/")
    evidence = folder.parent / "data" / "evidence"
    assert all((evidence / name).is_file() for name in alert.alert.pictures)
    assert store.recordings.get(id).out == f"recordings/{id}"
    row = store.rounds.get(answer["rounds"][0]["id"])
    assert row.record["round_id"] == row.round_id
    assert row.versions_id is not None


def test_stopped_it_keeps_what_was_decided_and_goes_on(
    client: TestClient, folder: Path, tmp_path: Path
) -> None:
    id = queue(client, folder)
    timeline = f"/api/recordings/{id}/timeline"
    until(lambda: client.get(timeline).json()["rounds"], "a round was decided")
    so_far = client.get(timeline).json()["rounds"]
    assert so_far[0]["id"] is None
    assert client.post(f"/api/recordings/{id}/stop").status_code == 200
    until(lambda: state(client, id) == "stopped", "it stopped")
    stopped = client.get(timeline).json()
    assert "goes on from" in stopped["recording"]["message"]
    assert stopped["rounds"][0]["round_id"] == so_far[0]["round_id"]
    at_s = stopped["recording"]["at_s"]
    assert client.post(f"/api/recordings/{id}/stop").status_code == 422
    assert client.post(f"/api/recordings/{id}/resume").status_code == 200
    times: list[float] = []
    until(
        lambda: (
            times.append(client.get(f"/api/recordings/{id}").json()["at_s"])
            or state(client, id) == "done"
        ),
        "it went on to its end",
    )
    assert min(times) >= at_s - 1e-6
    done = client.get(timeline).json()
    assert len(done["rounds"]) == 5
    assert not (tmp_path / "data" / "audit-work" / str(id)).exists()


def test_it_goes_on_by_itself_when_the_server_is_started_again(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    with manager_of(store, folder, tmp_path / "data") as manager:
        table = folder / "pit 1" / "table.toml"
        row = manager.add(str(folder), "pit 1/night.mp4", str(table), "ann")
        until(lambda: store.recordings.get(row.id).at_s > 0.5, "it is under way")
    assert store.recordings.get(row.id).state == "queued"
    at_s = store.recordings.get(row.id).at_s
    with manager_of(store, folder, tmp_path / "data"):
        until(lambda: store.recordings.get(row.id).state == "running", "it runs again")
        until(lambda: store.recordings.get(row.id).at_s > at_s, "it goes on")
        until(lambda: store.recordings.get(row.id).state == "done", "it is done")
    assert store.recordings.get(row.id).rounds == 5


def test_a_process_that_dies_is_reported_and_can_be_tried_again(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    with manager_of(store, folder, tmp_path / "data") as manager:
        manager._audit = audit_and_die
        table = folder / "pit 1" / "table.toml"
        row = manager.add(str(folder), "pit 1/night.mp4", str(table), "ann")
        with pytest.raises(FeltwatchError, match="already"):
            manager.add(str(folder), "pit 1/night.mp4", str(table), "ann")
        until(lambda: store.recordings.get(row.id).state == "failed", "it failed")
        assert "ended by itself with code 9" in store.recordings.get(row.id).message
        manager.resume(row.id)
        until(lambda: store.recordings.get(row.id).state == "failed", "it failed again")


def test_a_game_that_the_camera_does_not_follow_is_not_queued(
    store: Store, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = followed.FOLLOWED_GAMES - {"pai_gow_poker"}
    monkeypatch.setattr(followed, "FOLLOWED_GAMES", left)
    table = folder / "pit 1" / "table.toml"
    text = table.read_text()
    assert '"emperors_challenge_exposed"' in text
    table.write_text(text.replace('"emperors_challenge_exposed"', '"pai_gow_poker"'))
    with (
        manager_of(store, folder, tmp_path / "data") as manager,
        pytest.raises(FeltwatchError, match="cannot follow 'pai_gow_poker'"),
    ):
        manager.add(str(folder), "pit 1/night.mp4", str(table), "ann")


def test_a_table_file_of_another_camera_is_reported(
    client: TestClient, folder: Path, manager: AuditManager
) -> None:
    manager._audit = run_audit
    table = folder / "pit 1" / "table.toml"
    text = table.read_text()
    assert text.count("width_px = 320") == 1
    table.write_text(text.replace("width_px = 320", "width_px = 640"))
    id = queue(client, folder)
    until(lambda: state(client, id) == "failed", "it failed")
    assert "calibrated on 640 x 180" in client.get(f"/api/recordings/{id}").json()["message"]


def test_viewers_look_and_do_not_start(asking: Callable[[Role], TestClient], folder: Path) -> None:
    reviewer, viewer = asking(Role.REVIEWER), asking(Role.VIEWER)
    id = queue(reviewer, folder)
    assert viewer.get("/api/recordings").json()["recordings"][0]["id"] == id
    assert viewer.get(f"/recordings/{id}").status_code == 200
    assert viewer.get("/api/recordings/folders").status_code == 403
    assert viewer.post(f"/api/recordings/{id}/stop").status_code == 403
    assert viewer.post("/api/recordings", json={}).status_code == 403
    assert viewer.get("/api/recordings/999").status_code == 404
    until(lambda: state(reviewer, id) == "done", "it is done")


def test_the_video_is_given_in_ranges(client: TestClient, folder: Path, store: Store) -> None:
    id = queue(client, folder)
    path = f"/api/recordings/{id}/video"
    for asked in ("bytes=1-", "bytes=-5", "bytes=7-9"):
        assert client.get(path, headers={"range": asked}).status_code == 206
    (look,) = store.audit.page(AuditFilter(act="recording seen")).rows
    assert (look.by, look.target) == ("reviewer", f"recording {id}")
    whole = client.get(path)
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.content == (folder / "pit 1" / "night.mp4").read_bytes()
    part = client.get(path, headers={"range": "bytes=100-199"})
    assert part.status_code == 206
    assert part.content == whole.content[100:200]
    assert client.get(path, headers={"range": "bytes=99999999-"}).status_code == 416
    assert client.get(path, params={"preview": True}).status_code == 404
    assert client.post(f"/api/recordings/{id}/preview").status_code == 200
    until(
        lambda: client.get(f"/api/recordings/{id}/timeline").json()["preview"]["state"] == "ready",
        "the preview is there",
    )
    preview = client.get(path, params={"preview": True})
    assert preview.content[4:8] == b"ftyp"
    (folder / "pit 1" / "night.mp4").unlink()
    assert client.get(path).status_code == 404
    assert "no such file" in client.get(f"/api/recordings/{id}/timeline").json()["problem"]


def test_a_preview_that_is_asked_for_is_never_none(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that gets this answer stops asking, and never plays it."""
    id = queue(client, folder)
    until(lambda: state(client, id) == "done", "it is done")
    begun, may_begin = threading.Event(), threading.Event()

    def slow(*given: object) -> WorkProcess:
        begun.set()
        assert may_begin.wait(60)
        return WorkProcess(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(manager, "WorkProcess", slow)
    asked = [client.post(f"/api/recordings/{id}/preview").json()["state"]]
    assert begun.wait(60)
    path = f"/api/recordings/{id}/timeline"
    asked.append(client.get(path).json()["preview"]["state"])
    may_begin.set()
    while asked[-1] == "making":
        asked.append(client.get(path).json()["preview"]["state"])
    assert set(asked) == {"making", "ready"}


def test_a_preview_is_small_and_keeps_the_times(tmp_path: Path) -> None:
    sample = Path(__file__).parents[4] / "sample" / "video.mp4"
    facts = video_facts([sample])
    assert (facts.playable, facts.light, facts.width_px) == (True, False, 3840)
    out = tmp_path / "p" / "preview.mp4"
    times: list[float] = []

    # A few seconds will do: cut the sample.
    cut = tmp_path / "cut.mp4"
    with av.open(str(sample)) as source, av.open(str(cut), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None and (packet.pts or 0) * packet.time_base < 2:
                packet.stream = stream
                target.mux(packet)
    make_preview([cut], out, lambda at, _: times.append(at))
    assert video_facts([out]).light
    with av.open(str(out)) as container:
        frames = [(f.time, f.width, f.height) for f in container.decode(video=0)]
    assert {f[1:] for f in frames} == {(1280, 720)}
    assert [f[0] for f in frames] == pytest.approx(times, abs=1e-3)
    assert 10 <= len(frames) <= 17
    assert sorted(p.name for p in out.parent.iterdir()) == ["preview.mp4"]
    with pytest.raises(FeltwatchError):
        make_preview([tmp_path / "none.mp4"], out)


def test_without_folders_it_is_said_what_to_do() -> None:
    with pytest.raises(FeltwatchError, match=r"\[recordings\] folders"):
        AllowedFolders([]).folder("/tmp")
