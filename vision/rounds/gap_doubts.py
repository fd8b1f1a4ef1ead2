"""What gaps leave undecided in a round: each rest that followed unseen time, and its cause.

A hand that lay at rest, a stake before the hand was turned up: these were seen whatever came
after. What was done with a wager is known only where the felt was watched from the time the hand
was turned up to the time the dealer's cards were taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from settlement.record import Undecided, WagerRecord
from vision.rounds.changes import Changes, until
from vision.rounds.late_bets import SeenLateBet
from vision.rounds.round_state import FACE_UP_CARDS, STRAY_CARDS, Episode, Round
from vision.sources.gaps import SELDOM, Gap


@dataclass(frozen=True, slots=True)
class SeatGaps:
    """What is not known of one seat, each with the gap that hides it, or None."""

    begin: Gap | None = None
    """The hand lay open when the felt was seen first."""
    settling: Gap | None = None
    """What was done with the wagers."""
    turning: Gap | None = None
    """How the hand came to lie open: a stake that was gone by then may not have been taken."""
    leaving: Gap | None = None
    """How the open hand went: a stake that lay until then may have been taken first."""

    def doubts(self, seat: int, wagers: Sequence[WagerRecord]) -> list[Undecided]:
        """The record's entries; `wagers` are the seat's as read."""
        if self.begin is not None:
            return [Undecided(seat=seat, what="gap", why=f"{self.begin}: the bets were not seen")]
        entries = []
        for wager in wagers:
            gap = self._hides(wager)
            if gap is not None:
                why = f"{gap}: not seen while it was settled"
                entries.append(Undecided(seat=seat, what=f"{wager.wager}.action", why=why))
        if self.settling is not None and not any(w.wager == "envy" for w in wagers):
            why = f"{self.settling}: not seen while it was settled"
            entries.append(Undecided(seat=seat, what="envy.action", why=why))
        return entries

    def known(self, wagers: Sequence[WagerRecord]) -> list[WagerRecord]:
        """The wagers without what was not seen."""
        parts = (
            "action", "paid_cents", "paid_sums", "paid_chips", "payments", "in_time_sums",
            "former_sums", "stands"
        )  # fmt: skip
        unknown = dict.fromkeys(parts)
        return [w.model_copy(update=unknown) if self._hides(w) else w for w in wagers]

    def _hides(self, wager: WagerRecord) -> Gap | None:
        own = {"taken": self.turning, "left": self.leaving}
        return self.settling or own.get(wager.action or "")


def seat_gaps(own: Round, seat: int) -> SeatGaps:
    """The gaps that matter at a seat."""
    episodes = own.tracks[seat].episodes
    seen = until(episodes, own.cut_s)
    shown = next((k for k, e in enumerate(seen) if e.cards_up >= FACE_UP_CARDS), None)
    # A rest that began after the dealer's cards were gone may follow what was hidden before.
    late = _gaps(e for e in episodes if e not in seen)
    hidden = [gap for gap in late if own.cut_s is None or gap.from_s <= own.cut_s]
    # So may one that came about while it was not seen when they went.
    for gap in _gaps(own.tracks[None].episodes):
        if gap.from_s == own.cut_s and any(gap.from_s < e.start_s <= gap.to_s for e in episodes):
            hidden.append(gap)
    if shown is None:
        # What came to lie there in a gap, after the last that was seen of a closed hand, may be a
        # payout for a hand that lay open meanwhile.
        closed = max((k for k, e in enumerate(seen) if e.backs), default=-1)
        unseen = next(iter(_gaps(e for e in seen[closed + 1 :] if e.chips)), None)
        return SeatGaps(unseen, own.gap or next(iter(hidden), None) or _seldom(own, seen))
    begin = seen[0].gap if shown == 0 else None
    after = _gaps(seen[shown + 1 :]) + hidden
    is_away = _is_taken_away(seen[shown:])
    if own.gap is not None and not is_away:
        after.append(own.gap)
    # What still lay at the last rest may have been taken and the hand with it before the next.
    leaving = None if is_away else _seldom(own, seen)
    return SeatGaps(begin, next(iter(after), None), seen[shown].gap, leaving)


def _seldom(own: Round, seen: Sequence[Episode]) -> Gap | None:
    """The time in which a hand was turned up, settled and taken away between two rests that
    were seen, where frames were farther apart than usual."""
    if not own.seldom_s or own.cut_s is None:
        return None
    return Gap.between(max(e.until_s for e in seen), own.cut_s, SELDOM)


def _gaps(episodes: Iterable[Episode]) -> list[Gap]:
    return [e.gap for e in episodes if e.gap is not None]


def _is_taken_away(shown: Sequence[Episode]) -> bool:
    """Whether a hand that was turned up was taken away: its wagers were settled by then."""
    return shown[-1].cards_up <= STRAY_CARDS and not shown[-1].backs


def dealer_gap(own: Round) -> Gap | None:
    """The gap in which the dealer's hand may have come to lie otherwise than it was read."""
    shown = [
        next((e.start_s for e in t.episodes if e.cards_up >= FACE_UP_CARDS), None)
        for seat, t in own.tracks.items()
        if seat is not None
    ]
    compared = min((s for s in shown if s is not None), default=None)
    episodes = own.tracks[None].episodes
    last = max((k for k, e in enumerate(episodes) if e.cards_up >= FACE_UP_CARDS), default=None)
    if last is None:
        return None
    hidden = _gaps(episodes[last + 1 :])
    if own.gap is not None:
        hidden.append(own.gap)
    return next((g for g in hidden if compared is None or g.from_s < compared), None)


def without_hidden(changes: Changes, own: Round) -> tuple[Changes, list[Undecided]]:
    """The changes that were seen to come about, and entries for those that were not."""
    late: dict[int, tuple[SeenLateBet, ...]] = {}
    entries: list[Undecided] = []
    for seat, observations in changes.late.items():
        for observation in observations:
            gap = _between(own.tracks[seat].episodes, observation.before, observation.after)
            if gap is None:
                late[seat] = (*late.get(seat, ()), observation)
            else:
                why = f"{gap}: the stack is another one since"
                entries.append(Undecided(seat=seat, what=f"{observation.wager}.stake", why=why))
    moves = tuple(
        m for m in changes.moves if not _between(own.tracks[m.seat].episodes, m.before, m.after)
    )
    return replace(changes, late=late, moves=moves), entries


def _between(episodes: Sequence[Episode], before: Episode, after: Episode) -> Gap | None:
    """What was not seen between two rests of a view."""
    return next(
        iter(_gaps(e for e in episodes if before.start_s < e.start_s <= after.start_s)), None
    )
