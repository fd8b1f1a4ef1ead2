"""A round read twice: its indices with the samples of the deck, and by the reader alone.

Samples name cards that the reader has never seen. Where they were taken of another make of cards,
or under wrong names, the reader alone does better; what the cards of one round are together says
which of both fits them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from vision.cards.deck_assignment import count_decided
from vision.rounds.round_state import Episode, Round, Shot, ViewTrack
from vision.rounds.view_reader import ViewReading

LEAST_ROUNDS = 2


@dataclass
class SamplesUse:
    """How many rounds were read with samples of the deck, and in how many of them more cards were
    decided without."""

    rounds: int = 0
    better_without: int = 0

    def better_read(self, own: Round) -> tuple[Round, Round | None]:
        """`better_read`, counted."""
        taken, other = better_read(own)
        if other is not None:
            self.rounds += 1
            self.better_without += taken is not own
        return taken, other

    def faults(self) -> Iterator[str]:
        """That the samples do not fit the cards in play, in words."""
        if self.rounds >= LEAST_ROUNDS and 2 * self.better_without > self.rounds:
            yield (
                f"in {self.better_without} of {self.rounds} rounds more cards were read without "
                "the samples of the deck than with them: take samples of the cards in play "
                "(feltwatch cards deck)"
            )


def better_read(own: Round) -> tuple[Round, Round | None]:
    """The round by the reading that decides more of its cards, and by the other one.

    With the samples where both decide as many. None in place of the other where the deck has no
    samples.
    """
    plain = by_reader_alone(own)
    if plain is None:
        return own, None
    return (plain, own) if _decided(plain) > _decided(own) else (own, plain)


def by_reader_alone(own: Round) -> Round | None:
    """The round as the reader alone reads its indices; None where that is how it was read."""
    if all(r.plain is None for t in own.tracks.values() for e in t.episodes for r in e.readings):
        return None
    made: dict[int, ViewReading] = {}

    def alone(reading: ViewReading) -> ViewReading:
        # A reading that was sure counts for several: it stays one object.
        if id(reading) not in made:
            indices = reading.indices if reading.plain is None else reading.plain
            made[id(reading)] = replace(reading, indices=indices, plain=reading.indices)
        return made[id(reading)]

    def rests(episodes: list[Episode]) -> list[Episode]:
        return [replace(e, readings=[alone(r) for r in e.readings]) for e in episodes]

    tracks = {
        seat: ViewTrack(
            rests(track.episodes),
            {what: Shot(shot.image, alone(shot.reading)) for what, shot in track.shots.items()},
            track.bare,
            rests(track.glimpses),
        )
        for seat, track in own.tracks.items()
    }
    return replace(own, tracks=tracks)


def _decided(own: Round) -> int:
    return count_decided({seat: track.hand() for seat, track in own.tracks.items()})
