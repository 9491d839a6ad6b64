"""Ethernet halls whose switches and design call ports by any rules: a cable that is right is in no plan."""

from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.ethernet import judge, listen
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.names import Names, names
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours import capture
from tests.cli.cabling.fabric_forms import ETHERNET, Heard
from tests.core.cabling.spelled_halls import SPOKEN, Drawn, draw
from tests.examples import examples

HALLS = 5_000

SEEDS = st.integers(0, 1_000_000)

Captures = Mapping[str, tuple[Neighbour, ...]]


def captures(heard: Mapping[str, Heard], forms: int) -> Captures:
    """Return what each device hears, read from what it prints, each in a form of some maker."""
    kinds = sorted(ETHERNET)
    texts = {name: ETHERNET[kinds[(forms + at) % len(kinds)]](rows) for at, (name, rows) in enumerate(heard.items())}
    return {name: capture.read(text).neighbours for name, text in texts.items()}


def known(it: Drawn) -> tuple[list[Link], Names]:
    wanted = [it.in_words(each) for each in it.designed]
    return wanted, names([port for each in wanted for port in each], {}, {})


def judged(it: Drawn, forms: int, heard: Mapping[str, Heard] | None = None) -> Verdicts:
    wanted, told = known(it)
    servers = frozenset(port.device for each in wanted for port in each if port.device.startswith("gpu"))
    return judge(
        wanted, captures(it.heard() if heard is None else heard, forms), told, Places({}, {}, servers), prove=True
    )


def spares(it: Drawn, verdicts: Verdicts) -> None:
    """Fail where a cable that is right is in a fault, or one that is wrong is in none and is compared."""
    right = it.right
    for fault in verdicts.faults:
        assert right.isdisjoint(fault.expected)
        assert right.isdisjoint(fault.observed)
    told = {each for fault in verdicts.faults for each in fault.expected}
    left = {*verdicts.unmapped, *verdicts.silent, *(doubt.designed for doubt in verdicts.doubts)}
    wrong = {it.in_words(each) for each in it.designed} - right
    assert verdicts.suspect or wrong <= told | left


UNHURRIED = [HealthCheck.too_slow]


@settings(max_examples=examples(500), deadline=None, suppress_health_check=UNHURRIED)
@given(SEEDS, st.integers(0, len(ETHERNET) - 1))
def test_no_cable_that_is_right_is_in_a_plan(seed: int, forms: int) -> None:
    it = draw(seed)
    spares(it, judged(it, forms))


@settings(max_examples=examples(500), deadline=None, suppress_health_check=UNHURRIED)
@given(SEEDS, st.integers(0, len(ETHERNET) - 1))
def test_no_cable_that_is_right_is_in_a_plan_where_a_part_is_heard(seed: int, forms: int) -> None:
    """Of many a switch just one cable is heard, which tells nobody how it counts."""
    it = draw(seed)
    spares(it, judged(it, forms, it.heard_in_part(seed)))


@settings(max_examples=examples(200), deadline=None, suppress_health_check=UNHURRIED)
@given(SEEDS, st.integers(0, len(ETHERNET) - 1))
def test_who_speaks_as_the_design_writes_is_compared(seed: int, forms: int) -> None:
    it = draw(seed, one_rule=True)
    verdicts = judged(it, forms)
    spares(it, verdicts)
    assert it.faults or verdicts.matched == len(it.designed)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=UNHURRIED)
@given(SEEDS, st.integers(0, len(ETHERNET) - 1))
def test_a_leaf_that_is_one_port_too_far_is_never_as_designed(seed: int, forms: int) -> None:
    it = draw(seed, one_rule=True, far=True)
    spares(it, judged(it, forms))
    wanted, told = known(it)
    mine = {each for each in wanted if it.far in {each.a.device, each.b.device}} - it.right
    assert mine.isdisjoint(listen(captures(it.heard(), forms), told, wanted, {}).links)


@pytest.mark.nightly
@pytest.mark.timeout(3600)  # minutes, and more where the machine does other things at night
@settings(max_examples=HALLS, deadline=None, suppress_health_check=UNHURRIED)
@given(SEEDS, st.integers(0, len(ETHERNET) - 1))
def test_no_cable_that_is_right_is_in_a_plan_of_thousands_of_halls(seed: int, forms: int) -> None:
    it = draw(seed)
    spares(it, judged(it, forms))


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@settings(max_examples=HALLS, deadline=None, suppress_health_check=UNHURRIED)
@given(SEEDS, st.integers(0, len(ETHERNET) - 1))
def test_no_cable_that_is_right_is_in_a_plan_of_thousands_of_halls_heard_in_part(seed: int, forms: int) -> None:
    it = draw(seed)
    spares(it, judged(it, forms, it.heard_in_part(seed)))


def test_every_maker_is_drawn() -> None:
    assert {style for seed in range(200) for style in draw(seed).spoken.values()} == {*SPOKEN}
