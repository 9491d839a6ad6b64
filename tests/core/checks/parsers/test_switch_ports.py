"""What switches say of their own ports, in the forms of three makers, and as a sweep keeps it."""

import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.switches import PORTS, ports
from fleet_runner.core.checks.parsers.switch_ports import (
    READERS,
    STORMS,
    UNCORRECTED,
    SwitchPort,
    eos,
    nvue,
    parse,
    sonic,
    written,
)
from tests.core.checks.catalogue.judging import cuts
from tests.core.checks.healthy import text_of

SONIC = {
    "status": text_of("sonic/interfaces_status.txt"),
    "pfc": text_of("sonic/pfc_priority.txt"),
    "watchdog": text_of("sonic/pfcwd_stats.txt"),
    "fec": text_of("sonic/fec_stats.txt"),
}
EOS = {"interfaces": text_of("eos/interfaces.json")}
NVUE = {"interfaces": text_of("nvue/interface.json"), "roce": text_of("nvue/qos_roce.json")}

WHOLE_NUMBERS = st.integers(0, 10**12)
STATES = st.builds(
    SwitchPort,
    st.none() | st.integers(1, 10**7),
    st.none() | st.integers(1, 65_535),
    st.sampled_from(["", "rs", "baser", "none"]),
    st.none() | st.frozensets(st.integers(0, 7)),
    st.dictionaries(st.sampled_from([UNCORRECTED, STORMS]), WHOLE_NUMBERS),
)


@given(st.dictionaries(st.text(max_size=20), st.dictionaries(st.text(max_size=20), STATES)), st.text(max_size=50))
def test_what_a_sweep_keeps_is_read_again(told: dict[str, dict[str, SwitchPort]], why: str) -> None:
    found = parse(json.dumps(written(told, {"silent": why})))
    assert found.ports == {name: mine for name, mine in told.items() if name != "silent"}
    assert found.unread == {"silent": why}


@pytest.mark.parametrize("text", ["{}", '{"ports_of_switches": 5}', '{"ports_of_switches": {"leaf": {"ports": 5}}}'])
def test_something_else_is_refused(text: str) -> None:
    with pytest.raises(EvidenceError, match="the switches' ports: "):
        parse(text)


def test_nonsense_in_a_port_is_not_known() -> None:
    port = {"mbps": "fast", "mtu": True, "fec": 0, "pfc": [3, "x", -1], UNCORRECTED: -5}
    text = json.dumps({"ports_of_switches": {"leaf": {"ports": {"a": port, "b": 5}}}})
    assert parse(text).ports == {"leaf": {"a": SwitchPort(pfc=frozenset({3}))}}


def test_sonic_tells_settings_errors_and_storms_of_each_port() -> None:
    found = sonic(SONIC)
    assert found["Ethernet0"] == SwitchPort(400_000, 9100, "rs", frozenset({3}), {UNCORRECTED: 0})
    assert found["Ethernet8"].counts == {UNCORRECTED: 1204, STORMS: 2}
    assert found["Ethernet24"] == SwitchPort(100_000, 9100, "", frozenset(), {})
    alone = sonic({"status": SONIC["status"]})
    assert alone["Ethernet0"] == SwitchPort(400_000, 9100, "rs", None, {})


def test_sonic_may_have_lossy_and_odd_words_that_are_not_known() -> None:
    odd = SONIC["pfc"].replace("Ethernet8   3", "Ethernet8   9").replace("Ethernet16  3", "Ethernet16   ")
    found = sonic(SONIC | {"pfc": odd})
    assert (found["Ethernet8"].pfc, found["Ethernet16"].pfc) == (None, None)


def test_eos_tells_speed_mtu_and_symbol_errors() -> None:
    found = eos(EOS)
    assert found["Ethernet2/1"] == SwitchPort(400_000, 9214, "", None, {UNCORRECTED: 1})
    assert found["Management1"] == SwitchPort(1000, 1500)
    odd = eos({"interfaces": json.dumps({"interfaces": {"Et1": {"interfaceCounters": {}}, "Et2": 5}})})
    assert odd == {"Et1": SwitchPort()}


def test_nvue_tells_settings_and_the_pfc_of_the_whole_switch() -> None:
    found = nvue(NVUE)
    assert found == dict.fromkeys(("swp1", "swp2"), SwitchPort(400_000, 9216, "rs", frozenset({3})))
    assert nvue(NVUE | {"roce": ""})["swp1"].pfc is None
    assert nvue(NVUE | {"roce": "{}"})["swp1"].pfc is None
    assert nvue({"interfaces": '{"swp1": {"type": "swp"}}'}) == {}


@pytest.mark.parametrize(("read", "said"), [(sonic, SONIC), (eos, EOS), (nvue, NVUE)])
def test_an_answer_that_was_cut_never_says_something_else(
    read: Callable[[Mapping[str, str]], dict[str, SwitchPort]], said: dict[str, str]
) -> None:
    """What is left of it may be less, and is what the whole one says."""
    whole = read(said)
    for name, text in said.items():
        for short in cuts(text):
            try:
                found = read(said | {name: short})
            except EvidenceError:
                continue
            for port, state in found.items():
                mine = whole[port]
                assert state.mbps in {None, mine.mbps}
                assert state.mtu in {None, mine.mtu}
                assert state.fec in {"", mine.fec}
                assert state.pfc in (None, mine.pfc)
                assert state.counts.items() <= mine.counts.items(), (name, short[-60:])


def test_every_network_system_with_commands_for_its_ports_has_a_reader() -> None:
    assert set(READERS) == set(PORTS)
    assert ports("sonic") == ("dellemc.enterprise_sonic.sonic", PORTS["dellemc.enterprise_sonic.sonic"])
    assert ports("arista.eos.eos")[1] == {"interfaces": "show interfaces | json"}
    assert ports("cisco.nxos.nxos") == ("cisco.nxos.nxos", {})
    assert ports(None) == ("", {})
    assert all(
        word in {"show", "nv"}
        for commands in PORTS.values()
        for word in (each.split()[0] for each in commands.values())
    )
