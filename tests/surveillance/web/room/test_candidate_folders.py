"""The views cut for labelling stay within the site's number; what can be had again goes first."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from datasets.labelled.harvest import CANDIDATES, VIEWS
from datasets.labelled.manifest import Dataset
from surveillance.config.site_file import EvidencePart, SiteConfig
from surveillance.web.services.evidence.candidate_folders import CandidateFolders
from tests.surveillance.web.room_made import asking, made_room
from vision.geometry.table import TableFile


def cut(root: Path, name: str, views: int, written_s: float) -> Path:
    folder = root / name
    (folder / VIEWS).mkdir(parents=True)
    for n in range(views):
        (folder / VIEWS / f"{n}.jpg").write_bytes(b"view")
    (folder / CANDIDATES).write_text("")
    os.utime(folder / CANDIDATES, (written_s, written_s))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five folders of three views, the first the oldest; c and d are in a dataset."""
    root = tmp_path / "candidates"
    for at, name in enumerate("abcde", start=1):
        cut(root, name, 3, float(at))
    for name in "cd":
        CandidateFolders(root).note_harvested(root / name)
    return root


@pytest.mark.parametrize(
    ("keep", "stay"),
    [(15, "abcde"), (14, "abde"), (12, "abde"), (9, "abe"), (7, "be"), (3, "e"), (1, "")],
)
def test_what_is_in_a_dataset_goes_first_then_the_oldest(root: Path, keep: int, stay: str) -> None:
    gone = CandidateFolders(root, keep).sweep()
    assert "".join(sorted(p.name for p in root.iterdir())) == stay
    assert gone == 15 - 3 * len(stay)
    assert CandidateFolders(root, keep).sweep() == 0


def test_the_one_being_worked_with_stays(root: Path) -> None:
    assert CandidateFolders(root, 1).sweep(newest=root / "c") == 12
    assert [p.name for p in root.iterdir()] == ["c"]


def test_only_folders_of_its_own_are_touched(root: Path, tmp_path: Path) -> None:
    other = cut(tmp_path / "audit", "x", 4, 0.0)
    (root / "link").symlink_to(other, target_is_directory=True)
    (root / "file.txt").write_text("x")
    CandidateFolders(root).note_harvested(other)
    assert sorted(p.name for p in other.iterdir()) == [VIEWS, CANDIDATES]
    CandidateFolders(root, 1).sweep()
    assert len(list((other / VIEWS).iterdir())) == 4
    assert sorted(p.name for p in root.iterdir()) == ["file.txt", "link"]
    assert CandidateFolders(tmp_path / "none", 1).sweep() == 0


@pytest.mark.parametrize("labelled", [False, True])
def test_rejecting_keeps_no_more_than_the_site_says(
    tmp_path: Path, table: TableFile, labelled: bool
) -> None:
    dataset = tmp_path / "labelled"
    if labelled:
        Dataset.create(dataset, ()).close()
    with made_room(tmp_path / "room", table, (dataset,) if labelled else ()) as room:
        site = SiteConfig(evidence=EvidencePart(keep_candidates=9))
        room.app.state.settings = replace(room.app.state.settings, site=site)
        with asking(room, "ann") as ann:
            lines = ann.get("/api/alerts").json()["alerts"]
            rejected = 0
            for line in reversed(lines):
                ann.post(f"/api/alerts/{line['id']}/verdict", json={"verdict": "rejected"})
                rejected += len(room.store.alerts.get(line["id"]).alert.pictures)
        folders = sorted((room.evidence_dir / VIEWS).iterdir(), key=lambda p: p.name)
        views = sum(len(list((f / VIEWS).iterdir())) for f in folders)
        assert rejected > 9
        assert 0 < views <= 9
        newest = max(lines, key=lambda line: line["at"])
        assert any(f.name.endswith(str(newest["alert_id"])) for f in folders)
        if labelled:
            # Nothing is lost by it: the dataset has them all.
            with Dataset.open(dataset) as found:
                assert len(list(found.pictures())) == rejected
