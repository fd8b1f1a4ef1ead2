"""What the web application is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from surveillance.web.security import LOOPBACK_HOSTS


@dataclass(frozen=True, slots=True)
class WebSettings:
    """What the web application serves, to whom, and under which names.

    `datasets` are folders of labelled datasets; `hosts` the names by which the server may
    be asked; `person` the name of whoever has not given one, kept with each change.
    """

    datasets: tuple[Path, ...] = ()
    hosts: frozenset[str] = LOOPBACK_HOSTS
    person: str = "reviewer"
