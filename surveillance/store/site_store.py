"""Checks of the store that a site file names, before anything starts."""

from __future__ import annotations

from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.config.site_file import SiteConfig
from surveillance.store.database import Database, checked_url


def check_store(site: SiteConfig, path: Path, *, asked: bool = False) -> None:
    """Raise FeltwatchError naming file and key for a store that cannot be used.

    `asked`: also for a server that does not answer.
    """
    key = f"{path}: store.{'url_env' if site.store.url_env else 'url'}"
    try:
        url = checked_url(site.store_url)
    except FeltwatchError as error:
        raise FeltwatchError(f"{key}: {error}") from error
    is_sqlite = url.get_backend_name() == "sqlite"
    if site.store.share_cameras and is_sqlite:
        raise FeltwatchError(
            f"{path}: store.share_cameras: servers share cameras over a PostgreSQL database, "
            "and this site keeps its record in SQLite"
        )
    if not asked or is_sqlite:
        return
    try:
        database = Database(site.store_url)
        try:
            database.ping()
        finally:
            database.engine.dispose()
    except FeltwatchError as error:
        raise FeltwatchError(f"{key}: {error}") from error
