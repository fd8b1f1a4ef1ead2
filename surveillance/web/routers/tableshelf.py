"""The table files of a request, as a dependency of the pages that show or change them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request

from surveillance.web.services.tablefiles import TableShelf


def get_table_shelf(request: Request) -> TableShelf:
    """The table files that this server knows: those of its site, or those it was given."""
    shelf: TableShelf | None = getattr(request.app.state, "table_shelf", None)
    if shelf is None:
        shelf = shelf_of_site(request.app.state.settings.site)
        request.app.state.table_shelf = shelf
    return shelf


def shelf_of_site(site: Any) -> TableShelf:
    """The table files of a site file's cameras and folders of recordings."""
    if site is None:
        return TableShelf()
    return TableShelf(
        {camera.name: Path(camera.table_file) for camera in site.cameras},
        [Path(folder) for folder in site.recordings.folders],
    )


TableShelfHere = Annotated[TableShelf, Depends(get_table_shelf)]
