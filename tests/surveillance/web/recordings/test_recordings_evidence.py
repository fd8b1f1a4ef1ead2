"""Alerts from recordings have what live ones have: a bundle in the log, and a clip that plays."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import av
import pytest
from fastapi.testclient import TestClient

from settlement.errors import FeltwatchError
from surveillance.alerts.model import read_alerts
from surveillance.audit.bundles import bundle_results
from surveillance.audit.footage import FOR_BUNDLES
from surveillance.audit.recording import ClipPlan, audit
from surveillance.cli import main
from surveillance.evidence.bundle import (
    Chain,
    SigningKey,
    VerifyKey,
    part_names,
    read_part,
    site_key,
    verify_bundle,
    verify_folder,
)
from surveillance.evidence.bundle.verify_log import check_log
from surveillance.recordings import results
from surveillance.recordings.results import take_results
from surveillance.store import AlertFilter, AlertRow, NewRecording, RecordingRow, Store
from surveillance.web.access import Role
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings
from tests import waiting
from tests.surveillance.audit.test_audit_resume import CountingWatcher, stopping_after
from tests.surveillance.web.recordings.recordings_made import manager_of

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[4] / "sample"
until = partial(waiting.until, within_s=120.0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def key(data: Path) -> SigningKey:
    return site_key(data / "key.pem", data / "evidence")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'w.sqlite'}") as store:
        yield store


def client_of(store: Store, evidence_dir: Path) -> TestClient:
    app = create_app(WebSettings(store=store, evidence_dir=evidence_dir))
    user = store.people.add("ann", Role.REVIEWER.value, None)
    secret = app.state.accounts.tokens.make(user, "test", Role.REVIEWER, None).secret
    return TestClient(
        app, base_url="http://127.0.0.1:8471", headers={"authorization": f"Bearer {secret}"}
    )


def alerts_of(store: Store) -> list[AlertRow]:
    return list(store.alerts.page(AlertFilter(), None, 100).rows)


def bundle_lines(evidence_dir: Path) -> list[dict[str, Any]]:
    log = check_log(evidence_dir / "chain.jsonl")
    assert log.problems == ()
    return [entry for entry in log.entries if entry["act"] == "bundle"]


def test_stopped_and_gone_on_with_each_alert_has_one_bundle(
    store: Store, video: Path, table_path: Path, tmp_path: Path, data: Path, key: SigningKey
) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    shutil.copy(video, folder / "night.mp4")
    shutil.copy(table_path, folder / "table.toml")
    with manager_of(store, folder, data, key=key) as manager:
        row = manager.add(str(folder), "night.mp4", str(folder / "table.toml"), "ann")
        until(lambda: store.recordings.get(row.id).rounds >= 2, "two rounds were decided")
        manager.request_stop(row.id)
        until(lambda: store.recordings.get(row.id).state == "stopped", "it stopped")
        assert bundle_lines(data / "evidence") == []
        manager.resume(row.id)
        until(lambda: store.recordings.get(row.id).state == "done", "it is done")
    evidence = data / "evidence"
    check = verify_folder(evidence, key=key.public)
    assert check.problems == ()
    alerts = alerts_of(store)
    assert len(alerts) == store.recordings.get(row.id).alerts > 2
    lines = bundle_lines(evidence)
    assert sorted(e["detail"]["alert_id"] for e in lines) == sorted(
        a.alert.alert_id for a in alerts
    )
    assert check.bundles == len(alerts)
    assert check.signed == check.lines
    for alert in alerts:
        bundle = evidence / str(alert.bundle)
        assert bundle.parent == evidence / "recordings" / str(row.id) / "bundles"
        parts = set(part_names(bundle))
        assert parts >= {
            "alert.json", "record.json", "settlement.json", "detections.jsonl", "versions.json",
            "table.toml", "clip.mp4",
        }  # fmt: skip
        pictures = {f"pictures/{Path(name).name}" for name in alert.alert.pictures}
        assert pictures
        assert pictures <= parts
        assert read_part(bundle, "table.toml") == (folder / "table.toml").read_bytes()
        # Those decided before it was stopped have what was seen as well.
        seen = [json.loads(x) for x in read_part(bundle, "detections.jsonl").splitlines()]
        assert {one["label"] for one in seen} == {"AS", "chip_red x3"}
        assert set(json.loads(read_part(bundle, "versions.json"))) == {
            "model", "rules", "table_file", "program",
        }  # fmt: skip
    assert not (evidence / "recordings" / str(row.id) / FOR_BUNDLES).exists()


def audited(
    store: Store, video: Path, table_path: Path, data: Path, **more: Any
) -> tuple[RecordingRow, Path]:
    """A recording in the store whose audit has just left its results."""
    stat = video.stat()
    row = store.recordings.add(
        NewRecording(
            folder=str(video.parent), file=video.name, size=stat.st_size, mtime=stat.st_mtime,
            table_file=str(table_path), by="ann", duration_s=4.0,
        )
    )  # fmt: skip
    out = data / "evidence" / "recordings" / str(row.id)
    audit(video, table_path, out, **more)
    return row, out


def take(store: Store, row: RecordingRow, out: Path, chain: Chain) -> None:
    from models.weights.folder import default_weights

    take_results(store, row, out, f"recordings/{row.id}", Path(default_weights()), chain)


class Crash(BaseException):
    """The program ends here."""


@pytest.mark.parametrize("place", ["written", "stored"])
def test_cut_off_while_bundles_are_written_none_is_written_twice(
    store: Store,
    video: Path,
    table_path: Path,
    data: Path,
    key: SigningKey,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The program ends after the third bundle; the audit is done again and its results taken."""
    evidence = data / "evidence"
    chain = Chain.of(evidence, key)
    row, out = audited(
        store, video, table_path, data, make_watcher=lambda *_: CountingWatcher(), clips=ClipPlan()
    )
    left = [3]

    def counted(really: Any) -> Any:
        def maybe(*args: Any, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] == 0 and place == "stored":
                raise Crash
            done = really(*args, **kwargs)
            if left[0] == 0:
                raise Crash
            return done

        return maybe

    with monkeypatch.context() as patch:
        patch.setattr(type(store.alerts), "set_bundle", counted(type(store.alerts).set_bundle))
        with pytest.raises(Crash):
            take(store, row, out, chain)
    assert len(bundle_lines(evidence)) == 3
    # What was left is there still, and so is what a repeated audit leaves.
    audit(video, table_path, out, make_watcher=lambda *_: CountingWatcher(), clips=ClipPlan())
    take(store, row, out, chain)
    lines = bundle_lines(evidence)
    alerts = alerts_of(store)
    assert sorted(e["detail"]["alert_id"] for e in lines) == sorted(
        a.alert.alert_id for a in alerts
    )
    assert len({a.bundle for a in alerts}) == len(alerts) == len(list(evidence.rglob("*.zip")))
    assert verify_folder(evidence, key=key.public).problems == ()


def test_stopped_while_clips_are_cut_it_is_stopped(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    from surveillance.stopped import Stopped

    many = len(list(range(0, 40, 2)))
    with pytest.raises(Stopped):
        audit(
            video, table_path, tmp_path / "out", make_watcher=lambda *_: CountingWatcher(),
            clips=ClipPlan(), work_dir=tmp_path / "work", should_stop=stopping_after(many + 2),
        )  # fmt: skip
    assert not (tmp_path / "out").exists()
    audit(
        video, table_path, tmp_path / "out", make_watcher=lambda *_: CountingWatcher(),
        clips=ClipPlan(), work_dir=tmp_path / "work",
    )  # fmt: skip
    clips = list((tmp_path / "out" / FOR_BUNDLES / "clips").iterdir())
    assert len(clips) == len(read_alerts(tmp_path / "out" / "alerts.jsonl"))


def test_results_of_an_earlier_version_are_taken_without_bundles(
    store: Store, video: Path, table_path: Path, data: Path
) -> None:
    row, out = audited(store, video, table_path, data, make_watcher=lambda *_: CountingWatcher())
    take(store, row, out, Chain.of(data / "evidence"))
    assert [a.bundle for a in alerts_of(store)] == [None] * len(alerts_of(store))
    assert results.BUNDLES not in {p.name for p in out.iterdir()}


# ---- a real recording


def mistake() -> tuple[str, float, float]:
    """The code of the sample's first mistake with a seat's bet, and when its round was, s."""
    for line in (SAMPLE / "truth.jsonl").read_text().splitlines():
        record = json.loads(line)
        fault = next((f for f in record["faults"] if f.get("seat")), None)
        if fault is not None:
            return fault["code"], float(record["start_s"]), float(record["end_s"])
    raise AssertionError("the sample has a round with a mistake at a seat")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample from before that round to its felt being empty, packets as they are."""
    _, begin_s, end_s = mistake()
    path = tmp_path_factory.mktemp("pit") / "night.mp4"
    with av.open(str(SAMPLE / "video.mp4")) as film, av.open(str(path), "w") as out:
        inner = film.streams.video[0]
        outer: Any = out.add_stream_from_template(inner)
        first: int | None = None
        for packet in film.demux(inner):
            if packet.pts is None or packet.dts is None or packet.time_base is None:
                continue
            at_s = float(packet.pts * packet.time_base)
            if first is None and packet.is_keyframe and at_s >= begin_s - 3:
                first = packet.pts
            if first is None or at_s > end_s + 3:
                continue
            packet.pts, packet.dts = packet.pts - first, packet.dts - first
            packet.stream = outer
            out.mux(packet)
    return path


def test_a_real_recording_gives_bundles_that_stand_and_clips_that_play(
    recording: Path, tmp_path: Path, data: Path, store: Store
) -> None:
    """As an auditor without a store has them, then the same results in a store."""
    key = site_key(data / "key.pem", data / "evidence")
    row, out = audited(store, recording, SAMPLE / "table.toml", data, clips=ClipPlan(small=True))
    shutil.copytree(out, tmp_path / "out")
    evidence = tmp_path / "evidence"
    alone = Chain.of(evidence, site_key(tmp_path / "own.pem", evidence))
    refs = bundle_results(
        tmp_path / "out", evidence / "night", alone, table="t1", video=recording, duration_s=30.0
    )
    assert not (tmp_path / "out" / FOR_BUNDLES).exists()
    alerts = read_alerts(out / "alerts.jsonl")
    (alert,) = [a for a in alerts if a.code == mistake()[0]]
    check = verify_folder(evidence, key=VerifyKey.load(tmp_path / "own.pem.pub"))
    assert (check.problems, check.bundles, check.signed) == ((), len(alerts), len(alerts) + 1)
    bundle = refs[alerts.index(alert)].path
    assert json.loads(read_part(bundle, "alert.json"))["alert_id"] == alert.alert_id
    with av.open(io.BytesIO(read_part(bundle, "clip.mp4")), "r") as clip:
        stream = clip.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.width) == ("h264", 3840)
        packets = [p for p in clip.demux(stream) if p.size]
        assert packets[0].is_keyframe
        length_s = float(max(p.pts or 0 for p in packets) * packets[0].time_base)
    # From before the first frame of it to after the last, as far as the recording goes.
    start_s = float(json.loads(read_part(bundle, "manifest.json"))["clip_start_s"])
    span = ClipPlan().span(alert)
    assert span is not None
    with av.open(str(recording)) as film:
        end_s = float(film.duration or 0) / av.time_base
    assert start_s <= max(span[0], 0.0) + 1e-6
    assert start_s + length_s == pytest.approx(min(span[1], end_s), abs=0.5)

    # In a store: the alert's page plays the clip at its moment, and gives the bundle.
    take(store, row, out, Chain.of(data / "evidence", key))
    (kept,) = [a for a in alerts_of(store) if a.alert.code == mistake()[0]]
    client = client_of(store, data / "evidence")
    form = client.get(f"/api/alerts/{kept.id}").json()
    assert form["clip"]["is_known"]
    assert form["clip"]["moment_s"] == pytest.approx(float(alert.end_s or 0) - start_s, abs=0.01)
    played = client.get(form["clip"]["url"])
    assert played.headers["content-type"] == "video/mp4"
    with av.open(io.BytesIO(played.content)) as clip:
        context = clip.streams.video[0].codec_context
        # 4K is more than pages load quickly: there is a smaller copy, as of live alerts.
        assert (context.name, context.width, context.height) == ("h264", 1280, 720)
    assert client.get(f"/api/alerts/{kept.id}/clip/still", params={"at_s": 1}).status_code == 200
    taken = client.get(f"/api/alerts/{kept.id}/bundle")
    (tmp_path / "taken.zip").write_bytes(taken.content)
    assert verify_bundle(tmp_path / "taken.zip") == ()
    assert verify_folder(data / "evidence", key=key.public).problems == ()


def test_the_command_writes_bundles_and_goes_on_with_their_log(
    video: Path,
    table_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def counted(*args: Any, **more: Any) -> Any:
        return audit(*args, **more, make_watcher=lambda *_: CountingWatcher())

    monkeypatch.setattr("surveillance.audit.recording.audit", counted)
    evidence, key_file = tmp_path / "evidence", tmp_path / "keys" / "key.pem"
    command = [
        "audit", str(video), "--table", str(table_path), "--out", str(tmp_path / "out"), "--quiet",
        "--bundles", str(evidence), "--key", str(key_file),
    ]  # fmt: skip
    for _ in range(2):  # the same once more adds nothing
        assert main(command) == 0
        many = len(read_alerts(tmp_path / "out" / "alerts.jsonl"))
        assert f"{many} bundles: {evidence}" in capsys.readouterr().out
        assert len(bundle_lines(evidence)) == many > 2
        assert len(list((evidence / video.name).glob("*.zip"))) == many
    assert not (tmp_path / "out" / FOR_BUNDLES).exists()
    assert main(["verify", str(evidence), "--key", f"{key_file}.pub"]) == 0
    said = capsys.readouterr().out
    assert "nothing was changed" in said
    assert f"{many + 1} of {many + 1} lines" in said


def test_a_key_without_bundles_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["audit", "v.mp4", "--table", "t.toml", "--out", "o", "--key", "k.pem"])
    assert code == 2
    assert "--key signs the log of --bundles" in capsys.readouterr().err


def test_what_is_damaged_is_reported(
    store: Store, video: Path, table_path: Path, data: Path
) -> None:
    row, out = audited(
        store, video, table_path, data, make_watcher=lambda *_: CountingWatcher(), clips=ClipPlan()
    )
    (out / FOR_BUNDLES / "clips.jsonl").write_text("{}\n")
    with pytest.raises(FeltwatchError, match=r"clips\.jsonl: is damaged"):
        take(store, row, out, Chain.of(data / "evidence"))


def test_a_detector_of_its_own_is_named_by_its_own_hash(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    detector = tmp_path / "own.pt"
    detector.write_bytes(b"weights")
    audit(
        video, table_path, tmp_path / "out", make_watcher=lambda *_: CountingWatcher(),
        clips=ClipPlan(), detector_dir=detector,
    )  # fmt: skip
    model = json.loads((tmp_path / "out" / FOR_BUNDLES / "versions.json").read_text())["model"]
    assert model["name"] == "own.pt"
    assert model["sha256"] == model["parts"]["detector"] == hashlib.sha256(b"weights").hexdigest()
    assert len(model["parts"]) > 1
