"""The paper a report is printed on: A4 with headings, tables and a footer.

Tables are set line by line with `FPDF.text`: fpdf2's own tables measure every cell three
times, which took two seconds for a day's report. Letters are Arimo's, which the file carries:
Latin, Greek, Cyrillic, Hebrew and the suit signs; headings, always plain English, are set in
the Helvetica Bold of every reader, whose letters are as wide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import as_file, files

from fpdf import FPDF
from fpdf.enums import XPos, YPos
from fpdf.fonts import TTFFont

MARGIN_MM = 15
DIM = (90, 100, 96)
_FONT = "arimo"
_BOLD = "helvetica"
_LINE = (190, 198, 194)
_SHADE = (240, 244, 242)
_BLACK = 0
_LINE_MM = 4.2
_PAD_MM = 0.8
_GAP_MM = 1.2
_BASELINE = 0.73
"""Baseline of the letters in a line, as a fraction of the line's height."""

_VARIATIONS = ("fvar", "gvar", "avar", "HVAR", "MVAR", "STAT")


class Paper(FPDF):
    """A PDF in the making; `footing` stands at the left of every page's foot."""

    def __init__(self, title: str, creator: str, footing: str) -> None:
        super().__init__(format="A4")
        self._footing = footing
        self._widths: dict[tuple[str, float, str], float] = {}
        self.set_margins(MARGIN_MM, MARGIN_MM)
        self.set_auto_page_break(True, margin=18)
        self.set_title(title)
        self.set_creator(creator)
        with as_file(files("fontpkg_arimo") / "files" / "Arimo[wght].ttf") as path:
            self.add_font(_FONT, fname=path)
        font = self.fonts[_FONT]
        assert isinstance(font, TTFFont)
        self._known = font.cmap
        for name in _VARIATIONS:
            # Without them the letters stay as they are, at the regular weight.
            if name in font.ttfont:
                del font.ttfont[name]
        self.plain(9)
        self.alias_nb_pages()

    def footer(self) -> None:
        """Page number, and what the paper is."""
        self.set_y(-12)
        self.plain(7.5)
        self.set_text_color(*DIM)
        self.cell(0, 5, self.shown(self._footing), align="L", new_x=XPos.LMARGIN)
        self.cell(0, 5, f"Page {self.page_no()} of {{nb}}", align="R")
        self.set_text_color(_BLACK)

    def shown(self, text: str) -> str:
        """Text as the paper can show it, on one line; letters it lacks become question marks.

        >>> paper = Paper("", "", "")
        >>> paper.shown("José – Łukasz, A♠"), paper.shown("two\\nlines"), paper.shown("西")
        ('José – Łukasz, A♠', 'two lines', '?')
        """
        if text.isascii() and text.isprintable():
            return text
        return "".join(c if ord(c) in self._known else "?" for c in " ".join(text.split()))

    def plain(self, size_pt: float) -> None:
        """Go on in the letters for text."""
        self.set_font(_FONT, size=size_pt)

    def bold(self, size_pt: float) -> None:
        """Go on in the letters for headings."""
        self.set_font(_BOLD, "B", size_pt)

    def write_line(self, text: str, height_mm: float = 5) -> None:
        """A line of text."""
        self.cell(0, height_mm, self.shown(text), new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def paragraph(self, text: str, height_mm: float = 4.4) -> None:
        """Text over as many lines as it takes."""
        for line in self._wrapped(self.shown(text), self.epw - 2 * self.c_margin):
            self.cell(0, height_mm, line, new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def section(self, title: str, needs_mm: float = 30) -> None:
        """A heading, on the next page when less than `needs_mm` would be left below it."""
        if self.will_page_break(needs_mm):
            self.add_page()
        self.ln(4)
        self.bold(11)
        self.write_line(title, 6)
        self.plain(8.5)

    def grid(
        self,
        header: Sequence[str],
        rows: Iterable[Sequence[str]],
        widths: Sequence[float],
        left: int = 1,
    ) -> None:
        """A table; the first `left` columns stand left, the others right.

        `widths` are shares of the paper's width. The header stands on every page again.
        """
        share = self.epw / sum(widths)
        edges = [self.l_margin]
        for width in widths:
            edges.append(edges[-1] + share * width)
        size = self.font_size_pt
        self.set_draw_color(*_LINE)
        self._header(header, edges, left, size)
        for row in rows:
            cells = [
                self._wrapped(self.shown(text), after - before - 2 * _GAP_MM)
                for text, before, after in zip(row, edges, edges[1:], strict=False)
            ]
            height = max(map(len, cells), default=1) * _LINE_MM + 2 * _PAD_MM
            if self.will_page_break(height):
                self.add_page()
                self.set_draw_color(*_LINE)
                self._header(header, edges, left, size)
            self._cells(cells, edges, left, height)

    def signatures(self, words: Sequence[str]) -> None:
        """Lines to sign on, two beside one another."""
        if self.will_page_break(26):
            self.add_page()
        self.ln(14)
        self.set_draw_color(_BLACK)
        self.plain(8)
        for x, text in zip((MARGIN_MM, 115), words, strict=False):
            self.line(x, self.get_y(), x + 75, self.get_y())
            self.text(x, self.get_y() + 4, self.shown(text))

    def _header(
        self, header: Sequence[str], edges: Sequence[float], left: int, size: float
    ) -> None:
        self.bold(8)
        cells = [
            self._wrapped(text, after - before - 2 * _GAP_MM)
            for text, before, after in zip(header, edges, edges[1:], strict=False)
        ]
        height = max(map(len, cells), default=1) * _LINE_MM + 2 * _PAD_MM
        self.set_fill_color(*_SHADE)
        self.rect(edges[0], self.get_y(), edges[-1] - edges[0], height, style="F")
        self.set_fill_color(_BLACK)
        self._cells(cells, edges, left, height)
        self.plain(size)

    def _cells(
        self, cells: Sequence[Sequence[str]], edges: Sequence[float], left: int, height: float
    ) -> None:
        top = self.get_y()
        for n, lines in enumerate(cells):
            for down, line in enumerate(lines):
                if not line:
                    continue
                x = edges[n] + _GAP_MM
                if n >= left:
                    x = edges[n + 1] - _GAP_MM - self._width(line)
                self.text(x, top + _PAD_MM + (down + _BASELINE) * _LINE_MM, line)
        self.line(edges[0], top + height, edges[-1], top + height)
        self.set_xy(self.l_margin, top + height)

    def _width(self, text: str) -> float:
        """Return the width of a text, mm; repeated words are measured once."""
        key = (self.font_family, self.font_size_pt, text)
        found = self._widths.get(key)
        if found is None:
            found = self._widths[key] = self.get_string_width(text)
        return found

    def _wrapped(self, text: str, room_mm: float) -> list[str]:
        """The lines a text takes; a word that is too long for one is broken."""
        if self._width(text) <= room_mm:
            return [text]
        space = self._width(" ")
        lines: list[str] = []
        line, taken = "", 0.0
        for word in text.split(" "):
            wide = self._width(word)
            if line and taken + space + wide <= room_mm:
                line, taken = f"{line} {word}", taken + space + wide
                continue
            if line:
                lines.append(line)
            while wide > room_mm and len(word) > 1:
                fits = next(
                    (n for n in range(len(word) - 1, 1, -1) if self._width(word[:n]) <= room_mm), 1
                )
                lines.append(word[:fits])
                word = word[fits:]
                wide = self._width(word)
            line, taken = word, wide
        return [*lines, line]
