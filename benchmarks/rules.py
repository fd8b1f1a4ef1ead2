"""How fast hands are ranked, counted and settled on this machine."""

from __future__ import annotations

import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from settlement.analysis.census import row_counts
from settlement.analysis.odds import deal
from settlement.analysis.patterns import Hands
from settlement.analysis.vector import features_many, rank_five_many
from settlement.cards import DECK, Card, labels
from settlement.compare.comparison import compare
from settlement.features import PAI_GOW, TREASURE, seven_card_features
from settlement.games import terms_for
from settlement.hands import rank_five
from settlement.record import DealerRecord, Meter, RoundRecord, SeatRecord, WagerRecord
from settlement.result import WagerSettlement
from settlement.rules import TableRules
from settlement.settle import settle

SEATS = 6
MISTAKES = 0.05
"""Share of wagers at which the dealer of a measured round errs."""

TABLE = TableRules(
    game="emperors_challenge_exposed",
    paytables={
        "pai_gow_insurance": "PT-FLT-EC-PGI-05",
        "ace_high_pai_gow_insurance": "PT-FLT-AHPG-05",
        "emperors_treasure": "PT-FLT-EC-ET-02",
        "envy": "E02",
        "pai_gow_insurance_progressive": "PT-BJS-EC-PGI-01",
        "emperors_treasure_progressive": "PT-BJS-EC-ET-01",
    },
)
"""A table with every wager of the game."""

_METER_CENTS = 2_500_000
_FIXED_CENTS = 100
_STAKES_CENTS = (500, 1000, 2500, 5000, 7500, 10000)
_COUNT = """
import time
from settlement.analysis.census import ace_high_pairs, census
census(), ace_high_pairs()
print(time.process_time())
"""


@dataclass(frozen=True, slots=True)
class RulesBench:
    """What was measured; each rate is of hands with the joker in the deck, on one core.

    All is processor time, so that other work on the machine changes little.
    `tables_s` is the time to fill the look-up tables of both vectorised ranks, once a
    process; `census_s` that of a fresh process that counts all 154,143,080 hands and all
    ace-high pairs, its start included; the others are measured after a first run.
    """

    five_one_by_one_per_s: float
    seven_one_by_one_per_s: float
    five_vectorised_per_s: float
    seven_vectorised_per_s: float
    tables_s: float
    census_s: float
    table_rounds: int
    table_median_ms: float
    table_p95_ms: float

    def to_dict(self) -> dict[str, float]:
        """The form for scripts, rounded to what the clock resolves."""
        digits = {"per_s": 0, "_s": 3, "_ms": 4}
        form: dict[str, float] = {}
        for name, value in asdict(self).items():
            places = next((n for end, n in digits.items() if name.endswith(end)), None)
            form[name] = value if places is None else round(value, places)
        return form


def bench_rules(
    hands: int = 200_000, rounds: int = 500, report: Callable[[str], None] | None = None
) -> RulesBench:
    """Measure; `hands` are ranked one by one, and five times as many vectorised.

    `report` is called with the name of each part before it starts.
    """
    report = report or (lambda _: None)
    report("exact counts")
    census_s = _census_s()
    report("vectorised ranks")
    seven = _random_hands(5 * hands)
    five = np.ascontiguousarray(seven[:, :5])
    tables_s = _seconds(lambda: (rank_five_many(five[:1]), features_many(seven[:1])))
    five_many_s = _seconds(lambda: rank_five_many(five))
    seven_many_s = _seconds(lambda: features_many(seven))
    report("ranks one by one")
    fives = [tuple(DECK[index] for index in hand) for hand in five[:hands].tolist()]
    sevens = [tuple(DECK[index] for index in hand) for hand in seven[:hands].tolist()]
    five_s, seven_s = _one_by_one_s(rank_five, fives), _one_by_one_s(seven_card_features, sevens)
    report("tables settled and compared")
    times_ms = settle_times_ms(rounds)
    return RulesBench(
        five_one_by_one_per_s=hands / five_s,
        seven_one_by_one_per_s=hands / seven_s,
        five_vectorised_per_s=len(five) / five_many_s,
        seven_vectorised_per_s=len(seven) / seven_many_s,
        tables_s=tables_s,
        census_s=census_s,
        table_rounds=rounds,
        table_median_ms=statistics.median(times_ms),
        table_p95_ms=float(np.percentile(times_ms, 95)),
    )


def exact_counts() -> dict[str, int]:
    """How many of all hands each category has, in the order of the felt's pay tables."""
    return row_counts(TREASURE) | row_counts(PAI_GOW)


def _random_hands(count: int) -> Hands:
    first, second = deal(np.random.default_rng(1), (count + 1) // 2)
    return np.concatenate([first, second])[:count]


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _one_by_one_s(
    rank: Callable[[tuple[Card, ...]], object], hands: list[tuple[Card, ...]]
) -> float:
    def work() -> None:
        for hand in hands:
            rank(hand)

    work()
    return _seconds(work)


def _census_s() -> float:
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", _COUNT], check=True, capture_output=True, text=True, cwd=folder
    )
    return float(done.stdout)


def settle_times_ms(rounds: int, seed: int = 1) -> list[float]:
    """The time to settle and compare each of some random rounds of six seats, in ms.

    All seats carry all wagers, with random stakes; hands are set by the house way; the
    dealer pays what is due but for MISTAKES.
    """
    rng = random.Random(seed)
    records = [random_round(rng) for _ in range(rounds)]
    for record in records[:50]:
        compare(record, settle(record, TABLE), TABLE)
    times_ms: list[float] = []
    for record in records:
        start = time.process_time()
        compare(record, settle(record, TABLE), TABLE)
        times_ms.append(1000 * (time.process_time() - start))
    return times_ms


def random_round(rng: random.Random) -> RoundRecord:
    """A dealt round with its pays."""
    deck = rng.sample(DECK, 7 * (SEATS + 1))
    staked = RoundRecord(
        round_id="bench",
        table="bench",
        game=TABLE.game,
        meters=tuple(
            Meter(wager=wager, cents=_METER_CENTS) for wager in terms_for(TABLE).progressives
        ),
        dealer=DealerRecord(**_set(deck[:7])),
        seats=tuple(_seat(number, deck, rng) for number in range(1, SEATS + 1)),
    )
    seats = tuple(
        seat.model_copy(update={"wagers": tuple(_paid(due, rng) for due in settled.wagers)})
        for seat, settled in zip(staked.seats, settle(staked, TABLE).seats, strict=True)
    )
    return staked.model_copy(update={"seats": seats})


def _set(cards: Sequence[Card]) -> dict[str, tuple[str, ...]]:
    setting = terms_for(TABLE).house_way.set_hands(cards, TABLE.ranking, TABLE.house_way_readings)
    return {"low": labels(setting.low), "high": labels(setting.high)}


def _seat(number: int, deck: Sequence[Card], rng: random.Random) -> SeatRecord:
    stakes = {
        wager: _FIXED_CENTS if wager.endswith("_progressive") else rng.choice(_STAKES_CENTS)
        for wager in terms_for(TABLE).offered
        if wager != "envy"
    }
    wagers = tuple(WagerRecord(wager=wager, stake_cents=cents) for wager, cents in stakes.items())
    hands = _set(deck[7 * number : 7 * number + 7])
    return SeatRecord(seat=number, lammers=("envy",), wagers=wagers, **hands)


_ACTIONS = {"win": "paid", "push": "left", "lose": "taken"}


def _paid(due: WagerSettlement, rng: random.Random) -> WagerRecord:
    """The wager with what the dealer did."""
    paid = due.pay_cents or 0
    if rng.random() < MISTAKES:
        paid += 500
    action = "paid" if paid else _ACTIONS[due.outcome or "lose"]
    return WagerRecord.model_validate(
        {"wager": due.wager, "stake_cents": due.stake_cents, "action": action, "paid_cents": paid}
    )


def machine_info() -> dict[str, object]:
    """What the measures were taken on: processor, cores, system, versions."""
    name = platform.processor() or platform.machine()
    listed = Path("/proc/cpuinfo")
    if listed.is_file():
        lines = listed.read_text(encoding="utf-8", errors="replace").splitlines()
        name = next((at.split(":", 1)[1].strip() for at in lines if "model name" in at), name)
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
