"""A file system of a few MiB that is really full, for tests of what then becomes of the record."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

BALLAST = "ballast"


@contextlib.contextmanager
def small_disk(folder: Path, mb: int) -> Iterator[Path]:
    """A tmpfs of its own at `folder`, taken away in the end."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={mb}m,mode=755", "tmpfs", str(folder)]
    done = subprocess.run(mount, check=False, capture_output=True, text=True)
    if done.returncode:
        reason = f"no tmpfs can be mounted here ({done.stderr.strip()})"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}: these tests need a disk that is really full")
        pytest.skip(reason)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=False, capture_output=True)


def fill(folder: Path) -> None:
    """Write until nothing more goes onto the disk."""
    with (folder / BALLAST).open("ab", buffering=0) as file, contextlib.suppress(OSError):
        for chunk in (b"\0" * 65536, b"\0" * 512):
            with contextlib.suppress(OSError):
                while True:
                    file.write(chunk)


def free(folder: Path) -> None:
    """Make room again."""
    (folder / BALLAST).unlink()
