"""Without PostgreSQL the tests are skipped, and fail where everything must run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surveillance import postgres


def test_without_postgres_tests_are_skipped_or_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "find_binaries", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="PostgreSQL is not installed"):
        postgres.server().__enter__()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="install the package postgresql"):
        postgres.server().__enter__()


def test_the_binaries_are_of_a_server(postgres_host: str) -> None:
    binaries = postgres.find_binaries()
    assert binaries is not None
    assert (binaries / "postgres").exists()
    assert Path(postgres_host).is_dir()
