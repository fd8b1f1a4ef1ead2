"""Score of a reading against the truth: rounds, cards, lammers, money and alerts.

Rounds are matched by time alone. Everything else is counted within matched rounds
as right, wrong or undecided: undecided only where the record itself says that it could not
read the thing, never in place of a wrong reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal

from datasets.simulate.filming.stack_lines import Role, StackLine
from settlement.errors import FeltwatchError
from settlement.record import Fault, RoundRecord, SeatRecord, WagerRecord
from surveillance.alerts.model import ALERTED_APART, Alert

ROUNDS_PER_SHIFT = 300
"""Rounds of an 8-hour shift at about 96 seconds hand to hand."""

HEIGHTS = {"1-5": range(1, 6), "6-10": range(6, 11), "11-20": range(11, 21)}


@dataclass
class Tally:
    """Number of things to read, and how they were read."""

    right: int = 0
    wrong: int = 0
    undecided: int = 0

    @property
    def seen(self) -> int:
        """Things in the truth of the matched rounds."""
        return self.right + self.wrong + self.undecided

    def count(self, verdict: str, times: int = 1) -> None:
        """Add `times` to 'right', 'wrong' or 'undecided'."""
        setattr(self, verdict, getattr(self, verdict) + times)

    def as_dict(self) -> dict[str, int]:
        """The form of the JSON report."""
        return {
            "seen": self.seen,
            "right": self.right,
            "wrong": self.wrong,
            "undecided": self.undecided,
        }


@dataclass(frozen=True)
class MoneyRead:
    """One stake or payout of a wager, and how it was read.

    `chips` is the height of its tallest stack, `sums` are the sums that the record states with
    their probabilities, `stacks` its stacks as they lay last, where they are known.
    """

    round_id: str
    seat: int
    wager: str
    role: Role
    cents: int
    chips: int | None
    verdict: str
    sums: tuple[tuple[int, float], ...] = ()
    stacks: tuple[StackLine, ...] = ()


Owner = tuple[str, int | None, str, Role]


@dataclass(frozen=True)
class Matching:
    """Pairs of true and observed rounds, and what is left over."""

    pairs: tuple[tuple[RoundRecord, RoundRecord], ...]
    missed: tuple[RoundRecord, ...]
    split: tuple[RoundRecord, ...]
    invented: tuple[RoundRecord, ...]


@dataclass
class AlertScore:
    """Faults that were put in against alerts that were raised."""

    faults: int = 0
    found: int = 0
    false: int = 0
    false_in_clean_rounds: int = 0
    rounds_with_false: int = 0
    undecided_seats: int = 0
    by_code: dict[str, dict[str, int]] = field(default_factory=dict)
    false_alerts: list[Alert] = field(default_factory=list)
    """The alerts that `false` counts."""

    def code(self, code: str) -> dict[str, int]:
        """The counts of one code, made when first asked for."""
        return self.by_code.setdefault(code, {"faults": 0, "found": 0, "false": 0})


@dataclass
class SuspicionScore:
    """Places worth a look: how many, how many of them at a wager with a fault, and how many faults
    that no alert answers are found there."""

    suspicions: int = 0
    right: int = 0
    faults_missed: int = 0
    found: int = 0


@dataclass
class Score:
    """Everything `feltwatch score` prints; `alerts` is None when they cannot be scored."""

    rounds_true: int
    matching: Matching
    cards: Tally
    lammers: Tally
    stakes: Tally
    stakes_by_height: dict[str, Tally]
    pays: Tally
    alerts: AlertScore | None
    clean_rounds: int | None
    money: list[MoneyRead] = field(default_factory=list)
    """Every stake and payout that `stakes` and `pays` count."""
    suspicions: SuspicionScore | None = None

    @property
    def false_per_shift(self) -> float | None:
        """False alerts per 300 rounds, None when alerts cannot be scored."""
        if self.alerts is None:
            return None
        return ROUNDS_PER_SHIFT * self.alerts.false / self.rounds_true

    def as_dict(self) -> dict[str, object]:
        """The JSON form, key by key as the field report lists it."""
        alerts = self.alerts
        rate = self.false_per_shift
        return {
            "rounds": {
                "true": self.rounds_true,
                "found": len(self.matching.pairs),
                "missed": len(self.matching.missed),
                "invented": len(self.matching.invented),
                "split": len(self.matching.split),
            },
            "cards": self.cards.as_dict(),
            "lammers": self.lammers.as_dict(),
            "stakes": {
                **self.stakes.as_dict(),
                "by_height": {k: t.as_dict() for k, t in self.stakes_by_height.items()},
            },
            "pays": self.pays.as_dict(),
            "alerts": None
            if alerts is None
            else {
                "faults": alerts.faults,
                "found": alerts.found,
                "false": alerts.false,
                "undecided_seats": alerts.undecided_seats,
                "by_code": alerts.by_code,
            },
            "clean_rounds": self.clean_rounds,
            "false_per_300_rounds": None if rate is None else round(rate, 3),
            **({} if self.suspicions is None else {"suspicions": asdict(self.suspicions)}),
        }


def _span(record: RoundRecord) -> tuple[Decimal, Decimal]:
    if record.start_s is None or record.end_s is None:
        raise FeltwatchError(
            f"round {record.round_id}: has no start_s and end_s; scoring matches rounds by time"
        )
    start, end = Decimal(record.start_s), Decimal(record.end_s)
    if end < start:
        raise FeltwatchError(
            f"round {record.round_id}: end_s {record.end_s} is before start_s {record.start_s}"
        )
    return start, end


def match_rounds(truth: Sequence[RoundRecord], observed: Sequence[RoundRecord]) -> Matching:
    """Pair rounds by the time they share, the longest shared time first.

    An observed round left over is split when it shares time with a true round (which then
    has another partner) and invented when it shares time with none.

    Raises FeltwatchError for a round without times.
    """
    true_spans = [_span(r) for r in truth]
    seen_spans = [_span(r) for r in observed]
    shared: list[tuple[Decimal, int, int]] = []
    for i, (t0, t1) in enumerate(true_spans):
        for j, (o0, o1) in enumerate(seen_spans):
            overlap = min(t1, o1) - max(t0, o0)
            if overlap > 0:
                shared.append((overlap, i, j))
    partner_of_true: dict[int, int] = {}
    partner_of_seen: dict[int, int] = {}
    for _, i, j in sorted(shared, key=lambda s: (-s[0], s[1], s[2])):
        if i not in partner_of_true and j not in partner_of_seen:
            partner_of_true[i] = j
            partner_of_seen[j] = i
    touching = {j for _, _, j in shared}
    left = [j for j in range(len(observed)) if j not in partner_of_seen]
    return Matching(
        pairs=tuple((truth[i], observed[j]) for i, j in sorted(partner_of_true.items())),
        missed=tuple(truth[i] for i in range(len(truth)) if i not in partner_of_true),
        split=tuple(observed[j] for j in left if j in touching),
        invented=tuple(observed[j] for j in left if j not in touching),
    )


FEWEST_CARDS = 14
"""Cards of two hands: of fewer that were read nothing is concluded."""

LEAST_RIGHT = 0.3
"""Of the cards of a round of another shift 8% are right by chance, (2 x 2 + 5 x 5) / 53 of seven;
of one that was read badly most are: between the two."""

MOST_ROUNDS_RIGHT = 0.1
"""Share of rounds with more right cards than `LEAST_RIGHT` from which on no warning is given."""


def doubts_of(score: Score, observed: Sequence[RoundRecord]) -> list[str]:
    """Return why truth and rounds seem to be of different recordings; none where they do not."""
    pairs = score.matching.pairs
    if observed and not pairs:
        return ["no round shares its time with one of the truth; are both of the same recording?"]
    alike = read = cards = 0
    for true, seen in pairs:
        own = Tally()
        _score_cards(own, true, seen)
        if own.right + own.wrong:
            read += 1
            cards += own.right + own.wrong
            alike += own.right > LEAST_RIGHT * (own.right + own.wrong)
    if cards < FEWEST_CARDS or alike > MOST_ROUNDS_RIGHT * read:
        return []
    return [
        f"the cards agree with the truth in {alike} of {read} rounds; "
        "are both of the same recording?"
    ]


def _said(record: RoundRecord, seat: int | None, *openings: str) -> bool:
    """Whether the record says that something of this seat could not be read."""
    return any(
        u.seat == seat and u.what.removeprefix("dealer.").startswith(openings)
        for u in record.undecided
    )


def _said_of_wager(record: RoundRecord, seat: int, wager: str, *parts: str) -> bool:
    whats = {wager, *(f"{wager}.{part}" for part in parts)}
    return any(u.seat == seat and u.what in whats for u in record.undecided)


def _count_hand(
    tally: Tally, true: Sequence[str], seen: Sequence[str] | None, undecided: bool
) -> None:
    truth, read = Counter(true), Counter(seen or ())
    right = (truth & read).total()
    # A card that was read but does not lie there took the place of one that does: wrong,
    # whatever the record says about the rest of the hand.
    misread = min((truth - read).total(), (read - truth).total())
    lacking = (truth - read).total() - misread
    tally.right += right
    tally.wrong += misread
    tally.count("undecided" if undecided else "wrong", lacking)


def _score_cards(tally: Tally, truth: RoundRecord, seen: RoundRecord) -> None:
    seats = {s.seat: s for s in seen.seats}
    for name in ("low", "high"):
        _count_hand(
            tally,
            getattr(truth.dealer, name) or (),
            getattr(seen.dealer, name),
            _said(seen, None, name, "hand", "cards"),
        )
        for seat in truth.seats:
            other = seats.get(seat.seat)
            _count_hand(
                tally,
                getattr(seat, name) or (),
                getattr(other, name) if other else None,
                _said(seen, seat.seat, name, "hand", "cards"),
            )


def _score_lammers(tally: Tally, truth: RoundRecord, seen: RoundRecord) -> None:
    seats = {s.seat: s for s in seen.seats}
    for seat in truth.seats:
        other = seats.get(seat.seat)
        _count_hand(
            tally,
            seat.lammers,
            other.lammers if other else None,
            _said(seen, seat.seat, "lammer"),
        )


def _wager(seats: dict[int, SeatRecord], seat: int, name: str) -> WagerRecord | None:
    found = seats.get(seat)
    return found.wager(name) if found else None


def last_laid(stacks: Iterable[StackLine]) -> dict[Owner, tuple[StackLine, ...]]:
    """The stacks of each wager's stake and payout as they were laid last."""
    of_wager: dict[Owner, dict[str, StackLine]] = {}
    for line in stacks:
        # A stack that was lifted and laid again as it was has two lines: the later one counts.
        own = of_wager.setdefault((line.round_id, line.seat, line.wager, line.role), {})
        own[line.key] = line
    return {
        owner: tuple(one for one in lines.values()
                     if one.laying == max(other.laying for other in lines.values()))
        for owner, lines in of_wager.items()
    }  # fmt: skip


def _score_money(
    score: Score,
    truth: RoundRecord,
    seen: RoundRecord,
    laid: Mapping[Owner, tuple[StackLine, ...]],
) -> None:
    seats = {s.seat: s for s in seen.seats}
    for seat in truth.seats:
        for wager in seat.wagers:
            other = _wager(seats, seat.seat, wager.wager)
            at = (truth.round_id, seat.seat, wager.wager)
            if wager.stake_cents is not None:
                verdict = _money_verdict(
                    wager.stake_cents,
                    other.stake_cents if other else None,
                    _said_of_wager(seen, seat.seat, wager.wager, "stake"),
                )
                score.stakes.count(verdict)
                for name, heights in HEIGHTS.items():
                    if wager.stake_chips in heights:
                        score.stakes_by_height[name].count(verdict)
                sums = (other.stake_sums if other else None) or ()
                stacks = laid.get((*at, "stake"), ())
                score.money.append(
                    MoneyRead(*at, "stake", wager.stake_cents, wager.stake_chips, verdict, sums,
                              stacks)
                )  # fmt: skip
            if wager.action == "paid":
                done_else = other is not None and other.action in ("taken", "left")
                undecided = _said_of_wager(seen, seat.seat, wager.wager, "paid", "action")
                read = None if done_else or other is None else other.paid_cents
                paid = wager.paid_cents or 0
                net = paid - (wager.returned_cents or 0)
                if read == net:
                    # The commission was taken out of the chips: so they lie.
                    paid = net
                verdict = _money_verdict(paid, read, undecided and not done_else)
                score.pays.count(verdict)
                sums = (other.paid_sums if other else None) or ()
                stacks = laid.get((*at, "paid"), ())
                score.money.append(
                    MoneyRead(*at, "paid", paid, wager.paid_chips, verdict, sums, stacks)
                )  # fmt: skip


def _money_verdict(true_cents: int, seen_cents: int | None, undecided: bool) -> str:
    if seen_cents is None:
        return "undecided" if undecided else "wrong"
    return "right" if seen_cents == true_cents else "wrong"


def _answers(alert: Alert, fault: Fault) -> bool:
    return (
        alert.code == fault.code
        and alert.seat == fault.seat
        and (fault.wager is None or alert.wager == fault.wager)
    )


def _score_alerts(
    truth: Sequence[RoundRecord],
    faults: Sequence[Sequence[Fault]],
    matching: Matching,
    alerts: Iterable[Alert],
) -> AlertScore:
    score = AlertScore()
    true_id = {seen.round_id: true.round_id for true, seen in matching.pairs}
    of_round: dict[str | None, list[Alert]] = {}
    for alert in alerts:
        of_round.setdefault(true_id.get(alert.round_id or ""), []).append(alert)

    for record, due in zip(truth, faults, strict=True):
        raised = of_round.pop(record.round_id, [])
        free = list(raised)
        for fault in due:
            score.faults += 1
            counts = score.code(fault.code)
            counts["faults"] += 1
            answer = next((a for a in free if _answers(a, fault)), None)
            if answer is not None:
                free.remove(answer)
                score.found += 1
                counts["found"] += 1
        _count_false(score, raised, due)
    for raised in of_round.values():  # in rounds that were not there, or in none
        _count_false(score, raised, None)
    score.by_code = dict(sorted(score.by_code.items()))
    return score


def _score_suspicions(
    truth: Sequence[RoundRecord],
    faults: Sequence[Sequence[Fault]],
    matching: Matching,
    alerts: Sequence[Alert],
    suspicions: Iterable[Alert],
) -> SuspicionScore:
    true_id = {seen.round_id: true.round_id for true, seen in matching.pairs}
    seen_id = {true: seen for seen, true in true_id.items()}
    places = {(true_id.get(s.round_id or ""), s.seat, s.wager) for s in suspicions}
    score = SuspicionScore(len(places))
    for record, due in zip(truth, faults, strict=True):
        raised = [a for a in alerts if a.round_id == seen_id.get(record.round_id)]
        missed = [f for f in due if not any(_answers(alert, f) for alert in raised)]
        score.right += len(places & {(record.round_id, f.seat, f.wager) for f in due})
        score.faults_missed += len(missed)
        score.found += sum((record.round_id, f.seat, f.wager) in places for f in missed)
    return score


def _count_false(score: AlertScore, raised: Sequence[Alert], due: Sequence[Fault] | None) -> None:
    false = [
        alert
        for alert in raised
        if alert.code not in ALERTED_APART and not any(_answers(alert, f) for f in due or ())
    ]
    score.false_alerts += false
    for alert in false:
        score.false += 1
        score.code(alert.code)["false"] += 1
    if false and due is not None:
        score.rounds_with_false += 1
        if not due:
            score.false_in_clean_rounds += len(false)


def score_records(
    truth: Sequence[RoundRecord],
    observed: Sequence[RoundRecord],
    alerts: Iterable[Alert] | None,
    faults: Sequence[Sequence[Fault]] | None,
    stacks: Iterable[StackLine] = (),
    suspicions: Iterable[Alert] | None = None,
) -> Score:
    """Score a reading against the truth.

    `stacks` are the lines of the shift's `stacks.jsonl`, which `Score.money` then refers to.

    `faults` holds, for each true round in order, the mistakes an alert is due for; None
    (or `alerts` None) leaves the alerts unscored. A fault counts as found when an alert of
    the matched round has its code, its seat and, where it names one, its wager. Every
    other alert that claims a mistake is false, a consequence of an earlier one included.
    `suspicions` are scored where alerts are: one is right that names a wager with a fault.

    Raises FeltwatchError when the truth is empty or a round has no times.
    """
    if not truth:
        raise FeltwatchError("the truth holds no rounds; there is nothing to score against")
    for name, records in (("truth", truth), ("observed rounds", observed)):
        twice = [i for i, n in Counter(r.round_id for r in records).items() if n > 1]
        if twice:
            raise FeltwatchError(f"{name}: round_id {twice[0]} occurs more than once")
    score = Score(
        rounds_true=len(truth),
        matching=match_rounds(truth, observed),
        cards=Tally(),
        lammers=Tally(),
        stakes=Tally(),
        stakes_by_height={name: Tally() for name in HEIGHTS},
        pays=Tally(),
        alerts=None,
        clean_rounds=None,
    )
    laid = last_laid(stacks)
    for true, seen in score.matching.pairs:
        _score_cards(score.cards, true, seen)
        _score_lammers(score.lammers, true, seen)
        _score_money(score, true, seen, laid)
    if alerts is not None and faults is not None:
        alerts = list(alerts)
        score.alerts = _score_alerts(truth, faults, score.matching, alerts)
        unread = {(record.round_id, u.seat) for record in observed for u in record.undecided}
        score.alerts.undecided_seats = len(unread)
        if suspicions is not None:
            score.suspicions = _score_suspicions(truth, faults, score.matching, alerts, suspicions)
    if faults is not None:
        score.clean_rounds = sum(1 for due in faults if not due)
    return score
