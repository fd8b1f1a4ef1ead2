"""Alerts' images and clips in a real browser: each camera's, early, unplayable."""

from __future__ import annotations

import re
from pathlib import Path

import av
import pytest
from playwright.sync_api import Route

from surveillance.evidence.bundle import FurtherClip
from tests.surveillance.web.room.room_browser import Visit, at, press, queue
from tests.surveillance.web.room_made import CAMERA, MadeRoom, make_clip
from tests.waiting import until


def test_images_by_keys_and_the_clip_plays_at_the_moment(visit: Visit) -> None:
    page = queue(visit, "/alerts?code=OVERPAID")
    press(page, "n")  # the clip comes first after the pair
    press(page, "n")
    page.wait_for_selector(".stage[data-kind=picture] img")
    until(
        lambda: page.evaluate("document.querySelector('.stage img')?.naturalWidth ?? 0") > 600,
        "the picture is shown",
    )
    press(page, "p", "p")
    page.wait_for_selector(".stage[data-kind=pair]")

    press(page, "Space")
    page.wait_for_selector(".clip[data-ready=true]")
    video = "document.querySelector('video')"
    until(lambda: page.evaluate(f"{video}?.paused === false || {video}?.ended"), "the clip plays")
    # The moment lies 3.6 s into the clip; play begins a little before.
    until(lambda: page.evaluate(f"{video}?.currentTime ?? 0") > 2.2, "the clip goes on")
    assert page.evaluate(f"{video}.error") is None
    assert page.evaluate(f"{video}.played.start(0)") == pytest.approx(2.1, abs=0.3)
    assert page.evaluate(f"{video}.videoWidth") == 320
    press(page, "ArrowLeft")
    until(lambda: page.evaluate(f"{video}?.paused"), "a step stops it")
    # As nothing plays any more, it is the same however long the keys take.
    press(page, "m", "ArrowRight")
    assert page.evaluate(f"{video}.currentTime") == pytest.approx(3.1, abs=0.01)
    page.locator(".clip-words", has_text="0.5 s before the moment").wait_for()


def test_the_clips_of_each_camera_go_on_at_the_same_moment(
    visit: Visit, room: MadeRoom, tmp_path: Path
) -> None:
    low = make_clip(tmp_path / "low.mp4")
    further = (FurtherClip("low", low, "-1.000"), FurtherClip("high", missing="it was away"))
    own = room.evidence_dir / CAMERA / "clips" / "one.mp4"
    _, (row,) = room.add_round(63, paid_cents=3500, clip=own, further_clips=further)
    page = queue(visit, f"/alerts?alert={row.id}")
    at(page, row.id)
    assert page.inner_text(".clip-missing") == "No clip of high: it was away."
    press(page, "m", "ArrowRight")  # half a second before the moment
    page.locator(".clip-words", has_text="0.5 s before the moment").wait_for()
    press(page, "n")
    page.wait_for_selector("video[aria-label='Clip of the alert, low']")
    page.locator(".clip-words", has_text="0.5 s before the moment").wait_for()
    video = "document.querySelector('video')"
    # Its moment lies 2.6 s into it, the first one's 3.6 s.
    until(
        lambda: abs(page.evaluate(f"{video}?.currentTime ?? 0") - 2.1) < 0.05,
        "it goes on at the same moment",
    )
    press(page, "Space")
    until(lambda: page.evaluate(f"{video}?.currentTime ?? 0") > 2.4, "it plays")
    tabs = page.locator(".strip button.clip .tab-words").all_inner_texts()
    assert tabs == ["clip", "low: clip"]
    press(page, "p")
    page.wait_for_selector("video[aria-label='Clip of the alert']")


def test_a_place_chosen_before_the_clip_is_loaded_is_kept(visit: Visit, room: MadeRoom) -> None:
    make_clip(room.evidence_dir / CAMERA / "clips" / "one.mp4")
    page = queue(visit, "/alerts?code=OVERPAID")
    held: list[Route] = []
    clip = re.compile(r"/clip(\?|$)")
    page.route(clip, lambda route: held.append(route))
    page.reload()
    page.wait_for_selector("body[data-queue=ready]")
    page.wait_for_selector("#detail[data-alert]")
    press(page, "m", "ArrowRight", "ArrowRight")  # half a second after the moment
    page.wait_for_selector("video")

    def asked() -> bool:
        page.evaluate("0")  # routes are handled while the page is waited for
        return bool(held)

    until(asked, "the clip is asked for")
    for route in list(held):
        route.continue_()
    page.unroute(clip)
    page.locator(".clip-words", has_text="0.5 s after the moment").wait_for()


def test_a_clip_the_browser_cannot_play_is_shown_as_stills(
    visit: Visit, room: MadeRoom, complaints: list[str]
) -> None:
    if "libx265" not in av.codecs_available:
        pytest.skip("no H.265 here")
    make_clip(room.evidence_dir / CAMERA / "clips" / "one.mp4", "libx265")
    page = queue(visit, "/alerts?code=OVERPAID")
    press(page, "Space")
    page.wait_for_selector(".clip .still")
    until(
        lambda: page.evaluate("document.querySelector('.still')?.naturalWidth") == 320,
        "a still is shown",
    )
    assert "cannot play the clip's codec" in page.inner_text(".clip-words")
    first = page.get_attribute(".still", "src")
    until(lambda: page.get_attribute(".still", "src") != first, "it goes on by itself")


def test_a_further_camera_shows_before_and_after_too(visit: Visit, room: MadeRoom) -> None:
    _, (alert,) = room.add_round(60, paid_cents=3500, further="shoulder")
    page = queue(visit)
    at(page, alert.id)
    own = page.locator(".strip button.pair")
    assert own.all_inner_texts() == ["before | after", "shoulder: before | after"]
    own.nth(1).click()
    shown = page.locator(".stage[data-kind=pair] figcaption")
    assert ["shoulder: seat 3" in words for words in shown.all_inner_texts()] == [True, True]
