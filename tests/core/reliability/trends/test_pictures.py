"""Pictures of trends: well formed, nothing unescaped, everything inside, and a sentence for who cannot see them."""

from itertools import pairwise
from math import inf, nan
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.trends import (
    picture,
    picture_heat,
    picture_lemons,
    picture_pen,
    picture_survival,
    stored,
)
from fleet_runner.core.reliability.trends.picture import Band, Crossing, Trend
from fleet_runner.core.reliability.trends.picture_lemons import Bar
from fleet_runner.core.reliability.trends.picture_survival import Curve

HOSTILE = '"><script>alert(1)</script>\u202e'
DAYS = range(20_000, 20_030)
FLAT = [40.0] * 30
FALLING: list[float | None] = [40.0 - each for each in range(30)]
PEERS = Band([35.0] * 30, FLAT, [45.0] * 30)


def parsed(svg: str) -> ET.Element:
    """Return a picture that is well formed, whose every point lies within its frame."""
    found = ET.fromstring(svg)  # noqa: S314  it is ours
    if found.tag == "svg":
        _, _, width, height = (float(each) for each in found.attrib["viewBox"].split())
        for each in found.iter():
            for pair in each.attrib.get("points", "").split():
                x, y = (float(number) for number in pair.split(","))
                assert 0 <= x <= width
                assert 0 <= y <= height
    return found


def kinds(found: ET.Element) -> set[str]:
    """Return the classes of everything in it."""
    return {each.attrib.get("class", "") for each in found.iter()}


def test_a_trend_lies_between_its_peers_and_goes_where_its_mark_is() -> None:
    trend = Trend(
        f"GPU 3 {HOSTILE}", "celsius", DAYS, FALLING, PEERS, 5.0, Crossing(4.0, 6.0, 9.0), since=DAYS[0] + 3
    )
    found = parsed(picture.svg(trend))
    assert {"own", "band", "middle", "mark", "wedge", "expected", "hit", "since", "dot", "today"} <= kinds(found)
    said = found.attrib["aria-label"]
    assert "from 40 to 11 celsius" in said
    assert "the pass mark is 5" in said
    assert "in 6 days (between 4 and 9 days)" in said
    assert "<script>" not in picture.svg(trend)
    assert "\u202e" not in picture.svg(trend)


@pytest.mark.parametrize(
    ("crossing", "hit", "said"),
    [
        (Crossing(10.0, 100.0, None), False, "in 100 days (between 10 days and never)"),
        (Crossing(80.0, 100.0, 300.0), False, "between 80 and 300 days"),
        (Crossing(3.0, 10.0, 40.0), True, "in 10 days"),
        (Crossing(5.0, 5.0, 5.0), True, "in 5 days"),
    ],
)
def test_what_lies_beyond_the_picture_is_said(crossing: Crossing, hit: bool, said: str) -> None:
    found = parsed(picture.svg(Trend("x", "", DAYS, FALLING, None, 5.0, crossing)))
    assert ("hit" in kinds(found)) == hit
    assert said in found.attrib["aria-label"]


def test_a_line_is_broken_where_nothing_was_told() -> None:
    own: list[float | None] = [None, 1.0, None, 2.0, 3.0, nan, 4.0]
    peers = Band([1.0, None, None, 1.0, 1.0, 1.0, None], [2.0] * 7, [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, None])
    found = parsed(picture.svg(Trend("x", "", range(7), own, peers, since=6)))
    assert [each.attrib["class"] for each in found.iter("polyline")].count("own") == 1
    assert len(list(found.iter("circle"))) == 4
    assert len(list(found.iter("polygon"))) == 1


def test_a_mark_far_away_is_said_beside_the_picture() -> None:
    for mark, where in ((1e6, "above"), (-1e6, "below")):
        assert f"{where} this picture" in picture.svg(Trend("x", "", DAYS, FALLING, None, mark))
    assert "this picture" not in picture.svg(Trend("x", "", DAYS, FALLING, None, 45.0))


def test_nothing_is_drawn_of_nothing() -> None:
    trend = Trend("x", "", DAYS, [None] * 30)
    assert "no numbers" in picture.svg(trend)
    assert picture.sentence(trend) == "x: there are no numbers."
    assert "no failures" in picture_survival.svg([Curve("x", [], [], [], [])])
    assert "no score" in picture_lemons.svg([])


def test_a_long_line_has_dots_only_where_it_is_one_day_alone() -> None:
    own: list[float | None] = [1.0] * 200
    own[1] = None
    found = parsed(picture.svg(Trend("x", "", range(200), own)))
    assert len(list(found.iter("circle"))) == 1


@given(
    st.lists(st.none() | st.floats(-1e12, 1e12), min_size=1, max_size=40),
    st.none() | st.floats(-1e12, 1e12),
    st.none() | st.tuples(st.floats(0, 1e4), st.floats(0, 1e4), st.none() | st.floats(0, 1e4)),
)
def test_whatever_was_told_is_drawn(
    own: list[float | None], mark: float | None, crosses: tuple[float, float, float | None] | None
) -> None:
    crossing = Crossing(*crosses) if crosses else None
    parsed(picture.svg(Trend("x", "", range(len(own)), own, Band(own, own, own), mark, crossing, 0)))


def test_survival_has_a_line_for_each_cohort_and_names_apart() -> None:
    curves = [
        Curve(f"cohort {each} {HOSTILE}", [1.0, 10.0], [1.0, 0.9], [0.9, 0.8], [1.0, 0.95]) for each in range(7)
    ]
    found = parsed(picture_survival.svg(curves, "hours"))
    names = [each for each in found.iter("text") if each.attrib["class"].startswith("name")]
    assert len(names) == picture_survival.COHORTS
    heights = sorted(float(each.attrib["y"]) for each in names)
    assert min(after - before for before, after in pairwise(heights)) >= 14.9
    assert "90 % after 10 hours (80 % to 95 %)" in found.attrib["aria-label"]
    low = [Curve(str(each), [0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]) for each in range(5)]
    parsed(picture_survival.svg(low))


def test_lemons_are_bars_of_their_signals() -> None:
    bars = [
        Bar(f"gpu-{HOSTILE}", [("out", 8.0), ("tickets", 4.0), ("nothing", 0.0), ("little", 0.01)]),
        *(Bar(f"gpu-{each}", [(f"signal {each}", 1.0)]) for each in range(8)),
    ]
    found = parsed(picture_lemons.svg(bars, 10.0))
    assert picture_lemons.signals(bars)[:2] == ("out", "tickets")
    assert len(list(found.iter("rect"))) == 11
    assert "and 4 more" in found.attrib["aria-label"]
    assert "suggested from 10" in picture_lemons.svg(bars, 10.0)
    few = picture_lemons.svg([picture_lemons.Bar("n1", (("out", 2.0),))], 12.0)
    assert 'text-anchor="end">suggested from 12<' in few  # at the right edge the words go to the left
    assert "suggested" not in picture_lemons.svg([Bar("x", [])])


def test_cells_are_warm_on_the_side_that_is_worse() -> None:
    assert picture_heat.cell(None) is None
    assert [picture_heat.cell(each, "low") for each in (-4.0, 2.5, 0.04)] == [
        ("warm3", "\N{MINUS SIGN}4.0", ""),
        ("cool2", "+2.5", ""),
        ("plain", "0", ""),
    ]
    told = picture_heat.cell(1.0, "high")
    assert told is not None
    assert told.kind == "warm1"


def test_tables_are_by_kind_of_part_and_count_slots_as_people_do() -> None:
    slots = [{"name": f"GPU {each}", "apart": 1.5, "middle": 3.0, "parts": 8} for each in (10, 2)]
    metrics = [
        {"metric": "b", "part": "gpu", "unit": "W", "worse": "high", "slots": slots},
        {"metric": "a", "part": "gpu", "slots": [*slots[:1], {**slots[0], "name": "GPU 1"}]},
        {"metric": "alone", "part": "node", "slots": slots[:1]},
        {"metric": "none"},
    ]
    (table,) = picture_heat.by_slot(metrics)
    assert (table.name, table.columns) == ("gpu", ("GPU 1", "GPU 2", "GPU 10"))
    assert [row.name for row in table.rows] == ["a", "b"]
    assert table.rows[0].cells[1] is None
    rows = [{"name": "R1", "cells": [None, 4.0]}]
    placed = picture_heat.by_place({"slots": slots, "rows": rows, "rows_of": "node"})
    assert (placed.name, placed.columns, placed.rows[0].name) == ("node", ("GPU 10", "GPU 2"), "R1")
    assert picture_heat.by_place({}).rows == ()


def test_what_another_version_kept_is_shown_as_far_as_it_goes() -> None:
    assert stored.rows(None, "x") == stored.rows({"x": 3}, "x") == stored.rows({"x": [1, {}]}, "x", "y") == []
    assert stored.part({"x": 1}, "x") == stored.part(None, "x") == {}
    assert stored.curve({"ages": [1], "share": [1], "low": [1]}, "ages") is None
    assert stored.curve({"ages": [1], "share": [1, 2], "low": [1], "high": [1]}, "ages") is None
    assert stored.curve({"ages": [1], "share": [None], "low": [1], "high": [1]}, "ages") is None
    told = stored.curve({"name": "x", "ages": [1], "share": [1], "low": [1], "high": [1]}, "ages")
    assert told == Curve("x", [1], [1], [1], [1])
    assert stored.bars({"lemons": [{"node": "a", "lines": [{"signal": "s", "points": "many"}]}]}) == [
        Bar("a", (("s", 0.0),))
    ]
    assert stored.metric_of(None, "x") is None
    assert stored.day("yesterday") is None
    assert stored.day("1970-01-03") == 2
    assert stored.number({"x": True}, "x") is None


def test_a_band_is_laid_onto_the_days_of_a_picture() -> None:
    metric = {
        "metric": "m", "unit": "W",
        "bands": [{"device_type": "a", "parts": 1, "days": [1, 2], "low": [1, 1], "middle": [2, 2], "high": [3, 3]}],
    }  # fmt: skip
    assert stored.band(metric, "a", [2, 3]) == Band([1, None], [2, None], [3, None])
    assert stored.band(metric, "a", [7]) is None
    assert stored.band(metric, "b", [2]) is None
    drawn = stored.fleet(metric, stored.bands(metric)[0])
    assert (drawn.name, drawn.unit, list(drawn.own)) == ("m of a", "W", [2, 2])


def test_a_foresight_says_what_is_drawn_of_it() -> None:
    numbers = {"mark": 5.0, "since_day": "1970-01-03", "crosses_in_days": 4.0, "crosses_soonest_days": 3}
    seen = Foresight(Kind.TREND, "gpu-1", "GPU 3", "It falls.", "m", numbers=numbers)
    drawn = stored.trend("x", [1], [2.0], None, seen)
    assert (drawn.mark, drawn.since, drawn.crossing) == (5.0, 2, Crossing(3.0, 4.0, None))
    assert stored.trend("x", [1], [2.0], None, None) == Trend("x", "", [1], [2.0])
    assert stored.crossing({}) is None


def test_numbers_and_names_are_short() -> None:
    assert [picture_pen.said(each) for each in (inf, 12_345.6, 0.5, 1e-9, 1234.5)] == [
        "—", "12,346", "0.5", "1e-09", "1234"
    ]  # fmt: skip
    assert picture_pen.cut("x" * 99) == "x" * 59 + "…"
    assert picture_pen.day_ticks(0, 100_000)[1] > 10_000
    assert picture_pen.pieces([None]) == []


def test_nothing_but_noughts_is_drawn_on_an_axis_from_nought_to_one() -> None:
    drawn = picture.svg(picture.Trend("x", "count", range(20_000, 20_003), [0.0, 0.0, 0.0]))
    assert ">1<" in drawn
    assert "e-" not in drawn
