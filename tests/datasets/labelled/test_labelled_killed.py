"""`kill -9` of an import: the next one goes on and takes away what was left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from datasets.labelled.archive import opened
from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import PICTURES, Dataset
from tests.datasets.labelled.made import picture_bytes

IMPORT = """
import os, signal, sys
from pathlib import Path
from datasets.labelled import importing, pictures, store
def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)
{place} = kill
importing.import_labels(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def archive(folder: Path, count: int = 6) -> Path:
    path = folder / "shots.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for n in range(count):
            packed.writestr(f"images/{n}.jpg", picture_bytes(n))
            packed.writestr(f"labels/{n}.txt", "0 0.5 0.5 0.25 0.5\n")
        packed.writestr("data.yaml", "train: images\nval: images\nnames: [AS, KD]\n")
    return path


def killed_at(place: str, source: Path, into: Path) -> None:
    """Import in a process that is killed when it comes to a place of the code."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", IMPORT.format(place=place), str(source), str(into)]
    assert subprocess.run(command, env=env, check=False).returncode == -9


def backdate(*paths: Path) -> None:
    for path in paths:
        os.utime(path, (time.time() - 3600,) * 2)


def test_one_killed_before_the_tables_were_made_is_run_again(tmp_path: Path) -> None:
    source, into = archive(tmp_path), tmp_path / "d"
    killed_at("store.create_tables", source, into)
    assert (into / "dataset.sqlite").is_file()
    assert import_labels(source, into).added == 6


def test_what_killed_imports_left_is_taken_away(tmp_path: Path) -> None:
    source, into = archive(tmp_path), tmp_path / "d"
    Dataset.create(into, ()).close()
    killed_at("pictures.Path.replace", source, into)
    parts = list((into / PICTURES).glob(".*.part"))
    unpacked = list(into.glob(".unpacked-*"))
    assert parts
    assert unpacked
    backdate(*parts, *unpacked)
    assert import_labels(source, into).added == 6
    assert not [*(into / PICTURES).glob(".*"), *into.glob(".*")]


def test_an_archive_that_another_import_reads_stays(tmp_path: Path) -> None:
    source, into = archive(tmp_path), tmp_path / "d"
    Dataset.create(into, ()).close()
    with opened(source, into) as there:
        backdate(there)
        assert import_labels(source, into).added == 6
        assert len(list((there / "images").iterdir())) == 6
