"""Where a pay table is printed, and how its rows are named there."""

from __future__ import annotations

from pydantic import Field

from settlement.form import Form


def document_digits(document: str) -> str:
    """A document's number, such as '002' of '002_a612a20b2ff3374e.txt'.

    >>> document_digits("002_a612a20b2ff3374e.txt"), document_digits("003")
    ('002', '003')
    """
    return document.split("_")[0]


class Printing(Form):
    """A place where a pay table is printed.

    >>> place = Printing(document="003_839020ec5d7be95d.txt", appendix="A", column="X",
    ...                  labels={"nine_high": "9-High Pai Gow"})
    >>> place.digits, place.section, place.label("nine_high")
    ('003', 'Appendix A, X', '9-High Pai Gow')
    """

    document: str = Field(min_length=1, description="File name of the rule document.")
    appendix: str = Field(default="", description="Appendix of the document, where it has one.")
    column: str = Field(default="", description="Column or heading as printed.")
    notes: tuple[str, ...] = Field(default=(), description="Notes under the table, in our words.")
    labels: dict[str, str] = Field(
        default_factory=dict, description="Category to the row as printed here, where it differs."
    )

    @property
    def digits(self) -> str:
        """The document's number, such as '003'; its whole name when it has none."""
        return document_digits(self.document)

    @property
    def section(self) -> str:
        """Appendix and column, for a rule."""
        appendix = f"Appendix {self.appendix}" if self.appendix else ""
        return ", ".join(part for part in (appendix, self.column) if part)

    def label(self, category: str) -> str:
        """The row of a category as printed here.

        Printings given by a table know every row; raises KeyError for another category.
        """
        return self.labels[category]
