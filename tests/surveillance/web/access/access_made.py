"""A server with a store, people of every role, and callers who should and should not get in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import sqlalchemy as sa
from argon2 import PasswordHasher
from fastapi import FastAPI
from fastapi.testclient import TestClient

from surveillance.accounts import Accounts, Role
from surveillance.accounts.passwords import Passwords
from surveillance.accounts.secret import digest
from surveillance.alerts.webhooks import Hook, Webhooks
from surveillance.config.site_file import SiteConfig, load_site
from surveillance.live.event_bus import EventBus
from surveillance.live.states import TableState
from surveillance.store import Store, User
from surveillance.store import tables as stored
from surveillance.web.access import SESSION_COOKIE
from surveillance.web.app import create_app
from surveillance.web.settings import WebSettings
from tests.surveillance.web.review_made import make_dataset

ADDRESS = "http://127.0.0.1:8471"
PASSWORD = "seven red chips"
SECRET_OF_HOOK = "a secret of the hook"
CAMERA = "pit1-t3"
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Argon2id so cheap that a test may log in often; the real cost is tested by itself."""


@dataclass
class Caller:
    """Somebody with headers and cookies of their own, asking through one running server."""

    server: TestClient
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)

    def request(self, method: str, path: str, **sent: Any) -> Any:
        headers = self.headers | sent.pop("headers", {})
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = self.server.request(method, path, headers=headers, **sent)
        self.cookies |= dict(answer.cookies)
        for name in [c for c in self.cookies if f'{c}=""' in answer.headers.get("set-cookie", "")]:
            del self.cookies[name]
        # The server's client would send them for everybody else.
        self.server.cookies.clear()
        return answer

    def get(self, path: str, **sent: Any) -> Any:
        return self.request("GET", path, **sent)

    def post(self, path: str, **sent: Any) -> Any:
        return self.request("POST", path, **sent)

    def put(self, path: str, **sent: Any) -> Any:
        return self.request("PUT", path, **sent)

    def patch(self, path: str, **sent: Any) -> Any:
        return self.request("PATCH", path, **sent)

    def delete(self, path: str, **sent: Any) -> Any:
        return self.request("DELETE", path, **sent)


@dataclass
class Place:
    """A server's parts."""

    folder: Path
    store: Store
    app: FastAPI
    bus: EventBus
    asking: TestClient

    @property
    def accounts(self) -> Accounts:
        found: Accounts = self.app.state.accounts
        return found

    def add(self, name: str, role: Role) -> User:
        """A person whose password is PASSWORD."""
        return self.store.people.add(name, str(role), Passwords(QUICK).hashed(PASSWORD))

    def client(self, **headers: str) -> Caller:
        """Somebody who asks as the pages do, logged in as nobody."""
        return Caller(self.asking, {"x-feltwatch": "1"} | headers)

    def session(self, user: User) -> Caller:
        """Somebody logged in."""
        return self.with_session(self.accounts.sessions.open(user, "test", "test").secret)

    def with_session(self, secret: str) -> Caller:
        caller = self.client()
        caller.cookies[SESSION_COOKIE] = secret
        return caller

    def token(self, user: User, scope: Role) -> Caller:
        """A program that sends a token."""
        return self.with_token(self.accounts.tokens.make(user, "test", scope, None).secret)

    def with_token(self, secret: str) -> Caller:
        return Caller(self.asking, {"authorization": f"Bearer {secret}"})

    def rows(self) -> dict[str, list[tuple[object, ...]]]:
        """All that the store holds, but for what is noted of being asked at all."""
        noted = {"audit": None, "sessions": {"seen_at", "closed_at"}, "tokens": {"used_at"}}
        found = {}
        with self.store.database.read() as connection:
            for table in stored.metadata.sorted_tables:
                left_out = noted.get(table.name, set())
                if left_out is None:
                    continue
                columns = [column for column in table.c if column.name not in left_out]
                query = sa.select(*columns).order_by(*table.primary_key)
                found[table.name] = [tuple(row) for row in connection.execute(query)]
        return found

    def files(self) -> dict[str, str]:
        """The hash of every file but the databases', whose rows are compared."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and "sqlite" not in path.name
        }


def site_at(folder: Path, table_path: Path) -> SiteConfig:
    """A site file with a camera, on disk."""
    (folder / "recordings").mkdir(parents=True, exist_ok=True)
    (folder / "table.toml").write_text(table_path.read_text())
    (folder / "shift.mp4").write_bytes(b"no video")
    file = folder / "site.toml"
    file.write_text(
        '[site]\nname = "the pit"\ndata_dir = "data"\n\n'
        f'[[camera]]\nname = "{CAMERA}"\ntable_file = "table.toml"\nsource = "shift.mp4"\n\n'
        '[recordings]\nfolders = ["recordings"]\n'
    )
    return load_site(file)


@contextmanager
def made(folder: Path, table_path: Path) -> Iterator[Place]:
    """A server over a new store in `folder`, with a dataset called cards."""
    site = site_at(folder, table_path)
    site.evidence_dir.mkdir(parents=True)
    bus = EventBus()
    bus.set_state(TableState(camera=CAMERA, table="t3", game="face_up"), datetime.now(UTC))
    picture = cv2.imencode(".jpg", np.full((90, 160, 3), 60, np.uint8))[1].tobytes()
    bus.set_pictures(CAMERA, picture, picture)
    hooks = Webhooks([Hook("http://127.0.0.1:9/", SECRET_OF_HOOK)])
    with Store.open(site.store_url) as store:
        app = create_app(
            WebSettings(
                datasets=(make_dataset(folder / "cards", 3),),
                store=store,
                bus=bus,
                site=site,
                evidence_dir=site.evidence_dir,
                webhooks=hooks,
            )
        )
        app.state.accounts = Accounts(store, Passwords(QUICK))
        client = TestClient(
            app, base_url=ADDRESS, raise_server_exceptions=False, follow_redirects=False
        )
        with client as asking:
            yield Place(folder, store, app, bus, asking)
            bus.close()


def shut_out(place: Place) -> dict[str, Caller]:
    """Callers who must get in nowhere, by what is wrong with them."""
    accounts, people = place.accounts, place.store.people
    past = datetime.now(UTC) - timedelta(seconds=1)
    user = place.add("was-admin", Role.ADMIN)

    expired = accounts.tokens.make(user, "expired", Role.ADMIN, None)
    people.revoke_token(expired.row.id)
    people.add_token(user.id, "expired", digest("feltwatch_expired"), "admin", past)
    revoked = accounts.tokens.make(user, "revoked", Role.ADMIN, None)
    accounts.tokens.revoke(user.id, revoked.row.id)

    gone = place.add("gone", Role.ADMIN)
    gone_token = accounts.tokens.make(gone, "gone", Role.ADMIN, None).secret
    gone_session = accounts.sessions.open(gone, "", "").secret
    accounts.administration.set_disabled(gone, True)

    # Disabled past the program: neither token nor session is closed, the person is shut out.
    bare = place.add("shut-out", Role.ADMIN)
    bare_token = accounts.tokens.make(bare, "bare", Role.ADMIN, None).secret
    bare_session = accounts.sessions.open(bare, "", "").secret
    with place.store.database.write() as connection:
        connection.execute(
            sa.update(stored.users).where(stored.users.c.id == bare.id).values(disabled=True)
        )

    people.open_session(user.id, digest("old session"), past, "", "")
    left = accounts.sessions.open(user, "", "").secret
    accounts.sessions.close(left)
    return {
        "no login": place.client(),
        "a token that is none": place.with_token("feltwatch_" + "x" * 43),
        "an empty token": place.client(authorization="Bearer "),
        "basic authorization": place.client(authorization="Basic YWRtaW46YWRtaW4="),
        "a session that is none": place.with_session("x" * 43),
        "a token's secret as a session": place.with_session(gone_token),
        "an expired token": place.with_token("feltwatch_expired"),
        "a revoked token": place.with_token(revoked.secret),
        "a disabled person's token": place.with_token(gone_token),
        "a disabled person's session": place.with_session(gone_session),
        "a token whose owner is shut out": place.with_token(bare_token),
        "a session whose owner is shut out": place.with_session(bare_session),
        "an expired session": place.with_session("old session"),
        "a session that was left": place.with_session(left),
    }


def all_roles(place: Place) -> dict[str, tuple[Role, Caller]]:
    """Callers who are let in, with the role that counts for them."""
    viewer = place.add("vera", Role.VIEWER)
    reviewer = place.add("rita", Role.REVIEWER)
    admin = place.add("adam", Role.ADMIN)
    fallen = place.add("fallen", Role.ADMIN)
    fallen_client = place.token(fallen, Role.ADMIN)
    place.accounts.administration.set_role(fallen, Role.VIEWER)
    return {
        "a viewer's token": (Role.VIEWER, place.token(viewer, Role.VIEWER)),
        "a viewer's session": (Role.VIEWER, place.session(viewer)),
        "an admin's token for viewing": (Role.VIEWER, place.token(admin, Role.VIEWER)),
        "a token of one who was an admin": (Role.VIEWER, fallen_client),
        "a reviewer's token": (Role.REVIEWER, place.token(reviewer, Role.REVIEWER)),
        "a reviewer's session": (Role.REVIEWER, place.session(reviewer)),
        "an admin's token for reviewing": (Role.REVIEWER, place.token(admin, Role.REVIEWER)),
        "an admin's token": (Role.ADMIN, place.token(admin, Role.ADMIN)),
        "an admin's session": (Role.ADMIN, place.session(admin)),
    }
