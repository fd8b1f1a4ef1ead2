"""Calibrating and table files through the API: fits, images, checks, writing."""

from __future__ import annotations

import io
import json
import struct
import threading
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from datasets.render.camera import camera_points, play_area, synthetic_camera
from settlement.errors import FeltwatchError
from surveillance.cli import main
from surveillance.config.calibration_image import picture_of, picture_of_video
from surveillance.web.repositories import tablefiles as disk
from surveillance.web.repositories.calibration_pictures import CalibrationPictures
from surveillance.web.services.tablefiles import TableShelf, faults
from tests.surveillance.web.tools_made import COMMENT, SAMPLE, app_with, table_copy
from vision.geometry.calibration import Calibration
from vision.geometry.table import load_table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return table_copy(tmp_path)


@pytest.fixture
def client(path: Path) -> Iterator[TestClient]:
    with TestClient(
        app_with(path), base_url="http://127.0.0.1:8471", headers={"x-feltwatch": "1"},
        raise_server_exceptions=False,
    ) as asking:  # fmt: skip
        yield asking


@pytest.fixture
def file(client: TestClient) -> dict[str, Any]:
    (line,) = client.get("/api/tablefiles").json()
    answer: dict[str, Any] = client.get(f"/api/tablefiles/{line['id']}").json()
    return answer


def check(client: TestClient, file: dict[str, Any], data: Any) -> list[tuple[str, str]]:
    answer = client.post(f"/api/tablefiles/{file['id']}/check", json={"data": data}).json()
    return [(fault["place"], fault["message"]) for fault in answer["faults"]]


def save(client: TestClient, file: dict[str, Any], data: Any, revision: str | None = None) -> Any:
    body = {"revision": revision or file["revision"], "data": data}
    return client.put(f"/api/tablefiles/{file['id']}", json=body)


# ---- the editor's API


def test_the_list_shows_state_and_calibration(client: TestClient, path: Path) -> None:
    (line,) = client.get("/api/tablefiles").json()
    assert (line["file"], line["table"], line["seats"], line["problem"]) == (
        "t1.toml",
        "t1",
        len(load_table(path).seats),
        None,
    )
    fitted = Calibration.fit(load_table(path).camera)  # type: ignore[arg-type]
    assert 0.1 < fitted.rms_px < 1
    assert line["rms_px"] == pytest.approx(fitted.rms_px, abs=0.01)
    path.write_text(path.read_text().replace('house_way = "document_004"', 'house_way = "x"'))
    (line,) = client.get("/api/tablefiles").json()
    assert line["problem"].startswith("rules.house_way: no house way 'x'")
    path.write_text("table = ")
    (line,) = client.get("/api/tablefiles").json()
    assert "not valid TOML" in line["problem"]


def test_a_change_is_written_with_its_comments_and_a_backup(
    client: TestClient, path: Path, file: dict[str, Any]
) -> None:
    former = path.read_bytes()
    data = file["data"]
    assert file["faults"] == []
    moved = [f"        {value}," for value in data["seats"][0]["spots"]["main"]["points_mm"][0]]
    data["rules"]["limits"]["main"]["max_cents"] = 100000
    data["chips"]["pink"] = {"value_cents": 50, "rgb": [226, 132, 160]}
    seats = len(data["seats"])
    del data["seats"][-1]
    data["seats"][0]["spots"]["main"]["points_mm"][0] = [1.5, 2.25]
    answer = save(client, file, data)
    assert answer.status_code == 200, answer.text
    text = path.read_text()
    assert COMMENT in text
    assert "# as posted" in text
    assert tomllib.loads(text) == data
    table = load_table(path)
    assert len(table.seats) == seats - 1
    assert table.rules.limits["main"].max_cents == 100000
    (backup,) = (path.parent / ".backups").iterdir()
    assert backup.read_bytes() == former
    again = client.get(f"/api/tablefiles/{file['id']}").json()
    assert again["revision"] == answer.json()["revision"]
    assert again["backups"] == 1
    # Nothing but what was changed has other lines.
    lines = former.decode().splitlines()
    gone = [line for line in lines if line not in text.splitlines()]
    assert "max_cents = 50000" in gone
    taken_away = former.decode().split("[[seats]]")[-1].split("\n[camera")[0]
    changed = {line for line in gone if line not in taken_away}
    assert changed <= {"max_cents = 50000", *moved}
    assert len(changed) >= 2


def test_somebody_elses_change_is_not_lost(
    client: TestClient, path: Path, file: dict[str, Any]
) -> None:
    path.write_text(path.read_text() + "\n# the other's\n")
    data = file["data"] | {"table": "t9"}
    answer = save(client, file, data)
    assert answer.status_code == 409
    assert "somebody changed it meanwhile" in answer.json()["detail"]
    assert path.read_text().endswith("# the other's\n")
    assert not (path.parent / ".backups").exists()


def test_what_is_not_sound_is_not_written(
    client: TestClient, path: Path, file: dict[str, Any]
) -> None:
    former = path.read_bytes()
    answer = save(client, file, file["data"] | {"chips": {}})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("chips: ")
    assert save(client, file, file["data"], revision="x").status_code == 422
    assert path.read_bytes() == former


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        (lambda d: d.update(table=""), "table", "must not be empty"),
        (lambda d: d.pop("felt"), "felt", "is missing"),
        (lambda d: d["felt"].update(width_mm="wide"), "felt.width_mm", "write a number"),
        (lambda d: d["chips"]["red"].update(value_cents=5.5), "chips.red.value_cents", "whole"),
        (lambda d: d["chips"]["red"].update(colour="x"), "chips.red.colour", "no such key"),
        (lambda d: d["rules"].update(wheel="third"), "rules.wheel", "'second' or 'lowest'"),
        (lambda d: d["rules"].update(main_option="x"), "rules.main_option", "must be"),
        (lambda d: d["rules"].update(game="bridge"), "rules.game", "known are"),
        (lambda d: d["rules"]["paytables"].update(envy="E77"), "rules.paytables.envy", "E77"),
        (lambda d: d["rules"]["limits"].update(x={}), "rules.limits.x", "no such wager"),
        (lambda d: d["seats"][1].update(seat=1), "", "seat numbers must differ"),
        (lambda d: d["seats"][2]["spots"].pop("main"), "seats.2.spots", "named 'main'"),
        (lambda d: d["seats"][2]["spots"].pop("emperors_treasure"), "seats.2.spots",
         "seat 3 has no spot for emperors_treasure"),
        (lambda d: d["seats"][0]["low"].update(points_mm=[[0, 0], [9999, 0], [9999, 9]]),
         "seats.0.low", "off the felt"),
        (lambda d: d["camera"]["points"][0].update(image_px=[9999, 0]), "camera", "outside"),
        (lambda d: d["camera"].update(k1=-0.9), "camera", "fold"),
        (lambda d: d.update(rules={"game": "pai_gow_poker"}), "dealer.house", "needs a spot"),
    ],
    ids=[str(n) for n in range(17)],
)  # fmt: skip
def test_faults_are_reported_at_their_fields(
    client: TestClient, file: dict[str, Any], change: Any, place: str, words: str
) -> None:
    change(file["data"])
    found = check(client, file, file["data"])
    assert [words in message for at, message in found if at == place] == [True], found


def test_two_at_once_never_lose_a_change(path: Path) -> None:
    shelf = TableShelf(files=[path])
    (shelved,) = shelf.all()
    _, stored = shelf.read(shelved.id)
    done: list[str] = []

    def write(name: str) -> None:
        try:
            shelf.write(shelved.id, stored.data | {"table": name}, stored.revision)
            done.append(name)
        except disk.ChangedOnDiskError:
            pass

    threads = [threading.Thread(target=write, args=(f"new{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
    assert load_table(path).table == done[0]


def test_backups_do_not_pile_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "KEPT_BACKUPS", 3)
    shelf = TableShelf(files=[path])
    (shelved,) = shelf.all()
    for n in range(6):
        _, stored = shelf.read(shelved.id)
        shelf.write(shelved.id, stored.data | {"table": f"n{n}"}, stored.revision)
    kept = disk.backups_of(path)
    assert [tomllib.loads(p.read_text())["table"] for p in kept] == ["n4", "n3", "n2"]


def test_a_write_that_fails_leaves_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    former = path.read_bytes()
    shelf = TableShelf(files=[path])
    (shelved,) = shelf.all()
    _, stored = shelf.read(shelved.id)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.os, "fsync", full)  # type: ignore[attr-defined]
    with pytest.raises(FeltwatchError, match="the disk is full"):
        shelf.write(shelved.id, stored.data | {"table": "new"}, stored.revision)
    assert path.read_bytes() == former
    assert sorted(p.name for p in path.parent.iterdir() if p.name != ".backups") == ["t1.toml"]


def test_a_new_table_file_is_one_to_begin_with(client: TestClient, path: Path) -> None:
    answer = client.post("/api/tablefiles", json={"name": "pit2-t4", "game": "pai_gow_poker"})
    assert answer.status_code == 201, answer.text
    made = load_table(path.parent / "pit2-t4.toml")
    assert (made.table, made.rules.game, made.camera) == ("pit2-t4", "pai_gow_poker", None)
    form = client.get(f"/api/tablefiles/{answer.json()['id']}").json()
    assert form["faults"] == []
    for name in ("pit2-t4", "../up", "a b", ".hid", "x" * 62):
        body = {"name": name, "game": "pai_gow_poker"}
        assert client.post("/api/tablefiles", json=body).status_code == 422
    assert client.post("/api/tablefiles", json={"name": "n", "game": "x"}).status_code == 422
    assert sorted(p.name for p in path.parent.glob("*")) == ["pit2-t4.toml", "t1.toml"]


def test_only_known_table_files_are_shown(client: TestClient, path: Path) -> None:
    (path.parent / "other.toml").write_text("[project]\nname = 'x'\n")
    assert len(client.get("/api/tablefiles").json()) == 1
    for id in ("..", "t1", "%2e%2e%2ft1.toml", "t1-00000000"):
        assert client.get(f"/api/tablefiles/{id}").status_code == 404


# ---- the fit


def test_a_fit_reports_misses_in_px_and_mm(client: TestClient, file: dict[str, Any]) -> None:
    body = {"camera": file["data"]["camera"], "data": file["data"]}
    answer = client.post("/api/calibration/fit", json=body).json()
    assert answer["problem"] is None
    fitted = Calibration.fit(load_table(SAMPLE / "table.toml").camera)  # type: ignore[arg-type]
    assert answer["rms_px"] == pytest.approx(fitted.rms_px)
    assert answer["height_mm"] == pytest.approx(fitted.height_mm)
    assert len(answer["points"]) == len(body["camera"]["points"])
    assert answer["max_px"] == pytest.approx(max(p["miss_px"] for p in answer["points"]))
    # A millimetre of felt is some px there.
    assert 0.3 < answer["rms_mm"] / answer["rms_px"] < 1.2
    assert [one["seat"] for one in answer["sights"]] == [None, 1, 2, 3, 4, 5]
    assert all(one["px_per_chip"] > 3 for one in answer["sights"][1:])
    assert any("second camera" in hint for hint in answer["hints"])
    names = {line["name"] for line in answer["outlines"]}
    assert {"felt", "dealer.tray", "seats.0.low", "seats.4.spots.main"} <= names
    shown = next(line for line in answer["outlines"] if line["name"] == "seats.2.low")
    box = load_table(SAMPLE / "table.toml").seat(3).low.array
    assert np.allclose(shown["points_px"], fitted.felt_to_image(box), atol=0.01)


@pytest.mark.parametrize("width", [1920.0, 7480315.0])
def test_integers_of_json_may_be_written_as_floats(
    client: TestClient, file: dict[str, Any], width: float
) -> None:
    camera = file["data"]["camera"] | {"width_px": width}
    answers = client.post("/api/calibration/fit", json={"camera": camera, "data": file["data"]})
    assert (answers.status_code, answers.json()["camera"]["width_px"]) == (200, int(width))
    for wrong in (width + 0.5, str(width), True):
        camera["width_px"] = wrong
        answers = client.post("/api/calibration/fit", json={"camera": camera, "data": file["data"]})
        assert answers.status_code == 422


def test_a_bad_point_is_shown_and_blamed(client: TestClient, file: dict[str, Any]) -> None:
    camera = file["data"]["camera"]
    camera["points"][4]["image_px"][0] += 60
    answer = client.post(
        "/api/calibration/fit", json={"camera": camera, "data": file["data"]}
    ).json()
    assert "check point 5" in answer["problem"]
    assert answer["points"][4]["miss_px"] > 20
    assert answer["outlines"]
    camera["points"] = camera["points"][:4]
    for point in camera["points"]:
        point["felt_mm"][1] = 0.0
    answer = client.post(
        "/api/calibration/fit", json={"camera": camera, "data": {"felt": 3, "seats": ["x"]}}
    ).json()
    assert "one line" in answer["problem"]
    assert (answer["points"], answer["outlines"], answer["rms_px"]) == ([], [], None)


def test_the_lens_is_found_and_the_error_falls(client: TestClient, file: dict[str, Any]) -> None:
    table = load_table(SAMPLE / "table.toml")
    truth = synthetic_camera(
        table.felt, height_mm=2900, tilt_deg=33, azimuth_deg=12, keep_mm=play_area(table),
        margin=0.05, jitter=0.5, seed=3, distortion=(-0.25, 0.0),
    )  # fmt: skip
    points = [p.model_dump() for p in camera_points(truth, table, noise_px=0.3, seed=1)]
    camera = {"width_px": 3840, "height_px": 2160, "points": points}
    body = {"camera": camera, "data": file["data"], "fit_lens": True}
    answer = client.post("/api/calibration/fit", json=body).json()
    assert answer["camera"]["k1"] < 0
    assert answer["rms_px"] < 0.3 * answer["plain_rms_px"]
    assert answer["corner_px"] > 5
    # Straight sides are drawn as the lens bends them.
    assert len(next(o for o in answer["outlines"] if o["name"] == "felt")["points_px"]) == 32
    plain = client.post("/api/calibration/fit", json=body | {"fit_lens": False}).json()
    assert plain["camera"]["k1"] is None
    assert plain["rms_px"] == pytest.approx(answer["plain_rms_px"])


# ---- images


def packed(width: int, height: int, kind: str = "PNG", **more: Any) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (20, 90, 60)).save(out, kind, **more)
    return out.getvalue()


def claimed(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose head claims any size."""

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed_rows = zlib.compress(b"\x00" * 5000)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head) + chunk(b"IDAT", packed_rows) + chunk(b"IEND", b"")
    )  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [packed(640, 360), packed(640, 360, "JPEG"), packed(640, 360, "WEBP"), packed(640, 360, "BMP")],
    ids=["png", "jpeg", "webp", "bmp"],
)
def test_images_are_taken_in_and_returned(client: TestClient, data: bytes) -> None:
    answer = client.post("/api/calibration/pictures", content=data).json()
    assert (answer["width_px"], answer["height_px"]) == (640, 360)
    given = client.get(answer["url"])
    assert given.headers["content-type"] == "image/jpeg"
    with Image.open(io.BytesIO(given.content)) as image:
        assert image.size == (640, 360)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"not a picture at all", "not an image that can be read"),
        (b"GIF89a" + b"\x00" * 100, "not an image that can be read"),
        ((SAMPLE / "table.toml").read_bytes(), "not an image that can be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", "not an image"),
        (packed(640, 360)[:300], "damaged"),
        (packed(640, 360, "JPEG")[:900], "damaged"),
        (packed(40, 30), "too few"),
        (claimed(60_000, 60_000), "than any camera gives"),
        (claimed(2_000_000, 30), "more than any camera gives"),
        (claimed(9_000, 9_000), "more than any camera gives"),
    ],
    ids=[
        "empty", "text", "gif", "toml", "svg", "half a png", "half a jpeg", "tiny", "bomb",
        "long", "large",
    ],
)  # fmt: skip
def test_hostile_images_get_clear_errors(client: TestClient, data: bytes, words: str) -> None:
    answer = client.post("/api/calibration/pictures", content=data)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_an_image_too_large_to_hold_is_refused_by_its_header(client: TestClient) -> None:
    head = {"content-length": "60000000"}
    answer = client.post("/api/calibration/pictures", content=b"x", headers=head)
    assert answer.status_code == 413
    # All else takes as little as before.
    body = {"data": {"x": "y" * 2_000_000}}
    assert client.post("/api/tablefiles/x/check", json=body).status_code == 413
    assert client.get("/api/calibration/pictures/none").status_code == 404


def test_old_images_go(client: TestClient) -> None:
    urls = [
        client.post("/api/calibration/pictures", content=packed(200, 200)).json()["url"]
        for _ in range(14)
    ]
    found = [client.get(url).status_code for url in urls]
    assert found == [404, 404] + [200] * 12


def test_a_table_is_not_calibrated_on_another_cameras_image(path: Path) -> None:
    app = app_with(supervisor=object())
    app.state.table_shelf = TableShelf({"c1": path})
    app.state.calibration_pictures = pictures = CalibrationPictures()
    with TestClient(app, base_url="http://127.0.0.1:8471") as client:
        (line,) = client.get("/api/tablefiles").json()

        def shown() -> Any:
            text = client.get(f"/tables/calibrate/{line['id']}").text
            start = text.partition('<script id="start" type="application/json">')[2]
            picture = json.loads(start.partition("</script>")[0])["picture"]
            return picture and picture["name"]

        pictures.add(b"", 640, 360, "camera c10")
        assert shown() is None
        pictures.add(b"", 640, 360, "camera c1, as seen last")
        pictures.add(b"", 640, 360, "camera c2")
        assert shown() == "camera c1, as seen last"


def test_a_moment_of_a_video_is_shown(tmp_path: Path) -> None:
    first, later = (picture_of_video(SAMPLE / "video.mp4", at) for at in (0.0, 1.0))
    assert first.shape == later.shape == (2160, 3840, 3)
    assert np.abs(first.astype(int) - later).max() > 30
    with pytest.raises(FeltwatchError, match="no such file"):
        picture_of(str(tmp_path / "none.mp4"))
    with pytest.raises(FeltwatchError, match="No such file"):
        picture_of(str(tmp_path / "none.png"))
    for name, why in (
        ("a.png", "is not an image that can be read; accepted are JPEG, PNG, WebP, BMP and TIFF"),
        ("b.heic", "is HEIC, which is not read"),
    ):
        data = b"text" if name == "a.png" else b"\0\0\0\x18ftypheic"
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FeltwatchError, match=f"{tmp_path / name}: {why}"):
            picture_of(str(tmp_path / name))


def test_calibrate_says_what_is_wrong_before_it_serves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.png").write_bytes(b"none")
    table = str(tmp_path / "t.toml")
    for arguments, words in (
        ([str(tmp_path / "x.png"), "--table", table], "not an image that can be read"),
        ([str(tmp_path / "no.mp4"), "--table", table], "no such file"),
        ([str(tmp_path / "x.png"), "--table", str(tmp_path / "t.txt")], "ends in .toml"),
        ([str(tmp_path / "x.png"), "--table", str(tmp_path / "no" / "t.toml")], "no folder"),
        (["ftp://host/x", "--table", table], "not known"),
    ):
        assert main(["calibrate", "--no-open", "--port", "0", *arguments]) == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "t.toml").exists()


def test_faults_of_a_hand_written_file_do_not_raise(tmp_path: Path) -> None:
    assert faults({}, tmp_path)
    assert faults({"seats": [{}], "rules": [], "camera": "x"}, tmp_path)
