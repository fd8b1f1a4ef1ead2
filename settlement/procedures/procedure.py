"""The form of a dealing procedure, and what it allows next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from settlement.input_file import file_fault, parse_toml

BreachKind = Literal[
    "taken_up", "set_late", "looked_at", "shown_early", "bet_touched", "bet_taken",
    "coin_unregistered", "coin_unseen", "second_discard", "discard_late", "wrong_first_seat",
]  # fmt: skip
"""'taken_up': a set hand was taken up again too late; 'looked_at': one of its two hands was;
'set_late': a hand was not set in time; 'shown_early': it was turned up before it is compared;
'bet_touched': a stake was lifted and laid again; 'bet_taken': it was taken away;
'coin_unregistered' and 'coin_unseen': a jackpot's lamp and its system's report contradict;
'second_discard': a player gave away two cards; 'discard_late': one of a hand that was set;
'wrong_first_seat': the first hand went to another place than the dice name."""

Course = Literal["in_order", "repeated", "undone", "out_of_order"]
"""How a step came about: 'repeated': the seat was in it before; 'undone': it takes the step before
it back; 'out_of_order': the procedure has another step in between."""

SeatShows = Literal[
    "nothing", "chips", "packet", "set", "hand", "discard", "second_discard", "set_discard",
]  # fmt: skip
"""What a seat shows at rest: stakes alone, cards face down in one packet, cards face down in
both boxes, a hand turned up, a card face down beside the bet, a second one there, one that came
there while both boxes held cards."""

Shows = Literal["no_cards", "backs", "hand", "set", "discard"]


class Phase(StrEnum):
    """Where a round stands."""

    WAITING = "waiting"
    BETS = "bets"
    DEALT = "dealt"
    DRAWING = "drawing"
    HANDS_SET = "hands_set"
    DEALER_SET = "dealer_set"
    SETTLING = "settling"
    CLEARED = "cleared"


_WITHOUT_STEP = (
    "bet_touched", "bet_taken", "coin_unregistered", "coin_unseen", "wrong_first_seat",
)  # fmt: skip


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class PhaseChange(_Part):
    """What a place shows at rest that brings the table from one phase to another.

    >>> PhaseChange.model_validate(
    ...     {"from": ("dealt",), "place": "dealer", "shows": "hand", "to": "dealer_set"}
    ... ).to
    <Phase.DEALER_SET: 'dealer_set'>
    """

    from_: tuple[Phase, ...] = Field(alias="from", min_length=1)
    place: Literal["dealer", "seat", "every_seat"]
    shows: Shows
    to: Phase


class SeatStep(_Part):
    """One step of a seat: what it shows in it, and the steps that may follow.

    >>> SeatStep(name="set", shows=("set",), then=("shown",)).then
    ('shown',)
    """

    name: str
    shows: tuple[SeatShows, ...] = Field(min_length=1)
    then: tuple[str, ...]


class Forbidden(_Part):
    """What a seat may not do from some phase on, until its hand is turned up.

    A rule of a hand names the `step` that the seat may not be in; `after` is a step that it must
    have been in before, `never` one in which it was not. A rule of a bet or of the deal names none.
    It holds to the phase `until`, if that is given. `says` names the line of the rules, `sections`
    its section by the document's three digits; it holds in the documents that are named.

    >>> rule = Forbidden(breach="taken_up", step="in_hand", after="set", since=Phase.DEALER_SET,
    ...                  sections={}, says="hands stay set")
    >>> rule.applies("in_hand", {"set"}), rule.applies("in_hand", set())
    (True, False)
    """

    breach: BreachKind
    step: str | None = None
    after: str | None = None
    never: str | None = None
    since: Phase
    until: Phase | None = None
    sections: dict[str, str]
    says: str

    @model_validator(mode="after")
    def _names_its_step(self) -> Self:
        if (self.step is None) != (self.breach in _WITHOUT_STEP):
            what = "no step" if self.breach in _WITHOUT_STEP else "a step"
            raise ValueError(f"{self.breach!r} needs {what}")
        return self

    def applies(self, step: str, before: Collection[str]) -> bool:
        """Whether a seat in `step`, which was in the steps `before`, breaks this rule."""
        if step != self.step or (self.never is not None and self.never in before):
            return False
        return self.after is None or self.after in before


class Procedure(_Part):
    """The dealing procedure of one game or several.

    >>> from settlement.procedures import procedure_of
    >>> pai_gow = procedure_of("pai_gow_poker")
    >>> pai_gow.next_phase(Phase.DEALT, "dealer", {"hand"})
    <Phase.DEALER_SET: 'dealer_set'>
    >>> pai_gow.next_step("set", "chips"), pai_gow.next_step("shown", "chips")
    ('in_hand', 'taken')
    """

    games: tuple[str, ...] = Field(min_length=1)
    phases: tuple[PhaseChange, ...] = Field(min_length=1)
    steps: tuple[SeatStep, ...] = Field(min_length=1)
    forbidden: tuple[Forbidden, ...] = ()

    @model_validator(mode="after")
    def _steps_are_known(self) -> Self:
        names = [step.name for step in self.steps]
        if len(set(names)) < len(names):
            raise ValueError("a step stands twice")
        named = [name for step in self.steps for name in step.then]
        for rule in self.forbidden:
            named += [name for name in (rule.step, rule.after, rule.never) if name is not None]
            if rule.until is not None and rule.until not in self._reached_from(rule.since):
                raise ValueError(f"{rule.breach}: {rule.until} does not come after {rule.since}")
        unknown = sorted(set(named) - set(names))
        if unknown:
            raise ValueError(f"no step {unknown[0]!r}; there are {', '.join(names)}")
        return self

    def step(self, name: str) -> SeatStep:
        """The step of that name; KeyError when there is none."""
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(name)

    def next_phase(self, phase: Phase, place: str, shows: Collection[str]) -> Phase:
        """The phase after a place ('dealer', 'seat' or 'every_seat') was seen to show that."""
        for change in self.phases:
            if phase in change.from_ and change.place == place and change.shows in shows:
                return change.to
        return phase

    def next_step(self, step: str | None, shows: SeatShows) -> str | None:
        """The step of a seat that shows that; None where it has not begun.

        It stays where the step shows that too; else it goes to the first that may follow, else
        to the first of all that shows it: then something was not seen, or done out of order.
        """
        now = None if step is None else self.step(step)
        if now is not None and shows in now.shows:
            return now.name
        follows = [self.step(name) for name in now.then] if now is not None else []
        for other in (*follows, *self.steps):
            if shows in other.shows:
                return None if now is None and shows == "nothing" else other.name
        return step

    def follows(self, step: str | None, other: str) -> bool:
        """Whether `other` may come after `step` in order; a seat begins with the first step."""
        if step is None:
            return other in (self.steps[0].name, self.steps[1].name)
        return other == step or other in self.step(step).then

    def course(self, before: Sequence[str], step: str) -> Course:
        """How a seat that was in the steps `before`, in that order, came to be in `step`.

        >>> from settlement.procedures import procedure_of
        >>> pai_gow = procedure_of("pai_gow_poker")
        >>> pai_gow.course(["bets", "dealt"], "in_hand"), pai_gow.course(["bets", "set"], "in_hand")
        ('in_order', 'undone')
        >>> pai_gow.course(["bets", "set", "in_hand"], "set"), pai_gow.course(["shown"], "dealt")
        ('repeated', 'out_of_order')
        """
        last = before[-1] if before else None
        if step in before:
            return "repeated"
        if not self.follows(last, step):
            return "out_of_order"
        undone = last in self.step(step).then and self._goes_back(last or step, step)
        return "undone" if undone else "in_order"

    def _goes_back(self, step: str, other: str) -> bool:
        """Whether `other` stands before `step` in the procedure."""
        names = [one.name for one in self.steps]
        return names.index(other) < names.index(step)

    def _reached_from(self, phase: Phase) -> set[Phase]:
        """The phases that may come after one."""
        reached = {phase}
        for _ in self.phases:
            reached |= {change.to for change in self.phases if reached & set(change.from_)}
        return reached - {phase}

    def breach(self, kind: str, document: str | None = None) -> Forbidden | None:
        """The rule that a breach of that kind breaks, in a document if one is given."""
        own = (rule for rule in self.forbidden if rule.breach == kind)
        return next((r for r in own if document is None or document[:3] in r.sections), None)


def parse_procedure(text: str, place: str) -> Procedure:
    """Read a procedure from TOML; `place` opens error messages.

    Raises FeltwatchError naming the key and what is wrong.
    """
    try:
        return Procedure.model_validate(parse_toml(text, place))
    except ValidationError as error:
        raise file_fault(place, error) from error
