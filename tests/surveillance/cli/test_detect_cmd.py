"""`feltwatch detect` and `feltwatch model photos` at the command line, on painted cards."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
import typer
from PIL import Image

from settlement.errors import FeltwatchError
from surveillance.cli import main
from surveillance.cli.models import harvest_cmd, photos_cmd
from surveillance.cli.recordings import detect_cmd
from surveillance.reports.photo_view import DrawnPhotos
from tests.vision.painted import ColourDetector, ColourReader, ground, paint_card, painted_networks
from vision.cards.photo import PhotoReader
from vision.detect.openvino_runtime import ModelError


@pytest.fixture
def painted_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for command in (photos_cmd, harvest_cmd):
        monkeypatch.setattr(command, "load_networks", lambda folder: painted_networks())
    own = painted_networks()
    monkeypatch.setattr(
        detect_cmd, "load_for_photographs", lambda folder: (own.detector, own.reader)
    )


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    entries = []
    for n, label in enumerate(["7H", "KS"]):
        image = ground(300, 260)
        box = paint_card(image, label, (150, 130), 40.0 * n, 40)
        name = f"images/IMG_20220316_1{6 + n}0000.png"
        cv2.imwrite(str(tmp_path / name), image)
        own = {"label": label, "xyxy": [float(v) for v in box], "kind": "card"}
        entries.append({"image": name, "width": 300, "height": 260, "boxes": [own]})
    (tmp_path / "labels.json").write_text(json.dumps(entries), encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("painted_models")
class TestDetect:
    def test_one_json_object_per_image(
        self, pictures: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        files = [str(path) for path in sorted((pictures / "images").glob("*.png"))]
        assert main(["detect", *files, "--json"]) == 0
        printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [one["image"] for one in printed] == files
        assert [[c["label"] for c in one["cards"]] for one in printed] == [["7H"], ["KS"]]
        assert all(len(one["detections"]) == 2 for one in printed)

    def test_a_broken_image_does_not_stop_the_others(
        self, pictures: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bad, good = pictures / "bad.jpg", pictures / "images" / "IMG_20220316_160000.png"
        bad.write_bytes(b"not a picture")
        assert main(["detect", str(bad), str(good), "--json"]) == 2
        captured = capsys.readouterr()
        assert len(captured.out.splitlines()) == 1
        (line,) = captured.err.splitlines()
        assert line.startswith("feltwatch: error:")
        assert "bad.jpg" in line

    def test_an_image_that_cannot_be_read_is_named_with_why(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        done, jpeg = cv2.imencode(".jpg", ground(300, 260))
        grey = np.random.default_rng(1).random((64, 64), np.float32)
        assert done
        assert cv2.imwrite(str(tmp_path / "float.tif"), grey)
        for name, data in {
            "cut.jpg": jpeg.tobytes()[:60],
            "empty.jpg": b"",
            "phone.heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
            "text.jpg": b"not a picture",
        }.items():
            (tmp_path / name).write_bytes(data)
        files = [str(path) for path in sorted(tmp_path.iterdir())]
        capfd.readouterr()
        assert main(["detect", *files]) == 2
        lines = capfd.readouterr().err.splitlines()
        for file, line, why in zip(
            files, lines,
            ("is a JPEG that is damaged or cut off", "is empty", "is a TIFF that is damaged or of",
             "is HEIC, which is not read; convert it", "is not an image that can be read"),
            strict=True,
        ):  # fmt: skip
            assert f"{file}: {why}" in line

    @pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "avif", "jp2", "gif", "bmp", "tif"])
    def test_every_format_that_is_named_is_read(
        self, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / f"a.{suffix}"
        Image.fromarray(ground(300, 260)).save(path)
        assert main(["detect", str(path)]) == 0
        assert "300 x 260 px" in capsys.readouterr().out

    def test_the_readable_form(self, pictures: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["detect", str(pictures / "images" / "IMG_20220316_160000.png")]) == 0
        first, second = capsys.readouterr().out.splitlines()
        assert "1 cards" in first or "1 card" in first
        assert second.split()[0] == "7H"

    def test_images_are_drawn_each_under_its_own_name(self, pictures: Path) -> None:
        one = pictures / "images" / "IMG_20220316_160000.png"
        other = pictures / "IMG_20220316_160000.png"
        other.write_bytes(one.read_bytes())
        assert main(["detect", str(one), str(other), "--draw", str(pictures / "seen")]) == 0
        drawn = sorted((pictures / "seen").glob("*"))
        assert [p.name for p in drawn] == [
            "IMG_20220316_160000-2.jpg", "IMG_20220316_160000.jpg",
        ]  # fmt: skip
        seen = cv2.imread(str(drawn[0]))
        assert seen is not None
        assert seen.shape == (260, 300, 3)

    def test_a_folder_that_cannot_be_written(
        self, pictures: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        one = pictures / "images" / "IMG_20220316_160000.png"
        assert main(["detect", str(one), "--draw", str(one / "seen")]) == 2
        assert "cannot be written" in capsys.readouterr().err


def test_a_missing_model_is_one_line(
    pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = pictures / "images" / "IMG_20220316_160000.png"
    for option in ("--model", "--weights"):
        assert main(["detect", str(one), option, str(tmp_path / "nowhere")]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "nowhere" in line
    assert issubclass(ModelError, FeltwatchError)


def photos(*arguments: str) -> None:
    app = typer.Typer()
    app.command("photos")(photos_cmd.photos_command)
    typer.main.get_command(app).main(list(arguments), standalone_mode=False)


@pytest.mark.usefixtures("painted_models")
class TestPhotos:
    def test_json_of_the_held_out_part(
        self, pictures: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        photos(str(pictures), "--after", "17:00", "--json", "--draw", str(pictures / "seen"))
        printed = json.loads(capsys.readouterr().out)
        assert printed["pictures"] == 1
        assert printed["cards"] == {"seen": 1, "right": 1, "wrong": 0, "unread": 0, "invented": 0}
        assert [p.name for p in (pictures / "seen").glob("*")] == ["IMG_20220316_170000.jpg"]

    def test_the_table(self, pictures: Path, capsys: pytest.CaptureFixture[str]) -> None:
        photos(str(pictures))
        printed = capsys.readouterr().out
        assert "2 labelled cards in 2 images" in printed
        assert "100.0%" in printed

    def test_in_changed_form(self, pictures: Path, capsys: pytest.CaptureFixture[str]) -> None:
        # In the dark the paint has no colour that the stand-ins know.
        photos(str(pictures), "--json", "--form", "dark", "--step", "10%")
        printed = json.loads(capsys.readouterr().out)
        assert (printed["cards"]["seen"], printed["cards"]["right"]) == (2, 0)
        with pytest.raises(FeltwatchError, match="--form and --step: give both or neither"):
            photos(str(pictures), "--form", "dark")

    def test_two_choices_at_once(self, pictures: Path) -> None:
        with pytest.raises(FeltwatchError, match="give one of them"):
            photos(str(pictures), "--after", "17:00", "--share", "0.2")


@pytest.mark.usefixtures("painted_models")
def test_harvest_leaves_the_held_out_part_alone(
    pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = typer.Typer()
    app.command("harvest")(harvest_cmd.harvest_command)
    arguments = [str(pictures), "--out", str(tmp_path / "cut"), "--after", "17:00", "--json"]
    typer.main.get_command(app).main(arguments, standalone_mode=False)
    printed = json.loads(capsys.readouterr().out)
    assert (printed["pictures"], printed["crops"], printed["detector_pictures"]) == (1, 2, 1)
    (name,) = (path.stem for path in (tmp_path / "cut" / "labels").glob("*.txt"))
    assert name.endswith("IMG_20220316_160000")
    with pytest.raises(FeltwatchError, match="is not empty"):
        typer.main.get_command(app).main(arguments, standalone_mode=False)


def test_a_drawn_image_has_its_cards_in_coloured_boxes(tmp_path: Path) -> None:
    image = ground(300, 260)
    paint_card(image, "7H", (150, 130), 0, 40)
    result = PhotoReader(ColourDetector(), ColourReader()).read(image)
    drawn = cv2.imread(str(DrawnPhotos(tmp_path / "drawn").write("a.png", image, result)))
    assert drawn is not None
    x0, y0, _, y1 = (round(v) for v in result.cards[0].xyxy)
    edge = drawn[(y0 + y1) // 2, max(0, x0)]
    assert int(edge[1]) > int(edge[0]) + 60
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="ascii")
    with pytest.raises(FeltwatchError, match="cannot be written"):
        DrawnPhotos(blocked / "in")
