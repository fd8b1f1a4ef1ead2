"""A worker of recordings as a process of its own, without networks."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from surveillance.store import Store
from tests.surveillance.web.recordings.recordings_made import manager_of

LEASE_S = 6.0


def main(url: str, folder: Path, data: Path) -> None:
    """Audit what waits until it is killed."""
    with Store.open(url) as store, manager_of(store, folder, data, lease_s=LEASE_S):
        print("began", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
