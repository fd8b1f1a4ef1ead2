"""Counting what was read right, wrong and not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from models.data.photo_labels import LabelledPhoto, PhotoBox
from models.evaluate.photo_score import PhotoTally, score_photos
from settlement.errors import FeltwatchError
from tests.vision.painted import ColourDetector, ColourReader, ground, paint_card
from vision.cards.photo import Found, PhotoReader, PhotoResult

Box = tuple[float, float, float, float]


def photo(*boxes: tuple[str, Box], kind: str = "card") -> LabelledPhoto:
    own = tuple(PhotoBox.model_validate({"label": n, "xyxy": b, "kind": kind}) for n, b in boxes)
    return LabelledPhoto(image="images/a.jpg", width=400, height=400, boxes=own)


def result(*cards: tuple[str, list[Box]], unsure: tuple[Box, ...] = ()) -> PhotoResult:
    """A result whose cards have indices at the boxes given."""
    detections: list[Any] = []
    faces: list[Any] = []
    members: list[Any] = []
    for label, boxes in cards:
        first = len(detections)
        detections += [Found(label, 0.9, box) for box in boxes]
        all_ = np.array(boxes)
        hull = (*all_[:, :2].min(axis=0).tolist(), *all_[:, 2:].max(axis=0).tolist())
        faces.append(Found(label, 0.9, hull))
        members.append(tuple(range(first, len(detections))))
    detections += [Found("index", 0.4, box) for box in unsure]
    return PhotoResult(400, 400, tuple(detections), tuple(faces), tuple(members))


def tally(shown: LabelledPhoto, read: PhotoResult) -> PhotoTally:
    counted = PhotoTally()
    counted.add(shown, read)
    return counted


LEFT, RIGHT = (10.0, 10.0, 110.0, 150.0), (200.0, 10.0, 300.0, 150.0)
IN_LEFT = [(15.0, 15.0, 25.0, 35.0), (95.0, 125.0, 105.0, 145.0)]
IN_RIGHT = [(205.0, 15.0, 215.0, 35.0)]


class TestCards:
    def test_right_and_unread(self) -> None:
        counted = tally(photo(("AS", LEFT), ("KD", RIGHT)), result(("AS", IN_LEFT)))
        assert counted.cards.as_dict() == {"seen": 2, "right": 1, "wrong": 0, "unread": 1}
        assert (counted.named, counted.named_right) == (2, 2)

    def test_another_name_at_its_place_is_wrong(self) -> None:
        counted = tally(photo(("AS", LEFT), ("KD", RIGHT)), result(("AC", IN_LEFT[:1])))
        assert counted.cards.as_dict() == {"seen": 2, "right": 0, "wrong": 1, "unread": 1}
        assert counted.confusions == {"AS read AC": 1}

    def test_a_right_name_with_a_wrong_one_beside_it_is_wrong(self) -> None:
        read = result(("AS", IN_LEFT[:1]), ("AC", IN_LEFT[1:]))
        counted = tally(photo(("AS", LEFT)), read)
        assert counted.cards.as_dict() == {"seen": 1, "right": 0, "wrong": 1, "unread": 0}
        assert (counted.named, counted.named_right) == (2, 1)

    def test_a_name_elsewhere_is_invented(self) -> None:
        counted = tally(photo(("AS", LEFT)), result(("AS", IN_RIGHT)))
        assert counted.cards.as_dict() == {"seen": 1, "right": 0, "wrong": 0, "unread": 1}
        assert counted.invented == 1

    def test_where_cards_overlap_the_unread_one_was_misread(self) -> None:
        under = (60.0, 60.0, 160.0, 200.0)
        shared = [(90.0, 100.0, 100.0, 120.0)]
        read = result(("AS", IN_LEFT[:1]), ("7C", shared))
        counted = tally(photo(("AS", LEFT), ("7S", under)), read)
        assert counted.cards.as_dict() == {"seen": 2, "right": 1, "wrong": 1, "unread": 0}
        assert counted.confusions == {"7S read 7C": 1}

    def test_an_unsure_index_is_neither(self) -> None:
        counted = tally(photo(("AS", LEFT)), result(unsure=(IN_LEFT[0],)))
        assert counted.cards.as_dict() == {"seen": 1, "right": 0, "wrong": 0, "unread": 1}
        assert counted.named == 0


class TestCorners:
    def test_indices_and_the_card_they_make(self) -> None:
        a, b = (10.0, 10.0, 30.0, 40.0), (100.0, 150.0, 120.0, 180.0)
        shown = photo(("AS", a), ("AS", b), kind="corner")
        counted = tally(shown, result(("AS", [a])))
        assert counted.corners.as_dict() == {"seen": 2, "right": 1, "wrong": 0, "unread": 1}
        assert counted.cards.as_dict() == {"seen": 1, "right": 1, "wrong": 0, "unread": 0}
        counts = counted.as_dict()
        assert counts["indices"] == {"named": 1, "right": 1, "precision": 1.0, "recall": 0.5}

    def test_a_wrong_corner_spoils_the_card(self) -> None:
        a, b = (10.0, 10.0, 30.0, 40.0), (100.0, 150.0, 120.0, 180.0)
        shown = photo(("AS", a), ("AS", b), kind="corner")
        counted = tally(shown, result(("AS", [a]), ("AC", [b])))
        assert counted.corners.as_dict() == {"seen": 2, "right": 1, "wrong": 1, "unread": 0}
        assert counted.cards.as_dict() == {"seen": 1, "right": 0, "wrong": 1, "unread": 0}
        assert counted.as_dict()["indices"]["precision"] == 0.5

    def test_neighbours_whose_loose_boxes_overlap_are_no_mistake(self) -> None:
        a, b = (10.0, 10.0, 60.0, 60.0), (40.0, 10.0, 90.0, 60.0)
        shown = photo(("AS", a), ("KD", b), kind="corner")
        read = result(("AS", [(41.0, 30.0, 51.0, 50.0)]), ("KD", [(49.0, 30.0, 59.0, 50.0)]))
        assert tally(shown, read).corners.as_dict()["wrong"] == 0


def lines(counted: PhotoTally) -> dict[str, list[int]]:
    keys = ("seen", "right", "wrong", "unread", "elsewhere")
    return {name: [own[k] for k in keys] for name, own in counted.as_dict()["lines"].items()}


class TestLines:
    def test_jokers_have_a_line_of_their_own(self) -> None:
        shown = photo(("AS", LEFT), ("JOKER", RIGHT))
        counted = tally(shown, result(("AS", IN_LEFT), ("KD", IN_RIGHT)))
        assert lines(counted) == {"the 52 cards": [1, 1, 0, 0, 0], "JOKER": [1, 0, 1, 0, 0]}
        counted.add(photo(("AS", LEFT)), result(("JOKER", IN_LEFT)))
        assert lines(counted) == {"the 52 cards": [2, 1, 1, 0, 0], "JOKER": [1, 0, 1, 0, 1]}
        assert counted.cards.seen == 3

    def test_corners_count_in_the_same_lines(self) -> None:
        a, b = (10.0, 10.0, 30.0, 40.0), (100.0, 150.0, 120.0, 180.0)
        shown = photo(("JOKER", a), ("JOKER", b), kind="corner")
        assert lines(tally(shown, result(("JOKER", [a])))) == {"JOKER": [1, 1, 0, 0, 0]}
        # The middle of a card is not where its labels are.
        assert lines(tally(shown, result(("JOKER", [a, b])))) == {"JOKER": [1, 1, 0, 0, 0]}

    def test_backs_and_stacks(self) -> None:
        back, chip = Found("BACK", 0.9, LEFT), Found("chip", 0.9, RIGHT)
        read = PhotoResult(400, 400, (back, chip), (back,), ((0,),))
        shown = photo(("BACK", LEFT), ("chip_stack", RIGHT))
        assert lines(tally(shown, read)) == {
            "BACK": [1, 1, 0, 0, 0], "chip_stack": [1, 1, 0, 0, 0],
        }  # fmt: skip
        # Nobody labelled stacks here, so a chip is no mistake; a back that is none is.
        assert lines(tally(photo(("AS", RIGHT)), read))["BACK"] == [0, 0, 0, 0, 1]
        assert "chip_stack" not in lines(tally(photo(("AS", RIGHT)), read))

    def test_a_back_given_a_card_is_wrong_unless_the_card_lies_on_it(self) -> None:
        read = result(("AS", IN_LEFT[:1]))
        counted = tally(photo(("BACK", LEFT)), read)
        assert lines(counted)["BACK"] == [1, 0, 1, 0, 0]
        assert counted.confusions == {"BACK read AS": 1}
        upon = tally(photo(("BACK", LEFT), ("AS", (10.0, 10.0, 60.0, 60.0))), read)
        assert lines(upon)["BACK"] == [1, 0, 0, 1, 0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    entries = []
    for n, label in enumerate(["7H", "KS", "2D"]):
        image = ground(300, 260)
        box = paint_card(image, label, (150, 130), 25.0 * n, 40)
        name = f"images/IMG_20220316_16{n:02d}00.png"
        cv2.imwrite(str(tmp_path / name), image)
        # The last label is not what the image shows.
        written = label if n < 2 else "3D"
        own = {"label": written, "xyxy": [float(v) for v in box], "kind": "card"}
        entries.append({"image": name, "width": 300, "height": 260, "boxes": [own]})
    (tmp_path / "labels.json").write_text(json.dumps(entries), encoding="utf-8")
    return tmp_path


def test_a_folder_is_scored(folder: Path) -> None:
    reader = PhotoReader(ColourDetector(), ColourReader())
    seen: list[str] = []
    score = score_photos(folder, None, reader, lambda p, i, r: seen.append(p.image))
    assert score["pictures"] == 3 == len(seen)
    assert score["cards"] == {"seen": 3, "right": 2, "wrong": 1, "unread": 0, "invented": 0}
    assert score["confusions"] == {"3D read 2D": 1}
    assert json.loads(json.dumps(score)) == score
    some = score_photos(folder, {"images/IMG_20220316_160000.png"}, reader)
    assert some["cards"]["seen"] == 1


def test_what_does_not_fit_is_named(folder: Path) -> None:
    reader = PhotoReader(ColourDetector(), ColourReader())
    with pytest.raises(FeltwatchError, match="no image is chosen"):
        score_photos(folder, set(), reader)
    cv2.imwrite(str(folder / "images/IMG_20220316_160000.png"), ground(20, 10))
    with pytest.raises(FeltwatchError, match=r"160000\.png: is 20 x 10 px, .* 300 x 260"):
        score_photos(folder, None, reader)
    (folder / "images/IMG_20220316_160000.png").unlink()
    with pytest.raises(FeltwatchError, match=r"160000\.png: cannot be read"):
        score_photos(folder, None, reader)
