"""Passwords: which are taken, and how they are kept."""

from __future__ import annotations

import statistics
import threading
import time

import pytest
from argon2 import PasswordHasher, Type
from hypothesis import given
from hypothesis import strategies as st

from settlement.errors import FeltwatchError
from surveillance.accounts import passwords as module
from surveillance.accounts.passwords import MIN_LETTERS, Passwords, TooBusyError, check_rules

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.mark.parametrize("password", ["five little chips", "ÄÖÜäöüß12345", "p a s s w o r d s"])
def test_good_passwords_are_taken(password: str) -> None:
    check_rules(password, "ann")


@pytest.mark.parametrize(
    ("password", "name", "words"),
    [
        ("", "ann", "0 characters"),
        ("eleven char", "ann", "11 characters"),
        ("x" * 257, "ann", "257 characters"),
        ("anna-nowhere", "Anna-Nowhere", "is the name"),
        ("anna.anna.anna", "anna", "is the name"),
        ("ANNALISA2024", "annalisa", "is the name"),
        ("aaaaaaaaaaaaaa", "bob", "different"),
        ("121212121212", "bob", "different"),
        ("password1234", "bob", "easy to guess"),
        ("P@ssw0rd1234", "bob", "easy to guess"),
        ("1q2w3e4r5t6y", "bob", "easy to guess"),
        ("letmeinletmein", "bob", "easy to guess"),
        ("iloveyou1234", "bob", "easy to guess"),
        ("qwertyuiop12", "bob", "easy to guess"),
        ("feltwatch2026", "bob", "easy to guess"),
        ("casino casino 1", "bob", "easy to guess"),
        ("maria.rossi.1", "maria.rossi", "is the name"),
        ("Maria-Rossi-99!", "maria-rossi", "easy to guess"),
    ],
)
def test_bad_passwords_are_refused_in_words(password: str, name: str, words: str) -> None:
    with pytest.raises(FeltwatchError, match=words):
        check_rules(password, name)


@given(st.text(max_size=MIN_LETTERS - 1))
def test_none_that_is_short_is_taken(password: str) -> None:
    with pytest.raises(FeltwatchError):
        check_rules(password, "ann")


@given(st.text(min_size=1, max_size=80))
def test_any_text_can_be_kept_and_checked(password: str) -> None:
    passwords = Passwords(QUICK)
    kept = passwords.hashed(password)
    assert passwords.check(kept, password).right
    assert not passwords.check(kept, password + "x").right


def test_the_hash_is_argon2id_of_the_recommended_cost_and_salted() -> None:
    passwords = Passwords()
    first, second = passwords.hashed("five little chips"), passwords.hashed("five little chips")
    assert first != second
    assert first.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert PasswordHasher().type is Type.ID
    checked = passwords.check(first, "five little chips")
    assert (checked.right, checked.rehash) == (True, None)


def test_an_old_hash_is_replaced_when_it_was_right() -> None:
    old = QUICK.hash("five little chips")
    newer = Passwords(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    checked = newer.check(old, "five little chips")
    assert checked.right
    assert checked.rehash is not None
    assert "t=2" in checked.rehash
    assert newer.check(checked.rehash, "five little chips").rehash is None
    assert newer.check(old, "five little chip").rehash is None


@pytest.mark.parametrize("kept", [None, "", "plain text", "$argon2id$v=19$broken", "$2b$12$bcrypt"])
def test_what_is_no_hash_is_never_right(kept: str | None) -> None:
    passwords = Passwords(QUICK)
    for password in ("", "plain text", "five little chips"):
        assert not passwords.check(kept, password).right


def test_nobody_takes_as_long_as_somebody() -> None:
    passwords = Passwords(PasswordHasher(time_cost=3, memory_cost=4096, parallelism=1))
    kept = passwords.hashed("five little chips")

    def median_s(kept: str | None) -> float:
        took = []
        for _ in range(15):
            began = time.process_time()
            passwords.check(kept, "another password")
            took.append(time.process_time() - began)
        return statistics.median(took)

    somebody, nobody = median_s(kept), median_s(None)
    assert 0.5 < nobody / somebody < 2.0


def test_more_than_two_at_once_wait_and_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WAIT_S", 0.05)
    passwords = Passwords(QUICK)
    held, let_go = threading.Barrier(3), threading.Event()

    def hold() -> None:
        with passwords._turn():
            held.wait()
            let_go.wait(10)

    holders = [threading.Thread(target=hold) for _ in range(2)]
    for holder in holders:
        holder.start()
    held.wait()
    with pytest.raises(TooBusyError, match="try again"):
        passwords.check(None, "x")
    let_go.set()
    for holder in holders:
        holder.join()
    assert passwords.check(None, "x").right is False
