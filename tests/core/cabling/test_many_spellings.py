"""At night: no cable that is right is in a plan, in thousands of fabrics with faults, in every form and spelling."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Port, link
from tests.cli.cabling.fabric_forms import INFINIBAND
from tests.core.cabling.fabrics import SERVERS, Story, stories
from tests.core.cabling.test_spellings import DEVICES, PORTS, judged, noise, spelled, told

FABRICS = 5_000

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
"""Drawing a whole fabric takes longer than hypothesis likes."""


class Spelled(NamedTuple):
    """What was done to a fabric, and how its design writes each switch's ports and each device."""

    story: Story
    ports: Mapping[str, str]
    devices: Mapping[str, str]


def small(story: Story) -> Story:
    """Return a story whose free ports have numbers that every form can tell."""

    def told(port: Port) -> Port:
        number = port.interface
        return port._replace(interface=str(int(number) - 860)) if number.isdecimal() and int(number) >= 900 else port

    return replace(story, observed=tuple(link(told(a), told(b)) for a, b in story.observed))


@st.composite
def spelled_stories(draw: st.DrawFn) -> Spelled:
    """Draw a design, mishaps on some of its cables, and a spelling for each device."""
    story = small(draw(stories()))
    ones = sorted({port.device for each in story.designed for port in each})
    ports = {name: draw(st.sampled_from(sorted(PORTS))) for name in ones if name not in SERVERS}
    return Spelled(story, ports, {name: draw(st.sampled_from(sorted(DEVICES))) for name in ones})


@pytest.mark.nightly
@pytest.mark.timeout(3600)  # minutes, and more where the machine does other things at night
@pytest.mark.parametrize("form", INFINIBAND)
@settings(max_examples=FABRICS // len(INFINIBAND), deadline=None, suppress_health_check=SLOW)
@given(spelled_stories(), noise, st.sampled_from(["\n", "\r\n", "\r\r\n"]))
def test_a_cable_that_is_right_is_in_no_plan(
    form: str, spelled_story: Spelled, lines: list[tuple[int, str]], end: str
) -> None:
    story, ports, devices = spelled_story
    design = spelled(story.designed, dict(ports), dict(devices))
    verdicts = judged(design.values(), told(story.observed, form, lines, end), dict(devices))
    right = {design[each] for each in story.designed if each in story.observed}
    for fault in verdicts.faults:
        assert right.isdisjoint(fault.expected)
        assert right.isdisjoint(fault.observed)
