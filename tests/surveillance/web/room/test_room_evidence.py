"""The evidence of alerts: images, clips in ranges, stills, bundles, views for the dataset."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from datasets.labelled.harvest import Candidate, CandidateBox, Verdict
from datasets.labelled.manifest import Dataset
from surveillance.evidence.bundle import FurtherClip
from surveillance.store import AuditFilter
from surveillance.web.routers.byte_ranges import wanted_range
from surveillance.web.services.errors import NotThereError
from surveillance.web.services.evidence.bundle_views import cut_views
from surveillance.web.services.evidence.evidence_files import EvidenceFiles
from tests.surveillance.web.room_made import (
    CAMERA,
    MadeRoom,
    acts,
    asking,
    first_alert,
    made_room,
    make_clip,
)
from vision.geometry.table import TableFile


def test_images_come_from_the_folder_or_from_the_bundle(ann: TestClient, room: MadeRoom) -> None:
    line = first_alert(ann, code="OVERPAID")
    row = room.store.alerts.get(int(str(line["id"])))
    url = f"/api/alerts/{row.id}/picture"
    from_folder = ann.get(f"{url}/0")
    assert cv2.imdecode(np.frombuffer(from_folder.content, np.uint8), 1) is not None
    (room.evidence_dir / row.alert.pictures[0]).unlink()
    assert ann.get(f"{url}/0").content == from_folder.content
    assert row.bundle is not None
    (room.evidence_dir / row.bundle).unlink()
    assert ann.get(f"{url}/0").status_code == 404
    assert ann.get(f"{url}/99").status_code == 404
    assert "picture seen" in acts(room)


def test_evidence_of_another_server_is_found_in_its_folder(
    ann: TestClient, room: MadeRoom, tmp_path: Path
) -> None:
    row = room.store.alerts.get(int(str(first_alert(ann, code="OVERPAID")["id"])))
    own = tmp_path / "own"
    own.mkdir()
    with pytest.raises(NotThereError):
        EvidenceFiles(own).bundle(row)
    found = EvidenceFiles(own, [room.evidence_dir])
    assert found.bundle(row).is_relative_to(room.evidence_dir)
    assert found.picture(row, 0) == EvidenceFiles(room.evidence_dir).picture(row, 0)
    # A copy here comes first.
    copy = own / str(row.bundle)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(b"own")
    assert found.bundle(row) == copy.resolve()


def test_a_further_cameras_images_are_named_and_paired(ann: TestClient, room: MadeRoom) -> None:
    _, (alert,) = room.add_round(60, paid_cents=3500, further="low-2")
    shown = ann.get(f"/api/alerts/{alert.id}").json()["pictures"]
    beside = [one for one in shown if one["camera"]]
    assert {one["camera"] for one in beside} == {"low-2"}
    assert {one["role"]: one["words"] for one in beside} == {
        "before": "low-2: seat 3, bets, 00:00.6",
        "after": "low-2: seat 3, settled, 00:01.6",
    }
    roles = {one["role"]: one["moment"] for one in shown if not one["camera"] and one["role"]}
    assert roles == {"before": "bets", "after": "settled"}
    assert ann.get(beside[0]["url"]).status_code == 200


def test_no_view_is_cut_again_for_a_further_cameras_image(room: MadeRoom, tmp_path: Path) -> None:
    # The clip is the first camera's: at that time it does not show what the other one showed.
    clip = make_clip(tmp_path / "clip.mp4")
    (room.evidence_dir / "clips").mkdir()
    clip = clip.rename(room.evidence_dir / "clips/one.mp4")
    _, (alert,) = room.add_round(61, paid_cents=3500, clip=clip, further="low")
    assert alert.bundle is not None
    many = cut_views(room.evidence_dir / alert.bundle, alert, "t1-000061", "v", tmp_path / "cut")
    names = {path.name for path in (tmp_path / "cut").rglob("*.jpg")}
    own = {Path(path).name for path in alert.alert.pictures}
    assert names == {name for name in own if "-low-" not in name} != own
    assert many == len(names)


@pytest.mark.parametrize("name", ["../secret.jpg", "/etc/hostname", "..", ""])
def test_no_image_from_outside_the_evidence_folder(
    ann: TestClient, room: MadeRoom, name: str
) -> None:
    from surveillance.alerts.model import Alert
    from surveillance.store import NewAlert

    (room.folder / "secret.jpg").write_bytes(b"secret")
    row = room.store.alerts.add(
        NewAlert(
            alert=Alert(
                alert_id="x", code="LIMIT", severity="low", message="m", pictures=(name,)
            ),
            table="t1", camera=CAMERA, source="bad", at=datetime.now(UTC),
        )
    )  # fmt: skip
    room.store.alerts.set_bundle(row.id, name, "0" * 64, name)
    for part in ("picture/0", "clip", "bundle", "clip/still"):
        assert ann.get(f"/api/alerts/{row.id}/{part}").status_code == 404


def test_the_clip_is_sent_in_ranges(ann: TestClient, room: MadeRoom) -> None:
    line = first_alert(ann, code="OVERPAID")
    url = f"/api/alerts/{line['id']}/clip"
    whole = ann.get(url)
    assert whole.status_code == 200
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["content-type"] == "video/mp4"
    part = ann.get(url, headers={"range": "bytes=10-19"})
    assert part.status_code == 206
    assert part.headers["content-range"] == f"bytes 10-19/{len(whole.content)}"
    assert part.content == whole.content[10:20]
    assert ann.get(url, headers={"range": "bytes=-7"}).content == whole.content[-7:]
    beyond = ann.get(url, headers={"range": f"bytes={len(whole.content)}-"})
    assert beyond.status_code == 416
    # Gone as a file, it is read out of the bundle.
    (room.evidence_dir / CAMERA / "clips" / "one.mp4").unlink()
    assert ann.get(url).content == whole.content
    assert ann.get(url, headers={"range": "bytes=10-19"}).content == whole.content[10:20]
    assert acts(room).count("clip seen") == 1


@pytest.mark.parametrize("asked", ["bytes=1-", "bytes=-5", "bytes=00-", "bytes=0-9", "lines=1-2"])
def test_a_look_at_a_clip_is_logged_whatever_range_is_asked_for(
    ann: TestClient, room: MadeRoom, asked: str
) -> None:
    id = first_alert(ann, code="OVERPAID")["id"]
    for _ in range(3):
        assert ann.get(f"/api/alerts/{id}/clip", headers={"range": asked}).status_code < 300
    (line,) = room.store.audit.page(AuditFilter(act="clip seen"), None, 9).rows
    assert (line.by, line.target) == ("ann", f"alert {id}")


def test_a_player_keeps_the_clip_it_began_with(ann: TestClient, room: MadeRoom) -> None:
    """A smaller copy takes the clip's place while somebody views it."""
    line = first_alert(ann, code="OVERPAID")
    before = ann.get(f"/api/alerts/{line['id']}").json()["clip"]
    camera = ann.get(before["url"]).content
    make_clip(room.evidence_dir / CAMERA / "clips" / "one.mp4", seconds=1)
    after = ann.get(f"/api/alerts/{line['id']}").json()["clip"]
    small = ann.get(after["url"]).content
    assert len(small) < len(camera)
    rest = {"range": f"bytes={len(small)}-"}
    assert ann.get(before["url"], headers=rest).content == camera[len(small) :]
    shown = [ann.get(form["stills_url"] + "&at_s=2").content for form in (before, after)]
    means = [np.asarray(cv2.imdecode(np.frombuffer(one, np.uint8), 1)).mean() for one in shown]
    # Frame number n is 20 + 3 n bright; beyond the end the last one is shown.
    assert means == pytest.approx([20 + 3 * 20, 20 + 3 * 9], abs=6)
    row = room.store.alerts.get(int(str(line["id"])))
    assert row.bundle is not None
    (room.evidence_dir / row.bundle).unlink()
    gone = ann.get(before["url"])
    assert (gone.status_code, "any more" in gone.text) == (404, True)


def test_clips_of_further_cameras_are_sent_or_told_missing(
    ann: TestClient, room: MadeRoom, tmp_path: Path
) -> None:
    low = make_clip(tmp_path / "low.mp4", seconds=2)
    told = "the camera sent no video of that time"
    further = (FurtherClip("low", low, "-1.000"), FurtherClip("high", missing=told))
    (room.evidence_dir / "clips").mkdir()
    own = make_clip(room.evidence_dir / "clips/two.mp4")
    _, (row,) = room.add_round(62, paid_cents=3500, clip=own, further_clips=further)
    form = ann.get(f"/api/alerts/{row.id}").json()
    shown, missing = form["further_clips"]
    assert (missing["camera"], missing["clip"], missing["missing"]) == ("high", None, told)
    assert (shown["camera"], shown["missing"]) == ("low", "")
    # It is settled at 1.6 s of the first camera's clock.
    assert (shown["clip"]["moment_s"], shown["clip"]["is_known"]) == (pytest.approx(2.6), True)
    assert ann.get(shown["clip"]["url"]).content == low.read_bytes() != own.read_bytes()
    assert ann.get(form["clip"]["url"]).content == own.read_bytes()
    assert ann.get(shown["clip"]["stills_url"] + "&at_s=1").status_code == 200
    # A smaller copy takes its place at an address of its own.
    (room.evidence_dir / "clips/low-small.mp4").write_bytes(b"small")
    room.store.alerts.set_bundle(
        row.id, row.bundle, row.bundle_sha256, row.clip, {"low": "clips/low-small.mp4"}
    )
    small = ann.get(f"/api/alerts/{row.id}").json()["further_clips"][0]["clip"]
    assert ann.get(small["url"]).content == b"small"
    assert ann.get(shown["clip"]["url"]).content == low.read_bytes()
    for camera in ("high", "none", "../low"):
        gone = ann.get(f"/api/alerts/{row.id}/clip", params={"camera": camera})
        assert gone.status_code == 404
        assert f"no clip of camera {camera!r}" in gone.text


def test_a_clip_that_goes_as_it_is_asked_for_is_reported(
    ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"/api/alerts/{first_alert(ann, code='OVERPAID')['id']}/clip"
    monkeypatch.setattr(Path, "open", lambda *_: (_ for _ in ()).throw(FileNotFoundError()))
    for path in (url, f"{url}/still"):
        answer = ann.get(path)
        assert (answer.status_code, "ask again" in answer.text) == (404, True)


@given(st.integers(1, 500), st.integers(0, 600), st.one_of(st.none(), st.integers(0, 600)))
def test_ranges_lie_within_the_file(size: int, first: int, last: int | None) -> None:
    header = f"bytes={first}-{'' if last is None else last}"
    if first >= size and (last is None or last >= first):
        with pytest.raises(ValueError, match="bytes="):
            wanted_range(header, size)
        return
    found = wanted_range(header, size)
    if last is not None and last < first:
        assert found is None
        return
    assert found == (first, min(size, size if last is None else last + 1))


@pytest.mark.parametrize("codec", ["libx264", "libx265"])
def test_stills_of_a_clip_for_browsers_that_cannot_play_it(
    ann: TestClient, room: MadeRoom, codec: str
) -> None:
    if codec not in av.codecs_available:
        pytest.skip(f"{codec} is not there")
    make_clip(room.evidence_dir / CAMERA / "clips" / "one.mp4", codec)
    line = first_alert(ann, code="OVERPAID")
    shades = []
    for at_s in (0.0, 3.0, 600.0):
        answer = ann.get(f"/api/alerts/{line['id']}/clip/still", params={"at_s": at_s})
        assert answer.status_code == 200, answer.text
        image = np.asarray(cv2.imdecode(np.frombuffer(answer.content, np.uint8), 1))
        shades.append(float(image.mean()))
    # Frame number n is 20 + 3 n bright.
    assert shades == pytest.approx([20, 20 + 3 * 30, 20 + 3 * 59], abs=6)


def test_the_bundle_can_be_taken(ann: TestClient, room: MadeRoom) -> None:
    line = first_alert(ann)
    answer = ann.get(f"/api/alerts/{line['id']}/bundle")
    assert "manifest.json" in zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
    assert "attachment" in answer.headers["content-disposition"]
    assert "bundle taken" in acts(room)


def keep_view(folder: Path, alert_id: str, seat: int) -> None:
    """Leave one view of an alert beside its images, as a run with candidates does."""
    folder.joinpath("candidates").mkdir(parents=True, exist_ok=True)
    name = f"{alert_id}-seat{seat}.jpg"
    rng = np.random.default_rng(seat + len(alert_id) + sum(map(ord, alert_id)))
    cv2.imwrite(
        str(folder / "candidates" / name), rng.integers(0, 255, (64, 64, 3), dtype=np.uint8)
    )
    candidate = Candidate(
        file=name, width=64, height=64, video="live", table="t1", round_id=alert_id[:-3],
        seat=seat, what="settled", at_s="1.6", model="abc", sureness=0.4, alerts=(alert_id,),
        boxes=(CandidateBox(label="AS", score=0.9, xyxy=(1, 1, 9, 9)),),
    )  # fmt: skip
    with (folder / "candidates.jsonl").open("a") as file:
        file.write(candidate.model_dump_json() + "\n")


def test_rejected_readings_become_candidates(tmp_path: Path, table: TableFile) -> None:
    dataset = tmp_path / "labelled"
    Dataset.create(dataset, ()).close()
    with made_room(tmp_path / "room", table, (dataset,)) as room, asking(room, "ann") as ann:
        run = room.evidence_dir / CAMERA / "run1"
        for alert_id in ("t1-000002-01", "t1-000003-01", "t1-000004-01"):
            keep_view(run, alert_id, 3)
        lines = {a["alert_id"]: a["id"] for a in ann.get("/api/alerts").json()["alerts"]}
        for alert_id, verdict in (
            ("t1-000002-01", "rejected"),
            ("t1-000003-01", "confirmed"),
            ("t1-000004-01", "rejected"),
        ):  # fmt: skip
            ann.post(f"/api/alerts/{lines[alert_id]}/verdict", json={"verdict": verdict})
        listed = [
            Verdict.model_validate(json.loads(line))
            for line in (run / "verdicts.jsonl").read_text().splitlines()
        ]
        assert [(v.alert_id, v.verdict, v.by) for v in listed] == [
            ("t1-000002-01", "wrong", "ann"),
            ("t1-000003-01", "right", "ann"),
            ("t1-000004-01", "wrong", "ann"),
        ]
        with Dataset.open(dataset) as labelled:
            found = list(labelled.pictures())
            assert sorted(p.file for p in found) == [
                "run1/t1-000002-01-seat3.jpg",
                "run1/t1-000004-01-seat3.jpg",
            ]
            assert all(dict(p.attributes)["overruled"] is True for p in found)
            assert all(p.confirmed_by is None for p in found)


def test_views_of_a_rejected_alert_are_cut_from_its_bundle(
    tmp_path: Path, table: TableFile
) -> None:
    dataset = tmp_path / "labelled"
    Dataset.create(dataset, ()).close()
    with made_room(tmp_path / "room", table, (dataset,)) as room, asking(room, "ann") as ann:
        line = first_alert(ann, code="OVERPAID")
        row = room.store.alerts.get(int(str(line["id"])))
        ann.post(f"/api/alerts/{row.id}/verdict", json={"verdict": "rejected"})
        name = f"{CAMERA}-{row.id}-{row.alert.alert_id}"
        with Dataset.open(dataset) as labelled:
            found = {Path(p.file).name: p for p in labelled.pictures()}
            assert set(found) == {Path(path).name for path in row.alert.pictures}
            assert {p.file.split("/")[0] for p in found.values()} == {name}
            settled = next(p for p in found.values() if "settled" in p.file)
            boxes = labelled.boxes(settled.id)
            assert [(b.label, b.xyxy) for b in boxes] == [
                ("AS", (10, 10, 22, 30)), ("chip_stack", (50, 50, 80, 80)),
            ]  # fmt: skip
            assert settled.labelled_by == "model:" + "ab" * 6
            # Nothing is drawn over it, and it is the frame of its time: number n of the
            # clip is 20 + 3 n bright, and it was settled 3.6 s into it.
            view = cv2.imread(str(labelled.path(settled)))
            assert view is not None
            inside = view[view.max(axis=2) > 5]
            assert float(np.median(inside)) == pytest.approx(20 + 3 * 36, abs=4)
        # The bundle is altered by none of it, and a second verdict adds nothing twice.
        ann.post(f"/api/alerts/{row.id}/verdict", json={"verdict": "rejected"})
        verdicts = (room.evidence_dir / "candidates" / name / "verdicts.jsonl").read_text()
        assert len(verdicts.splitlines()) == 2
        with Dataset.open(dataset) as labelled:
            assert len(list(labelled.pictures())) == len(row.alert.pictures)
