"""A server's checkpoints: sent to a folder, the store and a webhook, and compared at its start."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from surveillance.alerts.webhooks import Hook, Webhooks
from surveillance.cli import main
from surveillance.config.site_file import EvidencePart, load_site
from surveillance.evidence.bundle import SigningKey
from surveillance.evidence.bundle.checkpoint import read_checkpoints
from surveillance.live.checkpoints import Checkpoints, stored_place
from surveillance.store import Store
from tests.surveillance.evidence.bundle.evidence_made import make_evidence
from tests.surveillance.live.live_room import PATIENCE_S, wait_for, write_toml

KEY = SigningKey.make()


@pytest.fixture
def site_file(tmp_path: Path) -> Path:
    part = {"checkpoint_dir": "elsewhere", "checkpoint_s": 0.05}
    return write_toml(tmp_path / "site.toml", {"evidence": part})


def test_checkpoints_reach_every_place_and_an_old_copy_is_found(
    tmp_path: Path, site_file: Path, caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    site = load_site(site_file)
    evidence = site.evidence_dir
    make_evidence(evidence, bundles=1, key=KEY)
    old = tmp_path / "copy"
    shutil.copytree(evidence, old)
    url = f"sqlite:///{tmp_path}/elsewhere.sqlite"
    hook = Hook("http://127.0.0.1:9/", "a secret of the hook", checkpoints=True)
    plain = Hook("http://127.0.0.1:9/", "a secret of the hook")
    webhooks = Webhooks([hook, plain])
    with Store.open(url) as store:
        running = Checkpoints(evidence, KEY, site.evidence, store, webhooks)
        running.start()
        folder = tmp_path / "elsewhere"
        wait_for(lambda: (folder / "checkpoints.jsonl").exists(), PATIENCE_S)
        make_evidence(evidence, bundles=1, key=KEY, first=2)
        wait_for(lambda: read_checkpoints(folder)[0][-1].number == 4, PATIENCE_S)
        running.stop()
        numbers = [checkpoint.number for checkpoint in read_checkpoints(folder)[0]]
        # Each state once, however often it is looked at; a state between them may be there.
        assert numbers == sorted(set(numbers))
        assert (numbers[0], numbers[-1]) == (2, 4)
        stored = [checkpoint.number for checkpoint in stored_place(store).checkpoints]
        assert stored == numbers[::-1]
        subscribed, untold = webhooks.states()
        assert (subscribed.waiting, untold.waiting) == (len(numbers), 0)
        assert {delivery.kind for delivery in subscribed.last} == {"checkpoint"}
        assert not caplog.records

        shutil.rmtree(evidence)
        old.rename(evidence)
        with caplog.at_level(logging.CRITICAL):
            Checkpoints(evidence, KEY, site.evidence, store, Webhooks()).check()
        assert [record.getMessage().count("older copy") for record in caplog.records] == [1, 1]
    for part in ("checkpoint_dir", "url"):
        data: dict[str, object] = {"store": {"url": url}}
        if part == "checkpoint_dir":
            data = {"evidence": {"checkpoint_dir": "elsewhere"}}
        other = write_toml(tmp_path / f"{part}.toml", data)
        assert main(["verify", str(evidence), "--site", str(other)]) == 1
        assert "older copy" in capsys.readouterr().out


def test_a_place_that_takes_none_gets_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_evidence(tmp_path / "evidence", bundles=1, key=KEY)
    (tmp_path / "file").write_text("")
    part = EvidencePart(checkpoint_dir=tmp_path / "file" / "folder")
    with Store.open(f"sqlite:///{tmp_path}/a.sqlite") as store:
        running = Checkpoints(tmp_path / "evidence", KEY, part, store, Webhooks())
        running.take()
        assert "checkpoints.jsonl: cannot be written" in caplog.records[0].getMessage()
        (tmp_path / "file").unlink()
        running.take()
        assert [c.number for c in read_checkpoints(tmp_path / "file" / "folder")[0]] == [2]
        assert len(stored_place(store).checkpoints) == 1
