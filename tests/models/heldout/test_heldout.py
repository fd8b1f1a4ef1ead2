"""Lists of held-out images, and that training takes none of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from models.heldout.lists import (
    check_folder,
    held_sets,
    note_set,
    photo_pictures,
    read_list,
    refuse_held_out,
    view_pictures,
)
from settlement.errors import FeltwatchError
from surveillance.cli import main


@pytest.fixture
def views(tmp_path: Path) -> Path:
    """A folder of two views and a file of crops."""
    folder = tmp_path / "views"
    for part in ("images", "crops"):
        (folder / part / "val").mkdir(parents=True)
    lines = []
    for k in range(2):
        (folder / "images" / "val" / f"a-{k}.jpg").write_bytes(b"picture %d" % k)
        lines.append({"image": f"a-{k}.jpg", "shift": "a", "deck": "worn", "camera_seed": 901})
    (folder / "meta.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (folder / "recipe.json").write_text(json.dumps({"look": "shift-1"}))
    np.save(folder / "crops" / "val" / "a.npy", np.zeros((3, 4, 4, 3), np.uint8))
    np.save(folder / "crops" / "val" / "a-labels.npy", np.array([1, 2, 3], np.int16))
    return folder


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Three photographs, two of them taken after 17:00."""
    folder = tmp_path / "phone"
    (folder / "images").mkdir(parents=True)
    entries = []
    for clock in ("165900", "170000", "180000"):
        name = f"images/IMG_20240309_{clock}.jpg"
        (folder / name).write_bytes(b"photo at " + clock.encode())
        box = {"label": "AS", "xyxy": [1, 2, 30, 40], "kind": "card"}
        entries.append({"image": name, "width": 64, "height": 48, "boxes": [box]})
    (folder / "labels.json").write_text(json.dumps(entries))
    return folder


@pytest.fixture
def lists(views: Path, photos: Path, tmp_path: Path) -> Path:
    out = tmp_path / "lists"
    base = ["model", "heldout"]
    arguments = ["--note", "felt", "--purpose", "decks", "--lists", str(out)]
    assert main([*base, str(views), *arguments, "--made", "feltwatch simulate --seed 1"]) == 0
    arguments = ["--note", "phone", "--purpose", "photographs", "--lists", str(out)]
    assert main([*base, str(photos), *arguments, "--after", "17:00"]) == 0
    return out


def test_a_list_holds_what_was_noted(lists: Path) -> None:
    felt, phone = held_sets(lists)
    assert (felt.name, felt.kind, felt.look) == ("felt", "views", "shift-1")
    assert felt.made == ("feltwatch simulate --seed 1",)
    assert "cv2" in felt.versions
    first = felt.pictures[0]
    assert (first.file, first.shift, first.deck, first.camera) == (
        "images/val/a-0.jpg", "a", "worn", "901",
    )  # fmt: skip
    assert [one.file for one in felt.crops] == ["crops/val/a-labels.npy", "crops/val/a.npy"]
    assert [one.file for one in phone.pictures] == [
        "images/IMG_20240309_170000.jpg", "images/IMG_20240309_180000.jpg",
    ]  # fmt: skip


def test_a_folder_is_checked_against_its_list(
    lists: Path, views: Path, photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["model", "heldout", "--lists", str(lists)]
    assert main([*command, str(views), str(photos)]) == 0
    assert capsys.readouterr().out.count("whole and unchanged") == 2
    (views / "images" / "val" / "a-0.jpg").write_bytes(b"picture X")
    (views / "crops" / "val" / "a.npy").unlink()
    assert main([*command, "--json", str(views)]) == 1
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert check["changed"] == ["images/val/a-0.jpg"]
    assert check["missing"] == ["crops/val/a.npy"]
    assert check["right"] == 2
    assert main([*command, str(views)]) == 1
    assert "changed: images/val/a-0.jpg" in capsys.readouterr().out
    assert main([*command, str(lists)]) == 2
    assert "holds no image of any held-out set (felt, phone)" in capsys.readouterr().err
    assert main(command) == 0
    assert "worn" in capsys.readouterr().out


def test_what_training_refuses(lists: Path, views: Path, photos: Path, tmp_path: Path) -> None:
    sets = held_sets(lists)
    data = tmp_path / "set"
    (data / "images" / "train").mkdir(parents=True)
    (data / "images" / "train" / "0001-0001.jpg").write_bytes(b"another 1")
    # As long as a held-out image, and another.
    (data / "images" / "train" / "a-1.jpg").write_bytes(b"picture 7")
    (data / "images" / "train" / "phone-IMG_20240309_165900.jpg").write_bytes(b"taken before")
    refuse_held_out([data, tmp_path / "none"], sets)

    def refused(path: Path, source: Path, name: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
        with pytest.raises(FeltwatchError, match=rf"{path.name}: is held out \(set '{name}'\)"):
            refuse_held_out([data], sets)
        path.unlink()

    refused(data / "images" / "train" / "renamed.jpg", views / "images/val/a-1.jpg", "felt")
    refused(data / "images" / "val" / "b.jpg", views / "images/val/a-0.jpg", "felt")
    refused(data / "crops" / "train" / "c.npy", views / "crops/val/a.npy", "felt")
    refused(data / "x.jpg", photos / "images/IMG_20240309_180000.jpg", "phone")
    # Saved again under the name that the harvest gives it.
    again = data / "images" / "phone-IMG_20240309_180000.jpg"
    again.write_bytes(b"saved again, of another length")
    with pytest.raises(FeltwatchError, match="is held out"):
        refuse_held_out([data], sets)


def test_training_asks_before_it_begins(
    lists: Path, views: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = pytest.importorskip("models.train.run", reason="needs the train extra")
    monkeypatch.setattr("models.heldout.lists.held_sets", lambda: held_sets(lists))
    data = tmp_path / "set"
    for split in ("train", "val"):
        (data / "crops" / split).mkdir(parents=True)
        np.save(data / "crops" / split / "0.npy", np.zeros((2, 64, 64, 3), np.uint8))
        np.save(data / "crops" / split / "0-labels.npy", np.array([1, 2], np.int16))
    recipe = {"views": 2, "seed": 1, "size": 64, "decks": [], "fonts": 0}
    (data / "recipe.json").write_text(json.dumps(recipe))
    (data / "images" / "train").mkdir(parents=True)
    shutil.copy(views / "images/val/a-0.jpg", data / "images" / "train")
    run = training.TrainingRun(data, tmp_path / "out")
    for part in ("detector", "reader"):
        with pytest.raises(FeltwatchError, match="is held out"):
            training.train_part(part, run)
    assert not (tmp_path / "out").exists()


def test_lists_that_are_not_in_order(lists: Path, views: Path, photos: Path) -> None:
    with pytest.raises(FeltwatchError, match="a held-out set does not change"):
        note_set(views, view_pictures(views), lists, name="felt", purpose="x", kind="views")
    with pytest.raises(FeltwatchError, match="pictures"):
        note_set(photos, [], lists, name="empty", purpose="x", kind="photographs")
    with pytest.raises(FeltwatchError, match=r"none\.jpg: No such file"):
        photo_pictures(photos, ["none.jpg"])
    content = json.loads((lists / "felt.json").read_text())
    content["pictures"][0]["sha256"] = "0"
    (lists / "felt.json").write_text(json.dumps(content))
    with pytest.raises(FeltwatchError, match=r"felt\.json: pictures\.0\.sha256"):
        read_list(lists / "felt.json")
    (views / "images" / "val" / "more.jpg").write_bytes(b"x")
    with pytest.raises(FeltwatchError, match=r"do not agree on more\.jpg"):
        view_pictures(views)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--note", "x"], "--note: give one folder, and --purpose"),
        (["--note", "x", "--purpose", "p", "--after", "17:00"], "need photographs"),
        (["--note", "Bad Name", "--purpose", "p"], "Bad Name: name"),
    ],
)
def test_notes_that_cannot_be(
    views: Path, tmp_path: Path, arguments: list[str], words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    folder = [] if arguments == ["--note", "x"] else [str(views)]
    assert main(["model", "heldout", *folder, "--lists", str(tmp_path / "n"), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_projects_own_lists() -> None:
    """They can be read, and keep the deck out that no training sees."""
    own = {held.name: held for held in held_sets()}
    assert {"photographs-poker-cards", "photographs-cardcounter"} <= own.keys()
    for held in own.values():
        hashes = [one.sha256 for one in held.pictures]
        assert len(set(hashes)) == len(hashes), held.name
        assert all(not Path(one.file).is_absolute() for one in held.pictures)
        assert not any("/work" in command or "/home" in command for command in held.made)
    assert all(one.file >= "images/IMG_20220316_170000" for one in
               own["photographs-poker-cards"].pictures)  # fmt: skip


def test_a_check_of_a_set_of_another_place(lists: Path, tmp_path: Path) -> None:
    felt = held_sets(lists)[0]
    check = check_folder(tmp_path / "nowhere", felt)
    assert not check.whole
    assert len(check.missing) == 4
