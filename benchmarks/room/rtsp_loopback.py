"""A real RTSP server on loopback, for measurements and tests; see rtsp_server.py beside this."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Self

from settlement.errors import FeltwatchError

SYSTEM_PYTHON = "/usr/bin/python3"
SCRIPT = Path(__file__).with_name("rtsp_server.py")
PACKAGES = (
    "python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good "
    "gstreamer1.0-plugins-bad"
)
_END_S = 10.0


@cache
def why_no_server() -> str | None:
    """Why no server can run here, with the fix; None when one can."""
    probe = "import gi; gi.require_version('GstRtspServer', '1.0')"
    try:
        done = subprocess.run([SYSTEM_PYTHON, "-c", probe], capture_output=True, check=False)
    except OSError as error:
        return f"{SYSTEM_PYTHON}: {error.strerror}"
    return None if done.returncode == 0 else f"missing packages: apt-get install {PACKAGES}"


class RtspServer:
    """Serves MP4 files by mount name on a free port of loopback; a context manager.

    Raises FeltwatchError where the system has no GStreamer RTSP server.
    """

    def __init__(
        self,
        videos: Mapping[str, Path],
        user: str = "",
        password: str = "",
        digest: bool = False,
        tls: tuple[Path, Path] | None = None,
    ) -> None:
        """With a `user`, cameras ask for the password (basic, or `digest`).

        `tls` are a certificate and its key, PEM: it is then reached by rtsps:// alone.
        """
        why = why_no_server()
        if why is not None:
            raise FeltwatchError(f"no RTSP server can be started: {why}")
        command = [SYSTEM_PYTHON, str(SCRIPT)]
        if user:
            command += ["--user", user, "--password", password]
        if digest:
            command.append("--digest")
        if tls is not None:
            command += ["--cert", str(tls[0]), "--key", str(tls[1])]
        self._scheme = "rtsp" if tls is None else "rtsps"
        command += [f"{mount}={path.absolute()}" for mount, path in videos.items()]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip
        self.port = int(str(self._read()["port"]))

    def url(self, mount: str) -> str:
        """Where a file is served."""
        return f"{self._scheme}://127.0.0.1:{self.port}/{mount}"

    def say(self, word: str) -> None:
        """One of drop, stall, go, down, up; done when this returns."""
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()
        self._read()

    def _read(self) -> dict[str, object]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise FeltwatchError(f"the RTSP server ended with {self._process.wait(_END_S)}")
        message: dict[str, object] = json.loads(line)
        return message

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait(_END_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
