"""At night: Ethernet fabrics in every spelling of both sides, with faults: no cable that is right is in a plan."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.ethernet import judge
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.neighbours import capture
from tests.cli.cabling.fabric_forms import ETHERNET, Heard
from tests.core.cabling.fabrics import SERVERS, Story, stories
from tests.core.cabling.test_many_spellings import SLOW, small
from tests.core.cabling.test_spellings import DEVICES
from tests.examples import examples

FABRICS = 5_000

Spelling = Callable[[int], str]


def half(number: int, begin: int = 1) -> tuple[int, int]:
    """Return a port's cage and its half in that, both from some number on."""
    return (number - 1) // 2 + begin, (number - 1) % 2 + begin


SPELLINGS: dict[str, Spelling] = {
    "Cumulus": lambda number: f"swp{number}",
    "Cumulus, halves of a cage": lambda number: f"swp{half(number)[0]}s{half(number, 0)[1]}",
    "EOS": lambda number: f"Ethernet{number}",
    "EOS, first lanes": lambda number: f"Ethernet{number}/1",
    "EOS, halves of a cage": lambda number: f"Ethernet{half(number)[0]}/{4 * half(number, 0)[1] + 1}",
    "NX-OS": lambda number: f"Ethernet1/{number}",
    "SONiC, standard names": lambda number: f"Eth1/{number}",
    "SONiC, standard names of halves": lambda number: "Eth1/{}/{}".format(*half(number)),
    "SONiC, four lanes a port": lambda number: f"Ethernet{4 * (number - 1)}",
    "SONiC, eight lanes a port": lambda number: f"Ethernet{8 * (number - 1)}",
    "SONiC, fronts": lambda number: f"etp{number}",
    "SONiC, fronts of halves": lambda number: f"etp{half(number)[0]}{'ab'[half(number, 0)[1]]}",
    "SONiC, fronts in brackets": lambda number: f"Eth{number}(Port{number})",
    "Junos": lambda number: f"et-0/0/{number - 1}",
    "IOS XR": lambda number: f"FourHundredGigE0/0/0/{number - 1}",
    "OS10": lambda number: f"ethernet1/1/{number}",
}
"""What a port that is the 7th of its switch is called by those who make it, or by who designs with it."""

DESIGNED: dict[str, Spelling] = SPELLINGS | {
    "a number": str,
    "Port 7": lambda number: f"Port {number}",
    "1/7": lambda number: f"1/{number}",
    "1/4/1": lambda number: "1/{}/{}".format(*half(number)),
    "4a": lambda number: f"{half(number)[0]}{'ab'[half(number, 0)[1]]}",
}
"""What only people call it, too."""


class Spelled(NamedTuple):
    """What was done to a fabric, and for each switch how the design writes it and how it is heard."""

    story: Story
    designed: Mapping[str, str]
    heard: Mapping[str, str]
    devices: Mapping[str, str]
    forms: Mapping[str, str]


@st.composite
def spelled_stories(draw: st.DrawFn) -> Spelled:
    """Draw a design, mishaps, and spellings: of each switch's design, and of what it calls itself, or the same."""
    story = small(draw(stories()))
    ones = sorted({port.device for each in story.designed for port in each})
    switches = [name for name in ones if name not in SERVERS]
    heard = {name: draw(st.sampled_from(sorted(SPELLINGS))) for name in switches}
    designed = heard if draw(st.booleans()) else {name: draw(st.sampled_from(sorted(DESIGNED))) for name in switches}
    devices = {name: draw(st.sampled_from(sorted(DEVICES))) for name in ones}
    return Spelled(story, designed, heard, devices, {name: draw(st.sampled_from(sorted(ETHERNET))) for name in ones})


def designed(it: Spelled, joined: Link) -> Link:
    """Return a link as the design writes it."""

    def one(port: Port) -> Port:
        style = it.designed.get(port.device)
        name = DESIGNED[style](int(port.interface)) if style else port.interface
        return Port(DEVICES[it.devices[port.device]](port.device), name)

    return link(one(joined.a), one(joined.b))


def captures(it: Spelled) -> dict[str, Heard]:
    """Return what each switch hears, each in its own words, servers by a device's name alone in small letters."""

    def told(port: Port) -> str:
        style = it.heard.get(port.device)
        return SPELLINGS[style](int(port.interface)) if style else port.interface

    found: dict[str, Heard] = {}
    for each in it.story.observed:
        for near, far in (each, each[::-1]):
            if near.device in it.heard:
                found.setdefault(near.device, []).append((told(near), far.device, told(far), "uplink"))
    return found


def judged(it: Spelled) -> Verdicts:
    """Judge a fabric from what its switches print."""
    wanted = tuple(designed(it, each) for each in it.story.designed)
    texts = {name: ETHERNET[it.forms[name]](heard) for name, heard in captures(it).items()}
    heard = {DEVICES[it.devices[name]](name): capture.read(text).neighbours for name, text in texts.items()}
    known = names([port for each in wanted for port in each], {}, {})
    servers = frozenset(DEVICES[it.devices[name]](name) for name in it.devices if name in SERVERS)
    return judge(wanted, heard, known, Places({}, {}, servers))


def spares(it: Spelled, verdicts: Verdicts) -> None:
    """Fail where a cable that is right is in a fault."""
    right = {designed(it, each) for each in it.story.designed if each in it.story.observed}
    for fault in verdicts.faults:
        assert right.isdisjoint(fault.expected)
        assert right.isdisjoint(fault.observed)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW)
@given(spelled_stories())
def test_no_cable_that_is_right_is_in_a_plan(it: Spelled) -> None:
    spares(it, judged(it))


@settings(max_examples=examples(100), deadline=None, suppress_health_check=SLOW)
@given(spelled_stories())
def test_a_fabric_as_designed_is_as_designed_or_not_compared(it: Spelled) -> None:
    """Whole, where each switch is heard in the words of its design."""
    verdicts = judged(it._replace(story=replace(it.story, observed=it.story.designed)))
    assert verdicts.faults == ()
    assert verdicts.matched + len(verdicts.unmapped) + len(verdicts.silent) == len(it.story.designed)
    assert verdicts.matched == len(it.story.designed) or it.designed != it.heard


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@settings(max_examples=FABRICS, deadline=None, suppress_health_check=SLOW)
@given(spelled_stories())
def test_no_cable_that_is_right_is_in_a_plan_of_thousands_of_fabrics(it: Spelled) -> None:
    spares(it, judged(it))
