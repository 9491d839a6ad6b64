"""What the simulator does for the other tests here: counters, routing, and a console that is not believed blindly."""

from collections.abc import Iterator

import pytest

from fleet_runner.core.checks.parsers import ibqueryerrors
from fleet_runner.core.checks.parsers.ibqueryerrors import PortErrors
from tests.fabric.building import Fabric, count, join, record, unlink
from tests.fabric.ibsim import LINE_LIMIT, Ibsim, running

FABRIC = Fabric(servers=4, rails=2, leaf_servers=4, spines=2)


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ibsim]:
    """A small fabric, routed."""
    with running(tmp_path_factory.mktemp("ibsim"), FABRIC.netlist()) as found:
        assert found.opensm() == len(FABRIC.cables())
        yield found


def test_a_counter_set_on_the_console_is_what_the_real_tool_reports(fabric: Ibsim) -> None:
    switch, adapter = FABRIC.down(2, 1).b, FABRIC.down(3, 0).a
    fabric.console(
        [
            count(switch, "PortCounters.LinkDownedCounter", 12),
            count(adapter, "PortCounters.SymbolErrorCounter", 7),
        ]
    )
    known = dict(FABRIC.guids())
    assert set(ibqueryerrors.parse(fabric.ibqueryerrors()).ports) == {
        PortErrors(f"{known[record(switch)]:016x}", int(switch.port), 0, 12),
        PortErrors(f"{known[record(adapter)] + 1:016x}", 1, 7, 0),
    }


def test_the_subnet_manager_routes_over_the_links_that_are_there(fabric: Ibsim) -> None:
    """It is content with half a fabric, so its word alone is no proof of a repair: the number of links is."""
    cables = FABRIC.of("leaf-02")
    fabric.console(map(unlink, cables))
    try:
        assert fabric.opensm() == len(FABRIC.cables()) - len(cables)
    finally:
        fabric.console(map(join, cables))
    assert fabric.opensm() == len(FABRIC.cables())


@pytest.mark.parametrize("line", ['Link "H-nobody"[1] "S-leaf-01"[60]', 'Unlink "S-leaf-01"[60]', "Replug it"])
def test_a_console_line_that_the_simulator_did_not_follow_fails_the_test_that_typed_it(
    fabric: Ibsim, line: str
) -> None:
    with pytest.raises(AssertionError, match="ibsim refused"):
        fabric.console([line])


def test_a_console_line_that_the_simulator_would_cut_is_not_typed(fabric: Ibsim) -> None:
    with pytest.raises(AssertionError):
        fabric.console(["#" * (LINE_LIMIT + 1)])
