"""Dependencies of routes: the service of a dataset, the store, and the author of a change."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Path, Request
from starlette.responses import Response

from surveillance.accounts import Accounts
from surveillance.store import Store
from surveillance.web.access import PERSON_COOKIE, Viewer
from surveillance.web.services.dataset_shelf import ReviewedDataset, Shelf
from surveillance.web.services.errors import NotThereError
from surveillance.web.services.shared_networks import SharedNetworks
from surveillance.web.services.tablefiles import TableShelf

_A_YEAR_S = 365 * 24 * 3600
_LARGEST_ID = 2**63 - 1


def get_shelf(request: Request) -> Shelf:
    """The datasets that this server shows."""
    shelf: Shelf = request.app.state.shelf
    return shelf


def get_reviewed_dataset(
    dataset: str, shelf: Annotated[Shelf, Depends(get_shelf)]
) -> ReviewedDataset:
    """Return the service of the dataset in the path. Raises NotThereError."""
    reviewed = shelf.get(dataset)
    if reviewed is None:
        raise NotThereError(f"there is no dataset {dataset!r} here")
    return reviewed


def get_store(request: Request) -> Store:
    """The store. Raises NotThereError on a server without one."""
    store: Store | None = request.app.state.settings.store
    if store is None:
        raise NotThereError("this server keeps no record: it was started without a store")
    return store


def get_accounts(request: Request) -> Accounts:
    """The accounts. Raises NotThereError on a server without them."""
    accounts: Accounts | None = request.app.state.accounts
    if accounts is None:
        raise NotThereError("this server has no accounts: it was started without a store")
    return accounts


def get_person(account: Viewer) -> str:
    """The name of who is asking."""
    return account.name


def keep_person(response: Response, name: str) -> None:
    """Store the name in a cookie."""
    response.set_cookie(
        PERSON_COOKIE, quote(name), max_age=_A_YEAR_S, httponly=True, samesite="strict"
    )


def get_author(person: Annotated[str, Depends(get_person)]) -> str:
    """Return the name that a change in a dataset records as its author."""
    return f"person:{person}"


def get_table_shelf(request: Request) -> TableShelf:
    """The table files that this server knows: those of its site, or those it was given."""
    shelf: TableShelf | None = getattr(request.app.state, "table_shelf", None)
    if shelf is None:
        shelf = TableShelf.of_site(request.app.state.settings.site)
        request.app.state.table_shelf = shelf
    return shelf


def get_networks(request: Request) -> SharedNetworks:
    """The networks that this server's pages read images with."""
    networks: SharedNetworks = request.app.state.networks
    return networks


NetworksHere = Annotated[SharedNetworks, Depends(get_networks)]
StoreHere = Annotated[Store, Depends(get_store)]
AccountsHere = Annotated[Accounts, Depends(get_accounts)]
ReviewedDatasetHere = Annotated[ReviewedDataset, Depends(get_reviewed_dataset)]
ShelfHere = Annotated[Shelf, Depends(get_shelf)]
TableShelfHere = Annotated[TableShelf, Depends(get_table_shelf)]
Author = Annotated[str, Depends(get_author)]
PictureId = Annotated[int, Path(ge=1, le=_LARGEST_ID, description="Number of the image.")]
