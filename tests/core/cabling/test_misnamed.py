"""Names that differ are told as names; a cable that is absent, or is plugged elsewhere, stays one."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, Port, link, matching
from fleet_runner.core.cabling.misnamed import MANY_PORTS, Sort, misnamed
from fleet_runner.core.cabling.suspect import misnamed_words
from fleet_runner.core.checks.parsers.discovery import FabricPort
from tests.core.cabling.fabrics import SERVERS, Story, rails, stories
from tests.core.cabling.plugging import Said, at, judged, without
from tests.examples import examples

DESIGN = rails(6, 4)
FEW = 7
"""Cables of a leaf with five servers and two spines."""


def adapters(links: tuple[Link, ...] = DESIGN) -> Said:
    """Return what adapters say of themselves that the driver counts."""
    ports = [port for joined in links for port in joined if port.device in SERVERS]
    return {port: f"{port.device} mlx5_{port.interface[2:]}" for port in ports}


def servers(links: tuple[Link, ...] = DESIGN) -> Said:
    """Return what adapters say whose servers are called otherwise."""
    ports = [port for joined in links for port in joined if port.device in SERVERS]
    return {port: f"node{port.device[-2:]} {port.interface}" for port in ports}


SWITCHES: dict[Port | str, str] = {f"leaf-{number}": f"MF0;sw{number}:Q/U1" for number in range(1, 9)}
BOTH: dict[Port | str, str] = {**SWITCHES, **servers()}


@pytest.mark.parametrize(
    ("called", "words"),
    [
        (
            adapters(),
            "8 of 32 designed links could be matched; the likely reason is the names of adapters: the design ",
        ),
        (
            servers(),
            "8 of 32 designed links could be matched; the likely reason is the names of devices: the design ",
        ),
        (SWITCHES, "0 of 32 designed links could be matched; the likely reason is the names of devices: the design "),
        (BOTH, "0 of 32 designed links could be matched; the likely reason is the names of dev"),
    ],
)
def test_names_that_fit_nowhere_are_one_sentence(called: Said, words: str) -> None:
    verdicts = judged(DESIGN, DESIGN, called)
    assert verdicts.suspect.startswith(words)
    assert (verdicts.faults, verdicts.doubts, verdicts.unbound, verdicts.misnamed) == ((), (), (), True)


def told(verdicts: Verdicts) -> set[Link]:
    """Return every designed link that a fault is about."""
    return {each for fault in verdicts.faults for each in fault.expected}


@pytest.mark.parametrize("called", [{}, adapters()], ids=["fitting", "unknown"])
def test_cables_that_are_absent_are_no_names(called: Said) -> None:
    """Three of four leaves are dark, or their cables pulled."""
    dark = without(DESIGN, "leaf-1", "leaf-2", "leaf-3")
    verdicts = judged(DESIGN, dark, {port: said for port, said in called.items() if str(port).endswith("ib3")})
    assert not called or verdicts.misnamed is False
    assert {f"leaf-{number}" for number in (1, 2, 3)} <= {
        device for each in verdicts.faults for device in each.devices
    }


def test_adapters_that_the_design_leaves_out_are_no_names() -> None:
    """Each server has one for storage, and half of its designed cables are pulled."""
    storage = [link(Port(f"gpu-0{number}", "mlx5_8"), Port("store-1", str(number))) for number in range(1, 7)]
    pulled = [each for each in DESIGN if each not in at(DESIGN, "leaf-1") and each not in at(DESIGN, "leaf-2")]
    assert not judged(DESIGN, (*pulled, *storage)).misnamed


@given(stories())
def test_what_is_miscabled_under_known_names_is_never_called_misnamed(story: Story) -> None:
    assert not judged(story.designed, story.observed).misnamed


@settings(max_examples=examples(200))
@given(stories(), st.sampled_from([adapters, servers]))
def test_no_right_cable_is_in_a_plan_where_no_servers_name_fits(story: Story, called: object) -> None:
    """Whatever is miscabled as well; of two or three servers nobody can tell other names from other servers."""
    assume(called is adapters or (len(at(story.designed, "leaf-1")) >= FEW and len(story.mishaps) <= 1))
    names = adapters(story.designed) if called is adapters else servers(story.designed)
    verdicts = judged(story.designed, story.observed, names)
    assert not told(verdicts).intersection(story.designed, story.observed)
    assert verdicts.misnamed or story.mishaps


def test_a_switch_of_whose_numbers_the_design_has_none_is_called_otherwise() -> None:
    """One cable in such a port was moved there; and a port that no number leads to needs no cable to say so."""
    design = [link(Port(f"gpu-0{number}", "ib0"), Port("leaf-1", str(number))) for number in range(1, 10)]
    away = [link(each.a, Port("leaf-1", str(40 + number))) for number, each in enumerate(design)]
    few, many = [*away[1:], design[0]], away[:MANY_PORTS]
    assert misnamed(matching(design), Bound(dict.fromkeys(few, "")), SERVERS) == ()
    found = misnamed(matching(design), Bound(dict.fromkeys(many, "")), SERVERS)
    assert [(each.sort, each.written, each.seen) for each in found[:1]] == [(Sort.PORTS, "leaf-1 1", "leaf-1 40")]
    silent = Bound(dict.fromkeys(design[1:], ""), unmapped=frozenset({Port("leaf-1", "1")}))
    (alone,) = misnamed(matching(design), silent, SERVERS)
    assert (alone.designed, alone.seen) == (design[0], "")
    assert ", the capture" not in misnamed_words(8, 9, [alone])


def test_both_ends_may_be_called_otherwise() -> None:
    """A number of adapters at a switch that counts otherwise are as many designed links, and no more."""
    design = [link(Port(f"gpu-0{number}", "ib0"), Port("leaf-1", str(number))) for number in range(1, 10)]
    seen = {link(Port(f"x {number}", "1"), Port("leaf-1", str(40 + number))): "" for number in range(1, 9)}
    ends = {f"x {number}": FabricPort(f"gpu-0{number} mlx5_0", 1, "CA", str(number)) for number in range(1, 9)}
    adapter = {f"x {number}": Port(f"gpu-0{number}", "mlx5_0") for number in range(1, 9)}
    bound = Bound(seen, frozenset(ends), ends, adapters=adapter)
    found = misnamed(matching(design), bound, SERVERS)
    assert [each.designed for each in found] == design[:8]
    assert (found[0].sort, found[0].written, found[0].seen) == (Sort.ADAPTERS, "gpu-01 ib0", "gpu-01 mlx5_0")
