"""What all links of an Ethernet fabric counted an hour, as its page shows it."""

import pytest

from fleet_runner.core.cabling.topology.heat import Rate, rates, untold
from fleet_runner.core.checks.catalogue import fabric_roce
from fleet_runner.core.checks.parsers.port_states.port import SwitchPort
from tests.core.checks.catalogue.judging import READ_AT
from tests.core.checks.catalogue.test_fabric_roce import LINKS, asked, counted, held, later

ALLOWED = 144.0


def test_each_link_has_the_worse_of_its_ends_and_what_its_speed_allows() -> None:
    """The storage's link tells nothing: its switch counted no blocks there. One is told that may still go on."""
    bad = {
        ("leaf-1", "Ethernet16"): counted(uncorrected=5 + 72),
        ("spine-1", "Ethernet1/1"): counted(uncorrected=5 + 36),
        ("leaf-1", "Ethernet0"): counted(uncorrected=5 + 288),
    }
    observed = later(bad).observed
    assert {f"{a} to {b}": rate for (a, b), rate in (rates(observed) or {}).items()} == {
        "gpu-01 eth1 to leaf-1 Ethernet0": Rate(288.0, ALLOWED),
        "leaf-1 Ethernet16 to spine-1 Ethernet1/1": Rate(72.0, ALLOWED),
    }
    assert [row[0] for row in observed["rates"]] == ["gpu-01", "leaf-1"], "the worst one first"
    assert (observed["counting"], observed["untelling"]) == (2, 1)
    assert [f"{a} to {b}" for a, b in untold(observed, ())] == ["leaf-1 Ethernet24 to store-1 eth0"]


def test_what_is_not_compared_is_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first look, a port whose speed nobody knows, and a link of a node that boots."""
    observed = later({}, disturbed={"gpu-02": READ_AT - 60}).observed
    assert sorted(f"{a}" for a, _ in untold(observed, ())) == ["gpu-02 eth1", "gpu-02 eth2", "leaf-1 Ethernet24"]
    silent = SwitchPort(None, 9100, "rs", frozenset({3}), {"uncorrected": 99})
    mute = later({("leaf-1", "Ethernet0"): silent}).observed
    assert "gpu-01 eth1" in {f"{a}" for a, _ in untold(mute, ())}
    monkeypatch.setattr(fabric_roce, "MOST_COUNTED", 1)
    many = later({}, disturbed={"gpu-02": READ_AT - 60}).observed
    assert (len(many["untold"]), many["untelling"]) == (1, 3)
    assert untold(many, frozenset()) == frozenset()


def test_a_first_look_knows_of_no_link() -> None:
    observed = asked(expected=held()).observed
    assert (observed["rates"], observed["untelling"]) == ([], len(LINKS))
