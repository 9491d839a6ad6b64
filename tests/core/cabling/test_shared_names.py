"""One host in two spellings is one host; two devices that use one name are not told apart, and nothing is moved."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.links import Link, Port
from tests.core.cabling.fabrics import SERVERS, rails
from tests.core.cabling.plugging import judged

DESIGN = rails(4, 4)
SPELLINGS = ("{}", "GPU{}", "Gpu{}.Example.net")


def said(port: Port, spelling: str) -> str:
    """Return an adapter's description in a spelling of its host's name."""
    return f"{spelling.format(port.device if spelling == '{}' else port.device[3:])} {port.interface}"


ADAPTERS = sorted({port for each in DESIGN for port in each if port.device in SERVERS})
spelled = st.fixed_dictionaries({port: st.sampled_from(SPELLINGS) for port in ADAPTERS})


@given(spelled)
def test_hosts_whose_adapters_spell_them_in_many_ways_are_as_designed(spellings: dict[Port, str]) -> None:
    verdicts = judged(DESIGN, DESIGN, {port: said(port, each) for port, each in spellings.items()})
    assert (verdicts.faults, verdicts.matched, verdicts.shared) == ((), len(DESIGN), ())


@given(st.sampled_from(SPELLINGS[1:]), st.integers(1, 4))
def test_two_hosts_of_one_name_are_neither_and_no_cable_is_moved(spelling: str, rails_told: int) -> None:
    """The second is called after the first, by some of its adapters."""
    called: dict[Port | str, str] = {
        Port("gpu-02", f"ib{rail}"): said(Port("gpu-01", f"ib{rail}"), spelling) for rail in range(rails_told)
    }
    verdicts = judged(DESIGN, DESIGN, called)
    assert verdicts.faults == ()
    assert {"gpu-01 ib0", called[Port("gpu-02", "ib0")]} <= {*verdicts.shared}
    told: set[Link] = {doubt.designed for doubt in verdicts.doubts}
    assert {port.device for each in told for port in each if port.device in SERVERS} == {"gpu-01", "gpu-02"}
    built = judged(DESIGN, DESIGN, called, known=[port for port in ADAPTERS if port.device in {"gpu-01", "gpu-02"}])
    assert (built.faults, built.matched) == ((), len(DESIGN))


def test_two_switches_of_one_name_are_neither() -> None:
    """Their cables tell which is which, as of new switches: a GUID is recorded, and no cable is moved."""
    verdicts = judged(DESIGN, DESIGN, {"leaf-2": "MF0;LEAF-1:Q/U1"})
    assert {fault.kind for fault in verdicts.faults} <= {Kind.REPLACED_SWITCH}
    assert verdicts.shared == ("MF0;LEAF-1:Q/U1", "MF0;leaf-1:Q/U1")
