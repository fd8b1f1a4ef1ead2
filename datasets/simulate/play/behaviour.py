"""How dealers work: quick or slow, neat or untidy."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from datasets.simulate.play.layouts import Habit
from datasets.simulate.play.motion import Tempo

Manner = Literal["any", "fast", "slow", "neat", "untidy"]
MANNERS: tuple[Manner, ...] = ("any", "fast", "slow", "neat", "untidy")


@dataclass(frozen=True, slots=True)
class DealerStyle:
    """One dealer: tempo, hand, and how they do things.

    `both_hands` turns a seat's hands up in one movement; `restless` is the share of seats
    where hands are laid again or a card drops half outside its box.
    """

    name: str
    tempo: Tempo
    habit: Habit
    both_hands: bool
    restless: float

    @classmethod
    def draw(cls, manner: Manner, rng: random.Random) -> DealerStyle:
        """A dealer of that manner; 'any' is one of them or something between."""
        quick, neat = rng.random(), rng.random()
        if manner == "fast":
            quick = rng.uniform(0.85, 1.0)
        elif manner == "slow":
            quick = rng.uniform(0.0, 0.15)
        elif manner == "neat":
            neat = rng.uniform(0.9, 1.0)
        elif manner == "untidy":
            neat = rng.uniform(0.0, 0.1)
        pace = "fast" if quick > 0.7 else "slow" if quick < 0.3 else "steady"
        tidy = "neat" if neat > 0.6 else "untidy" if neat < 0.25 else "tidy"
        return cls(
            name=f"{pace}, {tidy}",
            tempo=_tempo(quick, rng),
            habit=_habit(neat, rng),
            both_hands=rng.random() < 0.3 + 0.5 * quick,
            restless=0.02 + 0.12 * (1 - neat),
        )


def _tempo(quick: float, rng: random.Random) -> Tempo:
    """From 3 s of comparing with slow hands to 0.4 s with quick ones."""
    slow = 1 - quick
    return Tempo(
        step_s=round(0.14 + 0.17 * slow + rng.uniform(0, 0.02), 3),
        compare_rest_s=round(0.4 + 2.2 * slow**1.6, 3),
        settled_rest_s=round(0.3 + 1.1 * slow**1.6, 3),
        bets_s=round(rng.uniform(18, 32), 3),
        look_s=round(rng.uniform(14, 28), 3),
        between_s=round(rng.uniform(5, 10), 3),
    )


def _habit(neat: float, rng: random.Random) -> Habit:
    """From hardly a millimetre off to thrown down, within what leaves every index free."""
    loose = 1 - neat
    low = rng.uniform(16.0, 22.0)
    two = rng.uniform(22.0, 40.0) if rng.random() < 0.4 else rng.uniform(64.5, 67.0)
    return Habit(
        card_jitter_mm=0.4 + 2.0 * loose,
        card_jitter_deg=0.5 + 3.2 * loose,
        row_tilt_deg=0.6 + 3.4 * loose,
        chip_jitter_mm=0.6 + 2.8 * loose,
        five_step_mm=(low, min(25.0, low + rng.uniform(0.5, 1.5 + 3.5 * loose))),
        two_step_mm=(two, two + rng.uniform(0.5, 3.0)),
        turned=rng.random() < 0.35,
    )
