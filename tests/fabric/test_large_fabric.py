"""The scenarios again, on a fabric of 1,024 servers: run at night with `pytest -m nightly`."""

from pathlib import Path

import pytest

from tests.fabric.building import Fabric
from tests.fabric.ibsim import LARGE, running
from tests.fabric.judging import by_hand, hold_clean, hold_right, judged
from tests.fabric.scenarios import SHELF, gone_wrong, scenarios
from tests.fabric.truth import design

FABRIC = Fabric(servers=1024, leaf_servers=64, spines=32, ways=1, radix=144)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_each_fault_class_is_told_apart_among_1024_servers(tmp_path: Path) -> None:
    """One by one, then all at once; then all that hands can do is done, and the real subnet manager routes it."""
    known = design(FABRIC)
    every = scenarios(FABRIC)
    with running(tmp_path, FABRIC.netlist(SHELF), *LARGE) as fabric:
        hold_clean(judged(fabric.ibnetdiscover(), known))
        for scenario in every:
            with gone_wrong(fabric, FABRIC, [scenario]):
                hold_right(judged(fabric.ibnetdiscover("-p"), known).faults, [scenario])
        with gone_wrong(fabric, FABRIC, every):
            at_once = judged(fabric.ibnetdiscover("-p"), known)
        hold_right(at_once.faults, every)
        assert not at_once.suspect
        hold_clean(judged(fabric.ibnetdiscover("-p"), known))
        plain = [each for each in every if by_hand(each.actions)]
        fabric.console(line for each in plain for line in each.break_it())
        faults = judged(fabric.ibnetdiscover(), known).faults
        fabric.console(line for fault in faults for line in by_hand(fault.actions))
        hold_clean(judged(fabric.ibnetdiscover(), known))
        assert fabric.opensm() == len(FABRIC.cables())
