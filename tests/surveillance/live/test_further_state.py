"""A further camera beside a table's first one: its state is published, its loss is no other's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from settlement.errors import FeltwatchError
from surveillance.config.site_check import check_site
from surveillance.config.site_file import load_site
from surveillance.live.states import LiveEvent
from tests.rtsp.loopback import RtspServer
from tests.surveillance.live.live_room import FITS, wait_event, wait_for, write_site
from tests.surveillance.live.test_supervisor import RunningRoom, room
from tests.vision.sources.live_films import SIZE, write_film

SECRET = "s3cret%/"
LIVE_S = 2.0
"""An older image is marked as not live."""
LOW = {"name": "low", "source": "rtsp://10.0.0.9/low"}


def further_state(running: RunningRoom, state: str, words: str = "") -> dict[str, Any]:
    """The table's state once its further camera is so."""

    def is_so(event: LiveEvent) -> bool:
        own = event.body["further"] if event.kind == "state" else ()
        return any(one["state"] == state and words in one["message"] for one in own)

    return wait_event(running.news, is_so).body


def picture_age_s(event: LiveEvent) -> float | None:
    """The age of its live image that a state tells."""
    own = event.body["further"] if event.kind == "state" else ()
    return next((one["picture_age_s"] for one in own), None)


def is_aged(event: LiveEvent) -> bool:
    return picture_age_s(event) is not None


@pytest.mark.slow
def test_a_lost_further_camera_costs_the_first_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_LOW_PW", SECRET)
    film = write_film(tmp_path / "long.mp4", 90.0, rate=5)
    with RtspServer({"t": film}) as first, RtspServer({"low": film}, "ann", SECRET) as low:
        further = {"name": "low", "source": low.url("low"), "username": "ann"}
        camera = {"further": [{**further, "password_env": "TEST_LOW_PW"}]}
        with room(tmp_path, first.url("t"), FITS, camera=camera, beside=["low"]) as running:
            body = further_state(running, "running")
            assert (body["further"][0]["name"], body["state"]) == ("low", "running")
            # Its image is a live one, and its own.
            wait_event(running.news, lambda e: picture_age_s(e) is not None)
            data = running.bus.picture("c1", overlay=False, further="low")
            assert data is not None
            image = np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), 1))
            assert image.shape[:2] == SIZE[::-1]
            ages = [picture_age_s(wait_event(running.news, is_aged)) for _ in range(6)]
            assert min(age for age in ages if age is not None) <= LIVE_S
            low.say("down")
            wait_event(running.news, lambda e: (picture_age_s(e) or 0.0) > 2 * LIVE_S)
            body = further_state(running, "reconnecting", "new attempt in")
            assert body["state"] == "running"
            assert SECRET not in str(body)
            alert = wait_event(
                running.news, lambda e: e.kind == "alert" and e.body["code"] == "CAMERA"
            )
            row = running.store.alerts.get(alert.body["id"])
            assert row.alert.message.startswith("c1: further camera low: no picture comes")
            assert len(row.alert.pictures) == 1
            # Meanwhile the first is watched: its rounds are decided one after another.
            wait_event(running.news, lambda e: e.kind == "round")
            wait_event(running.news, lambda e: e.kind == "round")
            low.say("up")
            assert further_state(running, "running")["state"] == "running"
            ended = wait_event(
                running.news, lambda e: e.kind == "health" and e.body.get("act") == "ended"
            )
            assert ended.body["incident"] == "low-no-picture"
            wait_for(lambda: running.store.alerts.get(row.id).alert.end_s is not None)


@pytest.mark.slow
def test_a_file_that_is_no_video_fails_beside_a_camera_that_works(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mp4", 30.0, rate=5)
    (tmp_path / "low.mp4").write_bytes(b"no video")
    camera = {"loop": True, "further": [{"name": "low", "source": "low.mp4"}]}
    with room(tmp_path, str(film), FITS, camera=camera, beside=["low"]) as running:
        assert further_state(running, "failed", "low.mp4")["state"] in ("connecting", "running")
        wait_event(running.news, lambda e: e.kind == "round")


@pytest.mark.parametrize(
    ("further", "message"),
    [
        (
            [{**LOW, "name": "side"}],
            r"camera 1 \(c1\)\.further 1 \(side\)\.name: .* no camera 'side' .*; it has low\.",
        ),
        ([LOW, LOW], r"further: two cameras are named 'low'"),
        ([{**LOW, "offset_s": 60}], r"further 1 \(low\)\.offset_s: must be 10 or less"),
        ([{**LOW, "source": "gone.mp4"}], r"further 1 \(low\)\.source: .*no such video file"),
        ([{**LOW, "loop": True}], "loop is for video files only"),
        ([{**LOW, "source": "rtsp://a:b@c/d"}], "source holds a password"),
        (
            [{**LOW, "username": "ann", "password_env": "NOT_SET_HERE"}],
            r"further 1 \(low\)\.password_env: the environment variable NOT_SET_HERE is not set",
        ),
    ],
)
def test_a_further_camera_is_checked_as_the_first_is(
    tmp_path: Path, further: list[dict[str, Any]], message: str
) -> None:
    write_film(tmp_path / "film.mp4", 0.5)
    path = write_site(tmp_path, "film.mp4", camera={"further": further}, beside=["low"])
    with pytest.raises(FeltwatchError, match=message):
        check_site(load_site(path), path)


def test_a_further_cameras_files_are_taken_from_the_site_files_folder(tmp_path: Path) -> None:
    write_film(tmp_path / "film.mp4", 0.5)
    further = [{"name": "low", "source": "film.mp4", "offset_s": -0.2}]
    path = write_site(tmp_path, "film.mp4", camera={"further": further}, beside=["low"])
    site = load_site(path)
    check_site(site, path)
    (low,) = site.cameras[0].further
    assert (low.source, low.offset_s) == (str(tmp_path / "film.mp4"), -0.2)
