from __future__ import annotations

from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from settlement.record import iter_rounds, parse_round, read_rounds
from tests.settlement.felt import PAIR_DEALER, WINNER, round_of, seat, wager

ROUND = round_of(PAIR_DEALER, seat(1, WINNER, wager("main", 500, "paid", 500)))


def test_a_record_goes_to_a_file_and_back(tmp_path: Path) -> None:
    path = tmp_path / "rounds.jsonl"
    path.write_text(f"{ROUND.to_json()}\n\n{ROUND.to_json()}\n")
    assert read_rounds(path) == [ROUND, ROUND]
    assert "start_s" not in ROUND.to_json()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"x: not valid JSON \("),
        ('{"round_id": "r", "table": "t"}', "x: game: is missing"),
        (
            '{"round_id": "r", "table": "t", "game": "g", "start_s": "soon"}',
            "x: start_s: .*seconds",
        ),
        ('{"round_id": "r", "table": "t", "game": "g", "start_s": "NaN"}', "no finite number"),
        ('{"round_id": "r", "table": "t", "game": "g", "day": 1}', "x: day: there is no such key"),
        ('{"round_id": "r", "table": "t", "game": "g", "a\\nb": 1}', r"^x: a\\nb: there is no"),
        ('{"a\\nb": 1, "a\\nb": 2}', r"^x: a\\nb: the key stands twice"),
        (
            '{"round_id": "r", "table": "t", "game": "g", "seats": [{"seat": "1\\n2"}]}',
            r"^x: seat 1\\n2: seat: write",
        ),
    ],
)
def test_a_line_out_of_form_is_refused(line: str, message: str) -> None:
    with pytest.raises(FeltwatchError, match=message):
        parse_round(line, "x")


def test_the_line_is_named() -> None:
    with pytest.raises(FeltwatchError, match=r"a\.jsonl, line 3: not valid JSON"):
        list(iter_rounds([ROUND.to_json(), "", "x"], "a.jsonl"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=r"none.jsonl: No such file"):
        read_rounds(tmp_path / "none.jsonl")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FeltwatchError, match=r"bytes.jsonl: not a text file"):
        read_rounds(tmp_path / "bytes.jsonl")


def test_a_wager_is_found_by_name() -> None:
    found = ROUND.seats[0].wager("main")
    assert found is not None
    assert found.stake_cents == 500
    assert ROUND.seats[0].wager("envy") is None
