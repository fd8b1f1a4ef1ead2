"""Settings of the web application."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surveillance.web.security import LOOPBACK_HOSTS

if TYPE_CHECKING:
    from surveillance.alerts.webhooks import Webhooks
    from surveillance.config.site_file import SiteConfig
    from surveillance.live.event_bus import EventBus
    from surveillance.live.recorder import Recorder
    from surveillance.live.supervisor import Supervisor
    from surveillance.store import Store


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Settings of the web application: what it serves, to whom, and under which names.

    `datasets` are folders of labelled datasets; `hosts` the names by which the server may
    be asked. Without a `store` there are no accounts: whoever reaches the server may do
    everything under the name they give, or under `person` (dataset review and calibration on
    one's own machine). With a store everybody logs in. Whoever starts the server closes the
    store and stops what runs beside it; the application only uses them.
    """

    datasets: tuple[Path, ...] = ()
    hosts: frozenset[str] = LOOPBACK_HOSTS
    person: str = "reviewer"
    ask_person: bool = False
    """Whether a page asks a browser that has given no name who is at the keyboard."""
    store: Store | None = None
    bus: EventBus | None = None
    recorder: Recorder | None = None
    site: SiteConfig | None = None
    evidence_dir: Path | None = None
    webhooks: Webhooks | None = None
    supervisor: Supervisor | None = None
    recordings: Any = None
    secure_cookies: bool = False
    """Whether browsers reach it by TLS that ends elsewhere; TLS that ends here is seen."""
