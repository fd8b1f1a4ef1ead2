"""People, sessions, tokens, links and attempts."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from settlement.errors import FeltwatchError
from surveillance.store import LinkRow, NotStoredError, Store, TakenError

NOW = datetime.now(UTC)
LATER = NOW + timedelta(hours=8)


def sha(letter: str) -> str:
    return letter * 64


def test_people_are_kept_and_changed(store: Store) -> None:
    ana = store.people.add("Ana", "admin", "hash1")
    bo = store.people.add(" Bo ", "viewer")
    assert (bo.name, bo.role, bo.disabled) == ("Bo", "viewer", False)
    assert store.people.get(ana.id) == ana
    assert store.people.by_name("aNA ") == ana
    assert store.people.by_name("nobody") is None
    assert store.people.page(limit=1).rows == (bo,)
    assert store.people.page(store.people.page(limit=1).next).rows == (ana,)
    assert store.people.count() == 2
    assert store.people.set_role(bo.id, "reviewer").role == "reviewer"
    assert store.people.password_hash(bo.id) is None
    store.people.set_password(bo.id, "hash2")
    assert store.people.password_hash(bo.id) == "hash2"
    assert "hash" not in repr(store.people.get(bo.id))


@pytest.mark.parametrize("name", ["ana", "ANA", " Ana ", "Ana"])
def test_a_name_that_is_taken_is_refused(store: Store, name: str) -> None:
    store.people.add("Ana", "admin")
    with pytest.raises(TakenError, match="already"):
        store.people.add(name, "viewer")
    assert store.people.count() == 1


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x00b"])
def test_a_name_that_is_none_is_refused(store: Store, name: str) -> None:
    with pytest.raises(FeltwatchError, match="name"):
        store.people.add(name, "viewer")


def test_somebody_who_is_not_there_is_reported(store: Store) -> None:
    for act in (
        lambda: store.people.get(5),
        lambda: store.people.set_role(5, "admin"),
        lambda: store.people.set_password(5, None),
        lambda: store.people.password_hash(5),
        lambda: store.people.disable(5),
    ):
        with pytest.raises(NotStoredError, match="no person 5"):
            act()
    with pytest.raises(IntegrityError):
        store.people.open_session(5, sha("a"), LATER)


def test_sessions_open_and_close(store: Store) -> None:
    ana = store.people.add("Ana", "admin")
    first = store.people.open_session(ana.id, sha("a"), LATER, "10.0.0.1", "Browser " * 90)
    second = store.people.open_session(ana.id, sha("b"), LATER)
    assert (first.user, first.expires_at, first.address) == (ana, LATER, "10.0.0.1")
    assert store.people.session(sha("a")) == first
    assert store.people.session(sha("z")) is None
    assert store.people.sessions(ana.id) == (second, first)
    later = LATER + timedelta(hours=1)
    store.people.touch(sha("a"), LATER, later)
    touched = store.people.session(sha("a"))
    assert touched is not None
    assert (touched.seen_at, touched.expires_at) == (LATER, later)
    assert store.people.close_session(sha("a"))
    assert not store.people.close_session(sha("a"))
    store.people.touch(sha("a"))
    assert store.people.session(sha("a")) is None
    store.people.open_session(ana.id, sha("c"), LATER)
    assert store.people.close_all(ana.id) == 2
    assert store.people.sessions(ana.id) == ()


def test_who_is_shut_out_is_logged_out(store: Store) -> None:
    ana = store.people.add("Ana", "admin")
    store.people.open_session(ana.id, sha("a"), LATER)
    store.people.add_token(ana.id, "bot", sha("t"), "viewer")
    assert store.people.disable(ana.id).disabled
    assert store.people.session(sha("a")) is None
    token = store.people.token(sha("t"))
    assert token is not None
    assert token.user.disabled
    assert not store.people.disable(ana.id, False).disabled
    assert store.people.session(sha("a")) is None


def test_tokens_are_listed_and_revoked(store: Store) -> None:
    ana, bo = (store.people.add(name, "admin") for name in ("Ana", "Bo"))
    token = store.people.add_token(ana.id, "bot", sha("t"), "viewer", LATER)
    other = store.people.add_token(bo.id, "bot", sha("u"), "admin")
    assert store.people.token(sha("t")) == token
    assert (token.scope, token.expires_at, token.used_at) == ("viewer", LATER, None)
    store.people.touch_token(token.id, NOW)
    assert store.people.tokens(ana.id)[0].used_at == NOW
    assert store.people.revoke_token(token.id)
    assert not store.people.revoke_token(token.id)
    assert store.people.token(sha("t")) is None
    [revoked] = store.people.tokens(ana.id)
    assert revoked.revoked_at is not None
    assert {t.id for t in store.people.tokens()} == {token.id, other.id}


def test_a_link_works_once(store: Store) -> None:
    ana = store.people.add("Ana", "admin")
    link = store.people.add_link(sha("l"), "first", None, LATER)
    store.people.add_link(sha("m"), "reset", ana.id, NOW - timedelta(seconds=1))
    assert store.people.link(sha("l")) == link
    assert store.people.use_link(sha("l")) == link
    assert store.people.use_link(sha("l")) is None
    assert store.people.link(sha("l")) is None
    assert store.people.use_link(sha("m")) is None, "it has expired"
    assert store.people.use_link(sha("x")) is None
    store.people.add_link(sha("n"), "first", None, LATER)
    assert store.people.drop_links("first") == 1
    assert store.people.use_link(sha("n")) is None


def test_of_many_that_use_a_link_at_once_one_gets_it(store: Store) -> None:
    store.people.add_link(sha("l"), "first", None, LATER)
    got: list[LinkRow | None] = []
    start = threading.Barrier(8)

    def use() -> None:
        start.wait()
        got.append(store.people.use_link(sha("l")))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert sum(link is not None for link in got) == 1


def test_failed_attempts_are_counted(store: Store) -> None:
    note = store.people.note_attempt
    for n in range(3):
        note("Ana", "10.0.0.1", False, NOW - timedelta(minutes=n))
    note("ana", "10.0.0.2", False, NOW)
    note("Ana", "10.0.0.1", True, NOW)
    note("x" * 9999, "10.0.0.1", False, NOW)
    since = NOW - timedelta(minutes=1)
    assert store.people.failures("ANA", None, since) == 3
    assert store.people.failures("ANA", "10.0.0.1", since) == 2
    assert store.people.failures(None, "10.0.0.1", since) == 3
    assert store.people.failures("x" * 9999, None, since) == 1


def test_what_is_over_is_pruned(store: Store) -> None:
    ana = store.people.add("Ana", "admin")
    store.people.note_attempt("Ana", "10.0.0.1", False, NOW - timedelta(days=2))
    store.people.note_attempt("Ana", "10.0.0.1", False, NOW)
    store.people.open_session(ana.id, sha("a"), NOW - timedelta(days=2))
    store.people.open_session(ana.id, sha("b"), LATER)
    store.people.add_link(sha("l"), "first", None, NOW - timedelta(days=2))
    assert store.people.prune(NOW - timedelta(days=1)) == 3
    assert store.people.failures("Ana", None, NOW - timedelta(days=9)) == 1
    assert len(store.people.sessions(ana.id)) == 1
