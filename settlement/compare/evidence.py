"""Sums that were read with a doubt: the question is judged, not the sum.

A stake is $30 or perhaps $25, its payout the same: whether the dealer paid what was due can be
sure although neither sum is. For each wager whose record carries sums with probabilities, every
likely pair of stake and payout is settled and compared; the probabilities of the pairs that give
the same findings are added. The correct payout is not used to choose between readings, with one
exception: a payout that was changed after the cards were taken was mostly put right by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from settlement.compare.finding import Finding, Suspicion
from settlement.compare.payment import Laid, right_sums
from settlement.games import terms_for
from settlement.record import LEAST_SUM, MOST_SUMS, RoundRecord, SeatRecord, WagerRecord
from settlement.result import Settlement, WagerSettlement
from settlement.rules import TableRules
from settlement.settle import settle
from settlement.uncertainty import Doubts

SURE_FINDING = 0.999
"""Least probability of a finding that is raised: wrong at most once in a thousand."""

SURE_ORDER = 0.9
"""Least probability that a wager is in order for it to be called so; between, undecided."""

SURE_WAY = 0.99
"""Least probability that a wrong sum is too much, or too little, for it to be called so. Nine tune
shifts ("feltwatch judge 2026-11-26" 0 to 3 and "b" 0, 1, 3, 4, 5; 0.9 before): an OVERPAID that
was called UNDERPAID with 0.985 goes, every mistake that was found is found."""

LIKELY = 0.7
"""Least probability that a wager is wrong for it to be suspected.

In 400 tune rounds ("feltwatch judge 2026-11-29 l ways", "m ways" and "n ways") with 480 mistakes,
63 of them not found, 57 wagers are suspected so, 25 of them of one of these (0.5: 72 and 26; 0.9:
35 and 17).
"""

OF_THE_SUM = frozenset({"OVERPAID", "UNDERPAID", "LIMIT", "ENVY_WRONG"})
"""Findings that depend on how much a sum is."""

WRONG_SUM = frozenset({"OVERPAID", "UNDERPAID"})
"""A payout that is not what is due, one way or the other."""

OF_ONE_SUM = WRONG_SUM | {"ENVY_WRONG"}
"""Findings that one sum of the payout alone would clear."""

UNKNOWN = ((0.82, 0.15), (0.92, 0.06), (0.995, 0.03), (0.999, 0.0009))
"""How often a sum is none of those that were read, where the likeliest has less than so much.

69 tune shifts ("feltwatch judge 2026-11-29 l ways", "m ways" and eight of "n ways"), stacks of at
most eight chips: of 114 sums whose likeliest has less than 0.82 the true one has less than 0.001 in
17, of 50 from there to 0.92 in three. 100 tune shifts (all of the three): of 221 from 0.97 to 0.995
in six, of 352 to 0.999 in two, of 3,496 above it in four. 175 later ones ("o ways" to "r ways"),
read by later code: of 953 from 0.995 to 0.999 in one. A little less than that is counted, so that
a wrong payout is reported from 0.995 on where the due sum is none of those read: of 1,113 mistakes
in 944 rounds ("l ways", "m ways", "o ways" to "r ways", judged again) four more are found, and no
alert more is false. From 0.97 on it would be 18 and six.
"""

TALL_CHIPS, UNKNOWN_TALL = 8, 0.01
"""The same of a sum with a stack of more chips than this, however likely it is.

Fifteen tune shifts ("feltwatch judge 2026-11-25 e"): of 33 sums of 11 to 20 chips one was read
wrongly with 98%, and the true one had less than 0.001. Of 462 stacks of more than 10 chips that
were sure on single frames of 40 tables 6 were wrong. A stake in stacks of nine and ten chips was
none of the sums that were read, with 97.8% ("feltwatch judge 2026-11-28 k ways" 17): more than ten
chips had been asked. Of 299 mistakes of 59 tune shifts as many are found with eight.
"""

REACH = 1.2
"""The true sum of a tall stack is at most so many times what was read, and at least that part.

Of 170 sums with more than eight chips and 99% or more of 69 tune shifts ("feltwatch judge
2026-11-29 l ways", "m ways" and eight of "n ways") all but two are read right: of one the true sum
is 0.99 of it, the other lacks a whole stack.
"""

FAR, JUST_SO = 1.6, 0.1
"""A payout this many times the one due, or that part of it, is right after all with at most this
part of the sums that are none of those read: the true one would have to be just so far from what
was read.

Of 50 such sums with 0.82 and more of 175 tune shifts ("feltwatch judge 2026-11-29 l ways" to "p
ways") 22 are 1.6 times off and more, at most four of them by the same number (2).
"""

LATE_SPOILT = 0.02
"""How often a payout that was changed after the cards were taken was right before and is wrong now,
for each that was wrong and is right. Of no set: the simulator's are always put right."""

STAYED = 0.03
"""How often a payout whose image and sum changed is what it was before all the same. Of 92 such of
100 tune shifts ("feltwatch judge 2026-11-29 q ways" and "r ways") none is: at most 4% (95%)."""

LEAST_PAIR = 1e-4
"""Pairs of stake and payout less likely than this are not settled."""

NO_SUMS: dict[str, None] = {"stake_sums": None, "paid_sums": None, "in_time_sums": None}

Compare = Callable[[RoundRecord, Settlement, TableRules], list[Finding]]


class _Judged(NamedTuple):
    """Pairs of sums that give the same findings: their probability, the likeliest pair and what
    it gives."""

    share: float
    wager: WagerRecord
    findings: tuple[Finding, ...]


def resolved(
    record: RoundRecord, rules: TableRules, compare: Compare,
    suspected: list[Suspicion] | None = None,
) -> RoundRecord:  # fmt: skip
    """The record with the sums of every wager whose question is decided.

    Where nearly all of the probability says that a wager is in order, or that it is wrong in
    one way, it gets the likeliest sums that say so, and what made it undecided goes. Others
    have no sums and stay undecided; `suspected` gets those that are probably wrong. `compare`
    judges a whole record without sums.
    """
    for place, seat in enumerate(record.seats):
        for k, wager in enumerate(seat.wagers):
            if wager.stake_sums is None and _counted(wager) is None:
                continue
            own = _decided(record, place, k, rules, compare, suspected)
            record = _with(record, place, k, own)
    return record


def _decided(
    record: RoundRecord, place: int, k: int, rules: TableRules, compare: Compare,
    suspected: list[Suspicion] | None,
) -> WagerRecord:  # fmt: skip
    """The wager with decided sums, or with none where its question is open."""
    wager = record.seats[place].wagers[k]
    plain = wager.model_copy(update=NO_SUMS)
    pairs = list(_pairs(wager))
    if len(pairs) <= 1 and _known(plain):
        return plain
    if not pairs:
        return plain
    seat = record.seats[place].seat
    judged: dict[frozenset[str], _Judged] = {}
    off, spoilt, likely, over = 1.0, 1.0, 0.0, 0.0
    is_due = True
    as_read = _as_read(wager)
    for n, (share, own) in enumerate(pairs):
        changed = _with(record, place, k, own)
        settled = settle(changed, rules)
        found = compare(changed, settled, rules)
        ruling = settled.seats[place].wager(wager.wager)
        laid = Laid.of(own, record.seats[place])
        if n == 0:
            off = _times_off(laid, ruling)
            is_due = wager.wager != "envy" or ruling is None or ruling.outcome != "lose"
            spoilt = LATE_SPOILT if _is_late(laid) else _most_changed(wager, ruling, rules)
        likely += share
        share *= _put_right(wager, laid, ruling, rules)
        share *= 1.0 if laid is None else _changed_to(wager, laid.at_last)
        about = tuple(
            f for f in found
            if f.seat == seat and f.wager == wager.wager and f.code != "UNDECIDED"
        )  # fmt: skip
        codes = frozenset(str(f.code) for f in about)
        before = judged.get(codes, _Judged(0.0, own, about))
        judged[codes] = before._replace(share=before.share + share)
        if "LIMIT" in codes:
            over += share * as_read.get(own.stake_cents or 0, 1.0)
    known_pay = _known_share(_counted(wager), wager.paid_chips)
    known = _known_share(wager.stake_sums, wager.stake_chips) * known_pay
    over *= _known_share(wager.read_sums or wager.stake_sums, wager.stake_chips) * known_pay
    known_far, fits = known, JUST_SO if off >= FAR else 1.0
    if off > REACH:
        known_far = _known_share(wager.stake_sums, None) * _known_share(_counted(wager), None)
        known_far = 1 - (1 - known_far) * fits
    # What was not read counts as what spoils a payout, where that was changed late.
    times = likely / sum(one.share for one in judged.values())
    shares = {codes: one.share * times for codes, one in judged.items()}
    spoilt = min(1.0, spoilt * times)
    known, known_far = (1 - (1 - one) * spoilt for one in (known, known_far))
    more = _one_more(wager, likely) * spoilt * fits
    if not is_due:
        # Any prize is wrong, whatever it comes to.
        known, known_far, more = 1.0, 1.0, 0.0
    sure = _sure_codes(shares, known, known_far, more, over)
    if sure is not None:
        return judged[sure].wager
    wrong = [one for one in judged.values() if one.findings]
    probability = known * times * sum(one.share for one in wrong)
    if suspected is not None and probability >= LIKELY:
        (finding, *_) = max(wrong, key=lambda one: one.share).findings
        suspected.append(Suspicion(probability=round(probability, 4), finding=finding))
    open_pay = len(_counted(wager) or ()) > 1
    return wager.model_copy(
        update={
            "stake_cents": None if len(wager.stake_sums or ()) > 1 else wager.stake_cents,
            "paid_cents": None if open_pay else wager.paid_cents,
            # Of a payout that was corrected the steps are by sums that are not sure either.
            "payments": None if open_pay and _is_corrected(wager) else wager.payments,
            "in_time_sums": None,
        }
    )


def _as_read(wager: WagerRecord) -> dict[int, float]:
    """Of each sum of the stake how much likelier it is by what was read alone."""
    read = dict(wager.read_sums or ())
    return {cents: read[cents] / p for cents, p in wager.stake_sums or () if p and cents in read}


def _counted(wager: WagerRecord) -> tuple[tuple[int, float], ...] | None:
    """The sums of the payout that counts: the one that lay there when the cards were taken."""
    return wager.in_time_sums if _is_corrected(wager) else wager.paid_sums


def _is_corrected(wager: WagerRecord) -> bool:
    """Whether the payout was corrected once, and what lay there before has sums of its own."""
    return bool(wager.in_time_sums) and len(wager.payments or ()) == 2


def _one_more(wager: WagerRecord, settled: float) -> float:
    """The most that pairs which were not settled may add to a payout's being in order.

    `settled` is the probability of the pairs that were settled. A stake has one right payout, and
    a payout one right stake, so one unlisted sum of each may matter. Its probability is at most
    that of the last listed sum, and below `LEAST_SUM` where fewer than `MOST_SUMS` are listed.
    """
    more, listed = 0.0, 1.0
    paid = _counted(wager) if wager.action == "paid" else None
    for sums, read in ((wager.stake_sums, wager.read_sums or wager.stake_sums), (paid, paid)):
        shares, as_read = [share for _, share in sums or ()], [share for _, share in read or ()]
        if shares:
            next_ = min(as_read) if len(as_read) >= MOST_SUMS else LEAST_SUM
            rest = max(1 - sum(as_read), next_)
            more += max(0.0, 1 - sum(shares)) * next_ / rest
            listed *= sum(shares)
    return more + max(0.0, listed - settled)


def _is_late(laid: Laid | None) -> bool:
    """Whether the payout was changed after the cards were taken."""
    return laid is not None and laid.in_time != laid.at_last


def _put_right(
    wager: WagerRecord, laid: Laid | None, ruling: WagerSettlement | None, rules: TableRules
) -> float:
    """How likely a dealer is to change a payout late as it was, for one that is right at last."""
    if laid is None or ruling is None or not _is_late(laid):
        return 1.0
    right = right_sums(ruling, terms_for(rules).commission)
    last = sum(p for c, p in wager.paid_sums or ((laid.at_last, 1.0),) if c in right)
    return last + (1 - last) * LATE_SPOILT


def _changed_to(wager: WagerRecord, cents: int) -> float:
    """How likely it is, by what lay there before the payout was changed, that it is `cents`."""
    return 1 - (1 - STAYED) * dict(wager.former_sums or ()).get(cents, 0.0)


def _most_changed(
    wager: WagerRecord, ruling: WagerSettlement | None, rules: TableRules
) -> float:  # fmt: skip
    """The most of that for what would be right, whether it was read or not."""
    if ruling is None or wager.former_sums is None:
        return 1.0
    right = right_sums(ruling, terms_for(rules).commission)
    return max((_changed_to(wager, cents) for cents in right), default=1.0)


def _times_off(laid: Laid | None, ruling: WagerSettlement | None) -> float:
    """How many times the payout due the one laid in time is, or the other way round; 1 without."""
    due = 0 if ruling is None or ruling.outcome != "win" else ruling.pay_cents or 0
    paid = 0 if laid is None else laid.in_time
    return max(paid / due, due / paid) if due > 0 and paid > 0 else 1.0


def _sure_codes(
    shares: Mapping[frozenset[str], float], known: float, known_far: float, more: float,
    over: float,
) -> frozenset[str] | None:  # fmt: skip
    """The findings that are sure, as one of the sets that pairs of sums gave; None: undecided.

    A finding is sure by itself, whatever else the sums would say; one of amount only when the
    true sums are among those read, which is so with the probability `known`; `known_far` counts
    for a wrong payout, which one sum alone would clear. That a wrong sum was paid may be sure
    where it is not whether too much or too little: the likelier is said. That a stake
    breaks a limit has the probability `over` by what was read alone, and must be likely: stakes
    that do are not usual, and not the less worth an alert.
    """
    whole = sum(shares.values())

    def share(named: frozenset[str]) -> float:
        return sum(part for codes, part in shares.items() if codes & named)

    if shares.get(frozenset(), 0.0) >= SURE_ORDER:
        return frozenset()
    sure = set()
    for code in frozenset().union(*shares):
        if code in OF_ONE_SUM:
            counted = (known_far if code in WRONG_SUM else known) / (whole + more)
        else:
            counted = known if code in OF_THE_SUM else 1 / whole
        likely = share(frozenset({code})) * counted
        if code == "LIMIT" and likely >= LIKELY:
            likely = over
        if likely >= SURE_FINDING:
            sure.add(code)
    if not sure & WRONG_SUM and share(WRONG_SUM) * known_far >= SURE_FINDING * (whole + more):
        sure |= {code for code in WRONG_SUM if share(frozenset({code})) >= SURE_WAY}
    fitting = frozenset(sure)
    return fitting if sure and fitting in shares else None


def laid_with(wager: WagerRecord, due_cents: int, more_cents: int) -> float:
    """The probability that an undecided payout holds another wager's payout beside its own due.

    It is that of exactly `due_cents` and `more_cents` together among all sums that were read.
    """
    shares = dict(wager.paid_sums or ())
    return shares.get(due_cents + more_cents, 0.0) / sum(shares.values()) if shares else 0.0


def likely_dues(record: RoundRecord, seat: int, name: str, rules: TableRules) -> dict[int, float]:
    """What a wager may be due in cents, with probabilities, by the sums its stake may have.

    Empty where that is not known, or where it does not win.
    """
    place = next(n for n, own in enumerate(record.seats) if own.seat == seat)
    k = next(n for n, own in enumerate(record.seats[place].wagers) if own.wager == name)
    wager = record.seats[place].wagers[k]
    out: dict[int, float] = {}
    is_sure = wager.stake_cents is not None and not Doubts(record).wager(seat, name, "stake")
    stakes = ((wager.stake_cents, 1.0),) if is_sure else wager.stake_sums
    for stake, share in stakes or ():
        changed = wager.model_copy(update={"stake_cents": stake, "stake_sums": None})
        ruling = settle(_with(record, place, k, changed), rules).seats[place].wager(name)
        if ruling is not None and ruling.outcome == "win" and ruling.pay_cents:
            out[ruling.pay_cents] = out.get(ruling.pay_cents, 0.0) + share
    return out


def _known_share(sums: tuple[tuple[int, float], ...] | None, chips: int | None) -> float:
    """How likely it is that the true sum is among those that were read."""
    if not sums:
        return 1.0
    top = max(share for _, share in sums)
    tall = UNKNOWN_TALL if (chips or 0) > TALL_CHIPS else 0.0
    return 1 - next((unknown for below, unknown in UNKNOWN if top < below), tall)


def _known(wager: WagerRecord) -> bool:
    return (wager.stake_cents is not None or wager.wager == "envy") and (
        wager.paid_cents is not None or wager.action != "paid"
    )


def _pairs(wager: WagerRecord) -> Iterator[tuple[float, WagerRecord]]:
    """Pairs of stake and payout, the likeliest first, with probabilities of sum at most 1."""
    stakes = wager.stake_sums or ((wager.stake_cents, 1.0),)
    pays = _counted(wager) if wager.action == "paid" else None
    paid = pays or ((wager.paid_cents, 1.0),)
    likely = sorted(
        ((one * other, stake, pay) for stake, one in stakes for pay, other in paid),
        key=lambda pair: -pair[0],
    )
    for share, stake, pay in likely:
        if share >= LEAST_PAIR:
            own = wager.model_copy(update={**NO_SUMS, "stake_cents": stake})
            yield share, own if pays is None else _paid(own, wager, pay)


def _paid(own: WagerRecord, wager: WagerRecord, cents: int | None) -> WagerRecord:
    """A wager `own` whose payout in time is taken to be `cents`."""
    payments = wager.payments or ()
    last, sums = cents, [cents]
    if cents is not None and _is_corrected(wager):
        last = sum(payment.cents for payment in payments)
        sums = [cents, last - cents]
    # A payout that may be the same at last was not corrected.
    dated = cents is not None and len(payments) == len(sums) and 0 not in sums[1:]
    steps = (p.model_copy(update={"cents": c}) for p, c in zip(payments, sums, strict=False))
    return own.model_copy(update={"paid_cents": last, "payments": tuple(steps) if dated else None})


def _with(record: RoundRecord, place: int, k: int, wager: WagerRecord) -> RoundRecord:
    """The record with one wager changed, and no doubt of the sums that it has now."""
    seat: SeatRecord = record.seats[place]
    wagers = (*seat.wagers[:k], wager, *seat.wagers[k + 1 :])
    seats = (
        *record.seats[:place], seat.model_copy(update={"wagers": wagers}),
        *record.seats[place + 1 :],
    )  # fmt: skip
    gone = set()
    if wager.stake_cents is not None:
        gone.add(f"{wager.wager}.stake")
    if wager.paid_cents is not None:
        gone.add(f"{wager.wager}.paid")
    left = tuple(one for one in record.undecided if one.seat != seat.seat or one.what not in gone)
    return record.model_copy(update={"seats": seats, "undecided": left})
