"""What a site file says of evidence, its key, and the bounds of days and shifts."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli_w

from settlement.errors import FeltwatchError
from surveillance.config.site_check import check_site
from surveillance.config.site_file import SiteConfig, load_site
from surveillance.evidence.bundle import SigningKey


def written(folder: Path, **parts: object) -> Path:
    path = folder / "site.toml"
    path.write_text(tomli_w.dumps(parts))
    return path


def test_the_key_lies_in_the_data_folder_unless_said_otherwise(tmp_path: Path) -> None:
    site = load_site(written(tmp_path))
    assert site.key_file == tmp_path / "feltwatch-data" / "evidence-key.pem"
    assert not site.key_file.is_relative_to(site.evidence_dir)
    site = load_site(written(tmp_path, evidence={"key_file": "keys/k.pem"}))
    assert site.key_file == tmp_path / "keys" / "k.pem"


def test_an_unusable_key_is_reported_before_anything_starts(tmp_path: Path) -> None:
    path = written(tmp_path, evidence={"key_file": "feltwatch-data/evidence/k.pem"})
    with pytest.raises(FeltwatchError, match=r"site\.toml: evidence\.key_file: .*beside what it"):
        check_site(load_site(path), path)
    path = written(tmp_path, evidence={"key_file": "k.pem"})
    SigningKey.make().write(tmp_path / "k.pem")
    check_site(load_site(path), path)
    (tmp_path / "k.pem").chmod(0o644)
    with pytest.raises(FeltwatchError, match=r"evidence\.key_file: .*others may read"):
        check_site(load_site(path), path)


@pytest.mark.parametrize(
    "shifts",
    [
        ["06:00", "14:00", "22:00"], ["22:00", "06:00", "14:00"], ["00:00", "12:00"], ["20:30"], [],
    ],
)  # fmt: skip
def test_shifts_go_around_the_clock(tmp_path: Path, shifts: list[str]) -> None:
    site = load_site(written(tmp_path, site={"shifts": shifts, "day_starts": "04:30"}))
    assert (list(site.site.shifts), site.site.day_starts) == (shifts, "04:30")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"shifts": ["06:00", "06:00"]}, "site: shifts: each begins after"),
        ({"shifts": ["06:00", "22:00", "14:00"]}, "site: shifts: each begins after"),
        ({"shifts": ["14:00", "06:00", "22:00", "10:00"]}, "site: shifts: each begins after"),
        ({"shifts": ["22:00", "06:00", "23:00"]}, "site: shifts: each begins after"),
        ({"shifts": ["6:00"]}, "site.shifts 1: write a time of day such as 06:30"),
        ({"shifts": ["24:00"]}, "site.shifts 1: write a time of day such as 06:30"),
        ({"day_starts": "noon"}, "site.day_starts: write a time of day such as 06:30"),
    ],
)
def test_what_are_no_shifts_is_refused(tmp_path: Path, part: dict[str, object], words: str) -> None:
    with pytest.raises(FeltwatchError, match=words):
        load_site(written(tmp_path, site=part))


def test_every_key_is_described() -> None:
    for part in ("site", "evidence"):
        for name, field in SiteConfig.model_fields[part].annotation.model_fields.items():  # type: ignore[union-attr]
            assert field.description, f"{part}.{name}"
