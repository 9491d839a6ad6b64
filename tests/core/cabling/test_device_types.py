"""The port names that the community's device type library gives switches of AI fabrics, beside a fabric's numbers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers import fabric_capture
from tests.core.cabling.discoveries import plain
from tests.examples import examples

CAGES = [(cage, half) for cage in range(32) for half in (0, 1)]

TYPES: dict[str, list[str]] = {
    "QM9700": [f"P{cage}.{half}" for cage, half in CAGES],
    "QM8700": [f"IB1/{number}" for number in range(1, 41)],
    "Q3400-RA": [f"sw{cage}p{half}" for cage in range(1, 73) for half in (1, 2)],
    "SN5600": [f"swp{number}" for number in range(1, 65)],
    "7060X6-64PE": [f"Ethernet{number}" for number in range(1, 65)],
    "Z9864F-ON": [f"Eth1/{number}" for number in range(1, 65)],
    "N9K-C9364D-GX2A": [f"Ethernet1/{number}" for number in range(1, 67)],
}
"""By device type: the name of port 1, 2 …, as the library's definitions have them; its QM9700 lacks P22.1 and P23.0.
It has none for the Z9864F-ON, whose ports are called here as SONiC's standard names do."""

EXTRAS = {"7060X6-64PE": ("SFP+1", "SFP+2"), "Q3400-RA": ("fnm1",)}
"""Other ports of the definitions, which no cable of the fabric is plugged into."""


def servers(count: int) -> list[Port]:
    return [Port(f"gpu-{number:03}", "mlx5_0") for number in range(count)]


def judged(wanted: list[Link], seen: list[Link]) -> Verdicts:
    known = names([port for each in wanted for port in each], {}, {}, wanted)
    hosts = frozenset(each.a.device for each in wanted if each.a.device.startswith("gpu"))
    return hold(wanted, bind(fabric_capture.read(plain(seen)).links, known), Places({}, {}, hosts), one_fabric=True)


@pytest.mark.parametrize("kind", TYPES)
def test_a_switch_with_every_port_in_use_is_as_designed(kind: str) -> None:
    hosts, ports = servers(len(TYPES[kind])), TYPES[kind]
    wanted = [link(host, Port("leaf-1", name)) for host, name in zip(hosts, ports, strict=True)]
    seen = [link(host, Port("leaf-1", str(number))) for number, host in enumerate(hosts, start=1)]
    verdicts = judged(wanted, seen)
    assert (verdicts.faults, verdicts.matched, verdicts.unmapped) == ((), len(wanted), ())


@pytest.mark.parametrize("kind", TYPES)
@settings(max_examples=examples(60), deadline=None)
@given(drawn=st.data())
def test_no_cable_of_a_part_of_the_ports_is_told_to_be_moved(kind: str, drawn: st.DataObject) -> None:
    """Whichever ports are in use, and whichever others the design has for management."""
    ports = TYPES[kind]
    used = sorted(drawn.draw(st.sets(st.integers(0, len(ports) - 1), min_size=2, max_size=20)))
    hosts = servers(len(used))
    wanted = [link(host, Port("leaf-1", ports[at])) for host, at in zip(hosts, used, strict=True)]
    wanted += [link(Port("oob-1", name), Port("leaf-1", name)) for name in EXTRAS.get(kind, ())]
    seen = [link(host, Port("leaf-1", str(at + 1))) for host, at in zip(hosts, used, strict=True)]
    verdicts = judged(wanted, seen)
    cables = {each for each in wanted if each.a.device.startswith("gpu")}
    assert not any(cables.intersection(fault.expected) for fault in verdicts.faults)
    if not verdicts.misnamed:  # two cables may tell too little: then names are asked for
        assert verdicts.matched + len(cables.intersection(verdicts.unmapped)) == len(cables)
