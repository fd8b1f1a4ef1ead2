"""The tables that `feltwatch score` prints."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from models.intervals import wilson
from surveillance.reports.score import ROUNDS_PER_SHIFT, Score, Tally
from surveillance.reports.score_reliability import Bin, Reliability
from surveillance.reports.score_views import DIMENSIONS, HEIGHTS, Views

TITLES = {"stakes": "Stakes", "pays": "Payouts", "both": "Stakes and payouts"}


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "–"


def _interval(part: int, whole: int) -> str:
    if not whole:
        return "–"
    low, high = wilson(part, whole)
    return f"{100 * low:.2f}–{100 * high:.2f}%"


def score_tables(score: Score) -> list[Table]:
    """The tables of the readable form: rounds, readings, alerts."""
    return [_rounds_table(score), _readings_table(score), *_alert_tables(score)]


def _rounds_table(score: Score) -> Table:
    table = Table(title="Rounds", title_justify="left")
    match = score.matching
    cells = {
        "true": score.rounds_true,
        "found": len(match.pairs),
        "missed": len(match.missed),
        "invented": len(match.invented),
        "split": len(match.split),
    }
    for name in cells:
        table.add_column(name, justify="right")
    table.add_row(*(str(value) for value in cells.values()))
    return table


def _readings_table(score: Score) -> Table:
    table = Table(title="Read in the rounds found", title_justify="left")
    table.add_column("")
    for name in ("seen", "right", "wrong", "undecided", "right", "95% interval"):
        table.add_column(name, justify="right")
    rows: list[tuple[str, Tally]] = [
        ("cards", score.cards),
        ("lammers", score.lammers),
        ("stakes", score.stakes),
        *((f"  {name} chips", tally) for name, tally in score.stakes_by_height.items()),
        ("payouts", score.pays),
    ]
    for name, tally in rows:
        table.add_row(name, *_tally_cells(tally))
    return table


def _tally_cells(tally: Tally) -> list[str]:
    return [
        *(str(count) for count in (tally.seen, tally.right, tally.wrong, tally.undecided)),
        _percent(tally.right, tally.seen),
        _interval(tally.right, tally.seen),
    ]


def _alert_tables(score: Score) -> list[Table]:
    alerts = score.alerts
    if alerts is None:
        return []
    table = Table(title="Alerts", title_justify="left")
    table.add_column("code")
    for name in ("faults", "found", "false", "found", "95% interval"):
        table.add_column(name, justify="right")
    for code, counts in alerts.by_code.items():
        table.add_row(
            code,
            *(str(counts[key]) for key in ("faults", "found", "false")),
            _percent(counts["found"], counts["faults"]),
            _interval(counts["found"], counts["faults"]),
        )
    table.add_section()
    table.add_row(
        "all",
        str(alerts.faults),
        str(alerts.found),
        str(alerts.false),
        _percent(alerts.found, alerts.faults),
        _interval(alerts.found, alerts.faults),
    )
    low, high = wilson(min(alerts.rounds_with_false, score.rounds_true), score.rounds_true)
    clean = score.clean_rounds or 0
    false = Table(title="False alerts", title_justify="left")
    false.add_column("")
    false.add_column("false", justify="right")
    false.add_row(
        f"per 100 clean rounds (of {clean})",
        f"{100 * alerts.false_in_clean_rounds / clean:.2f}" if clean else "–",
    )
    false.add_row(f"per shift of {ROUNDS_PER_SHIFT} rounds", f"{score.false_per_shift or 0:.2f}")
    false.add_row(
        f"rounds with one, per {ROUNDS_PER_SHIFT} (95% interval)",
        f"{ROUNDS_PER_SHIFT * low:.1f}–{ROUNDS_PER_SHIFT * high:.1f}",
    )
    false.add_row("seats with something undecided", str(alerts.undecided_seats))
    return [table, false, *_suspicion_tables(score)]


def _suspicion_tables(score: Score) -> list[Table]:
    own = score.suspicions
    if own is None:
        return []
    table = Table(title="Worth a look (suspicions)", title_justify="left")
    for name in ("suspicions", "at a wager with a fault", "faults without an alert", "found there"):
        table.add_column(name, justify="right")
    table.add_row(*map(str, (own.suspicions, own.right, own.faults_missed, own.found)))
    return [table]


def views_tables(views: Mapping[str, Views]) -> list[Table]:
    """Stakes and payouts by how their stacks are seen; of both together only what is the aim."""
    return [_views_table(TITLES[name], own, name == "both") for name, own in views.items()]


def _views_table(title: str, own: Views, aim_alone: bool) -> Table:
    table = Table(title=f"{title} by how they are seen", title_justify="left")
    table.add_column("", no_wrap=True)
    for name in ("seen", "right", "wrong", "undecided", "right", "95% interval"):
        table.add_column(name, justify="right")
    for dimension in DIMENSIONS:
        if aim_alone and dimension.key != "aim":
            continue
        table.add_row(dimension.title, *[""] * 6)
        for group, tally in own.tables[dimension.key].items():
            table.add_row(f"  {group}", *_tally_cells(tally))
        table.add_section()
    if own.not_listed:
        table.add_row("not listed", str(own.not_listed), *[""] * 5)
    return table


def reliability_tables(found: Mapping[str, Reliability]) -> list[Table]:
    """How often the likeliest sum is right, by its stated probability and by height.

    None without sums.
    """
    if not found["both"].count:
        return []
    table = Table(title="Likeliest sum by its stated probability", title_justify="left")
    table.add_column("", no_wrap=True)
    for name in ("sums", "mean", "right", "right", "95% interval"):
        table.add_column(name, justify="right")
    heights = Table(title="The same, right of all, by chips of the stack", title_justify="left")
    heights.add_column("", no_wrap=True)
    for name in HEIGHTS:
        heights.add_column(name, justify="right")
    for name in ("stakes", "pays"):
        own = found[name]
        table.add_row(TITLES[name].lower(), *[""] * 5)
        heights.add_row(TITLES[name].lower(), *[""] * len(HEIGHTS))
        for number, one in enumerate(own.bins):
            table.add_row(
                f"  {one.title}",
                str(one.count),
                "–" if one.mean is None else f"{one.mean:.4f}",
                str(one.right),
                _percent(one.right, one.count),
                _interval(one.right, one.count),
            )
            cells = [_right_of(bins[number]) for bins in own.by_height.values()]
            heights.add_row(f"  {one.title}", *cells)
        table.add_section()
        heights.add_section()
    return [table, heights]


def _right_of(one: Bin) -> str:
    return f"{one.right} of {one.count}" if one.count else "–"
