"""Photographs: tiling, turns, and joining indices to cards."""

from __future__ import annotations

import doctest
import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import cv2
import numpy as np
import pytest
from PIL import Image

from datasets.render.cards.deck import draw_deck, random_style
from datasets.training.training_set import CLASS_NAMES, square_crop
from datasets.training.training_set import CROP_MARGIN as TRAINED_MARGIN
from datasets.training.training_set import CROP_PX as TRAINED_PX
from datasets.training.views import render_view
from settlement.record import DECK_LABELS
from tests.vision.cards.read_index import index
from tests.vision.painted import (
    NAMES,
    ColourDetector,
    ColourReader,
    ground,
    paint_card,
    paint_index,
)
from vision.cards import outline as outline_module
from vision.cards import photo as photo_module
from vision.cards import rotation as turns_module
from vision.cards.grouping import join_indices
from vision.cards.photo import PhotoError, PhotoReader, card_of_reading, read_photo, read_picture
from vision.cards.rotation import (
    CROP_MARGIN,
    CROP_PX,
    Reading,
    index_height,
    read_boxes,
    turned_crops,
)
from vision.detect import tiling as tiles_module
from vision.detect.detections import Detections
from vision.detect.tiling import find_in_picture, overlaps, scales, tiles
from vision.geometry.turned import axes


@pytest.fixture
def reader() -> PhotoReader:
    return PhotoReader(ColourDetector(), ColourReader())


def iou(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return float(overlaps(np.array(a), np.array([b]))[0][0])


@pytest.mark.parametrize("module", [tiles_module, turns_module, outline_module])
def test_doctests(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0


class TestTiles:
    @pytest.mark.parametrize("size", [(1, 1), (128, 128), (640, 480), (100, 900), (5000, 3100)])
    def test_views_cover_every_pixel_at_every_scale(self, size: tuple[int, int]) -> None:
        width, height = size
        views = tiles(width, height, 128)
        for scale in {tile.scale for tile in views}:
            w, h = max(1, round(width * scale)), max(1, round(height * scale))
            seen = np.zeros((h, w), bool)
            for tile in views:
                if tile.scale == scale:
                    assert 0 <= tile.x < w
                    assert 0 <= tile.y < h
                    seen[tile.y : tile.y + 128, tile.x : tile.x + 128] = True
            assert seen.all()

    def test_the_first_views_are_the_whole_image_and_the_last_its_own_pixels(self) -> None:
        steps = scales(3840, 2160, 512)
        assert steps[:2] == pytest.approx([256 / 3840, 512 / 3840])
        assert steps[-1] == 1.0
        assert all(b / a <= 2.3 for a, b in itertools.pairwise(steps))

    def test_a_giant_image_stays_within_bounds(self) -> None:
        views = tiles(60000, 40000, 512)
        finest = max(tile.scale for tile in views)
        assert finest < 1
        assert sum(tile.scale == finest for tile in views) <= 400

    def test_each_index_is_found_once_though_views_overlap_and_cut(self) -> None:
        image = ground(700, 420)
        rng = np.random.default_rng(3)
        truth = []
        for n in range(24):
            at = (50.0 + 85 * (n % 8) + rng.uniform(-9, 9), 60.0 + 130 * (n // 8))
            paint_index(image, "AS", at, float(rng.uniform(0, 360)), 34)
            truth.append(at)
        found = find_in_picture(image, ColourDetector())
        assert len(found) == len(truth)
        centers = (found.xyxy[:, :2] + found.xyxy[:, 2:]) / 2
        for at in truth:
            assert np.hypot(*(centers - at).T).min() < 3

    def test_a_cut_box_stays_when_nothing_whole_is_there(self) -> None:
        class Half:
            size = 128

            def find(
                self, views: Sequence[np.ndarray], *, least: float | None = None
            ) -> list[Detections]:
                edge = np.array([[100, 40, 128, 60]], np.float32)
                first = Detections(edge, np.ones(1, np.float32), np.zeros(1, np.int64), NAMES)
                return [Detections.empty(NAMES), first][: len(views)] + [
                    Detections.empty(NAMES) for _ in range(len(views) - 2)
                ]

        assert len(find_in_picture(ground(500, 128), Half())) == 1


class TestTurns:
    def test_crops_are_cut_as_the_reader_learned_them(self) -> None:
        assert (CROP_MARGIN, CROP_PX) == (TRAINED_MARGIN, TRAINED_PX)
        assert CLASS_NAMES[:-1] == DECK_LABELS
        rng = np.random.default_rng(5)
        image = render_view(rng, [draw_deck(random_style(rng, []))], size=320).image
        for side in (40.0, 90.0, 260.0):
            for turn in (0.0, 33.0, 200.0):
                center = np.array([150.0, 170.0])
                right, down = axes(turn)
                want = square_crop(image, center, right, down, side, 64).astype(int)
                got = turned_crops(image, center, [(turn, side)])[0].astype(int)
                assert np.abs(got - want).mean() < 6
                worse = turned_crops(image, center, [(turn + 20, side)])[0].astype(int)
                assert np.abs(got - want).mean() < np.abs(worse - want).mean()

    @pytest.mark.parametrize("turn", range(0, 360, 15))
    def test_height_comes_from_the_box_about_a_turned_index(self, turn: int) -> None:
        right, down = axes(turn)
        w = abs(right[0]) * 46 + abs(down[0]) * 100
        h = abs(right[1]) * 46 + abs(down[1]) * 100
        box = np.array([10, 20, 10 + w, 20 + h], np.float32)
        assert index_height(box, turn) == pytest.approx(100, rel=1e-4)

    @pytest.mark.parametrize("turn", [0, 14, 44, 97, 180, 233, 301, 359])
    def test_an_index_is_read_at_any_turn(self, turn: int) -> None:
        image = ground(200, 200)
        paint_index(image, "7C", (100, 100), turn, 60)
        right, down = axes(turn)
        half = (np.abs(right) * 0.46 * 60 + np.abs(down) * 60) / 2
        box = np.array([[*(100 - half), *(100 + half)]], np.float32)
        (reading,) = read_boxes(image, box, [0.46], ColourReader())
        assert reading.label == "7C"
        assert reading.share > 0.5
        assert abs((reading.turn_deg - turn + 180) % 360 - 180) <= 16
        assert reading.height_px == pytest.approx(60, rel=0.2)

    def test_at_the_rim_of_the_image(self) -> None:
        image = ground(60, 60)
        assert turned_crops(image, np.array([0.0, 59.0]), [(45, 50)]).shape == (1, 64, 64, 3)
        assert turned_crops(image, np.array([-90.0, 0.0]), [(0, 20)]).shape == (1, 64, 64, 3)

    def test_no_boxes_no_readings(self) -> None:
        assert read_boxes(ground(50, 50), np.zeros((0, 4), np.float32), [], ColourReader()) == []


class TestJoining:
    def test_two_half_sure_indices_make_a_card_and_one_does_not(self) -> None:
        pair = [index("AS", 50, 50, 0, 0.75), index("AS", 93, 104, 180, 0.75)]
        (card,) = join_indices(pair, 200, 200)
        assert card.members == (0, 1)
        assert 0.9 < card.score < 0.98
        assert join_indices(pair[:1], 200, 200) == []

    def test_the_ends_of_one_card_decide_together(self) -> None:
        # The card of KD gives the size; the other's corners read 3S and 5S.
        sized = [index("KD", 20, 20, 0, 0.99), index("KD", 63, 82, 180, 0.99)]
        torn = [index("3S", 120, 20, 0, 0.99), index("5S", 163, 82, 180, 0.7)]
        cards = join_indices(sized + torn, 300, 200)
        assert [(card.label, card.members) for card in cards] == [("KD", (0, 1)), ("3S", (2, 3))]
        # Elsewhere a sure one is another card's, an unsure one is no card.
        apart = [torn[0], index("5S", 190, 82, 180, 0.95)]
        labels = [card.label for card in join_indices(sized + apart, 300, 200)]
        assert sorted(labels) == ["3S", "5S", "KD"]
        unsure = [torn[0], index("5S", 190, 82, 180, 0.85)]
        labels = [card.label for card in join_indices(sized + unsure, 300, 200)]
        assert sorted(labels) == ["3S", "KD"]

    def test_indices_of_a_fan_each_keep_their_card(self) -> None:
        # Five cards about one point, each over the one before: one index of each is seen.
        fan = []
        for k, label in enumerate(("AS", "KD", "7C", "7D", "2H")):
            right, down = axes(-30.0 + 15 * k)
            at = np.array([300.0, 300.0]) - 110 * down - 20 * right
            fan.append(index(label, float(at[0]), float(at[1]), -30.0 + 15 * k, 0.998))
        joined = join_indices(fan, 600, 600)
        assert {(card.label, card.members) for card in joined} == {
            (own.label, (n,)) for n, own in enumerate(fan)
        }

    def test_two_of_one_label_too_far_apart_are_two_cards(self) -> None:
        cards = [index("AS", 50, 50, 0, 0.99), index("AS", 93, 104, 180, 0.99)]
        far = [index("AS", 700, 50, 0, 0.99), index("AS", 743, 104, 180, 0.99)]
        members = [card.members for card in join_indices([*cards, *far], 900, 300)]
        assert sorted(members) == [(0, 1), (2, 3)]

    # Cards with an index in each corner: one whole, which gives the size, and one beside it.
    WHOLE = (
        index("KD", 20, 20, 0, 0.99), index("KD", 63, 20, 0, 0.99),
        index("KD", 20, 82, 180, 0.99), index("KD", 63, 82, 180, 0.99),
    )  # fmt: skip
    LEFT = (index("6C", 120, 20, 0, 0.99), index("6C", 120, 82, 180, 0.99))

    def test_an_index_beside_the_corners_is_another_cards(self) -> None:
        beside = index("6S", 220, 20, 0, 0.99)
        cards = join_indices([*self.WHOLE, *self.LEFT, beside], 300, 200)
        assert sorted(card.label for card in cards) == ["6C", "6S", "KD"]

    @pytest.mark.parametrize(("height", "expected"), [(40.0, True), (70.0, False)])
    def test_a_joker_is_not_far_larger_than_the_images_indices(
        self, height: float, expected: bool
    ) -> None:
        word = index("JOKER", 200, 100, 0, 0.98)
        word = replace(word, height=height, aspect=0.16)
        labels = {card.label for card in join_indices([*self.WHOLE, word], 300, 200)}
        assert ("JOKER" in labels) is expected
        # A joker alone has nothing to be compared with.
        assert [card.label for card in join_indices([word], 300, 200)] == ["JOKER"]

    @pytest.mark.parametrize("label", ["JOKER", "5H"])
    def test_a_lone_mark_between_the_indices_of_a_card_is_no_card(self, label: str) -> None:
        card = [index("2C", 20, 20, 0, 0.99), index("2C", 63, 82, 180, 0.99)]
        pip = index(label, 41, 70, 180, 0.97)
        assert [c.label for c in join_indices([*card, pip], 300, 200)] == ["2C"]
        # With a second one on the face they are pips all the same; where one lies beside it, none.
        pips = [index("5H", 30, 60, 270, 0.8), index("5H", 55, 40, 90, 0.8)]
        assert [c.label for c in join_indices([*card, *pips], 300, 200)] == ["2C"]
        # A card that lies across it shows two of its own indices.
        across = [index("5H", 30, 60, 270, 0.99), index("5H", 92, 17, 90, 0.99)]
        labels = [c.label for c in join_indices([*card, *across], 300, 200)]
        assert sorted(labels) == ["2C", "5H"]
        # Beside the card, or where only one end of it is seen, a lone index counts.
        beside = index(label, 160, 50, 180, 0.985)
        assert len(join_indices([*card, beside], 300, 200)) == 2
        # A sure reading stands there too.
        sure = index(label, 41, 70, 180, 0.9999)
        hidden = [c.label for c in join_indices([card[0], sure], 300, 200)]
        assert label in hidden

    def test_two_decks_two_cards_but_only_when_sure(self) -> None:
        far = [index("AS", 50, 50, 0, 0.99), index("AS", 900, 50, 0, 0.98)]
        assert len(join_indices(far, 1000, 200)) == 2
        far[1] = index("AS", 900, 50, 0, 0.7)
        assert [card.members for card in join_indices(far, 1000, 200)] == [(0,)]


class TestReader:
    @pytest.mark.parametrize("turn", [0, 37, 90, 205])
    @pytest.mark.parametrize("corners", [2, 4])
    def test_one_card_is_one_card(self, reader: PhotoReader, turn: int, corners: int) -> None:
        image = ground(400, 400)
        box = paint_card(image, "QH", (200, 200), turn, 40, corners)
        result = reader.read(image)
        assert [card.label for card in result.cards] == ["QH"]
        assert [found.label for found in result.detections] == ["QH"] * corners
        assert sorted(result.members[0]) == list(range(corners))
        assert iou(result.cards[0].xyxy, box) > 0.7

    @pytest.mark.parametrize(("turn", "across", "down"), [(20, 0.35, 1.0), (60, 1.0, 0.35)])
    def test_a_card_seen_steeply_is_read_where_it_is_drawn_out(
        self, reader: PhotoReader, turn: float, across: float, down: float
    ) -> None:
        image = ground(400, 400)
        paint_card(image, "QH", (200, 200), turn, 90)
        small = cv2.resize(image, None, fx=across, fy=down, interpolation=cv2.INTER_AREA)
        steep = np.asarray(small, np.uint8)
        found = find_in_picture(steep, reader.detector)
        assert reader.read_found(steep, found).cards == ()
        (card,) = reader.read(steep).cards
        assert card.label == "QH"
        middle = np.array(card.xyxy).reshape(2, 2).mean(axis=0)
        assert np.abs(middle - np.array([200 * across, 200 * down])).max() < 12

    def test_a_large_image_with_small_cards_and_one_near(self, reader: PhotoReader) -> None:
        image = ground(1600, 1000)
        rng = np.random.default_rng(1)
        want = {}
        labels = [str(v) for v in rng.permutation(DECK_LABELS[:-1])[:9]]
        for n, label in enumerate(labels[:8]):
            at = (120.0 + 190 * n, 130.0)
            want[label] = paint_card(image, label, at, float(rng.uniform(0, 360)), 26)
        want[labels[8]] = paint_card(image, labels[8], (800, 640), 15, 140)
        result = reader.read(image)
        got = {card.label: card.xyxy for card in result.cards}
        assert sorted(got) == sorted(want)
        assert all(iou(got[label], want[label]) > 0.7 for label in want)

    def test_one_index_of_a_covered_card_gives_a_likely_box(self, reader: PhotoReader) -> None:
        image = ground(400, 400)
        box = paint_card(image, "QH", (200, 200), 20, 40, corners=1)
        (card,) = reader.read(image).cards
        assert iou(card.xyxy, box) > 0.6

    def test_an_unsure_index_is_returned_and_not_guessed(self) -> None:
        image = ground(300, 300)
        paint_index(image, "QH", (150, 150), 0, 40)
        result = PhotoReader(ColourDetector(), ColourReader(sure=0.5)).read(image)
        assert [found.label for found in result.detections] == ["index"]
        assert result.cards == ()

    def test_what_reads_as_no_card_at_any_turn_is_left_out(self) -> None:
        image = ground(300, 300)
        paint_index(image, "QH", (150, 150), 0, 40)
        result = PhotoReader(ColourDetector(), ColourReader(sure=0.0)).read(image)
        assert result.detections == ()

    @pytest.mark.parametrize("size", [(1, 1), (3, 900), (40, 30)])
    def test_images_of_odd_sizes(self, reader: PhotoReader, size: tuple[int, int]) -> None:
        result = reader.read(ground(*size))
        assert (result.width, result.height) == size
        assert result.cards == ()

    def test_backs_and_chips_and_no_joker_where_nothing_reads_as_one(self) -> None:
        image = ground(128, 128)
        boxes = np.array([[0, 0, 30, 40], [40, 40, 60, 60], [90, 10, 96, 50]], np.float32)
        found = Detections(boxes, np.array([0.8, 0.7, 0.9], np.float32), np.array([2, 3, 1]), NAMES)
        result = PhotoReader(ColourDetector(), ColourReader()).read_found(image, found)
        assert result.cards == ()
        assert [back.label for back in result.backs] == ["BACK"]
        assert sorted(f.label for f in result.detections) == ["BACK", "chip", "index"]
        values = result.as_dict("a.jpg")
        assert (values["cards"], values["backs"]) == ([], [result.backs[0].as_dict()])

    @pytest.mark.parametrize(("lammer", "expected"), [(0.9, "lammer_envy"), (0.6, "chip")])
    def test_a_lammer_is_no_chip_too(self, lammer: float, expected: str) -> None:
        boxes = np.array([[10, 10, 60, 60], [12, 11, 61, 62], [90, 90, 120, 120]], np.float32)
        scores = np.array([0.8, lammer, 0.7], np.float32)
        kinds = np.array([NAMES.index("chip"), NAMES.index("lammer_envy"), NAMES.index("chip")])
        found = Detections(boxes, scores, kinds, NAMES)
        result = PhotoReader(ColourDetector(), ColourReader()).read_found(ground(128, 128), found)
        assert sorted(f.label for f in result.detections) == sorted(["chip", expected])

    def test_the_score_is_that_of_the_label(self) -> None:
        image = ground(300, 300)
        paint_card(image, "QH", (150, 150), 20, 36)
        result = PhotoReader(ColourDetector(), ColourReader(sure=0.95)).read(image)
        assert [card.label for card in result.cards] == ["QH"]
        for n in result.members[0]:
            assert result.detections[n].label == "QH"
            assert result.detections[n].score >= 0.9

    def test_a_joker_found_as_an_index_needs_a_second(self, reader: PhotoReader) -> None:
        one, two = ground(300, 300), ground(300, 300)
        paint_card(one, "JOKER", (150, 150), 20, 36, corners=1)
        paint_card(two, "JOKER", (150, 150), 20, 36, corners=2)
        assert reader.read(one).cards == ()
        assert [card.label for card in reader.read(two).cards] == ["JOKER"]

    @pytest.mark.parametrize(
        ("label", "share", "as_joker", "expected"),
        [
            ("KD", 0.9, True, ("KD", 0.9)),
            ("KD", 0.3, True, ("KD", 0.3)),
            ("JOKER", 0.4, True, None),
            ("JOKER", 0.6, True, None),
            ("JOKER", 0.9, True, ("JOKER", 4.5 / 4.6)),
            ("JOKER", 0.98, False, ("JOKER", 0.75)),
            ("JOKER", 0.9, False, None),
            ("KD", 0.97, False, ("KD", 0.97)),
            ("KD", 0.02, False, None),
        ],
    )
    def test_the_readers_word_counts_for_what_was_found(
        self, label: str, share: float, as_joker: bool, expected: tuple[str, float] | None
    ) -> None:
        shares = np.zeros(53, np.float32)
        shares[DECK_LABELS.index(label)] = share
        got = card_of_reading(Reading(shares, 0.0, 30.0), as_joker)
        assert (got is None) == (expected is None)
        if got and expected:
            assert got == (expected[0], pytest.approx(expected[1]))

    def test_the_form_of_json(self, reader: PhotoReader) -> None:
        image = ground(300, 200)
        paint_card(image, "AS", (150, 100), 0, 40)
        values = json.loads(json.dumps(reader.read(image).as_dict("a.jpg")))
        assert list(values) == ["image", "width", "height", "cards", "backs", "detections"]
        assert (values["image"], values["width"], values["height"]) == ("a.jpg", 300, 200)
        for entry in values["cards"] + values["detections"]:
            assert list(entry) == ["label", "score", "xyxy"]
            assert entry["label"] == "AS"
            assert 0 < entry["score"] <= 1
            assert all(isinstance(v, int) for v in entry["xyxy"])


class TestFiles:
    def test_any_image_becomes_colour(self, tmp_path: Path) -> None:
        path = tmp_path / "grey.png"
        cv2.imwrite(str(path), np.full((20, 30), 77, np.uint8))
        assert read_picture(path).shape == (20, 30, 3)

    @pytest.mark.parametrize("content", [b"", b"no picture", b"\xff\xd8\xff\xe0 broken"])
    def test_a_broken_image_is_named(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "bad.jpg"
        path.write_bytes(content)
        with pytest.raises(PhotoError, match=r"bad\.jpg"):
            read_picture(path)

    def test_a_missing_one_and_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(PhotoError, match="none"):
            read_picture(tmp_path / "none.jpg")
        with pytest.raises(PhotoError, match="is a folder"):
            read_picture(tmp_path)

    @pytest.mark.parametrize(("suffix", "form"), [("gif", "GIF"), ("png", "PNG"), ("webp", "WEBP")])
    def test_an_animation_is_refused(self, tmp_path: Path, suffix: str, form: str) -> None:
        path = tmp_path / f"moving.{suffix}"
        frames = [Image.new("RGB", (40, 30), (k * 90, 50, 50)) for k in range(3)]
        frames[0].save(path, form, save_all=True, append_images=frames[1:])
        with pytest.raises(PhotoError, match=rf"moving\.{suffix}: holds 3 images"):
            read_picture(path)
        still = tmp_path / f"still.{suffix}"
        frames[0].save(still, form)
        if form != "GIF":
            assert read_picture(still).shape == (30, 40, 3)

    def test_a_giant_photograph_is_read_smaller(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: PhotoReader
    ) -> None:
        image = ground(800, 600)
        box = paint_card(image, "QH", (400, 300), 20, 60)
        path = tmp_path / "large.jpg"
        cv2.imwrite(str(path), image)
        assert read_photo(path)[1] == 1
        monkeypatch.setattr(photo_module, "MOST_PIXELS", 150_000)
        small, by = read_photo(path)
        assert (small.shape, by) == ((300, 400, 3), 2)
        result = reader.read(small).enlarged(by)
        assert (result.width, result.height) == (800, 600)
        assert [card.label for card in result.cards] == ["QH"]
        assert iou(result.cards[0].xyxy, box) > 0.6
