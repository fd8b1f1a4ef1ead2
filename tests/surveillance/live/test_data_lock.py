"""One server for one data folder."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from surveillance import cli
from surveillance.live.data_lock import LOCK_FILE, data_lock
from surveillance.live.shutdown import Shutdown
from surveillance.store import Store
from tests.surveillance.live.live_room import wait_for, write_toml
from tests.surveillance.live.serving import ROOT, serving

HOLDS = """
import sys, time
from pathlib import Path
from surveillance.live.data_lock import data_lock
with data_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def holder(data_dir: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(data_dir)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_server_is_refused_and_a_killed_one_holds_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site_file = write_toml(tmp_path / "site.toml", {"web": {"port": 0}})
    data_dir = tmp_path / "feltwatch-data"
    process = holder(data_dir)
    try:
        assert cli.main(["serve", "--config", str(site_file)]) == 2
        error = capsys.readouterr().err
        assert re.search(
            rf"{re.escape(str(data_dir))}: another server works on this folder "
            rf"\(process {process.pid}, started 20\S+Z\): end that one first",
            error,
        )
        # Nothing was opened, and looking at the file needs no lock.
        assert not list(data_dir.glob("*.sqlite*"))
        assert cli.main(["serve", "--config", str(site_file), "--check"]) == 0
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    with data_lock(data_dir):
        assert (data_dir / LOCK_FILE).read_text().split()[0] == str(os.getpid())
        with (
            pytest.raises(FeltwatchError, match=f"process {os.getpid()}, started"),
            data_lock(data_dir),
        ):
            pass
    with data_lock(data_dir):
        pass


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(FeltwatchError, match="cannot be written: "),
        data_lock(tmp_path / "file" / "data"),
    ):
        pass


def test_a_part_that_does_not_stop_holds_the_end_no_longer_than_it_may(
    caplog: pytest.LogCaptureFixture,
) -> None:
    import threading

    never = threading.Event()
    over: list[str] = []
    shutdown = Shutdown(5.0)
    shutdown.begin()
    shutdown.run("recordings", lambda: over.append("stopped"))
    assert over == ["stopped"]
    shutdown.run("webhooks", lambda: bool(never.wait(600)))  # type: ignore[arg-type]
    assert "webhooks did not stop in time" in caplog.text
    assert shutdown.left_s() == 0.0
    wait_for(lambda: shutdown.left_s() == 0.0)
    never.set()


def test_data_folder_and_store_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        data_dir = tmp_path / "feltwatch-data"
        data_dir.mkdir(mode=0o755)
        old = data_dir / "old.sqlite"
        Store.open(f"sqlite:///{old}").close()
        old.chmod(0o644)
        with data_lock(data_dir):
            assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
            for name in ("old.sqlite", "new.sqlite"):
                with Store.open(f"sqlite:///{data_dir}/{name}") as store:
                    store.people.add("ann", "viewer")
                    files = sorted(data_dir.glob(f"{name}*"))
                    assert [file.name for file in files] == [name, f"{name}-shm", f"{name}-wal"]
                    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    finally:
        os.umask(before)


def test_a_server_writes_for_its_owner_alone(tmp_path: Path) -> None:
    site_file = write_toml(tmp_path / "site.toml", {"web": {"port": 0}})
    with serving(site_file):
        data_dir = tmp_path / "feltwatch-data"
        paths = [data_dir, *data_dir.rglob("*")]
        assert len(paths) > 4
        open_ones = [path for path in paths if path.stat().st_mode & 0o077]
    # A public key is there to be read.
    assert [path.name for path in open_ones] in ([], ["evidence-key.pem.pub"])
