"""What was changed in a round when it was too late: stakes after the close, cards after setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from settlement.record import CardMove
from vision.cards.view import CardRead
from vision.geometry.table import DealerPlace, SeatPlace, TableFile
from vision.rounds.card_moves import SeenCardMove, card_moves
from vision.rounds.followed import is_followed
from vision.rounds.late_bets import SeenLateBet, closed_s, late_bets
from vision.rounds.observed import What
from vision.rounds.round_state import FACE_UP_CARDS, Episode, Round, ViewTrack
from vision.rounds.split_stakes import with_second_stacks


@dataclass(frozen=True, slots=True)
class Changes:
    """Late bets by seat, and moves of cards."""

    late: dict[int, tuple[SeenLateBet, ...]]
    moves: tuple[SeenCardMove, ...]

    def late_bet(self, seat: int, wager: str) -> SeenLateBet | None:
        """That of one wager, if it was changed."""
        return next((s for s in self.late.get(seat, ()) if s.wager == wager), None)

    def moves_of(self, seat: int | None) -> tuple[CardMove, ...] | None:
        """The moves of a seat's cards, None the dealer's; None when there are none."""
        return (
            tuple(observation.move for observation in self.moves if observation.seat == seat)
            or None
        )

    def hand(self, seat: int | None, track: ViewTrack) -> list[CardRead]:
        """The cards of a seat, None the dealer's, as they came to lie.

        Moved cards are read where they lie since; one that was turned down, before.
        """
        shown = track.hand_episodes()
        for observation in self.moves:
            if observation.seat == seat:
                since_s = observation.after.start_s
            elif observation.other is not None and observation.move.to_seat == seat:
                since_s = observation.other.start_s
            else:
                continue
            down = observation.move.kind == "face_down"
            if observation.move.kind != "face_up":
                shown = [e for e in shown if (e.start_s < since_s) == down]
        return track.hand(shown)

    def shown(self) -> Iterator[tuple[int | None, What, Episode]]:
        """The rests that show the changes, each once: its seat and what it shows."""
        yielded: set[tuple[int | None, What, float]] = set()
        bets = ((seat, observation) for seat, own in self.late.items() for observation in own)
        rests: list[tuple[int | None, What, Episode]] = []
        for seat, late in bets:
            rests += [(seat, "staked", late.before), (seat, "changed", late.after)]
        for move in self.moves:
            rests += [
                (move.seat, "set", move.before),
                (move.seat, "moved", move.after),
            ]
        for place, what, rest in rests:
            if (place, what, rest.start_s) not in yielded:
                yielded.add((place, what, rest.start_s))
                yield place, what, rest


def find_changes(table: TableFile, own: Round) -> Changes:
    """Look through a finished round's states of rest."""
    if not is_followed(table.rules.game):
        return Changes({}, ())
    rests = {seat: until(track.episodes, own.cut_s) for seat, track in own.tracks.items()}
    close_s = closed_s(own)
    late = {}
    for seat in table.seats:
        episodes = rests[seat.seat]
        shown = next((k for k, e in enumerate(episodes) if e.cards_up >= FACE_UP_CARDS), None)
        if close_s is None or not shown:
            continue
        until_shown = with_second_stacks(episodes, shown)[: shown + 1]
        found = late_bets(until_shown, seat.spots, close_s, own.tracks[seat.seat].bare)
        if found:
            late[seat.seat] = tuple(found)
    parts: dict[int | None, SeatPlace | DealerPlace] = {s.seat: s for s in table.seats}
    parts[None] = table.dealer
    glimpses = {seat: until(track.glimpses, own.cut_s) for seat, track in own.tracks.items()}
    return Changes(late, tuple(card_moves(rests, parts, glimpses)))


def until(episodes: Sequence[Episode], cut_s: float | None) -> list[Episode]:
    """The states of rest that were read and began before the dealer's cards were gone."""
    return [e for e in episodes if e.readings and (cut_s is None or e.start_s <= cut_s)]
