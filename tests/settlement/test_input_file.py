"""Keys that stand twice in a TOML file: the message names file, line and key."""

from __future__ import annotations

import pytest

from settlement.errors import FeltwatchError
from settlement.input_file import parse_toml


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("table = 't9'\ntable = 't8'\n", 2, "table"),
        ("table = 't9'\ntable = 't8'", 2, "table"),
        ("table = 't9'\r\ntable = 't8'\r\n", 2, "table"),
        ("[rules]\ngame = 'a'\n\n# the same again\ngame = 'b'\n", 5, "rules.game"),
        ("[rules] # of the house\nlimits.main.min_cents = 1\nlimits.main.min_cents = 2\n", 3,
         "rules.limits.main.min_cents"),
        ("[[seats]]\nseat = 1\n[[seats]]\nseat = 2\nseat = 3\n", 5, "seats.1.seat"),
        ("[[seats]]\n[seats.place]\nangle_deg = 1\nangle_deg = 2\n", 4,
         "seats.0.place.angle_deg"),
        # The value ends some lines below its key, and a line of it looks like a header.
        ("[felt]\npoints = [\n  [1]\n]\npoints = [\n  [1]\n]\n[camera]\n", 5, "felt.points"),
        ("[felt]\nnote = '''\na = 1\n'''\nnote = '''\n[a]\nb = 1\n'''\n", 5, "felt.note"),
        ("'a = b' = 1\n'a = b' = 2\n", 2, "a = b"),
        ("[felt]\n[rules]\n[felt]\n", 3, "felt"),
        ("[[seats]]\n[seats.spots.main]\n[seats.spots.main]\n", 3, "seats.0.spots.main"),
        ("felt = 1\n[felt]\n", 2, "felt"),
        ("[felt]\n[[felt]]\n", 2, "felt"),
        ("size = 1\nplace = { x = 1, x = 2 }\n", 2, "x"),
        ('"\\u001b[2J" = 1\n"\\u001b[2J" = 2\n', 2, r"\x1b[2J"),
    ],
)  # fmt: skip
def test_a_key_that_stands_twice(text: str, line: int, key: str) -> None:
    with pytest.raises(FeltwatchError) as caught:
        parse_toml(text, "table.toml")
    words = "stands twice; keep one of the two"
    assert str(caught.value) == f"table.toml: line {line}: {key}: {words}"


@pytest.mark.parametrize("text", ["a = ", "a = {b = 1}\na.c = 2\n", "a = [1\n", "[a\n"])
def test_another_fault_stays_what_it_is(text: str) -> None:
    with pytest.raises(FeltwatchError, match=r"^table\.toml: not valid TOML: .+\(at "):
        parse_toml(text, "table.toml")
