"""The audit's report: one HTML file, the alerts first, then every round as a card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePosixPath

import jinja2

from settlement.errors import FeltwatchError
from settlement.felt_timeline import TimelineLine
from settlement.games import GAMES
from settlement.stream_clock import clock
from surveillance.alerts.catalogue import alert_code
from surveillance.alerts.judged_round import JudgedRound
from surveillance.alerts.model import Alert, count_by_code
from surveillance.evidence.images import PictureName
from surveillance.reports.cards_view import CardFace, wager_name, with_faces
from surveillance.reports.felt_figure import FeltFigure, felt_figure
from surveillance.reports.round_view import (
    CHECK,
    HIGH,
    LOW,
    MEDIUM,
    OK,
    ORDER,
    UNDECIDED,
    RoundCard,
    kind_of,
    round_card,
)
from surveillance.version import installed_version
from vision.rounds.coverage import Coverage

ICONS = {HIGH: "▲", MEDIUM: "◆", LOW: "●", CHECK: "☞", UNDECIDED: "?", OK: "✓"}
"""A shape for each kind, so that colour is never the only sign."""

OPEN_ROUNDS = 40
"""With more rounds than this, those in order start folded."""

_TICK_STEPS_S = (10, 30, 60, 300, 600, 1800, 3600, 7200)
_MOST_TICKS = 12

_TEMPLATE = "report.html.j2"
_PARTS = ("felt_figure.html.j2", "report.css")
"""What the template includes."""


@dataclass(frozen=True)
class Heading:
    """What stands at the top of a report; times in seconds of the stream."""

    table: str
    game: str
    video: str
    duration_s: float
    start_s: float = 0.0
    wall_s: float = 0.0
    warnings: tuple[str, ...] = ()
    coverage: Coverage | None = None

    def hidden(self) -> list[tuple[str, float, float]]:
        """The places over which something moved: name, seconds and percent of the time watched."""
        if self.coverage is None or not self.coverage.seen_s:
            return []
        places = sorted(self.coverage.hidden_s.items(), key=lambda one: -one[1])
        return [
            (f"seat {place}" if place.isdigit() else place, s, 100 * s / self.coverage.seen_s)
            for place, s in places
        ]


@dataclass(frozen=True)
class _Picture:
    path: str
    words: str


@dataclass(frozen=True)
class _AlertCard:
    anchor: str
    kind: str
    severity: str
    code: str
    title: str
    place: str
    round_id: str
    round_anchor: str
    start: str
    end: str
    message: str
    seen: tuple[str | CardFace, ...]
    due: tuple[str | CardFace, ...]
    rule: str | None
    pictures: tuple[_Picture, ...]
    figure: FeltFigure | None


@dataclass(frozen=True)
class _Code:
    code: str
    kind: str
    severity: str
    count: int


@dataclass(frozen=True)
class DealerCounts:
    """The rounds of one dealer; `name` None where nobody was named."""

    name: str | None
    rounds: int
    alerts: int
    undecided: int


def by_dealer(judged: Sequence[JudgedRound]) -> list[DealerCounts]:
    """The rounds by dealer in the order in which they dealt first; none where nobody was named."""
    names = list(dict.fromkeys(j.record.dealt_by for j in judged))
    if names in ([], [None]):
        return []
    own = {name: [j for j in judged if j.record.dealt_by == name] for name in names}
    return [
        DealerCounts(
            name, len(rounds), sum(len(j.alerts) for j in rounds),
            sum(len(j.unread) for j in rounds),
        )
        for name, rounds in own.items()
    ]  # fmt: skip


@dataclass(frozen=True)
class _Tick:
    left: float
    words: str


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("surveillance.reports", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def load_report_template() -> None:
    """Compile the report's templates, once, so that a broken one is found before the audit.

    A report uses what was compiled, also where the program is replaced meanwhile. Raises
    FeltwatchError.
    """
    with _template_errors():
        for name in (_TEMPLATE, *_PARTS):
            _environment().get_template(name)


@contextmanager
def _template_errors() -> Iterator[None]:
    try:
        yield
    except jinja2.TemplateError as error:
        place = ""
        if isinstance(error, jinja2.TemplateSyntaxError):
            place = f"{error.name or _TEMPLATE}: line {error.lineno}: "
        elif isinstance(error, jinja2.TemplateNotFound):
            place = "no template "
        raise FeltwatchError(
            f"the report's template cannot be used: {place}{error.message}; install feltwatch again"
        ) from error


def _place(alert: Alert) -> str:
    seat = "dealer" if alert.seat is None else f"seat {alert.seat}"
    return f"{seat}, {wager_name(alert.wager)}" if alert.wager else seat


def _picture(path: str) -> _Picture:
    name = PictureName.parse(path)
    return _Picture(path, name.words if name else PurePosixPath(path).stem)


def _figure(alert: Alert, timeline: Sequence[TimelineLine]) -> FeltFigure | None:
    """What lay at the alert's seat in its round."""
    if alert.start_s is None:
        return felt_figure(timeline, alert.seat)
    end_s = alert.start_s if alert.end_s is None else alert.end_s
    return felt_figure(timeline, alert.seat, (float(alert.start_s), float(end_s)))


def _alert_card(alert: Alert, timeline: Sequence[TimelineLine]) -> _AlertCard:
    return _AlertCard(
        anchor=f"alert-{alert.alert_id}",
        kind=kind_of(alert),
        severity=alert.severity,
        code=alert.code,
        title=alert_code(alert.code).title,
        place=_place(alert),
        round_id=alert.round_id or "–",
        round_anchor=f"round-{alert.round_id}",
        start=clock(alert.start_s),
        end=clock(alert.end_s),
        message=alert.message,
        seen=with_faces(alert.seen),
        due=with_faces(alert.due),
        rule=alert.rule,
        pictures=tuple(_picture(path) for path in alert.pictures),
        figure=_figure(alert, timeline),
    )


def _codes(alerts: Sequence[Alert]) -> list[_Code]:
    first = {a.code: a for a in reversed(alerts)}
    return [
        _Code(code, kind_of(first[code]), first[code].severity, count)
        for code, count in count_by_code(alerts).items()
    ]


def _ticks(heading: Heading) -> list[_Tick]:
    step = next(
        (s for s in _TICK_STEPS_S if heading.duration_s / s <= _MOST_TICKS), _TICK_STEPS_S[-1]
    )
    if heading.duration_s <= 0:
        return []
    return [
        _Tick(round(100 * at / heading.duration_s, 3), clock(at).removesuffix(".0"))
        for at in range(0, int(heading.duration_s) + 1, step)
    ]


def render_report(heading: Heading, judged: Sequence[JudgedRound]) -> str:
    """The report as one HTML text; images are named by paths relative to it.

    Raises FeltwatchError for a broken template.
    """
    alerts = [alert for j in judged for alert in j.alerts]
    shown = [_alert_card(alert, j.timeline) for j in judged for alert in j.alerts]
    suspicions = [_alert_card(one, j.timeline) for j in judged for one in j.suspicions]
    cards: list[RoundCard] = [
        round_card(
            j.record,
            j.settlement,
            j.alerts,
            start_s=heading.start_s,
            duration_s=heading.duration_s,
            open_all=len(judged) <= OPEN_ROUNDS,
            timeline=j.timeline,
            suspicions=j.suspicions,
            unread=j.unread,
        )
        for j in judged
    ]
    kinds = [kind_of(a) for a in alerts]
    game = GAMES.get(heading.game)
    with _template_errors():
        return (
            _environment()
            .get_template(_TEMPLATE)
            .render(
                heading=heading,
                game=game.title if game else heading.game,
                duration=clock(heading.duration_s),
                speed=f"{heading.duration_s / heading.wall_s:.1f}" if heading.wall_s > 0 else "–",
                mistakes=sum(1 for kind in kinds if kind in (HIGH, MEDIUM, LOW)),
                checks=kinds.count(CHECK),
                undecided_count=sum(len(j.unread) for j in judged),
                codes=_codes(alerts),
                dealers=by_dealer(judged),
                ticks=_ticks(heading),
                rounds=cards,
                alerts=sorted(shown, key=lambda a: ORDER.index(a.kind)),
                suspicions=[replace(s, kind=UNDECIDED) for s in suspicions],
                icons=ICONS,
                version=installed_version(),
            )
        )
