"""Which of two readings of a round fits its cards: with samples of the deck, or without."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.vision.rounds.readings import DEALER, HANDS, TABLE, dealer_cards, hand, reading
from vision.cards.view import ViewIndex
from vision.rounds.round_state import Episode, Round, ViewTrack
from vision.rounds.two_readings import SamplesUse, better_read, by_reader_alone
from vision.rounds.view_reader import ViewReading


def misnamed(cards: tuple[ViewIndex, ...]) -> tuple[ViewIndex, ...]:
    """The same indices, half of them read as nothing with any confidence."""
    return tuple(
        replace(one, shares=one.shares * 0.3) if n % 2 else one for n, one in enumerate(cards)
    )


def played(samples: str) -> Round:
    """A round of two hands, with samples that fit (right), that do not (wrong), or none."""
    tracks = {}
    for seat in (None, 1):
        cards = dealer_cards() if seat is None else hand(TABLE.seat(1), *HANDS[1])
        if samples == "right":
            read = replace(reading(cards=cards), plain=misnamed(cards))
        elif samples == "wrong":
            read = replace(reading(cards=misnamed(cards)), plain=cards)
        else:
            read = reading(cards=cards)
        rest = Episode(1.0, [read, read, replace(read, at_s=2.0)], 3.0)
        tracks[seat] = ViewTrack([rest], {}, glimpses=[Episode(2.0, [read])])
    return Round(0.0, tracks)


def labels(own: Round) -> set[str]:
    return {
        card.label for track in own.tracks.values() for card in track.hand() if card.share > 0.9
    }


def test_without_samples_there_is_one_reading() -> None:
    own = played("none")
    assert by_reader_alone(own) is None
    assert better_read(own) == (own, None)


@pytest.mark.parametrize("samples", ["right", "wrong"])
def test_the_reading_that_fits_the_cards_is_taken(samples: str) -> None:
    own = played(samples)
    taken, other = better_read(own)
    assert (taken is own) is (samples == "right")
    assert other is not None
    every = set(" ".join([*DEALER, *HANDS[1]]).split())
    assert labels(taken) == every
    assert labels(other) < every


def test_a_reading_that_counts_for_several_stays_one() -> None:
    alone = by_reader_alone(played("wrong"))
    assert alone is not None
    track = alone.tracks[1]
    (rest,) = track.episodes
    assert rest.readings[0] is rest.readings[1]
    assert len(rest.images) == 2
    assert (rest.start_s, rest.until_s) == (1.0, 3.0)
    assert track.glimpses[0].readings[0] is rest.readings[0]


def test_each_reading_has_the_other_one_beside_it() -> None:
    own = played("wrong")
    alone = by_reader_alone(own)
    assert alone is not None
    before: ViewReading = own.tracks[1].episodes[0].readings[0]
    after: ViewReading = alone.tracks[1].episodes[0].readings[0]
    assert (after.indices, after.plain) == (before.plain, before.indices)


def test_samples_that_do_not_fit_are_reported() -> None:
    use = SamplesUse()
    for samples in ("wrong", "none", "right", "wrong"):
        assert not list(use.faults()), "too few rounds, or half of them"
        use.better_read(played(samples))
    assert (use.rounds, use.better_without) == (3, 2)
    (words,) = use.faults()
    assert words.startswith("in 2 of 3 rounds more cards were read without the samples")
