"""The RTSP server of the package, for tests: skipped where there is none, except on CI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.room import rtsp_loopback


def need_server() -> None:
    """Skip the test where there is no server; on CI there must be one."""
    why = rtsp_loopback.why_no_server()
    if why is None:
        return
    if os.environ.get("CI"):
        pytest.fail(f"no RTSP server for the tests: {why}")
    pytest.skip(f"no RTSP server: {why}")


class RtspServer(rtsp_loopback.RtspServer):
    """Serves MP4 files by mount name; a context manager."""

    def __init__(
        self,
        videos: dict[str, Path],
        user: str = "",
        password: str = "",
        digest: bool = False,
        tls: tuple[Path, Path] | None = None,
    ) -> None:
        need_server()
        super().__init__(videos, user, password, digest, tls)
