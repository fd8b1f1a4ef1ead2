"""Assignment of cameras to servers that share the cameras of one PostgreSQL database.

A server holds a lease that it renews; what it was assigned is free once the lease has ended. All
turns take one lock in the database, so that no two servers decide at the same time.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from surveillance.store.database import Database
from surveillance.store.sharing.tables import assignments, servers

_LOCK = 0x66656C75
_FORGET_S = 7 * 86_400.0
SHORTEST_ROUND_S = 5.0
"""No round of any game is dealt and paid in less."""
_A, _S = assignments.c, servers.c
_NOW = sa.func.clock_timestamp()


@dataclass(frozen=True, slots=True)
class Holder:
    """The assignment of a camera that is in force."""

    term: int
    server: str
    watched_until: float | None = None
    ended: bool = False
    last_round: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """A camera that was assigned to this server now.

    `since`: the time, s since 1970, from which it was not watched; None: nobody was to watch it.
    `last_round`: rounds up to this number may have been decided before, stored or not. After a
    server that gave no sign it is higher than its last known one: rounds of the time since may
    wait in its journal, and are stored with their own numbers when it is back.
    """

    camera: str
    term: int
    since: float | None
    why: str
    last_round: int = 0
    planned: bool = False
    """Whether the server before was stopped or handed the camera over."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Cameras a server watches after a turn, which are new, and which it is to give back."""

    held: frozenset[str]
    taken: tuple[Taken, ...]
    give_back: tuple[str, ...]


class Assignments:
    """The assignments of the store; PostgreSQL only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def turn(
        self,
        server: str,
        cameras: Sequence[str],
        lease_s: float,
        *,
        watched: Mapping[str, tuple[float | None, int]] | None = None,
        left: Collection[str] = (),
        starting: bool = False,
    ) -> Turn:
        """Renew a server's lease and take its share of the cameras, all in one transaction.

        `watched`: until when all of its cameras was taken (None: nobody is to watch it), and their
        last rounds; `left`: cameras that it has given back. `starting`: what it held in an earlier
        life is nobody's, and of that nobody is to watch what is not among `cameras`. Raises
        StoreDownError.
        """
        with self._database.write() as connection:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            settled = _renew(connection, server, lease_s)
            now: datetime = connection.execute(sa.select(_NOW)).scalar_one()
            _note(connection, server, watched or {}, left, now)
            if starting:
                former = sa.and_(_A.server == server, _A.camera.not_in(cameras))
                connection.execute(sa.update(assignments).where(former).values(watched_until=None))
            rows = _in_force(connection, cameras)
            alive = set(
                connection.execute(sa.select(_S.name).where(_S.lease_until >= now)).scalars()
            )
            held, take, give_back = share_out(
                server, cameras, rows, alive, settled=settled, starting=starting
            )
            taken = tuple(
                _taken(camera, rows.get(camera), server, alive, now, starting=starting)
                for camera in take
            )
            for one in taken:
                connection.execute(
                    sa.insert(assignments).values(
                        camera=one.camera, term=one.term, server=server, began_at=now,
                        watched_until=one.since, last_round=one.last_round,
                    )
                )  # fmt: skip
        return Turn(frozenset((*held, *take)), taken, tuple(give_back))

    def leave(
        self, server: str, watched: Mapping[str, tuple[float | None, int]] | None = None
    ) -> None:
        """End a server's assignments in good order. Raises StoreDownError."""
        with self._database.write() as connection:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            now: datetime = connection.execute(sa.select(_NOW)).scalar_one()
            connection.execute(sa.delete(servers).where(_S.name == server))
            _note(connection, server, watched or {}, (), now)
            connection.execute(
                sa.update(assignments)
                .where(_A.server == server, _A.ended_at.is_(None))
                .values(ended_at=now)
            )

    def superseded_at(self, camera: str, term: int) -> datetime | None:
        """Return when a camera was assigned again after a term; None: the term is in force."""
        query = sa.select(sa.func.min(_A.began_at)).where(_A.camera == camera, _A.term > term)
        with self._database.read() as connection:
            return connection.execute(query).scalar()

    def holders(self) -> dict[str, Holder]:
        """Return the assignment in force of every camera."""
        with self._database.read() as connection:
            return _in_force(connection, None)


def share_out(
    server: str,
    cameras: Sequence[str],
    rows: Mapping[str, Holder],
    alive: Collection[str],
    *,
    settled: bool,
    starting: bool,
) -> tuple[list[str], list[str], list[str]]:
    """Return the cameras that a server holds, takes, and gives back.

    Each takes up to its share of all cameras. Those of a server whose lease has ended are taken
    only by one that is `settled`, so that after an outage of the database, when all leases have
    ended, the first to be back does not take all. More than its share is given back one by one.

    >>> rows = {"a": Holder(1, "one"), "b": Holder(1, "one"), "c": Holder(1, "two")}
    >>> share_out("one", "abc", rows, {"one"}, settled=True, starting=False)
    (['a', 'b'], ['c'], [])
    >>> share_out("one", "abc", rows, {"one"}, settled=False, starting=False)
    (['a', 'b'], [], [])
    >>> share_out("two", "abc", {}, {"one", "two"}, settled=False, starting=True)
    ([], ['a', 'b'], [])
    >>> alone = {name: Holder(1, "one") for name in "abc"}
    >>> share_out("one", "abc", alone, {"one", "two"}, settled=True, starting=False)
    (['a', 'b', 'c'], [], ['c'])
    """

    def is_held(camera: str) -> bool:
        row = rows.get(camera)
        return row is not None and row.server == server and not row.ended and not starting

    def is_free(camera: str) -> bool:
        row = rows.get(camera)
        if row is None or row.ended or row.server == server:
            return not is_held(camera)
        return settled and row.server not in alive

    share = math.ceil(len(cameras) / len({*alive, server}))
    held = [camera for camera in cameras if is_held(camera)]
    take = [camera for camera in cameras if is_free(camera)][: max(0, share - len(held))]
    return held, take, held[share:][-1:]


def _renew(connection: Connection, server: str, lease_s: float) -> bool:
    """Renew a lease; returns whether it has been held for a whole one by now."""
    until = _NOW + timedelta(seconds=lease_s)
    since = sa.case((_S.lease_until < _NOW, _NOW), else_=_S.since)
    found = connection.execute(
        sa.update(servers)
        .where(_S.name == server)
        .values(since=since, lease_until=until)
        .returning(_S.since <= _NOW - timedelta(seconds=lease_s))
    ).one_or_none()
    if found is not None:
        return bool(found[0])
    connection.execute(sa.insert(servers).values(name=server, since=_NOW, lease_until=until))
    forget = _NOW - timedelta(seconds=_FORGET_S)
    connection.execute(sa.delete(servers).where(_S.lease_until < forget))
    return False


def _note(
    connection: Connection,
    server: str,
    watched: Mapping[str, tuple[float | None, int]],
    left: Collection[str],
    now: datetime,
) -> None:
    own = sa.update(assignments).where(_A.server == server, _A.ended_at.is_(None))
    for camera, (until, last_round) in watched.items():
        values = {"watched_until": until, "last_round": last_round}
        connection.execute(own.where(_A.camera == camera).values(values))
    if left:
        connection.execute(own.where(_A.camera.in_(left)).values(ended_at=now))


def _in_force(connection: Connection, cameras: Collection[str] | None) -> dict[str, Holder]:
    query = sa.select(assignments)
    if cameras is not None:
        query = query.where(_A.camera.in_(cameras))
    last = sa.select(_A.camera, sa.func.max(_A.term)).group_by(_A.camera)
    newest = query.where(sa.tuple_(_A.camera, _A.term).in_(last))
    return {
        row.camera: Holder(
            row.term, row.server, row.watched_until, row.ended_at is not None, row.last_round
        )
        for row in connection.execute(newest)
    }


def _taken(
    camera: str,
    before: Holder | None,
    server: str,
    alive: Collection[str],
    now: datetime,
    *,
    starting: bool,
) -> Taken:
    if before is None:
        return Taken(camera, 1, None, "")
    is_own, is_stopped = before.server == server, before.server not in alive
    last_round = before.last_round
    if not before.ended:
        if not is_own and before.watched_until is not None:
            unknown_s = max(0.0, now.timestamp() - before.watched_until)
            last_round += math.ceil(unknown_s / SHORTEST_ROUND_S)
        why = f"server {before.server} gave no sign, {server} has taken over"
        if is_own:
            why = "the server was ended by force"
    elif is_own:
        why = "the server was stopped" if starting else f"{server} took back what it handed over"
    elif is_stopped:
        why = f"server {before.server} was stopped, {server} has taken over"
    else:
        why = f"server {before.server} handed it over to {server}"
    return Taken(camera, before.term + 1, before.watched_until, why, last_round, before.ended)
