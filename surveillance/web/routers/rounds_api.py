"""The JSON API of the rounds."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request

from surveillance.store import RoundFilter
from surveillance.web.access import Viewer, audit
from surveillance.web.room_parts import StoredHere
from surveillance.web.routers.times import Moment, aware
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.schemas.rounds import RoundForm, RoundPage

router = APIRouter(prefix="/api/rounds", tags=["rounds"])

_LARGEST_ID = 2**63 - 1
_NOT_THERE: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorForm, "description": "There is no such thing."}
}


def _filter(
    table: Annotated[str | None, Query(max_length=200)] = None,
    camera: Annotated[str | None, Query(max_length=200)] = None,
    dealer: Annotated[str | None, Query(max_length=80)] = None,
    since: Annotated[Moment | None, Query(description="ISO 8601; taken in.")] = None,
    until: Annotated[Moment | None, Query(description="ISO 8601; not taken in.")] = None,
    recording: Annotated[int | None, Query(ge=1, le=_LARGEST_ID)] = None,
    round_id: Annotated[str | None, Query(max_length=200)] = None,
    with_alerts: bool | None = None,
    with_undecided: bool | None = None,
    with_suspicions: bool | None = None,
) -> RoundFilter:
    return RoundFilter(
        table=table or None,
        camera=camera or None,
        dealer=dealer or None,
        since=aware(since),
        until=aware(until),
        recording_id=recording,
        round_id=round_id or None,
        with_alerts=with_alerts,
        with_undecided=with_undecided,
        with_suspicions=with_suspicions,
    )


@router.get("")
def rounds(
    _: Viewer,
    stored: StoredHere,
    wanted: Annotated[RoundFilter, Depends(_filter)],
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RoundPage:
    """Rounds, newest first."""
    return stored.rounds.page(wanted, cursor, limit)


@router.get("/{id}", responses=_NOT_THERE)
def one_round(
    _: Viewer, stored: StoredHere, request: Request, id: Annotated[int, Path(ge=1, le=_LARGEST_ID)]
) -> RoundForm:
    """One round: hands, wagers, what was done and due with its rule; record and settlement."""
    form = stored.rounds.round(id)
    audit(request, "round seen", f"round {id}")
    return form
