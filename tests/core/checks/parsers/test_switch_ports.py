"""What switches say of their own ports, whatever their system, and as a sweep keeps it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.switches import PORTS, gnmi, ports
from fleet_runner.core.checks.parsers.port_states.modules import MOST, UNITS, ModuleAlarm
from fleet_runner.core.checks.parsers.port_states.port import (
    COUNTS,
    STORM_DROPS,
    STORMS,
    UNCORRECTED,
    SwitchPort,
    mbps,
)
from fleet_runner.core.checks.parsers.switch_ports import READERS, parse, written
from tests.core.checks.catalogue.judging import cuts
from tests.core.checks.switch_answers import SAID

WHOLE_NUMBERS = st.integers(0, 10**12)
TENTHS = st.integers(-400, 1500).map(lambda number: number / 10)


STATES = st.builds(
    SwitchPort,
    st.none() | st.integers(1, 10**7),
    st.none() | st.integers(1, 65_535),
    st.sampled_from(["", "rs", "baser", "none"]),
    st.none() | st.frozensets(st.integers(0, 7)),
    st.dictionaries(st.sampled_from(COUNTS), WHOLE_NUMBERS),
    st.booleans(),
    st.none() | st.frozensets(st.integers(0, 7)),
    st.lists(
        st.builds(ModuleAlarm, st.sampled_from(sorted(UNITS)), st.integers(0, 16), TENTHS, TENTHS), max_size=MOST
    ).map(tuple),
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


@pytest.mark.parametrize(
    ("told", "found"),
    [("400G", 400_000), ("2.5G", 2500), ("1000mbps", 1000), ("100 Gb/s", 100_000), ("400Gbps", 400_000),
     ("1000 Mb/s", 1000), ("auto-speed", None), ("Unlimited", None), ("400", None), ("0G", None), (None, None),
     (5, None)],
)  # fmt: skip
def test_makers_write_speeds_in_several_ways(told: object, found: int | None) -> None:
    assert mbps(told) == found


@pytest.mark.parametrize("system", SAID)
def test_an_answer_that_was_cut_never_says_something_else(system: str) -> None:
    """What is left of it may be less, and is what the whole one says."""
    read, said = READERS[system], SAID[system]
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
                assert (state.pfc, state.dcbx) in ((None, False), (mine.pfc, mine.dcbx))
                assert state.ecn in {None, mine.ecn}
                told = set(state.counts.items())
                if (system, name) == ("dellemc.enterprise_sonic.sonic", "watchdog") and short.endswith("\n"):
                    told -= {(STORMS, 0), (STORM_DROPS, 0)}  # where its table ends between two rows nobody can tell
                assert told <= mine.counts.items(), (name, short[-60:])


NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)


@given(st.data())
def test_a_hostile_answer_raises_nothing_else_and_tells_of_a_port_only_what_a_port_can_have(
    data: st.DataObject,
) -> None:
    """Any part of a true answer, in JSON or in words, may be something else."""
    system = data.draw(st.sampled_from(sorted(SAID)))
    said = dict(SAID[system])
    name = data.draw(st.sampled_from(sorted(said)))
    at = data.draw(st.integers(0, len(said[name])))
    end = data.draw(st.integers(at, min(len(said[name]), at + 40)))
    odd = data.draw(st.text(max_size=20) | NONSENSE.map(json.dumps))
    said[name] = said[name][:at] + odd + said[name][end:]
    try:
        found = READERS[system](said)
    except EvidenceError:
        return
    for port in found.values():
        assert port.mbps is None or 0 < port.mbps <= 10**18
        assert port.fec in {"", "rs", "baser", "none"}
        assert port.pfc is None or port.pfc <= frozenset(range(8))
        assert port.counts.keys() <= set(COUNTS)
        assert all(count >= 0 for count in port.counts.values())
    assert parse(json.dumps(written({"leaf": found}, {}))).ports["leaf"].keys() == {name[:255] for name in found}


def test_every_network_system_with_commands_for_its_ports_has_a_reader() -> None:
    assert set(READERS) == set(PORTS)
    assert ports("sonic") == ("dellemc.enterprise_sonic.sonic", PORTS["dellemc.enterprise_sonic.sonic"])
    assert {system: list(commands) for system, commands in PORTS.items()} == {
        system: list(SAID[system]) for system in PORTS
    }
    assert ports("cisco.iosxr.iosxr") == ("cisco.iosxr.iosxr", {})
    assert ports(None) == ("", {})
    assert all(
        word in {"show", "nv"} or gnmi(word)
        for commands in PORTS.values()
        for word in (each.split()[0] for each in commands.values())
    )
