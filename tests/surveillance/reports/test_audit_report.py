"""The report: what a person must find in it."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from settlement.compare.finding import WAGER_NAMES
from settlement.felt_timeline import StepLine
from settlement.record import LateBet, Undecided
from surveillance.alerts.judged_round import JudgedRound
from surveillance.audit.recording import judge
from surveillance.reports.audit_report import Heading, render_report
from surveillance.reports.cards_view import wager_name
from surveillance.reports.round_view import round_card
from tests.surveillance.handmade import doubtful_round, observed_round
from vision.geometry.table import TableFile
from vision.rounds.coverage import Coverage

HEADING = Heading(
    table="t1", game="emperors_challenge_exposed", video="shift <1>.mp4", duration_s=60, wall_s=20,
    warnings=("it was dark",),
)  # fmt: skip


class _Page(HTMLParser):
    """Collects ids, links, image sources and whether every tag is closed."""

    VOID = frozenset({"meta", "link", "img", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [found["id"]] if found.get("id") else []  # type: ignore[list-item]
        self.links += [found["href"]] if found.get("href") else []  # type: ignore[list-item]
        self.sources += [found["src"]] if found.get("src") else []  # type: ignore[list-item]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(html: str) -> _Page:
    parsed = _Page()
    parsed.feed(html)
    assert parsed.open == []
    return parsed


@pytest.fixture
def judged(table: TableFile) -> list[JudgedRound]:
    unread = (
        Undecided(seat=3, what="high[4]", why="covered by <an arm>"),
        Undecided(seat=5, what="main.stake", why="glare"),
    )
    clean, overpaid = observed_round(1), observed_round(2, start_s=20.0, paid_cents=3000)
    doubtful = observed_round(3, start_s=40.0, undecided=unread)
    seat = doubtful.record.seats[0]
    short = seat.model_copy(update={"high": (seat.high or ())[:4]})
    record = doubtful.record.model_copy(update={"seats": (short,)})
    return [
        judge(o, table)
        for o in (clean, overpaid, type(doubtful)(record, doubtful.pictures))
    ]  # fmt: skip


def test_links_lead_somewhere_and_nothing_comes_from_outside(judged: list[JudgedRound]) -> None:
    html = render_report(HEADING, judged)
    parsed = page(html)
    assert len(parsed.ids) == len(set(parsed.ids))
    for link in parsed.links:
        if link.startswith("#"):
            assert link[1:] in parsed.ids
        else:
            assert link.startswith(("evidence/", "data:"))
    assert parsed.sources
    assert all(source.startswith("evidence/") for source in parsed.sources)
    assert not re.search(r"https?://|@import|url\(", html)


def test_an_alert_says_what_was_seen_what_was_due_and_the_rule(judged: list[JudgedRound]) -> None:
    html = unescape(render_report(HEADING, judged))
    alert = judged[1].alerts[0]
    assert alert.code == "OVERPAID"
    assert html.index("Alerts</h2>") < html.index("Rounds</h2>")
    for words in ("Paid too much", "paid $30.00", "$25.00", alert.rule or "?", "seat 3, Main"):
        assert words in html
    for name in alert.pictures:
        assert f'src="{name}"' in html


def test_what_is_probably_wrong_is_worth_a_look_and_no_alert(table: TableFile) -> None:
    observed = doubtful_round()
    assert judge(observed, table).pictures == {}
    judged = judge(observed, table, draw_suspicions=True)
    assert judged.alerts == ()
    (suspicion,) = judged.suspicions
    assert suspicion.message.startswith("Perhaps (88%): Seat 3, main bet: paid $30.00, due $25.00")
    assert set(suspicion.pictures) == {f"evidence/{name}" for name in judged.pictures}
    html = render_report(HEADING, [judged])
    parsed = page(html)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert html.index("Alerts</h2>") < html.index("Worth a look</h2>") < html.index("Rounds</h2>")
    assert f"#alert-{suspicion.alert_id}" in parsed.links
    assert "<dt>Mistakes</dt><dd>0</dd>" in html
    assert "Worth a look</h2>" not in render_report(
        HEADING, [judge(observed_round(), table, draw_suspicions=True)]
    )


def test_how_much_was_watched_stands_at_the_top(judged: list[JudgedRound]) -> None:
    coverage = Coverage(20.0, 1.5, {"3": 5.0, "dealer": 9.0})
    html = unescape(render_report(replace(HEADING, coverage=coverage), judged))
    assert "Watched 20.0 s, skipped 1.5 s" in html
    rows = re.findall(r'<tr><td>([^<]+)</td><td class="num">([\d.]+)</td>.*?>(\d+)%</td>', html)
    assert rows == [("dealer", "9.0", "45"), ("seat 3", "5.0", "25")]
    assert "Watched" not in render_report(HEADING, judged)


def test_cards_are_drawn_and_read_aloud(judged: list[JudgedRound]) -> None:
    html = render_report(HEADING, judged[:1])
    for words in ("ace of hearts", "king of diamonds", "nine of clubs", "♥", "♠"):
        assert words in html
    # Seven cards each for the dealer and seat 3.
    assert html.count('role="img"') == 14


def test_what_was_not_read_is_said_in_words(judged: list[JudgedRound]) -> None:
    html = render_report(HEADING, judged[2:])
    assert "a card that was not read" in html
    assert "covered by &lt;an arm&gt;" in html
    assert "seat 5: Main: stake" in html
    assert "<b>a card of the high hand</b> not read: covered" in html
    assert "[4]" not in html
    assert "something not read" in html


def test_nothing_from_outside_is_taken_as_markup(judged: list[JudgedRound]) -> None:
    html = render_report(HEADING, judged)
    assert "shift &lt;1&gt;.mp4" in html
    assert "<an arm>" not in html


def test_the_heading_counts(judged: list[JudgedRound]) -> None:
    html = render_report(HEADING, judged)
    tiles = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)(?:<|$)", html))
    assert tiles == {
        "Duration": "01:00.0", "Rounds": "3", "Mistakes": "1", "To check by a person": "0",
        "Worth a look": "0", "Not read": "2", "Read at": "3.0",
    }  # fmt: skip
    assert "it was dark" in html


def test_every_kind_has_an_icon_and_a_word(judged: list[JudgedRound]) -> None:
    badges = re.findall(
        r'<span class="badge (\w+)"><span aria-hidden="true">(.)</span> ([^<]+)</span>',
        render_report(HEADING, judged),
    )
    icons = {kind: icon for kind, icon, _ in badges}
    assert len(set(icons.values())) == len(icons)
    assert {"high", "undecided", "ok"} <= set(icons)


@pytest.mark.parametrize(
    ("index", "kind", "words", "folded"),
    [
        (0, "ok", "in order", True),
        (1, "high", "1 alert", False),
        (2, "undecided", "something not read", False),
    ],
)
def test_rounds(judged: list[JudgedRound], index: int, kind: str, words: str, folded: bool) -> None:
    j = judged[index]
    card = round_card(j.record, j.settlement, j.alerts, duration_s=60.0, open_all=False)
    assert (card.kind, card.words, card.open) == (kind, words, not folded)
    assert card.left == pytest.approx(float(j.record.start_s or 0) / 60 * 100, abs=0.001)
    assert card.width == pytest.approx(2.5)


@pytest.mark.parametrize(("index", "kind", "verdict"), [(0, "ok", "ok"), (1, "high", "overpaid")])
def test_wagers(judged: list[JudgedRound], index: int, kind: str, verdict: str) -> None:
    j = judged[index]
    (row,) = round_card(j.record, j.settlement, j.alerts).seats[0].wagers
    assert (row.name, row.stake, row.due, row.kind, row.verdict) == (
        "Main", "$25", "pay $25", kind, verdict,
    )  # fmt: skip


def test_what_is_wrong_is_marked_and_no_more(table: TableFile) -> None:
    """Of a late bet the stake is wrong, and what was done with it is what was due."""
    observed = observed_round()
    (seat,) = observed.record.seats
    late = LateBet(before_cents=1500, after_cents=2500, before_s="0.7", after_s="0.9")
    main = seat.wagers[0].model_copy(update={"late": late})
    seats = (seat.model_copy(update={"wagers": (main,)}),)
    j = judge(replace(observed, record=observed.record.model_copy(update={"seats": seats})), table)
    assert [a.code for a in j.alerts] == ["LATE_BET"]
    html = render_report(HEADING, [j])
    assert '<td class="num wrong">$25</td><td>paid $25</td>' in html
    (paid,) = re.findall(r"<td[^>]*>pay \$25</td>", html)
    assert "class" not in paid
    html = render_report(HEADING, [judge(observed_round(paid_cents=3000), table)])
    assert '<td class="num">$25</td><td class="wrong">paid $30</td><td class="right"' in html


def test_a_round_with_alerts_says_what_was_not_read_too(table: TableFile) -> None:
    unread = (Undecided(seat=5, what="main.stake", why="glare"),)
    j = judge(observed_round(paid_cents=3000, undecided=unread), table)
    card = round_card(j.record, j.settlement, j.alerts)
    assert (card.kind, card.words, card.also) == ("high", "1 alert", "something not read")
    summaries = [
        part.split("</summary>")[0] for part in render_report(HEADING, [j]).split("<summary>")
    ]
    # The last is that of what lay at the seat.
    summary = summaries[-2]
    assert "1 alert</span>" in summary
    assert "something not read</span>" in summary
    assert round_card(j.record, j.settlement, ()).also == ""
    alone = judge(observed_round(paid_cents=3000), table)
    assert round_card(alone.record, alone.settlement, alone.alerts).also == ""


def test_a_lammer_is_explained(table: TableFile) -> None:
    observed = observed_round()
    (seat,) = observed.record.seats
    seats = (seat.model_copy(update={"lammers": ("dealer", "envy", "odd")}),)
    j = judge(replace(observed, record=observed.record.model_copy(update={"seats": seats})), table)
    assert [lammer.title for lammer in round_card(j.record, j.settlement, ()).seats[0].lammers] == [
        "DEALER lammer: Pai Gow Insurance on the dealer's hand",
        "ENVY lammer: Envy Bonus of Emperor's Treasure",
        "ODD lammer",
    ]
    assert ">DEALER lammer</span>" in render_report(HEADING, [j])


def test_messages_and_tables_name_the_side_bet_alike() -> None:
    assert wager_name("imperial_side_bet") == WAGER_NAMES["imperial_side_bet"]


def test_an_undecided_hand_leaves_its_wager_undecided(table: TableFile) -> None:
    unread = tuple(Undecided(seat=3, what=f"high[{n}]", why="covered") for n in (3, 4))
    observed = observed_round(undecided=unread)
    (seat,) = observed.record.seats
    short = seat.model_copy(update={"high": (seat.high or ())[:3]})
    record = observed.record.model_copy(update={"seats": (short,)})
    j = judge(replace(observed, record=record), table)
    (row,) = round_card(j.record, j.settlement, j.alerts).seats[0].wagers
    assert (row.due, row.kind) == ("undecided", "undecided")


def test_a_wager_judged_whatever_the_unread_card_is_shown_so(judged: list[JudgedRound]) -> None:
    j = judged[2]
    seat = round_card(j.record, j.settlement, j.alerts).seats[0]
    assert seat.undecided
    assert (seat.kind, seat.result) == ("undecided", "win")
    (row,) = seat.wagers
    assert (row.due, row.kind, row.verdict) == ("pay $25", "ok", "ok")


def with_eight_cards(table: TableFile) -> JudgedRound:
    """A round of two seats; seat 3 is in order, seat 4 has a card too many and nothing unread."""
    observed = observed_round(4)
    (seat,) = observed.record.seats
    high = ("JS", "TC", "8D", "6H", "4S", "3D")
    eight = seat.model_copy(update={"seat": 4, "low": ("AS", "KC"), "high": high})
    record = observed.record.model_copy(update={"seats": (seat, eight)})
    return judge(replace(observed, record=record), table)


def test_why_a_wager_is_undecided_is_said_once(table: TableFile, judged: list[JudgedRound]) -> None:
    j = with_eight_cards(table)
    in_order, eight = round_card(j.record, j.settlement, ()).seats
    assert not in_order.dues_undecided
    (cause,) = eight.dues_undecided
    assert (cause.what, cause.why) == ("Main", "seat 4's hand: 8 cards, not 7")
    assert "8 cards, not 7" in unescape(render_report(HEADING, [replace(j, alerts=())]))
    # What was not read explains it already.
    unread = round_card(judged[2].record, judged[2].settlement, ()).seats[0]
    assert unread.undecided
    assert not unread.dues_undecided


def test_a_round_with_an_undecided_wager_is_not_in_order(table: TableFile) -> None:
    j = with_eight_cards(table)
    card = round_card(j.record, j.settlement, (), open_all=False)
    assert [seat.kind for seat in card.seats] == ["ok", "undecided"]
    assert (card.kind, card.words, card.open) == ("undecided", "something undecided", True)


def test_why_the_house_way_is_undecided_is_said(judged: list[JudgedRound]) -> None:
    (j, *_) = judged
    dealer = j.settlement.dealer.model_copy(
        update={"house_way": None, "matches": None, "house_way_undecided": "no eighth card"}
    )
    settlement = j.settlement.model_copy(update={"dealer": dealer})
    card = round_card(j.record, settlement, (), open_all=False)
    assert card.dealer.house_way == "no eighth card"
    assert (card.kind, card.words) == ("undecided", "something undecided")


def test_what_cannot_be_is_listed_as_it_is_counted(table: TableFile) -> None:
    observed = observed_round()
    (seat,) = observed.record.seats
    envy = seat.wagers[0].model_copy(update={"wager": "imperial_side_bet"})
    seats = (seat.model_copy(update={"wagers": (*seat.wagers, envy)}),)
    j = judge(replace(observed, record=observed.record.model_copy(update={"seats": seats})), table)
    (impossible,) = j.unread
    html = unescape(render_report(HEADING, [j]))
    assert "<dt>Not read</dt><dd>1<" in html
    assert impossible.why in html


def test_no_rounds_and_no_duration() -> None:
    html = render_report(Heading("t1", "unknown_game", "v.mp4", 0.0), [])
    page(html)
    assert "Nothing that was read differs" in html
    assert "unknown_game" in html


def test_the_steps_of_a_seat_and_who_banks_are_shown(judged: list[JudgedRound]) -> None:
    (one, *_) = judged
    round_id, number = one.record.round_id, one.record.seats[0].seat
    steps = tuple(
        StepLine(round_id=round_id, seat=number, step=step, from_s=at, until_s=at)
        for step, at in (("in_hand", "61.5"), ("set", "70.0"))
    )
    banked = one.record.model_copy(update={"banker": number})
    html = render_report(HEADING, [replace(one, record=banked, timeline=steps)])
    page(html)
    assert "in hand 01:01.5 · set 01:10.0" in html
    assert html.count(">banks<") == 1
    assert ">banks<" not in render_report(HEADING, [one])
