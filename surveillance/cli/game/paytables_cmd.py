"""`feltwatch paytables`: every pay table, its exact counts and house edge."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from settlement.analysis.house_edge import ENVY_STAKE_CENTS, HouseEdge, RowEdge, house_edge
from settlement.compare.finding import wager_name
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.paytables.registry import (
    CATEGORIES,
    PayTable,
    Printing,
    pay_table,
    pay_table_ids,
    read_pay_table,
)
from settlement.rules import TableRules
from settlement.ruling import money
from surveillance.cli.game.record_input import load_rules
from surveillance.cli.options import JsonLines

_OTHER_HANDS = range(1, 6)


def paytables_command(
    tables: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Pay table ids; none: list them all."),
    ] = None,
    wager: Annotated[str | None, typer.Option("--wager", help="Only tables of this wager.")] = None,
    document: Annotated[
        str | None,
        typer.Option("--document", help="Only tables printed in this document, such as 003."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table", help="With the readings of this table file; no ids: the tables it offers."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Folder with pay tables of the house's own.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="The arguments are files: check and show them.")
    ] = False,
    as_json: JsonLines = False,
) -> None:
    """List the pay tables, or show some with exact counts and house edge.

    Every one of the 154,143,080 hands of seven cards is counted for its highest row.

    Examples:

      feltwatch paytables --wager emperors_treasure

      feltwatch paytables PT-FLT-EC-ET-02 E02 --document 000

      feltwatch paytables --table table.toml

      feltwatch paytables --folder own-tables --json

      feltwatch paytables --check own-tables/HOUSE-ET-1.toml

    A table of the house's own is a file named by its id in a folder,
    which the table file names under \\[rules] as paytable_folder.
    HOUSE-ET-1.toml may hold:

    \b
    id = "HOUSE-ET-1"
    wager = "emperors_treasure"
    document = "House rules of May"
    basis = "to 1"
    rows = [
      { category = "five_aces", label = "5 Aces", pay = 400 },
      { category = "full_house", label = "Full House", pay = "9/2" },
      { category = "three_pair", label = "3 Pair", pay = "push" },
    ]

    Tables 'to 1' take odds, 'push' or 'loss', and envy_cents beside them;
    tables 'for 1', of jackpots, take pay_cents or percent, with a level
    where there are several meters; tables 'fixed', of envy prizes, take
    pay_cents. A word that is not known is refused with those that are. The
    first row is the highest, or the last with printed_order = "lowest_first".
    """
    if check and table is not None:
        raise FeltwatchError("paytables --check: files are checked alone; leave --table out")
    rules = TableRules(game="") if table is None else load_rules(table).table
    if check:
        chosen = [read_pay_table(Path(file)) for file in tables or ()]
        if not chosen:
            raise FeltwatchError("paytables --check: name the files to check")
    elif table is not None and not tables:
        chosen = _offered(rules, table)
    else:
        own = folder or rules.paytable_folder
        chosen = [pay_table(table_id, own) for table_id in tables or pay_table_ids(own)]
    chosen = _filtered(chosen, wager, document, named=bool(tables))
    with Console(file=sys.stderr).status("counting hands"):
        edges = [house_edge(one, rules.readings) for one in chosen]
    if as_json:
        for edge in edges:
            form = as_object(edge, document, rules.envy_min_cents)
            if table is not None:
                form["readings"] = rules.readings.model_dump()
            typer.echo(json.dumps(form, ensure_ascii=False))
        return
    console = Console(highlight=False)
    if table is not None:
        console.print(escape(_readings_text(rules, table)), soft_wrap=True)
    if not tables:
        print_list(edges, console)
        return
    for edge in edges:
        print_table(edge, document, console, rules.envy_min_cents)
    if check:
        console.print(f"[green]in order[/green]: {escape(', '.join(tables))}")


def _offered(rules: TableRules, path: Path) -> list[PayTable]:
    """The pay tables of a table's wagers, each once also where it holds the envy prizes."""
    chosen: dict[str, PayTable] = {}
    for one in terms_for(rules).tables.values():
        chosen.setdefault(one.id, one)
    if not chosen:
        raise FeltwatchError(f"{path}: rules.paytables: the table offers no wager with a pay table")
    return list(chosen.values())


def _readings_text(rules: TableRules, path: Path) -> str:
    """Which readings of a table are not the defaults."""
    changed = rules.readings.model_dump(exclude_defaults=True)
    readings = ", ".join(f"{key} = {value}" for key, value in changed.items())
    return f"with the readings of {path}: {readings or 'all by default'}"


def _filtered(
    tables: list[PayTable], wager: str | None, document: str | None, named: bool
) -> list[PayTable]:
    """The tables that fit; one that was named and does not fit is an error."""
    if wager is not None and wager not in CATEGORIES:
        raise FeltwatchError(f"--wager: {wager!r} is none of {', '.join(CATEGORIES)}")
    fitting: list[PayTable] = []
    for table in tables:
        fault = None
        if wager is not None and not _pays(table, wager):
            fault = f"--wager: {table.id} is a pay table of {table.wager}"
        elif document is not None and table.printed_in(document) is None:
            places = ", ".join(p.digits for p in table.printings)
            fault = f"--document: {table.id} is not printed in {document!r} but in {places}"
        if fault is None:
            fitting.append(table)
        elif named:
            raise FeltwatchError(fault)
    if not fitting:
        known = ", ".join(sorted({p.digits for table in tables for p in table.printings}))
        raise FeltwatchError(
            f"no pay table fits; take another --wager or --document (there are {known})"
        )
    return fitting


def _pays(table: PayTable, wager: str) -> bool:
    """Whether a table pays a wager, by itself or with its envy prizes."""
    return table.wager == wager or (wager == "envy" and table.envy is not None)


def as_object(
    edge: HouseEdge, document: str | None = None, envy_stake_cents: int = ENVY_STAKE_CENTS
) -> dict[str, Any]:
    """A table's figures for JSON; exact fractions stand beside rounded numbers."""
    table = edge.table
    printing = _printing(table, document)
    figures: dict[str, Any] = {
        "id": table.id,
        "wager": table.wager,
        "basis": table.basis,
        "printed_order": table.printed_order,
        "printed_in": [
            {key: value for key, value in p.model_dump(exclude={"labels"}).items() if value}
            for p in table.printings
        ],
        "hands": edge.hands,
        "rows": [_row_object(row, printing) for row in edge.rows],
        "hit": float(edge.hit),
    }
    if edge.edge is not None:
        figures |= {"edge": float(edge.edge), "edge_exact": str(edge.edge)}
    if edge.meters:
        figures["meters"] = [
            {
                "level": meter.level,
                "share": float(meter.share),
                "return_per_1000_dollars": float(meter.per_1000_dollars),
                "break_even_cents": float(meter.break_even_cents),
            }
            for meter in edge.meters
        ]
    if edge.envy_cents:
        figures["envy_cents_per_other_hand"] = float(edge.envy_cents)
    if edge.envy_cents and edge.edge is not None:
        figures["edge_with_envy"] = {
            str(n): float(edge.with_envy(n, envy_stake_cents)) for n in _OTHER_HANDS
        }
    if edge.caveats:
        figures["caveats"] = edge.caveats
    return figures


def _row_object(row: RowEdge, printing: Printing) -> dict[str, Any]:
    figures = row.row.model_dump(exclude_defaults=True) | {
        "label": printing.label(row.row.category),
        "count": row.count,
        "probability": float(row.probability),
    }
    if row.one_in is not None:
        figures["one_in"] = float(row.one_in)
    figures["gives_back"] = float(row.gives_back)
    return figures


def print_list(edges: list[HouseEdge], console: Console) -> None:
    """Print one line a table, by wager: id, where it is printed, house edge."""
    for wager in CATEGORIES:
        some = [edge for edge in edges if edge.table.wager == wager]
        if not some:
            continue
        console.print(f"[bold]{escape(wager_name(wager))}[/bold] {wager}")
        grid = Table()
        for name in ("id", "printed in", "prize to expect" if wager == "envy" else "house edge"):
            grid.add_column(name, no_wrap=True)
        for edge in some:
            places = ", ".join(_short_place(p) for p in edge.table.printings)
            grid.add_row(escape(edge.table.id), escape(places), _edge_short(edge))
        console.print(grid)


def _short_place(printing: Printing) -> str:
    """Document and appendix, such as '002 C'."""
    return f"{printing.digits} {printing.appendix.split(',')[0]}".strip()


def _edge_short(edge: HouseEdge) -> str:
    if edge.edge is None:
        return f"{_cents(edge.envy_cents)} a hand"
    return _percent(edge.edge) + _left_out(edge)


def _left_out(edge: HouseEdge) -> str:
    parts = (("meter", edge.meters), ("envy", edge.envy_cents))
    named = " and ".join(what for what, there in parts if there)
    return f" without {named}" if named else ""


def print_table(
    edge: HouseEdge,
    document: str | None,
    console: Console,
    envy_stake_cents: int = ENVY_STAKE_CENTS,
) -> None:
    """Print one table: where it is printed, its rows with counts, the edge and the notes."""
    table = edge.table
    printing = _printing(table, document)
    console.rule(f"[bold]{escape(table.id)}[/bold], {escape(wager_name(table.wager))}")
    for place in table.printings:
        console.print(f"printed in {escape(_place(place))}")
    console.print(_rows(edge, printing))
    for line in _totals(edge, envy_stake_cents):
        console.print(line)
    for row in table.rows:
        if row.dynamic_cents:
            sums = ", ".join(money(cents, short=True) for cents in row.dynamic_cents)
            console.print(f"dynamic pays of {escape(printing.label(row.category))}: {sums}")
    for note in printing.notes:
        console.print(f"- {escape(note)}", style="dim")
    console.print()


def _rows(edge: HouseEdge, printing: Printing) -> Table:
    table = edge.table
    joined = table.envy is not None
    pairs = table.wager == "ace_high_pai_gow_insurance"
    grid = Table("hand", title=f'pays "{table.basis}"', title_justify="left")
    for name in (
        "pays",
        *(("envy",) if joined else ()),
        "pairs of hands" if pairs else "hands",
        "once in",
        "to expect" if table.basis == "fixed" else "gives back",
    ):
        grid.add_column(name, justify="right", no_wrap=True)
    for row in edge.rows:
        prize = row.row.envy_cents
        once = "never" if row.one_in is None else f"{float(row.one_in):,.1f}"
        grid.add_row(
            escape(printing.label(row.row.category)),
            _pay(row),
            *((money(prize, short=True) if prize else "",) if joined else ()),
            f"{row.count:,}",
            once,
            _back(edge, row),
        )
    return grid


def _back(edge: HouseEdge, row: RowEdge) -> str:
    if edge.table.basis == "fixed":
        return _cents(row.envy_cents)
    return "meter" if row.row.percent else _percent(row.gives_back)


def _pay(row: RowEdge) -> str:
    if row.row.pay is not None:
        return str(row.row.pay)
    if row.row.pay_cents is not None:
        return money(row.row.pay_cents, short=True)
    return f"{row.row.percent}%" + (f" level {row.row.level}" if row.row.level else "")


def _totals(edge: HouseEdge, envy_stake_cents: int) -> list[str]:
    lines = [f"of {edge.hands:,}, paid or returned {_percent(edge.hit)}"]
    if edge.edge is not None:
        lines.append(f"[bold]house edge{_left_out(edge)} {_percent(edge.edge)}[/bold]")
    for meter in edge.meters:
        level = f" of level {meter.level}" if len(edge.meters) > 1 else ""
        alone = ", other levels at nothing" if level else ""
        lines.append(
            f"each $1,000 on the meter{level} gives back {_percent(meter.per_1000_dollars)}; "
            f"no edge at {money(round(meter.break_even_cents))}{alone}"
        )
    if edge.envy_cents:
        lines.append(f"envy: {_cents(edge.envy_cents)} to expect of each other hand at the table")
    if edge.envy_cents and edge.edge is not None:
        edges = {n: edge.with_envy(n, envy_stake_cents) for n in _OTHER_HANDS}
        some = "; ".join(f"{n}: {_percent(with_envy)}" for n, with_envy in edges.items())
        stake = money(envy_stake_cents, short=True)
        lines.append(f"house edge on {stake} with so many other hands: {some}")
    return [*lines, *edge.caveats]


def _printing(table: PayTable, document: str | None) -> Printing:
    return (table.printed_in(document) if document else None) or table.printings[0]


def _place(printing: Printing) -> str:
    return ", ".join(part for part in (printing.digits, printing.section) if part)


def _percent(part: Fraction) -> str:
    return f"{float(part):.4%}"


def _cents(cents: Fraction) -> str:
    return f"{float(cents):.2f}¢"
