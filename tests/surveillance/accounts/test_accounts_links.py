"""One-time links: the first admin, invitations, new passwords."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
import sqlalchemy as sa

from settlement.errors import FeltwatchError
from surveillance.accounts import Role, first_link
from surveillance.accounts.links import FIRST_LASTS, LASTS, Link, LinkGoneError, LinkKind
from surveillance.store import tables
from tests.surveillance.accounts.accounts_harness import PASSWORD, AccountsHarness


def secret_of(link: Link | None) -> str:
    assert link is not None
    page, _, secret = link.path.partition("#")
    assert page == "/welcome"
    return secret


def test_the_first_start_makes_a_link_that_makes_an_admin(harness: AccountsHarness) -> None:
    path = first_link(harness.store)
    assert path is not None
    secret = path.partition("#")[2]
    assert len(secret) >= 43
    found = harness.accounts.links.find(secret)
    assert (found.kind, found.user) == (LinkKind.FIRST, None)
    user = harness.accounts.links.use(secret, " Ann ", PASSWORD)
    assert (user.name, user.role) == ("Ann", Role.ADMIN)
    assert harness.accounts.logins.log_in("ann", PASSWORD, "a", "").user == user
    assert first_link(harness.store) is None


def test_no_account_is_there_before_the_first_link_is_used(harness: AccountsHarness) -> None:
    first_link(harness.store)
    assert harness.store.people.count() == 0


def test_of_links_only_a_hash_is_kept(harness: AccountsHarness) -> None:
    secret = secret_of(harness.accounts.links.first())
    with harness.store.database.read() as connection:
        assert secret not in repr(connection.execute(sa.select(tables.links)).all())


def test_a_newer_first_link_makes_the_older_worthless(harness: AccountsHarness) -> None:
    older, newer = (secret_of(harness.accounts.links.first()) for _ in range(2))
    with pytest.raises(LinkGoneError):
        harness.accounts.links.use(older, "ann", PASSWORD)
    harness.accounts.links.use(newer, "ann", PASSWORD)


def test_first_links_are_worthless_once_there_is_somebody(harness: AccountsHarness) -> None:
    secret = secret_of(harness.accounts.links.first())
    harness.add()
    with pytest.raises(LinkGoneError):
        harness.accounts.links.find(secret)
    with pytest.raises(LinkGoneError):
        harness.accounts.links.use(secret, "eve", PASSWORD)
    assert harness.store.people.count() == 1


def test_a_link_works_once(harness: AccountsHarness) -> None:
    secret = secret_of(harness.accounts.links.first())
    harness.accounts.links.use(secret, "ann", PASSWORD)
    for _ in range(2):
        with pytest.raises(LinkGoneError, match="ask an admin"):
            harness.accounts.links.use(secret, "eve", PASSWORD)


def test_of_many_at_once_one_gets_it(harness: AccountsHarness) -> None:
    secret = secret_of(harness.accounts.links.first())
    made: list[str] = []
    begin = threading.Barrier(8)

    def use(n: int) -> None:
        begin.wait()
        try:
            made.append(harness.accounts.links.use(secret, f"name{n}", PASSWORD).name)
        except LinkGoneError:
            return

    users = [threading.Thread(target=use, args=(n,)) for n in range(8)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert len(made) == 1
    assert harness.store.people.count() == 1


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ann", "short"), ("ann-of-the-pit", "ann-of-the-pit"), ("", PASSWORD), ("a b", PASSWORD),
        ("x" * 41, PASSWORD), ("<b>", PASSWORD), ("a\nb", PASSWORD), ("-ann", PASSWORD),
    ],
)  # fmt: skip
def test_a_link_is_still_good_after_a_bad_name_or_password(
    harness: AccountsHarness, name: str, password: str
) -> None:
    secret = secret_of(harness.accounts.links.first())
    with pytest.raises(FeltwatchError) as raised:
        harness.accounts.links.use(secret, name, password)
    assert not isinstance(raised.value, LinkGoneError)
    assert harness.accounts.links.use(secret, "ann", PASSWORD).name == "ann"


def test_links_get_too_old(harness: AccountsHarness) -> None:
    first = secret_of(harness.accounts.links.first())
    harness.clock.at += FIRST_LASTS + timedelta(seconds=1)
    with pytest.raises(LinkGoneError):
        harness.accounts.links.use(first, "ann", PASSWORD)
    _, link = harness.accounts.administration.invite("bob", Role.VIEWER)
    harness.clock.at += LASTS + timedelta(seconds=1)
    with pytest.raises(LinkGoneError):
        harness.accounts.links.find(secret_of(link))


def test_an_invited_person_chooses_a_password_but_no_name_and_no_role(
    harness: AccountsHarness,
) -> None:
    user, link = harness.accounts.administration.invite("bob", Role.REVIEWER)
    assert harness.store.people.password_hash(user.id) is None
    taken = harness.accounts.links.use(secret_of(link), "eve", PASSWORD)
    assert (taken.id, taken.name, taken.role) == (user.id, "bob", "reviewer")
    _, link = harness.accounts.administration.invite("bob-the-dealer", Role.VIEWER)
    with pytest.raises(FeltwatchError, match="is the name"):
        harness.accounts.links.use(secret_of(link), "", "bob-the-dealer")


def test_a_newer_link_for_a_person_makes_the_older_worthless(harness: AccountsHarness) -> None:
    user, invitation = harness.accounts.administration.invite("bob", Role.VIEWER)
    reset = harness.accounts.administration.reset(user)
    with pytest.raises(LinkGoneError):
        harness.accounts.links.find(secret_of(invitation))
    harness.accounts.links.use(secret_of(reset), "", PASSWORD)


@pytest.mark.parametrize("change", ["disabled", "password"])
def test_links_of_a_person_are_worthless_when_they_change(
    harness: AccountsHarness, change: str
) -> None:
    user = harness.add("bob")
    link = harness.accounts.administration.reset(user)
    if change == "disabled":
        harness.accounts.administration.set_disabled(user, True)
        harness.accounts.administration.set_disabled(user, False)
    else:
        harness.accounts.administration.change_password(user, "nine blue chips")
    with pytest.raises(LinkGoneError):
        harness.accounts.links.find(secret_of(link))


@pytest.mark.parametrize("secret", ["", "x", "\0", "\ud800", "a" * 100_000])
def test_what_is_no_link_is_said(harness: AccountsHarness, secret: str) -> None:
    with pytest.raises(LinkGoneError):
        harness.accounts.links.find(secret)
