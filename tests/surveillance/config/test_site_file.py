from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from settlement.rules import TableRules
from surveillance.cli import main
from surveillance.cli.server import serve_cmd
from surveillance.config.site_check import check_site
from surveillance.config.site_file import SiteConfig, load_site
from surveillance.store.site_store import check_store
from tests.surveillance.laid_tables import plain_weights
from tests.surveillance.live.live_room import small_table, write_site, write_table, write_toml
from tests.vision.sources.live_films import write_film
from vision.cards.table_deck import DeckSamples
from vision.rounds import followed


@pytest.fixture
def site_file(tmp_path: Path) -> Path:
    write_film(tmp_path / "film.mp4", 0.5)
    return write_site(tmp_path, "film.mp4")


def change(path: Path, **parts: Any) -> Path:
    data = tomllib.loads(path.read_text())
    for name, values in parts.items():
        if name == "camera":
            data["camera"][0] |= values
        elif isinstance(values, dict):
            data[name] = data.get(name, {}) | values
        else:
            data[name] = values
    path.write_text(tomli_w.dumps(data))
    return path


def test_the_example_is_right_and_names_every_part(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text(serve_cmd.EXAMPLE.read_text(encoding="utf-8"))
    site = load_site(path)
    assert site.cameras[0].name == "pit1-t3"
    assert site.cameras[0].table_file == tmp_path / "tables/t3.toml"
    assert site.evidence_dir == tmp_path / "feltwatch-data" / "evidence"
    text = path.read_text()
    names = {field.alias or name for name, field in SiteConfig.model_fields.items()}
    assert all(f"[{name}]" in text for name in names)
    # What is commented out must be right too.
    lines = [line.removeprefix("# ") for line in text.splitlines()[3:]]
    assert len(load_site(write_lines(tmp_path, lines)).cameras) == 4


def write_lines(folder: Path, lines: list[str]) -> Path:
    path = folder / "whole.toml"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("wrong", ["*", "proxy.example", "10.0.0.1/8"])
def test_proxies_are_trusted_by_address_only(site_file: Path, wrong: str) -> None:
    web = load_site(change(site_file, web={"trusted_proxies": ["127.0.0.1", "10.0.0.0/8"]})).web
    assert [str(network) for network in web.trusted_proxies] == ["127.0.0.1/32", "10.0.0.0/8"]
    with pytest.raises(FeltwatchError, match=r"web\.trusted_proxies 1: .*network"):
        load_site(change(site_file, web={"trusted_proxies": [wrong]}))


def test_paths_are_taken_from_the_files_folder(site_file: Path) -> None:
    site = load_site(change(site_file, store={"url": "sqlite:///data/a.sqlite"}))
    assert site.store_url == f"sqlite:///{site_file.parent}/data/a.sqlite"
    assert site.cameras[0].source == str(site_file.parent / "film.mp4")
    tables = check_site(site, site_file)
    assert tables["c1"].table == "t1"


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"camera": {"name": "a b"}}, "camera 1 (a b).name: takes letters, digits, "),
        ({"camera": {"nmae": "x"}}, "camera 1 (c1).nmae: there is no such key here"),
        ({"camera": {"source": "ftp://x/y"}}, "camera 1 (c1).source: sources of kind 'ftp'"),
        ({"camera": {"source": "rtsp://u:s3cret@c/s"}}, "camera 1 (c1): source holds a password"),
        (
            {"camera": {"source": "rtsp://c/s", "loop": True}},
            "camera 1 (c1): loop is for video files",
        ),
        (
            {"camera": {"password_env": "P"}},
            "camera 1 (c1): password_env is given without username",
        ),
        ({"web": {"port": 99999}}, "web.port: must be 65535 or less"),
        ({"web": {"tls_cert": "c.pem"}}, "web: tls_cert and tls_key go together"),
        ({"evidence": {"ring_s": 0}}, "evidence.ring_s: must be more than 0"),
        ({"web": {"names": ["a", "http://pit1"]}}, "web.names 2: write a name or address alone"),
        ({"web": {"names": ["pit1:8471"]}}, "web.names 1: write a name or address alone"),
        ({"site": {"day_starts": "6:00"}}, "site.day_starts: write a time of day such as 06:30"),
        ({"sites": {}}, "sites: there is no such key here"),
    ],
)
def test_what_is_wrong_is_reported_with_file_and_key(
    site_file: Path, parts: dict[str, Any], words: str
) -> None:
    with pytest.raises(FeltwatchError) as raised:
        load_site(change(site_file, **parts))
    assert str(raised.value).startswith(f"{site_file}: {words}")
    assert "s3cret" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_names_of_cameras_differ(site_file: Path) -> None:
    data = tomllib.loads(site_file.read_text())
    data["camera"].append(data["camera"][0])
    with pytest.raises(FeltwatchError) as raised:
        load_site(write_toml(site_file, data))
    assert str(raised.value).startswith(f"{site_file}: two cameras are named 'c1'; each needs")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (
            {"camera": {"table_file": "no.toml"}},
            "camera 1 (c1).table_file: {0}/no.toml: No such file",
        ),
        ({"camera": {"source": "no.mp4"}}, "camera 1 (c1).source: {0}/no.mp4: no such video file"),
        (
            {"camera": {"source": "rtsp://c/s", "username": "a", "password_env": "NOT_SET_1"}},
            "camera 1 (c1).password_env: the environment variable NOT_SET_1 is not set",
        ),
        ({"site": {"weights": "w"}}, "site.weights: {0}/w/model-card.json: the model card is miss"),
        ({"store": {"url_env": "NOT_SET_2"}}, "store.url_env: the environment variable NOT_SET_2"),
        (
            {"webhook": [{"url": "https://h/x", "secret_env": "NOT_SET_3"}]},
            "webhook 1.secret_env: the environment variable NOT_SET_3 is not set",
        ),
        (
            {"webhook": [{"url": "https://h/x", "secret_env": "HOOK", "codes": ["OVERPAYED"]}]},
            "webhook 1.codes: there is no alert code 'OVERPAYED'; the codes are HOUSE_WAY, FOUL,",
        ),
        (
            {"webhook": [{"url": "http://h/x", "secret_env": "HOOK"}]},
            "webhook http://h/...: url is not https",
        ),
        ({"store": {"url": "mysql://u@h/x"}}, "store.url: mysql://u@h/x: feltwatch keeps its"),
        (
            {"store": {"share_cameras": True}},
            "store.share_cameras: servers share cameras over a PostgreSQL database",
        ),
        ({"recordings": {"folders": ["none"]}}, "recordings.folders: {0}/none: no such folder"),
        ({"web": {"tls_cert": "c", "tls_key": "k"}}, "web.tls_cert: {0}/c: no such file"),
        ({"site": {"data_dir": "film.mp4/x"}}, "site.data_dir: {0}/film.mp4/x cannot be written"),
    ],
)
def test_what_is_missing_is_reported_before_anything_starts(
    site_file: Path, parts: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK", "a secret of sixteen letters")
    site = load_site(change(site_file, **parts))

    def check() -> None:
        check_site(site, site_file)
        check_store(site, site_file)

    with pytest.raises(FeltwatchError) as raised:
        check()
    wanted = words.format(site_file.parent)
    assert str(raised.value).startswith(f"{site_file}: {wanted}")


def test_home_is_known_in_every_path(site_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/pit")
    site = load_site(
        change(
            site_file, camera={"source": "~/a.mp4"}, recordings={"folders": ["~/r", "r"]},
            datasets={"folders": ["~/d"]}, evidence={"other_folders": ["~/o"]},
            store={"url": "sqlite:///~/s.sqlite"},
        )
    )  # fmt: skip
    home = Path("/home/pit")
    assert site.cameras[0].source == "/home/pit/a.mp4"
    assert site.recordings.folders == (home / "r", site_file.parent / "r")
    assert (*site.datasets.folders, *site.evidence.other_folders) == (home / "d", home / "o")
    assert site.store_url == "sqlite:////home/pit/s.sqlite"


def test_names_that_browsers_ask_by_are_taken(site_file: Path) -> None:
    names = ["pit1", "PIT1.example", "10.0.0.7", "[::1]", "fe80::1", "pit_1"]
    web = load_site(change(site_file, web={"names": names})).web
    assert web.names == ("pit1", "PIT1.example", "10.0.0.7", "::1", "fe80::1", "pit_1")


def checked(site_file: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["serve", "--config", str(site_file), "--check"])
    out, err = capsys.readouterr()
    return code, out + err


def test_a_check_finds_a_database_that_does_not_answer(
    site_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(site_file, store={"url": "postgresql://ann:s3cret@127.0.0.1:9/x"})
    code, words = checked(site_file, capsys)
    assert code == 2
    assert f"{site_file}: store.url: " in words
    assert "s3cret" not in words


def test_a_check_finds_a_source_that_is_no_video(
    site_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(site_file, camera={"source": "site.toml"})
    code, words = checked(site_file, capsys)
    assert code == 2
    assert f"{site_file}: camera 1 (c1).source: {site_file}: " in words


def test_a_check_finds_checkpoints_that_cannot_be_written(
    site_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(site_file, evidence={"checkpoint_dir": "film.mp4/x"})
    code, words = checked(site_file, capsys)
    assert code == 2
    assert f"{site_file}: evidence.checkpoint_dir: {site_file.parent}/film.mp4/x cannot" in words


def test_a_site_without_cameras_is_said_to_watch_nothing(
    site_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tomllib.loads(site_file.read_text())
    del data["camera"]
    code, words = checked(write_toml(site_file, data), capsys)
    assert (code, words) == (
        0, f"{site_file}: right, but without a [[camera]]: no table is watched\n"
    )  # fmt: skip


def test_a_file_that_is_not_utf_8_is_reported_as_that(site_file: Path) -> None:
    site_file.write_bytes('[site]\nname = "Säle"\n'.encode("latin-1"))
    with pytest.raises(FeltwatchError, match=r"not a text file in UTF-8 \(byte 17\); save it"):
        load_site(site_file)


def test_a_table_without_calibration_is_reported_with_the_fix(site_file: Path) -> None:
    bare = small_table().model_copy(update={"camera": None})
    write_table(site_file.parent / "table.toml", bare)
    with pytest.raises(
        FeltwatchError, match=r"camera 1 \(c1\)\.table_file: .*not calibrated; run 'felt"
    ):
        check_site(load_site(site_file), site_file)


def test_a_game_that_the_camera_does_not_follow_is_refused(
    site_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # All games that are known have a procedure: this one is taken away.
    known = followed.FOLLOWED_GAMES - {"imperial_pai_gow_draw"}
    monkeypatch.setattr(followed, "FOLLOWED_GAMES", known)
    own = small_table()
    # Imperial has cards for five seats.
    rules = TableRules(game="imperial_pai_gow_draw")
    other = own.model_copy(update={"rules": rules, "seats": own.seats[:5]})
    table = write_table(site_file.parent / "table.toml", other)
    for arguments in (["--check"], []):
        assert main(["serve", "--config", str(site_file), *arguments]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert (
            f"{site_file}: camera 1 (c1).table_file: {table}: rules.game: the camera cannot" in line
        )
        assert "'imperial_pai_gow_draw' (Imperial Pai Gow Draw Poker)" in line
        assert "supported are emperors_challenge_exposed, " in line


def test_wrong_networks_are_refused(site_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "model-card.json").write_text("{}")
    with pytest.raises(FeltwatchError, match=r"site.weights: .*not a model card"):
        check_site(load_site(change(site_file, site={"weights": "w"})), site_file)


def test_weights_that_cannot_compare_are_refused_where_a_deck_was_sampled(
    site_file: Path, tmp_path: Path
) -> None:
    plain = plain_weights(tmp_path)
    site = load_site(change(site_file, site={"weights": plain.name}))
    check_site(site, site_file)
    crops = np.full((53, 64, 64, 3), 90, np.uint8)
    own = small_table().model_copy(update=DeckSamples(crops).as_table_data())
    write_table(site_file.parent / "table.toml", own)
    with pytest.raises(FeltwatchError, match=r"site\.weights: .* no network that compares"):
        check_site(load_site(site_file), site_file)
    check_site(load_site(change(site_file, site={"weights": str(default_weights())})), site_file)


def test_passwords_come_from_the_environment(
    site_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAM_PW", "s3cret/%")
    camera = {"source": "rtsp://c/s", "username": "ann", "password_env": "CAM_PW"}
    site = load_site(change(site_file, camera=camera))
    check_site(site, site_file)
    assert site.address(site.cameras[0]).opened == "rtsp://ann:s3cret%2F%25@c/s"
    assert "s3cret" not in repr(site)


def test_the_log_is_kept_for_a_time_of_its_own(site_file: Path) -> None:
    assert load_site(site_file).store.keep_log_days == 400
    changed = change(site_file, store={"keep_log_days": 90, "keep_days": 7})
    assert load_site(changed).store.keep_log_days == 90
    with pytest.raises(FeltwatchError, match=r"store\.keep_log_days"):
        load_site(change(site_file, store={"keep_log_days": 0}))
    field = SiteConfig.model_fields["store"].annotation.model_fields["keep_log_days"]  # type: ignore[union-attr]
    assert "audit log" in (field.description or "")
