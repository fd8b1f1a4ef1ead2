"""What a finished round shows of the table's joker, for the memory of its look."""

from __future__ import annotations

from vision.cards.deck_assignment import decide_deck
from vision.cards.joker_memory import JokerMemory, ShownHand
from vision.cards.view import CardRead
from vision.geometry.table import TableFile
from vision.rounds.changes import Changes
from vision.rounds.procedure.eighth_card import part_dealer
from vision.rounds.round_state import Round


def learn_joker(memory: JokerMemory, table: TableFile, own: Round, changes: Changes) -> None:
    """Learn the joker's look from a finished round; one that was broken off shows nothing."""
    if own.broken_off:
        return
    hands: dict[int | None, list[CardRead]] = {
        seat: changes.hand(seat, track) for seat, track in own.tracks.items()
    }
    part_dealer(table, hands)
    shots = {seat: track.shots.get("cards") for seat, track in own.tracks.items()}
    shown = {
        seat: ShownHand(shot.image, shot.reading.indices, shot.reading.joker_marks)
        for seat, shot in shots.items()
        if shot is not None
    }
    memory.learn(hands, decide_deck(hands), shown)
