from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from datasets.render.appearance import CameraFaults
from datasets.render.camera import play_area, synthetic_camera
from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.scene import CardItem, Change, LammerItem, Reach, ShiftPlan, StackItem
from datasets.render.shake import Shake
from datasets.simulate.filming.film import Film, Look
from datasets.simulate.filming.truth_frames import FrameLog, FrameTruth, read_frames
from settlement.rules import TableRules
from vision.geometry.standard_layout import standard_table

TABLE = standard_table(TableRules(game="emperors_challenge_exposed"), seats=2)
CAMERA = synthetic_camera(
    TABLE.felt, height_mm=2800, tilt_deg=35, width_px=1280, height_px=720,
    keep_mm=play_area(TABLE), distortion=(-0.4, 0.1),
)  # fmt: skip
DARK = Look((10, 20, 14), (10, 20, 14), (8, 8, 8), CameraFaults(blur_px=0.3, noise=0.0))
LOW, HIGH = (
    CardItem("r1.1.card0", "2C", (900.0, 600.0), 5.0, True),
    CardItem("r1.1.card1", "3C", (920.0, 603.0), 3.0, True),
)
AWAY = CardItem("r1.dealer.card0", "KS", (1200.0, 600.0), 0.0, False)
STACK = StackItem("r1.1.main.stake0", (1065.0, 700.0), ("red",) * 8)
LAMMER = LammerItem("r1.1.lammer0", "envy", (1000.0, 800.0), 30.0)
PLAN = ShiftPlan(
    duration_s=4.0,
    changes=(Change(0.5, (LOW, AWAY, STACK, LAMMER)), Change(1.5, (HIGH,))),
    reaches=(Reach(2.0, 3.0, "player", (1065.0, 1500.0), ((1065.0, 1300.0), STACK.center_mm,
                                                          STACK.center_mm, (1065.0, 1300.0))),),
    rounds=(),
)  # fmt: skip


@pytest.fixture(scope="module")
def deck() -> Deck:
    return draw_deck()


def truth(deck: Deck, look: Look = DARK) -> FrameTruth:
    return FrameTruth(Film(TABLE, CAMERA, deck, look, np.random.default_rng(2)), PLAN)


def by_class(objects: list[dict], name: str) -> list[dict]:  # type: ignore[type-arg]
    return [one for one in objects if one["class"] == name]


def test_objects_come_with_their_class_and_box(deck: Deck) -> None:
    own = truth(deck)
    assert own.objects(0.0) == []
    objects = own.objects(1.0)
    assert {one["class"] for one in objects} == {"card", "index", "back", "chip", "lammer_envy"}
    assert len(by_class(objects, "index")) == len(deck.faces["2C"].indices)
    (stack,) = by_class(objects, "chip")
    assert stack["colours"] == ["red"] * 8
    assert stack["seat"] == 1
    for one in objects:
        assert one["visible"] == 1.0
        x0, y0, x1, y1 = one["box_px"]
        polygon = np.array(one["polygon_px"])
        assert polygon.min(axis=0).tolist() == [x0, y0]
        assert polygon.max(axis=0).tolist() == [x1, y1]


def test_a_card_that_covers_another_takes_from_its_share(deck: Deck) -> None:
    own = truth(deck)
    before = {one["key"]: one for one in by_class(own.objects(1.0), "card")}
    after = {one["key"]: one for one in by_class(own.objects(1.6), "card")}
    assert before[LOW.key]["visible"] == 1.0
    # 20 of 63 mm of the lower card show.
    assert after[LOW.key]["visible"] == pytest.approx(20 / 63, abs=0.06)
    assert after[HIGH.key]["visible"] == 1.0
    # Its index lies in the strip that shows; the one at the other end is covered.
    shares = [o["visible"] for o in by_class(own.objects(1.7), "index") if o["key"] == LOW.key]
    assert max(shares) > 0.9
    assert min(shares) < 0.1


def test_an_arm_hides_what_it_covers(deck: Deck) -> None:
    own = truth(deck)
    shares = [by_class(own.objects(t), "chip")[0]["visible"] for t in (1.9, 2.5)]
    assert shares[0] == 1.0
    assert shares[1] < 0.5
    assert by_class(own.objects(2.6), "arm")
    assert not by_class(own.objects(3.5), "arm")
    assert by_class(own.objects(3.6), "chip")[0]["visible"] == 1.0


def test_boxes_lie_where_the_film_draws(deck: Deck) -> None:
    own = truth(deck)
    objects = own.objects(1.0)
    film = Film(TABLE, CAMERA, deck, DARK, np.random.default_rng(2))
    empty = film.bgr().astype(int)
    film.apply({LOW.key: LOW}, (LOW,))
    drawn = np.abs(film.bgr().astype(int) - empty).max(axis=2) > 60
    (card,) = by_class(objects, "card")
    mask = np.zeros(drawn.shape, np.uint8)
    cv2.fillPoly(mask, [np.round(np.array(card["polygon_px"])).astype(np.int32)], 1)
    both = (mask > 0) & drawn
    # The card's print is darker than the limit here and there.
    assert both.sum() > 0.75 * mask.sum()
    assert both.sum() > 0.97 * drawn.sum()


def test_the_shake_moves_boxes_with_the_frame(deck: Deck) -> None:
    from dataclasses import replace

    look = replace(DARK, shake=Shake(3.0, 2.0, 5))
    own, still = truth(deck, look), truth(deck)
    t = next(k / 10 for k in range(6, 15) if any(abs(v) > 0.5 for v in own.film.shift_px(k / 10)))
    dx, dy = own.film.shift_px(t)
    a, b = own.objects(t)[0]["box_px"], still.objects(t)[0]["box_px"]
    assert a == pytest.approx([b[0] + dx, b[1] + dy, b[2] + dx, b[3] + dy], abs=0.06)


def test_lines_are_read_back(tmp_path: Path) -> None:
    with FrameLog(tmp_path / "f.jsonl.gz") as log:
        log.write(30, 2.0, [{"class": "chip"}])
        log.write(31, 2.06666, [], "camera/dark")
    first, second = read_frames(tmp_path / "f.jsonl.gz")
    assert first == {"pts": 30, "t_s": 2.0, "objects": [{"class": "chip"}]}
    assert second["trouble"] == "camera/dark"
