"""The settlement calculator's API: right sums with their rules, and faults said at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from settlement.games import GAMES
from settlement.houseways import HOUSE_WAYS
from settlement.paytables.registry import pay_table_ids
from settlement.record import DECK_LABELS, RoundRecord, read_rounds
from surveillance.web.services.tablefiles import TableShelf
from tests.profiles import examples
from tests.surveillance.web.tools_made import SAMPLE, app_with, table_copy
from vision.geometry.table import load_table

NEVADA = "emperors_challenge_exposed"


@pytest.fixture(scope="module")
def table_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return table_copy(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def client(table_path: Path) -> Iterator[TestClient]:
    with TestClient(
        app_with(table_path), base_url="http://127.0.0.1:8471", headers={"x-feltwatch": "1"},
        raise_server_exceptions=False,
    ) as asking:  # fmt: skip
        yield asking


@pytest.fixture(scope="module")
def games(client: TestClient) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/api/games").json()
    return answer


@pytest.fixture(scope="module")
def nevada(games: dict[str, Any]) -> dict[str, Any]:
    example: dict[str, Any] = next(g for g in games["games"] if g["id"] == NEVADA)["example"]
    return example


def ask(client: TestClient, **question: Any) -> dict[str, Any]:
    answer = client.post("/api/calculator", json=question)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def hand(cards: str, **more: Any) -> dict[str, Any]:
    return {"by": "house_way", "cards": cards.split(), **more}


def set_by_hand(low: str, high: str, **more: Any) -> dict[str, Any]:
    return {"by": "hand", "low": low.split(), "high": high.split(), **more}


DEALER = hand("KS QD 9H 9C 7S 5D 2C")


def test_both_hands_are_named_and_every_wager_has_its_rule(
    client: TestClient, nevada: dict[str, Any]
) -> None:
    seat = hand(
        "AS AD AH KD JC 8D 3H", seat=3,
        stakes={"main": 2500, "emperors_treasure": 500, "pai_gow_insurance": 100},
    )  # fmt: skip
    answer = ask(client, rules=nevada, dealer=DEALER, seats=[seat])
    assert answer["problems"] == []
    dealer = answer["dealer"]
    assert dealer["low"] == {"cards": ["KS", "QD"], "name": "king-queen", "rank": [0, 13, 12]}
    assert dealer["high"]["name"] == "pair of nines, seven kicker"
    assert dealer["house_way"]["rule"] == "004 House Way, One Pair"
    assert dealer["matches"] is True
    (mine,) = answer["seats"]
    assert mine["low"]["name"] == "ace-king"
    assert mine["foul"] is False
    due = {wager["wager"]: wager for wager in mine["wagers"]}
    assert (due["main"]["outcome"], due["main"]["pay_cents"]) == ("win", 2500)
    assert (due["emperors_treasure"]["pay_cents"], due["pai_gow_insurance"]["outcome"]) == (
        1500, "lose",
    )  # fmt: skip
    rule = due["emperors_treasure"]["rule"]
    assert rule["document"].startswith("002_")
    assert (rule["section"], rule["row"]) == ("Appendix C, PT-FLT-EC-ET-02", "3-of-a-Kind")
    assert due["emperors_treasure"]["rule_text"] == "002, Appendix C, PT-FLT-EC-ET-02, 3-of-a-Kind"
    assert {line["party"]: line["cents"] for line in answer["sums"]} == {
        "house": -3900,
        "seat 3": 3900,
    }


def test_integers_of_json_may_be_written_as_floats(
    client: TestClient, nevada: dict[str, Any]
) -> None:
    seat = hand("AS AD AH KD JC 8D 3H", seat=3.0, stakes={"main": 2500.0})
    whole = hand("AS AD AH KD JC 8D 3H", seat=3, stakes={"main": 2500})
    answers = [ask(client, rules=nevada, dealer=DEALER, seats=[one]) for one in (seat, whole)]
    assert answers[0] == answers[1]
    seat["seat"] = 3.5
    answer = client.post("/api/calculator", json={"rules": nevada, "seats": [seat]})
    assert answer.status_code == 422


def question_of(record: RoundRecord) -> dict[str, Any]:
    """A round as it lay, asked of the calculator."""
    seats = []
    for seat in record.seats:
        stakes = {w.wager: w.stake_cents for w in seat.wagers if w.wager != "envy"}
        seats.append(
            {"by": "hand", "seat": seat.seat, "low": list(seat.low or ()),
             "high": list(seat.high or ()), "lammers": list(seat.lammers), "stakes": stakes}
        )  # fmt: skip
    dealer = {
        "by": "hand",
        "low": list(record.dealer.low or ()),
        "high": list(record.dealer.high or ()),
    }
    return {"dealer": dealer, "seats": seats}


def test_it_finds_the_mistakes_of_the_sample(client: TestClient, table_path: Path) -> None:
    """The dealer of the sample left a losing main bet in round 2 and set round 3 wrongly."""
    (table,) = client.get("/api/calculator/tablefiles").json()
    assert table["table"] == "t1"
    differences = []
    for record in read_rounds(SAMPLE / "truth.jsonl"):
        answer = ask(client, table_file=table["id"], **question_of(record))
        assert [p for p in answer["problems"] if "minimum" not in p["message"]] == []
        if not answer["dealer"]["matches"]:
            differences.append((record.round_id, "dealer"))
        for seat, due in zip(record.seats, answer["seats"], strict=True):
            dues = {w["wager"]: w for w in due["wagers"]}
            for wager in seat.wagers:
                own = dues[wager.wager]
                left = own["outcome"] == "lose" and wager.action != "taken"
                if (wager.paid_cents or 0) != own["pay_cents"] or left:
                    differences.append((record.round_id, wager.wager))
    assert differences == [("t1-000002", "main"), ("t1-000003", "dealer")]


def test_a_card_that_is_there_twice_is_said(client: TestClient, nevada: dict[str, Any]) -> None:
    answer = ask(client, rules=nevada, dealer=DEALER, seats=[hand("KS 2D", seat=1)])
    (problem,) = answer["problems"]
    assert problem == {
        "place": "seat 1",
        "message": "KS is there twice: dealer and seat 1; one pack has it once",
    }
    assert "JOKER" not in str(ask(client, rules=nevada, dealer=hand("JOKER"))["problems"])
    answer = ask(client, rules=nevada, dealer=hand("JOKER"), seats=[hand("JOKER", seat=2)])
    assert answer["problems"][0]["message"].startswith("the joker is there twice")


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        (["1S"], "no card"),
        (["AS"] * 9, "at most 8"),
        ("AS", "a list belongs here"),
        ([3], "write a text"),
    ],
)
def test_what_is_no_hand_is_refused(
    client: TestClient, nevada: dict[str, Any], cards: Any, words: str
) -> None:
    body = {"rules": nevada, "dealer": {"by": "house_way", "cards": cards}}
    answer = client.post("/api/calculator", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_hands_that_are_not_complete_say_what_is_missing(
    client: TestClient, nevada: dict[str, Any]
) -> None:
    answer = ask(client, rules=nevada, dealer=hand("KS QD"), seats=[hand("", seat=1)])
    assert answer["dealer"]["undecided"] == "5 more to come"
    assert answer["seats"][0]["undecided"] == "no cards yet"
    assert answer["problems"] == []
    answer = ask(client, rules=nevada, dealer=hand("KS QD 9H 9C 7S 5D 2C 3C"))
    assert answer["dealer"]["undecided"] == "8 cards, and a hand has 7"


def test_a_foul_is_reported_and_loses(client: TestClient, nevada: dict[str, Any]) -> None:
    fouled = set_by_hand("AS AD", "AH KD JC 8D 3H", seat=1, stakes={"main": 2500})
    answer = ask(client, rules=nevada, dealer=DEALER, seats=[fouled])
    (seat,) = answer["seats"]
    assert seat["foul"] is True
    assert "outranks" in seat["foul_reason"]
    assert seat["matches"] is False
    assert seat["house_way"]["low"] == ["AD", "KD"]
    assert (seat["wagers"][0]["outcome"], seat["wagers"][0]["pay_cents"]) == ("lose", 0)
    short = set_by_hand("AS", "AH KD JC 8D 3H 2D", seat=1)
    answer = ask(client, rules=nevada, dealer=DEALER, seats=[short])
    assert "hold 1 and 6 cards" in answer["seats"][0]["foul_reason"]


def test_every_game_and_house_way_settles(client: TestClient, games: dict[str, Any]) -> None:
    assert [g["id"] for g in games["games"]] == list(GAMES)
    for game in games["games"]:
        for way in HOUSE_WAYS:
            dealer = "KS QD 9H 9C 7S 5D 2C" + (" 3C" if game["dealer_cards"] == 8 else "")
            stakes = {w: 1000 for w in ("main", *game["example"]["paytables"]) if w != "envy"}
            answer = ask(
                client, rules=game["example"] | {"house_way": way}, dealer=hand(dealer),
                seats=[hand("AS AD TH TD JC 8D 3H", seat=1, stakes=stakes)],
            )  # fmt: skip
            assert answer["problems"] == []
            assert answer["dealer"]["house_way"]["id"] == way
            assert all(
                w["outcome"] and w["rule"]
                for w in answer["seats"][0]["wagers"]
                if w["wager"] != "envy"
            )


def test_all_that_the_documents_list_can_be_chosen(games: dict[str, Any]) -> None:
    assert sorted(t["id"] for t in games["pay_tables"]) == sorted(pay_table_ids())
    keys = {choice["key"] for choice in games["choices"]}
    document = (Path(__file__).parents[3] / "docs" / "games.md").read_text()
    options = document.split("## Options")[1].split("## How settling")[0]
    for line in options.splitlines():
        if not line.startswith("| `"):
            continue
        first, *rest = [part.strip("` ") for part in line.split("|")[1].split(",")]
        names = [
            first,
            *(f"{first.rsplit('.', 1)[0]}{name}" for name in rest if name.startswith(".")),
        ]
        for name in names:
            key = name.replace("WAGER", "*")
            assert any(one == key or one.endswith(f"readings.{key}") for one in keys), name


def test_options_count(client: TestClient, nevada: dict[str, Any]) -> None:
    # A dealer with an ace-high pai gow: all main wagers push, or pay by the other option.
    dealer = hand("AS QD TH 9C 7S 5D 2C")
    seat = hand("KD KC 8H 8S 4D 3C 2H", seat=1, stakes={"main": 1000})
    outcomes = {}
    for option in ("ace_high_push", "king_high_or_less_push", "any_pai_gow_pays_half"):
        answer = ask(client, rules=nevada | {"main_option": option}, dealer=dealer, seats=[seat])
        wager = answer["seats"][0]["wagers"][0]
        outcomes[option] = (wager["outcome"], wager["pay_cents"])
    assert outcomes["ace_high_push"] == ("push", 0)
    assert outcomes["any_pai_gow_pays_half"][1] == 500
    assert answer["dealer"]["pai_gow"] == "ace-high"


def test_meters_and_drawn_pays_are_inputs(client: TestClient, nevada: dict[str, Any]) -> None:
    name = "emperors_treasure_progressive"
    rules = nevada | {"paytables": nevada["paytables"] | {name: "PT-BJS-EC-ET-02"}}
    royal = hand("AS KS QS JS TS 9S 8S", seat=1, stakes={"main": 2500, name: 100})
    dealer = hand("KD QD 9H 9C 7H 5D 2C")
    answer = ask(client, rules=rules, dealer=dealer, seats=[royal])
    (wager,) = [w for w in answer["seats"][0]["wagers"] if w["wager"] == name]
    assert wager["outcome"] == "win"
    assert wager["pay_cents"] is None
    assert "meter" in wager["undecided"]
    answer = ask(
        client, rules=rules, dealer=dealer, seats=[royal],
        meters=[{"wager": name, "level": 1, "cents": 12_345_600}],
    )  # fmt: skip
    (wager,) = [w for w in answer["seats"][0]["wagers"] if w["wager"] == name]
    assert wager["pay_cents"] == 12_345_600
    assert wager["hand_pay"] is True
    assert answer["meters"][0]["paid_cents"] == 12_345_600


def test_a_player_may_bank(client: TestClient, games: dict[str, Any]) -> None:
    rules = next(g for g in games["games"] if g["id"] == "pai_gow_poker")["example"]
    seats = [
        hand("KS QD 9H 9C 7S 5D 2C", seat=1),
        hand("AS AD TH TD JC 8D 3H", seat=2, stakes={"main": 1000}),
    ]
    dealer = hand("KD QC 8H 7C 6S 4D 2H")
    answer = ask(client, rules=rules, dealer=dealer, seats=seats, banker=1, house_stake_cents=1000)
    assert answer["problems"] == []
    assert answer["banker"]["seat"] == 1
    assert answer["dealer_wagers"][0]["wager"] == "house"
    assert answer["seats"][1]["wagers"][0]["commission_cents"] == 50
    assert sum(line["cents"] for line in answer["sums"]) == 0
    nobody = ask(client, rules=rules, dealer=dealer, seats=seats, banker=5)
    assert "banks, but the seat is not" in nobody["problems"][0]["message"]


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        ({"game": "bridge"}, "rules.game", "known are"),
        ({"wheel": "third"}, "rules.wheel", "'second' or 'lowest'"),
        ({"envy_min_cents": -1}, "rules.envy_min_cents", "0 or more"),
        ({"colour": "red"}, "rules.colour", "no such key"),
        ({"paytables": {"envy": "E99"}}, "rules.paytables.envy", "E99"),
        ({"house_way": "mine"}, "rules.house_way", "known are"),
        ({"limits": {"main": {"min_cents": 9, "max_cents": 5}}}, "rules.limits.main", "above"),
        ({"readings": {"copies": "push"}}, "rules.readings.copies", "no choice"),
        ({"paytable_folder": "/etc"}, "rules.paytable_folder", "table file"),
    ],
)
def test_wrong_rules_are_reported_at_their_place(
    client: TestClient, nevada: dict[str, Any], change: dict[str, Any], place: str, words: str
) -> None:
    answer = ask(client, rules=nevada | change, dealer=DEALER)
    assert answer["dealer"] is None
    assert [p["place"] for p in answer["problems"]] == [place]
    assert words in answer["problems"][0]["message"]


def test_a_stake_outside_the_limits_is_reported_and_settled(
    client: TestClient, nevada: dict[str, Any]
) -> None:
    seat = hand("AS AD AH KD JC 8D 3H", seat=1, stakes={"main": 500})
    answer = ask(client, rules=nevada, dealer=DEALER, seats=[seat])
    assert answer["problems"][0]["message"] == "main bet: $5.00 is under the minimum of $10.00"
    assert answer["seats"][0]["wagers"][0]["pay_cents"] == 500


def test_a_table_file_of_ones_own_is_read(client: TestClient, table_path: Path) -> None:
    text = table_path.read_text()
    body = client.post("/api/calculator/tablefile", json={"toml": text}).json()
    assert body["rules"]["paytables"]["envy"] == "E02"
    assert body["seats"] == [seat.seat for seat in load_table(table_path).seats]
    for broken, words in (
        ("x = ", "not valid TOML"),
        ("x = 1", "is missing"),
        (text.replace("[rules]", '[rules]\npaytable_folder = "/etc"'), "on the server only"),
        (text.replace("value_cents = 100\n", "value_cents = 0\n", 1), "must be more than 0"),
    ):
        answer = client.post("/api/calculator/tablefile", json={"toml": broken})
        assert answer.status_code == 422
        assert words in answer.json()["detail"]
    assert client.post("/api/calculator", json={"table_file": "none"}).status_code == 404


def test_the_houses_own_pay_tables_come_with_their_table_file(tmp_path: Path) -> None:
    path = table_copy(tmp_path)
    (tmp_path / "own").mkdir()
    shipped = Path("settlement/paytables/PT-FLT-EC-ET-02.toml")
    own = (Path(__file__).parents[3] / shipped).read_text()
    (tmp_path / "own" / "HOUSE-1.toml").write_text(own.replace("PT-FLT-EC-ET-02", "HOUSE-1"))
    text = path.read_text().replace('"PT-FLT-EC-ET-02"', '"HOUSE-1"')
    path.write_text(text.replace("[rules]", '[rules]\npaytable_folder = "own"', 1))
    (shelved,) = TableShelf(files=[path]).all()
    with TestClient(app_with(path), base_url="http://127.0.0.1", headers={"x-feltwatch": "1"}) as c:
        seat = hand("AS AD AH KD JC 8D 3H", seat=1, stakes={"emperors_treasure": 500})
        body = ask(c, table_file=shelved.id, dealer=DEALER, seats=[seat])
        treasure = next(w for w in body["seats"][0]["wagers"] if w["wager"] == "emperors_treasure")
        assert "HOUSE-1" in treasure["rule_text"]
        (table,) = c.get("/api/calculator/tablefiles").json()
        # Its place is shown to nobody, and rules sent back use it all the same.
        assert str(tmp_path) not in str(table)
        again = ask(c, table_file=shelved.id, rules=table["rules"], dealer=DEALER, seats=[seat])
        assert again["seats"] == body["seats"]
        answer = ask(c, rules=table["rules"], dealer=DEALER, seats=[seat])
        assert answer["problems"][0]["place"] == "rules.paytables.emperors_treasure"


@given(
    deck=st.permutations(DECK_LABELS),
    counts=st.lists(st.integers(0, 8), min_size=1, max_size=5),
    by=st.sampled_from(["house_way", "hand"]),
)
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_cards_are_answered(
    client: TestClient, nevada: dict[str, Any], deck: list[str], counts: list[int], by: str
) -> None:
    hands = []
    for count in counts:
        cards, deck = deck[:count], deck[count:]
        split = {"low": cards[:2], "high": cards[2:]} if by == "hand" else {"cards": cards}
        hands.append({"by": by, **split})
    seats = [
        {**one, "seat": n, "stakes": {"main": 1000, "emperors_treasure": 500}, "lammers": ["envy"]}
        for n, one in enumerate(hands[1:], start=1)
    ]
    answer = ask(client, rules=nevada, dealer=hands[0], seats=seats)
    assert len(answer["seats"]) == len(seats)
    for count, seat in zip(counts[1:], answer["seats"], strict=True):
        known = count == 7
        assert (seat["undecided"] is None) == known
        for wager in seat["wagers"]:
            assert wager["outcome"] is None or wager["rule"] is not None
            assert wager["outcome"] is not None or wager["undecided"]
    assert sum(line["cents"] for line in answer["sums"]) == 0
