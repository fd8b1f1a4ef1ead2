"""Two real servers share two cameras over one PostgreSQL; one of them is killed or stopped."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from settlement.errors import FeltwatchError
from surveillance.accounts import Accounts, Role
from surveillance.config.site_file import load_site
from surveillance.live.sharing.table_share import LEASE_S, TURN_S
from surveillance.serve import serve_stack
from surveillance.store import AlertFilter, Store
from surveillance.store.sharing.assignments import SHORTEST_ROUND_S, Taken
from tests.surveillance import postgres
from tests.surveillance.live.live_room import wait_for, write_site
from tests.surveillance.live.sharing.share_made import CAMERAS, decided, sharing, write_share
from tests.surveillance.live.watch_made import all_rounds, span_of
from tests.vision.sources.live_films import write_film

ASSIGNED_S = LEASE_S + 2 * TURN_S + 10.0
"""Within so long after its server died a camera is another one's; the machine may be busy."""

STARTED_S = 300.0
"""For processes to start, on a machine that may be busy."""


@pytest.fixture
def url() -> Iterator[str]:
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE shared")
        yield postgres.url(host, "shared")


def assigned(store: Store) -> dict[str, str]:
    """The data folder's name of the server of each camera that is watched."""
    return {
        camera: Path(holder.server.split(":", 1)[1]).parent.name
        for camera, holder in store.assignments.holders().items()
        if not holder.ended
    }


def number_of(store: Store, server: str) -> int:
    return sum(name == server for name in assigned(store).values())


def taken_over(store: Store) -> list[str]:
    """The cameras for which a GAP alert says that another server has taken over."""
    rows = store.alerts.page(AlertFilter(code="GAP"), None, 200).rows
    return [str(row.camera) for row in rows if "gave no sign" in row.alert.message]


@pytest.mark.slow
def test_cameras_of_a_killed_server_are_taken_over(url: str, tmp_path: Path) -> None:
    film = write_film(tmp_path / "a.mp4", 20.0, rate=5, b_frames=2)
    one, two = tmp_path / "one", tmp_path / "two"
    write_share(one, film, url)
    write_share(two, film, url)
    with Store.open(url) as store:
        accounts = Accounts(store)
        user, _ = accounts.administration.invite("ann", Role.VIEWER)
        token = accounts.tokens.make(user, "test", Role.VIEWER, None).secret

        def wall(address: str) -> dict[str, str]:
            own = {"authorization": f"Bearer {token}"}
            answer = httpx.get(f"{address}/api/tables", headers=own, timeout=STARTED_S)
            assert answer.status_code == 200, answer.text
            return {line["camera"]: line["state"] for line in answer.json()}

        with sharing(one) as (first, _), sharing(two) as (second, address):
            # The first has taken all before the second came, and hands over its half.
            wait_for(lambda: number_of(store, "one") == number_of(store, "two") == 1, STARTED_S)
            watched = {"running", "too_slow"}
            wait_for(lambda: set(wall(address)) == set(CAMERAS), STARTED_S)
            wait_for(lambda: set(wall(address).values()) <= watched, STARTED_S)
            picture = httpx.get(
                f"{address}/api/tables/{_of(store, 'one')}/picture",
                headers={"authorization": f"Bearer {token}"}, timeout=STARTED_S,
            )  # fmt: skip
            assert picture.content.startswith(b"\xff\xd8")

            killed_at = time.time()
            os.kill(first.pid, signal.SIGKILL)
            wait_for(lambda: number_of(store, "two") == 2)
            assigned_s = time.time() - killed_at
            wait_for(lambda: set(wall(address).values()) <= watched, STARTED_S)
            wait_for(lambda: len(taken_over(store)) == 1)
            print(f"assigned {assigned_s:.1f} s, watched {time.time() - killed_at:.1f} s later")
            before = len(all_rounds(store))
            wait_for(lambda: len(all_rounds(store)) > before + 2, STARTED_S)
            second.terminate()
            second.wait(STARTED_S)
        assert assigned_s < ASSIGNED_S
        assert not assigned(store)
        rounds = all_rounds(store)
        gaps = store.alerts.page(AlertFilter(code="GAP"), None, 200).rows
        for camera in CAMERAS:
            own = [row for row in rounds if row.camera == camera]
            ids = [row.round_id for row in own]
            assert len(set(ids)) == len(ids), "a round is doubled"
            # Between the rounds of one server and of the next there is a reported gap.
            for row in (row for row in gaps if row.camera == camera):
                since, until = span_of(row)
                if since < killed_at < until:
                    # It begins where the killed server last renewed; what that decided then counts.
                    since = killed_at
                hidden = [r for r in own if since + 1 < r.ended_at.timestamp() < until - 1]
                assert not hidden


@pytest.mark.slow
def test_cameras_of_a_server_ended_by_sigterm_are_taken_over_at_once(
    url: str, tmp_path: Path
) -> None:
    film = write_film(tmp_path / "a.mp4", 20.0, rate=5, b_frames=2)
    one, two = tmp_path / "one", tmp_path / "two"
    write_share(one, film, url)
    write_share(two, film, url)
    with Store.open(url) as store:

        def more_of(camera: str, many: int) -> None:
            """Wait until so many more rounds of a camera are stored."""
            before = sum(row.camera == camera for row in all_rounds(store))
            wait_for(
                lambda: sum(r.camera == camera for r in all_rounds(store)) >= before + many,
                STARTED_S,
            )

        with sharing(one) as (first, _), sharing(two) as (second, _):
            wait_for(lambda: number_of(store, "one") == number_of(store, "two") == 1, STARTED_S)
            left = _of(store, "one")
            for camera in CAMERAS:
                more_of(camera, 2)
            stopped_at = time.time()
            first.send_signal(signal.SIGTERM)
            assert first.wait(STARTED_S) == 0
            ended_at = time.time()
            wait_for(lambda: number_of(store, "two") == 2)
            # It gave its camera back: nobody waits until its lease has run out.
            handed_s = time.time() - ended_at
            more_of(left, 2)
            second.send_signal(signal.SIGTERM)
            assert second.wait(STARTED_S) == 0
        assert handed_s < LEASE_S
        assert not assigned(store)
        gaps = store.alerts.page(AlertFilter(code="GAP"), None, 200).rows
        (gap,) = [row for row in gaps if "has taken over" in row.alert.message]
        assert (gap.camera, gap.alert.severity) == (left, "medium")
        assert "was stopped" in gap.alert.message
        assert abs(span_of(gap)[0] - stopped_at) < 3.0
        # What either server decided is stored, also in its last seconds, or lies in a gap.
        stored = {(r.round_id, round(r.ended_at.timestamp(), 3)) for r in all_rounds(store)}
        spans = [span_of(row) for row in gaps]
        lost = [
            own
            for folder in (one, two)
            for own in decided(folder)
            if own not in stored and not any(a - 1.5 <= own[1] <= b + 1.5 for a, b in spans)
        ]
        assert not lost


def _of(store: Store, server: str) -> str:
    return next(camera for camera, name in assigned(store).items() if name == server)


def test_a_server_that_is_stopped_says_from_when_on_nobody_watched(url: str) -> None:
    until = 1796000000.5
    with Store.open(url) as store:
        own = store.assignments

        def take(server: str, *cameras: str) -> dict[str, Taken]:
            turn = own.turn(server, cameras, 15.0, starting=True)
            return {one.camera: one for one in turn.taken}

        assert take("A", "x", "y", "film")["x"].since is None
        own.turn("A", ["x", "y", "film"], 15.0, watched={"y": (until, 3)})
        own.leave("A", {"x": (until, 7), "film": (None, 2)})
        # Started again: what the site has no more, and a film that had ended, raise nothing.
        again = take("A", "x", "film")
        assert again["x"] == Taken("x", 2, until, "the server was stopped", 7, planned=True)
        assert again["film"].since is None
        own.leave("A", {"x": (until + 9, 8)})
        # Another one takes over what it was told: the gap begins at the same time.
        over = take("B", "x", "y")
        assert (over["x"].since, over["x"].planned) == (until + 9, True)
        assert over["x"].why == "server A was stopped, B has taken over"
        assert over["y"].since is None
        own.leave("B")


def test_rounds_that_wait_in_a_lost_server_s_journal_keep_their_numbers_to_themselves(
    url: str,
) -> None:
    """A frozen server may have decided rounds since its last sign, and stores them later."""
    with Store.open(url) as store:
        own = store.assignments
        own.turn("A", ["x"], 0.5, starting=True)
        last_sign = time.time() - 12.0
        own.turn("A", ["x"], 0.5, watched={"x": (last_sign, 7)})
        taken: list[Taken] = []
        wait_for(lambda: taken.extend(own.turn("B", ["x"], 0.5).taken) or bool(taken), 30.0)
        unknown = (time.time() - last_sign) / SHORTEST_ROUND_S
        assert (taken[0].planned, taken[0].since) == (False, pytest.approx(last_sign))
        assert 7 + 12.0 / SHORTEST_ROUND_S <= taken[0].last_round <= 7 + unknown + 1
        # Its own journal is known to a server that was ended by force.
        again = own.turn("B", ["x"], 0.5, watched={"x": (last_sign, 11)}, starting=True)
        assert again.taken[0].last_round == 11


def test_sharing_needs_postgresql(tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(b"no film")
    file = write_site(tmp_path, "film.mp4", store={"share_cameras": True})
    with (
        pytest.raises(FeltwatchError, match=r"store.share_cameras: .* PostgreSQL"),
        serve_stack(load_site(file), file),
    ):
        pass
