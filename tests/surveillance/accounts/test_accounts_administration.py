"""Roles, people shut out, API tokens."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from settlement.errors import FeltwatchError
from surveillance.accounts import Role
from surveillance.accounts.administration import LastAdminError
from surveillance.accounts.names import clean_name
from surveillance.accounts.tokens import MAX_PER_PERSON
from surveillance.store import TakenError, tables
from tests.surveillance.accounts.accounts_harness import AccountsHarness

roles = st.sampled_from(list(Role))


@given(roles, roles)
def test_the_lesser_of_two_roles_covers_what_both_do(one: Role, other: Role) -> None:
    lesser = one.at_most(other)
    for needed in Role:
        assert lesser.covers(needed) == (one.covers(needed) and other.covers(needed))


@given(st.text(max_size=60))
def test_any_name_is_refused_or_kept_as_it_can_be_typed_again(text: str) -> None:
    try:
        name = clean_name(text)
    except FeltwatchError:
        return
    assert clean_name(name) == name
    assert name.isprintable()
    assert not set(name) & set(" <>&\"'/\\")


def test_a_name_is_given_once(harness: AccountsHarness) -> None:
    harness.accounts.administration.invite("Ann", Role.VIEWER)
    with pytest.raises(TakenError):
        harness.accounts.administration.invite("ann", Role.ADMIN)


def test_the_last_admin_stays(harness: AccountsHarness) -> None:
    ann, administration = harness.add("ann", Role.ADMIN), harness.accounts.administration
    for change in (lambda: administration.set_role(ann, Role.VIEWER),
                   lambda: administration.set_disabled(ann, True)):  # fmt: skip
        with pytest.raises(LastAdminError, match="ann is the last admin"):
            change()
    # Who has not yet taken up the invitation cannot log in to help.
    administration.invite("bob", Role.ADMIN)
    with pytest.raises(LastAdminError):
        administration.set_role(ann, Role.VIEWER)
    harness.add("cleo", Role.ADMIN)
    administration.set_role(ann, Role.VIEWER)
    with pytest.raises(LastAdminError):
        administration.set_disabled(harness.store.people.by_name("cleo"), True)  # type: ignore[arg-type]


def test_people_are_listed_beyond_a_page(harness: AccountsHarness) -> None:
    for n in range(60):
        harness.store.people.add(f"p{n:02}", "viewer", None)
    assert [user.name for user in harness.accounts.administration.all()] == [
        f"p{n:02}" for n in range(60)
    ]


# Tokens


def test_a_token_is_found_by_its_secret_and_kept_as_a_hash(harness: AccountsHarness) -> None:
    made = harness.accounts.tokens.make(harness.add(), "scripts", Role.VIEWER, None)
    assert made.secret.startswith("feltwatch_")
    found = harness.accounts.tokens.find(made.secret)
    assert found is not None
    assert (found.user.name, found.scope, found.name) == ("ann", "viewer", "scripts")
    for wrong in ("", made.secret[:-1], made.secret + "x", made.secret[10:], "feltwatch_"):
        assert harness.accounts.tokens.find(wrong) is None
    with harness.store.database.read() as connection:
        assert made.secret not in repr(connection.execute(sa.select(tables.tokens)).all())


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("scope", list(Role))
def test_a_scope_is_never_above_the_role(harness: AccountsHarness, role: Role, scope: Role) -> None:
    user = harness.add("ann", role)
    if role.covers(scope):
        assert harness.accounts.tokens.make(user, "t", scope, None).row.scope == scope
    else:
        with pytest.raises(FeltwatchError, match=f"your role is {role}"):
            harness.accounts.tokens.make(user, "t", scope, None)


def test_a_token_ends_on_its_day(harness: AccountsHarness) -> None:
    user, tokens = harness.add(), harness.accounts.tokens
    end = harness.clock.at + timedelta(days=1)
    secret = tokens.make(user, "t", Role.VIEWER, end).secret
    assert tokens.find(secret) is not None
    harness.clock.at = end
    assert tokens.find(secret) is None
    with pytest.raises(FeltwatchError, match="over already"):
        tokens.make(user, "t", Role.VIEWER, end)


def test_a_token_is_revoked_by_its_owner_only(harness: AccountsHarness) -> None:
    ann, bob = harness.add("ann"), harness.add("bob")
    tokens = harness.accounts.tokens
    made = tokens.make(ann, "t", Role.VIEWER, None)
    assert tokens.revoke(bob.id, made.row.id) is None
    assert tokens.find(made.secret) is not None
    assert tokens.revoke(ann.id, made.row.id) is not None
    assert tokens.find(made.secret) is None
    assert tokens.of(ann.id)[0].revoked_at is not None


def test_who_is_shut_out_loses_the_tokens_for_good(harness: AccountsHarness) -> None:
    user = harness.add()
    secret = harness.accounts.tokens.make(user, "t", Role.VIEWER, None).secret
    harness.accounts.administration.set_disabled(user, True)
    assert harness.accounts.tokens.find(secret) is None
    harness.accounts.administration.set_disabled(user, False)
    assert harness.accounts.tokens.find(secret) is None


def test_nobody_makes_tokens_without_end(harness: AccountsHarness) -> None:
    user, tokens = harness.add(), harness.accounts.tokens
    made = [tokens.make(user, "t", Role.VIEWER, None) for _ in range(MAX_PER_PERSON)]
    with pytest.raises(FeltwatchError, match="revoke one first"):
        tokens.make(user, "t", Role.VIEWER, None)
    tokens.revoke(user.id, made[0].row.id)
    tokens.make(user, "t", Role.VIEWER, None)


def test_the_last_use_of_a_token_is_noted(harness: AccountsHarness) -> None:
    user, tokens = harness.add(), harness.accounts.tokens
    secret = tokens.make(user, "t", Role.VIEWER, None).secret
    assert tokens.of(user.id)[0].used_at is None
    tokens.find(secret)
    noted = tokens.of(user.id)[0].used_at
    assert noted is not None
    harness.clock.move(minutes=5)
    tokens.find(secret)
    assert tokens.of(user.id)[0].used_at == harness.clock.at.replace(tzinfo=noted.tzinfo)
