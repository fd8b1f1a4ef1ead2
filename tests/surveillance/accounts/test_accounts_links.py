"""One-time links: the first admin, invitations, new passwords."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
import sqlalchemy as sa
from accounts_desk import PASSWORD, Desk

from settlement.errors import FeltwatchError
from surveillance.accounts import Role, first_link
from surveillance.accounts.links import FIRST_LASTS, LASTS, Link, LinkGoneError, LinkKind
from surveillance.store import tables


def secret_of(link: Link | None) -> str:
    assert link is not None
    page, _, secret = link.path.partition("#")
    assert page == "/welcome"
    return secret


def test_the_first_start_makes_a_link_that_makes_an_admin(desk: Desk) -> None:
    path = first_link(desk.store)
    assert path is not None
    secret = path.partition("#")[2]
    assert len(secret) >= 43
    found = desk.accounts.links.find(secret)
    assert (found.kind, found.user) == (LinkKind.FIRST, None)
    user = desk.accounts.links.use(secret, " Ann ", PASSWORD)
    assert (user.name, user.role) == ("Ann", Role.ADMIN)
    assert desk.accounts.logins.log_in("ann", PASSWORD, "a", "").user == user
    assert first_link(desk.store) is None


def test_no_account_is_there_before_the_first_link_is_used(desk: Desk) -> None:
    first_link(desk.store)
    assert desk.store.people.count() == 0


def test_of_links_only_a_hash_is_kept(desk: Desk) -> None:
    secret = secret_of(desk.accounts.links.first())
    with desk.store.database.read() as connection:
        assert secret not in repr(connection.execute(sa.select(tables.links)).all())


def test_a_newer_first_link_makes_the_older_worthless(desk: Desk) -> None:
    older, newer = (secret_of(desk.accounts.links.first()) for _ in range(2))
    with pytest.raises(LinkGoneError):
        desk.accounts.links.use(older, "ann", PASSWORD)
    desk.accounts.links.use(newer, "ann", PASSWORD)


def test_first_links_are_worthless_once_there_is_somebody(desk: Desk) -> None:
    secret = secret_of(desk.accounts.links.first())
    desk.add()
    with pytest.raises(LinkGoneError):
        desk.accounts.links.find(secret)
    with pytest.raises(LinkGoneError):
        desk.accounts.links.use(secret, "eve", PASSWORD)
    assert desk.store.people.count() == 1


def test_a_link_works_once(desk: Desk) -> None:
    secret = secret_of(desk.accounts.links.first())
    desk.accounts.links.use(secret, "ann", PASSWORD)
    for _ in range(2):
        with pytest.raises(LinkGoneError, match="ask an admin"):
            desk.accounts.links.use(secret, "eve", PASSWORD)


def test_of_many_at_once_one_gets_it(desk: Desk) -> None:
    secret = secret_of(desk.accounts.links.first())
    made: list[str] = []
    begin = threading.Barrier(8)

    def use(n: int) -> None:
        begin.wait()
        try:
            made.append(desk.accounts.links.use(secret, f"name{n}", PASSWORD).name)
        except LinkGoneError:
            return

    users = [threading.Thread(target=use, args=(n,)) for n in range(8)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert len(made) == 1
    assert desk.store.people.count() == 1


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ann", "short"), ("ann-of-the-pit", "ann-of-the-pit"), ("", PASSWORD), ("a b", PASSWORD),
        ("x" * 41, PASSWORD), ("<b>", PASSWORD), ("a\nb", PASSWORD), ("-ann", PASSWORD),
    ],
)  # fmt: skip
def test_a_link_is_still_good_after_a_bad_name_or_password(
    desk: Desk, name: str, password: str
) -> None:
    secret = secret_of(desk.accounts.links.first())
    with pytest.raises(FeltwatchError) as told:
        desk.accounts.links.use(secret, name, password)
    assert not isinstance(told.value, LinkGoneError)
    assert desk.accounts.links.use(secret, "ann", PASSWORD).name == "ann"


def test_links_get_too_old(desk: Desk) -> None:
    first = secret_of(desk.accounts.links.first())
    desk.clock.at += FIRST_LASTS + timedelta(seconds=1)
    with pytest.raises(LinkGoneError):
        desk.accounts.links.use(first, "ann", PASSWORD)
    _, link = desk.accounts.standing.invite("bob", Role.VIEWER)
    desk.clock.at += LASTS + timedelta(seconds=1)
    with pytest.raises(LinkGoneError):
        desk.accounts.links.find(secret_of(link))


def test_an_invited_person_chooses_a_password_but_no_name_and_no_role(desk: Desk) -> None:
    user, link = desk.accounts.standing.invite("bob", Role.REVIEWER)
    assert desk.store.people.password_hash(user.id) is None
    taken = desk.accounts.links.use(secret_of(link), "eve", PASSWORD)
    assert (taken.id, taken.name, taken.role) == (user.id, "bob", "reviewer")
    _, link = desk.accounts.standing.invite("bob-the-dealer", Role.VIEWER)
    with pytest.raises(FeltwatchError, match="is the name"):
        desk.accounts.links.use(secret_of(link), "", "bob-the-dealer")


def test_a_newer_link_for_a_person_makes_the_older_worthless(desk: Desk) -> None:
    user, invitation = desk.accounts.standing.invite("bob", Role.VIEWER)
    reset = desk.accounts.standing.reset(user)
    with pytest.raises(LinkGoneError):
        desk.accounts.links.find(secret_of(invitation))
    desk.accounts.links.use(secret_of(reset), "", PASSWORD)


@pytest.mark.parametrize("change", ["disabled", "password"])
def test_links_of_a_person_are_worthless_when_they_change(desk: Desk, change: str) -> None:
    user = desk.add("bob")
    link = desk.accounts.standing.reset(user)
    if change == "disabled":
        desk.accounts.standing.set_disabled(user, True)
        desk.accounts.standing.set_disabled(user, False)
    else:
        desk.accounts.standing.change_password(user, "nine blue chips")
    with pytest.raises(LinkGoneError):
        desk.accounts.links.find(secret_of(link))


@pytest.mark.parametrize("secret", ["", "x", "\0", "\ud800", "a" * 100_000])
def test_what_is_no_link_is_said(desk: Desk, secret: str) -> None:
    with pytest.raises(LinkGoneError):
        desk.accounts.links.find(secret)
