"""How often the likeliest sum is right, by the probability that the record states."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from surveillance.reports.reliability_image import draw_reliability
from surveillance.reports.score import MoneyRead
from surveillance.reports.score_reliability import reliability, reliability_form


def read(
    probability: float, cents: int = 300, *, true: int = 300, role: str = "stake", chips: int = 3
) -> MoneyRead:
    sums = ((cents, probability), (500, min(probability, 1 - probability) / 2))
    return MoneyRead("r", 3, "main", role, true, chips, "right", sums)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("probability", "low"),
    [(0.0, 0.0), (0.49, 0.0), (0.5, 0.5), (0.7, 0.7), (0.9, 0.9), (0.97, 0.97), (0.99, 0.99),
     (0.9989, 0.99), (0.999, 0.999), (1.0, 0.999)],
)  # fmt: skip
def test_a_sum_falls_into_the_bin_of_its_probability(probability: float, low: float) -> None:
    bins = reliability([read(probability)])["stakes"].bins
    assert [one.low for one in bins if one.count] == [low]


def test_the_likeliest_sum_is_compared_with_the_true_one() -> None:
    money = [read(0.95), read(0.93, 400), read(0.91), read(0.999, role="paid", chips=12)]
    money.append(MoneyRead("r", 3, "main", "stake", 300, 3, "undecided", ()))
    form = reliability_form(reliability(money))
    (one,) = [bin_ for bin_ in form["stakes"]["bins"] if bin_["count"]]
    assert (one["from"], one["below"], one["count"], one["right"]) == (0.9, 0.97, 3, 2)
    assert one["mean"] == pytest.approx(0.93)
    assert one["right_interval"] == pytest.approx([0.2077, 0.9385], abs=0.001)
    assert [b["count"] for b in form["stakes"]["by_height"]["3-5"] if b["count"]] == [3]
    assert [b["right"] for b in form["pays"]["by_height"]["11-20"] if b["count"]] == [1]
    assert sum(b["count"] for b in form["both"]["bins"]) == 4
    assert form["pays"]["bins"][-1]["below"] is None


def test_without_sums_there_is_nothing() -> None:
    table = reliability([MoneyRead("r", 3, "main", "stake", 300, 3, "wrong", ())])
    assert all(not one.count for one in table["both"].bins)


def test_the_chart_is_an_image_with_the_counted_bins(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    draw_reliability(reliability([read(0.95), read(0.93, 400), read(0.9999)]), path)
    image = cv2.imread(str(path))
    assert image is not None
    empty = tmp_path / "empty.png"
    draw_reliability(reliability([]), empty)
    bare = cv2.imread(str(empty))
    assert bare is not None
    assert bare.shape == image.shape
    assert np.count_nonzero(image != bare) > 200
