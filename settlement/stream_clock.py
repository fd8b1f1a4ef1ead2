"""Times of a stream as people read them: the one form of messages, reports and pages."""

from __future__ import annotations

from decimal import Decimal


def clock(seconds: str | Decimal | float | None) -> str:
    """Stream seconds as a person reads them.

    >>> clock("812.400")
    '13:32.4'
    >>> clock("3725")
    '1:02:05.0'
    >>> clock(None)
    '–'
    """
    if seconds is None:
        return "–"
    tenths = int(Decimal(str(seconds)) * 10)
    sign, tenths = ("-", -tenths) if tenths < 0 else ("", tenths)
    minutes, tenths = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    tail = f"{minutes:02d}:{tenths // 10:02d}.{tenths % 10}"
    return f"{sign}{hours}:{tail}" if hours else f"{sign}{tail}"


def span_words(before_s: str, after_s: str) -> str:
    """Between which two stream times something happened.

    A live camera's stream begins when it is first watched, so the words say whose times they are:
    nobody takes them for the time of day.

    >>> span_words("218.800", "220.200")
    'between 03:38.8 and 03:40.2 of the stream'
    >>> span_words("18050.100", "18050.140")
    'at 5:00:50.1 of the stream'
    """
    before, after = clock(before_s), clock(after_s)
    span = f"at {before}" if before == after else f"between {before} and {after}"
    return f"{span} of the stream"
