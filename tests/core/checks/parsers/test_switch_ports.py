"""What switches say of their own ports, in the forms of six makers, and as a sweep keeps it."""

import json
from collections.abc import Callable, Collection, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.switches import PORTS, ports
from fleet_runner.core.checks.parsers.port_states import eos, junos, nvue, nxos, os10, sonic
from fleet_runner.core.checks.parsers.port_states.port import (
    COUNTS,
    ECN_MARKS,
    LOSSLESS_DROPS,
    STORM_DROPS,
    STORMS,
    UNCORRECTED,
    SwitchPort,
    mbps,
)
from fleet_runner.core.checks.parsers.switch_ports import READERS, parse, written
from tests.core.checks.catalogue.judging import cuts
from tests.core.checks.healthy import text_of

Said = dict[str, str]
Read = Callable[[Mapping[str, str]], dict[str, SwitchPort]]

SAID: dict[str, Said] = {
    "dellemc.enterprise_sonic.sonic": {
        "status": text_of("sonic/interfaces_status.txt"),
        "pfc": text_of("sonic/pfc_priority.txt"),
        "watchdog": text_of("sonic/pfcwd_stats.txt"),
        "fec": text_of("sonic/fec_stats.txt"),
        "wred": text_of("sonic/wredcounters.txt"),
    },
    "arista.eos.eos": {
        "interfaces": text_of("eos/interfaces.json"),
        "phy": text_of("eos/phy_detail.json"),
        "watchdog": text_of("eos/pfc_watchdog.json"),
    },
    "nvidia.nvue.nvue": {"interfaces": text_of("nvue/interface.json"), "roce": text_of("nvue/qos_roce.json")},
    "junipernetworks.junos.junos": {
        "interfaces": text_of("junos/interfaces.json"),
        "cos": text_of("junos/cos_interface.txt"),
        "profiles": text_of("junos/congestion_notification.txt"),
    },
    "cisco.nxos.nxos": {
        "interfaces": text_of("nxos/interface.json"),
        "pfc": text_of("nxos/pfc.txt"),
        "watchdog": text_of("nxos/pfc_queue.json"),
        "queues": text_of("nxos/queuing.json"),
    },
    "dellemc.os10.os10": {"interfaces": text_of("os10/interface.xml")},
}
"""What a healthy switch of each network operating system answers to its commands."""

SONIC, EOS, NVUE, JUNOS, NXOS, OS10 = SAID.values()

WHOLE_NUMBERS = st.integers(0, 10**12)
STATES = st.builds(
    SwitchPort,
    st.none() | st.integers(1, 10**7),
    st.none() | st.integers(1, 65_535),
    st.sampled_from(["", "rs", "baser", "none"]),
    st.none() | st.frozensets(st.integers(0, 7)),
    st.dictionaries(st.sampled_from(COUNTS), WHOLE_NUMBERS),
    st.booleans(),
    st.none() | st.frozensets(st.integers(0, 7)),
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


def test_sonic_tells_settings_errors_storms_and_what_wred_did_of_each_port() -> None:
    """A hundred packets in each direction and more were dropped while the watchdog saw storms."""
    found = sonic.read(SONIC)
    told = {UNCORRECTED: 0, STORMS: 0, STORM_DROPS: 0, LOSSLESS_DROPS: 0, ECN_MARKS: 1_032_731}
    assert found["Ethernet0"] == SwitchPort(400_000, 9100, "rs", frozenset({3}), told)
    told = {UNCORRECTED: 1204, STORMS: 2, STORM_DROPS: 400, LOSSLESS_DROPS: 1204, ECN_MARKS: 32}
    assert found["Ethernet8"].counts == told
    assert found["Ethernet24"] == SwitchPort(100_000, 9100, "", frozenset(), {STORMS: 0, STORM_DROPS: 0})
    alone = sonic.read({"status": SONIC["status"]})
    assert alone["Ethernet0"] == SwitchPort(400_000, 9100, "rs", None, {})


def test_sonic_names_no_queue_without_a_storm_and_a_storm_is_growth_where_none_was_before() -> None:
    titles = SONIC["watchdog"].splitlines(keepends=True)[:-1]
    none = sonic.read(SONIC | {"watchdog": "".join(titles)})
    assert {(each.counts[STORMS], each.counts[STORM_DROPS]) for each in none.values()} == {(0, 0)}
    for untold in (
        "",
        "".join(titles).rstrip("\n"),
        SONIC["watchdog"].rstrip("\n") + "\n  Ethernet0:3  oper",
        "Error\n",
    ):
        assert STORMS not in sonic.read(SONIC | {"watchdog": untold})["Ethernet0"].counts


def test_sonic_may_have_lossy_and_odd_words_that_are_not_known() -> None:
    """What WRED dropped in a queue is only told where it is known that the queue should lose nothing."""
    odd = SONIC["pfc"].replace("Ethernet8   3", "Ethernet8   9").replace("Ethernet16  3", "Ethernet16   ")
    found = sonic.read(SONIC | {"pfc": odd})
    assert (found["Ethernet8"].pfc, found["Ethernet16"].pfc) == (None, None)
    assert LOSSLESS_DROPS not in found["Ethernet8"].counts


def test_a_port_of_sonic_whose_queues_were_cut_off_tells_nothing_of_them() -> None:
    """Half of a port's queues would later seem to be growth."""
    whole = SONIC["wred"].rstrip("\n") + "\n"
    found = sonic.read(SONIC | {"wred": whole})
    assert ECN_MARKS in found["Ethernet0"].counts
    assert ECN_MARKS not in found["Ethernet8"].counts


def test_eos_tells_settings_what_the_last_chip_did_not_correct_and_storms() -> None:
    """Of a port with a retimer, what faces the cable counts."""
    found = eos.read(EOS)
    assert found["Ethernet1/1"] == SwitchPort(400_000, 9214, "rs", None, {UNCORRECTED: 7, STORMS: 0})
    assert found["Ethernet2/1"] == SwitchPort(400_000, 9214, "rs", None, {UNCORRECTED: 11, STORMS: 5})
    assert found["Management1"] == SwitchPort(1000, 1500)
    alone = eos.read({"interfaces": EOS["interfaces"], "phy": "", "watchdog": "% Invalid input"})
    assert alone["Ethernet2/1"] == SwitchPort(400_000, 9214, "")
    odd = eos.read({"interfaces": json.dumps({"interfaces": {"Et1": {"interfaceCounters": {}}, "Et2": 5}})})
    assert odd == {"Et1": SwitchPort()}


LINE = {"description": {"location": "line"}}


@pytest.mark.parametrize(
    ("chips", "fec", "lost"),
    [
        ([{"fec": {"encoding": "reedSolomon", "uncorrectedCodewords": {"value": 4}}}], "rs", 4),
        ([LINE | {"fec": {"encoding": "fireCode", "perLaneUncorrectedFecBlocks": [{"value": 2}, {"value": 3}]}}],
         "baser", 5),
        ([LINE | {"fec": {"encoding": "fireCode", "perLaneUncorrectedFecBlocks": [{"value": 2}, 5]}}], "baser", None),
        ([LINE | {"fec": {"encoding": "reedSolomon", "uncorrectedCodewords": {"value": 4}}}, LINE], "", None),
        ([LINE | {"fec": {"encoding": "disabled"}}], "", None),
        ([{"fec": {"encoding": "reedSolomon"}}, {"fec": {"encoding": "reedSolomon"}}], "", None),
        ([], "", None),
        ([5], "", None),
        ("linkUp", "", None),
    ],
)  # fmt: skip
def test_eos_tells_fec_only_of_a_chip_that_surely_faces_the_cable(chips: object, fec: str, lost: int | None) -> None:
    phy = json.dumps({"interfacePhyStatuses": {"Ethernet1/1": {"phyStatuses": chips}}})
    found = eos.read({"interfaces": EOS["interfaces"], "phy": phy})["Ethernet1/1"]
    assert (found.fec, found.counts.get(UNCORRECTED)) == (fec, lost)
    down = EOS["interfaces"].replace('"connected"', '"notconnect"')
    assert eos.read({"interfaces": down, "phy": phy})["Ethernet1/1"].fec == ""


def test_nvue_tells_settings_and_the_pfc_of_the_whole_switch() -> None:
    found = nvue.read(NVUE)
    assert found == dict.fromkeys(
        ("swp1", "swp2"), SwitchPort(400_000, 9216, "rs", frozenset({3}), ecn=frozenset({3}))
    )
    assert nvue.read(NVUE | {"roce": ""})["swp1"].pfc is None
    assert nvue.read(NVUE | {"roce": "{}"})["swp1"].pfc is None
    assert nvue.read({"interfaces": '{"swp1": {"type": "swp"}}'}) == {}
    words = {"rs": "rs", "baser": "baser", "off": "none", "auto": "", "driver-auto": ""}
    told = {f"swp{at}": {"type": "swp", "link": {"fec": word}} for at, word in enumerate(words)}
    assert [port.fec for port in nvue.read({"interfaces": json.dumps(told)}).values()] == [*words.values()]


@pytest.mark.parametrize(
    ("change", "pfc", "ecn"),
    [
        ({"congestion-control": {"congestion-mode": "ecn", "enabled-tc": "0"}}, {3}, set()),
        ({"congestion-control": {"congestion-mode": "ecn", "enabled-tc": "0,6"}}, {3}, None),
        (
            {"pfc": {"pfc-priority": "5"}, "congestion-control": {"congestion-mode": "ECN", "enabled-tc": "0"}},
            {5},
            None,
        ),
        ({"pfc": {"pfc-priority": "3,4"}}, {3, 4}, None),
        ({"mode": "lossless-single-ipool", "enable": None, "state": "enabled"}, {3}, {3}),
        ({"mode": "lossy", "enable": {}, "pfc": {"pfc-priority": "-"}}, set(), None),
        ({"mode": "lossy", "enable": None, "state": "disabled", "pfc": {"pfc-priority": "-"}}, None, None),
        ({"mode": "lossy", "enable": "off", "pfc": {"pfc-priority": "-"}}, None, None),
        ({"congestion-control": {"congestion-mode": "ECN", "enabled-tc": "-"}}, {3}, None),
        ({"congestion-control": {"congestion-mode": "RED", "enabled-tc": "0,3"}}, {3}, None),
        ({"congestion-control": None}, {3}, None),
        ({"mode": "lossy-multi-tc", "pfc": {"pfc-priority": "-"}}, set(), None),
        ({"mode": "lossy", "pfc": {"pfc-priority": "-"}}, set(), None),
        ({"pfc": {"pfc-priority": "-"}}, None, None),
    ],
)
def test_nvue_tells_ecn_of_priorities_with_pfc_and_that_a_lossy_mode_has_none(
    change: dict[str, object], pfc: set[int] | None, ecn: set[int] | None
) -> None:
    found = nvue.read(NVUE | {"roce": json.dumps(json.loads(NVUE["roce"]) | change)})["swp1"]
    assert (found.pfc, found.ecn) == (pfc, ecn)


def test_junos_tells_speed_mtu_fec_pfc_and_what_it_did_not_correct() -> None:
    """A port that is down says FEC NONE, which nobody has set."""
    found = junos.read(JUNOS)
    assert found["et-0/0/1"] == SwitchPort(400_000, 9192, "rs", frozenset({3}), {UNCORRECTED: 0})
    assert found["et-0/0/2"] == SwitchPort(100_000, 9192, "rs", frozenset(), {UNCORRECTED: 12})
    assert found["et-0/0/3"] == SwitchPort(None, 9192, "", None, {UNCORRECTED: 0})
    assert found["et-0/0/4"] == SwitchPort(10_000, 1514, "", None, {UNCORRECTED: 0})
    assert found["gr-0/0/0"] == SwitchPort(800)
    with pytest.raises(EvidenceError, match="names no port"):
        junos.read({"interfaces": '{"interface-information": [{"physical-interface": [{"name": [{}]}, 5]}]}'})


NOTIFIED = "Physical interface: et-0/0/1, Index: 1024\n  Congestion-notification: "
ROWS = "".join(f"  {each:03b}          {'Enabled' if each in {3, 4} else 'Disabled'}   2240\n" for each in range(8))
ON = f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n"
OUTWARD = "Type: Output\nPriority   Flow-Control-Queues\n" + "  101          Enabled\n"


@pytest.mark.parametrize(
    ("cos", "profiles", "pfc"),
    [
        (f"{NOTIFIED}Disabled\n", "", frozenset()),
        (f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", f"Type: Input, Name: cnp, Index: 7\n{ROWS}", frozenset({3, 4})),
        (
            f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n",
            f"Name: cnp, Index: 7\nType: Input\nCable Length: 100 m\n{ROWS}{OUTWARD}Name: x, Index: 8\n{ROWS}",
            frozenset({3, 4}),
        ),
        (f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", f"Type: Input, Name: other, Index: 7\n{ROWS}", None),
        (f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", "Name: cnp, Index: 7\nType: Input\n  011010   Enabled\n", None),
        (f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", f"{ROWS}Name: cnp, Index: 7\n{ROWS[:100]}\n", None),
        (ON, f"Name: cnp, Index: 7\n{ROWS}  011010          Enabled\n", None),
        (ON, f"Name: cnp, Index: 7\n{ROWS}Type: Input\n{ROWS}", None),
        (ON, f"Name: cnp, Index: 7\n{ROWS.replace('Enabled', 'Disabled')}", None),
        (ON, f"Type: Input, Name: cnp, Index: 7\n{ROWS}Type: Output, Name: cnp, Index: 7\n  101   Enabled\n", {3, 4}),
        (ON, f"Name: cnp, Index: 7\nName: a name of words, Index: 8\n{ROWS}", None),
        (ON, f"Name: cnp, Index: 7\n{ROWS[:62]}Name: other, Index: 8\n{ROWS[62:]}", None),
        (f"{NOTIFIED}Enabled, Name: cnp-, Index: 7\n", f"Name: cnp, Index: 7\n{ROWS}", None),
        (NOTIFIED.replace("\n", "\nPhysical interface: et-0/0/9, Enabled\n") + "Disabled\n", "", None),
        (f"{NOTIFIED}Enabled, Index: 7\n", f"Name: cnp, Index: 7\n{ROWS}", None),
        (f"{NOTIFIED}Dis", "", None),
        ("  Congestion-notification: Disabled\n", "", None),
        ("error: the class-of-service subsystem is not running\n", "", None),
    ],
)
def test_junos_tells_pfc_only_by_a_profile_that_is_known_whole(
    cos: str, profiles: str, pfc: Collection[int] | None
) -> None:
    """One that goes by DSCP has other rows, or none that is on, and flow out of the port is told behind."""
    found = junos.read(JUNOS | {"cos": cos, "profiles": profiles})
    assert (found["et-0/0/1"].pfc, found["et-0/0/2"].pfc) == (pfc, None)


def test_junos_says_nothing_of_a_bundles_member_that_has_no_profile_of_its_own() -> None:
    row = {"ae-bundle-name": [{"data": "ae0.0"}], "name": [{"data": "et-0/0/1"}], "oper-status": [{"data": "up"}]}
    plain = {"interfaces": json.dumps({"interface-information": [{"physical-interface": [row]}]})}
    assert junos.read(plain | {"cos": f"{NOTIFIED}Disabled\n"})["et-0/0/1"].pfc is None
    cnp = {"cos": f"{NOTIFIED}Enabled, Name: cnp, Index: 7\n", "profiles": f"Name: cnp, Index: 7\n{ROWS}"}
    assert junos.read(plain | cnp)["et-0/0/1"].pfc == frozenset({3, 4})


def test_nxos_tells_settings_and_queues_that_its_watchdog_shut() -> None:
    """Its PFC bits are hexadecimal: 28 are priorities 3 and 5. A port that is down tells none."""
    found = nxos.read(NXOS)
    told = {STORMS: 0, STORM_DROPS: 5, LOSSLESS_DROPS: 121}
    assert found["Ethernet1/1"] == SwitchPort(400_000, 9216, "rs", frozenset({3}), told)
    told = {STORMS: 2, STORM_DROPS: 905, LOSSLESS_DROPS: 40}
    assert found["Ethernet1/2"] == SwitchPort(400_000, 9216, "", frozenset({3, 5}), told, dcbx=True)
    assert found["Ethernet1/3"] == SwitchPort(None, 1500, "", None, {})
    assert set(found) == {"Ethernet1/1", "Ethernet1/2", "Ethernet1/3"}
    alone = nxos.read({"interfaces": NXOS["interfaces"], "pfc": ""})
    assert alone["Ethernet1/2"] == SwitchPort(400_000, 9216)
    assert alone["Ethernet1/1"] == SwitchPort(400_000, 9216, "rs")
    with pytest.raises(EvidenceError, match="names no port"):
        nxos.read({"interfaces": '{"TABLE_interface": {"ROW_interface": {"interface": 5}}}'})


def test_nxos_tells_drops_of_queues_that_should_lose_nothing_where_it_says_which_these_are() -> None:
    """Two releases call them differently; a group that has no number, or no PFC, is left out."""
    for gone, first, second in (("watchdog", 121, 40), ("pfc", None, None), ("queues", None, None)):
        found = nxos.read({name: text for name, text in NXOS.items() if name != gone})
        told = [found[name].counts.get(LOSSLESS_DROPS) for name in ("Ethernet1/1", "Ethernet1/2", "Ethernet1/3")]
        assert told == [first, second, None], gone
    unsaid = nxos.read(NXOS | {"queues": NXOS["queues"].replace('"pfc-qosgrp": "3"', '"pfc-qosgrp": "-"')})
    assert (LOSSLESS_DROPS in unsaid["Ethernet1/1"].counts, unsaid["Ethernet1/2"].counts[LOSSLESS_DROPS]) == (
        False,
        30,
    )


@pytest.mark.parametrize(
    ("told", "pfc"),
    [
        ("On   Off    ", frozenset[int]()),
        ("Auto Off    ", frozenset[int]()),
        ("Off  Off    ", frozenset[int]()),
        ("On   On (8) ", frozenset({3})),
        ("On   On (0) ", None),
        ("On   On     ", None),
        ("On   On (sobm) ", None),
        ("On   Maybe (8) ", None),
    ],
)
def test_nxos_pfc_that_is_on_for_nobody_knows_what_is_not_known(told: str, pfc: frozenset[int] | None) -> None:
    found = nxos.read(NXOS | {"pfc": f"Ethernet1/1        {told}  0          0\r\n"})
    assert (found["Ethernet1/1"].pfc, found["Ethernet1/1"].dcbx) == (pfc, told.startswith("Auto"))


def test_nxos_may_write_one_row_without_a_list() -> None:
    row = {"interface": "Ethernet1/1", "state": "up", "eth_mtu": 9216, "eth_speed": "100 Gb/s"}
    one = {"interfaces": json.dumps({"TABLE_interface": {"ROW_interface": row}})}
    assert nxos.read(one) == {"Ethernet1/1": SwitchPort(100_000, 9216)}


def test_os10_tells_what_its_ports_do_and_not_for_which_priorities_pfc_is_on() -> None:
    """Of "not-supported" and of a port that is down, no FEC follows."""
    found = os10.read(OS10)
    assert found == {
        "ethernet1/1/1": SwitchPort(100_000, 9216, "rs"),
        "ethernet1/1/2": SwitchPort(40_000, 9216),
        "ethernet1/1/3": SwitchPort(None, 9216),
    }
    odd = {
        "": "names no port",
        "<?xml?><a/>": "names no port",
        "<?xml?><a>": "cannot be read",
        '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>': "defines entities",
    }
    for text, why in odd.items():
        with pytest.raises(EvidenceError, match=why):
            os10.read({"interfaces": text})
    other = OS10["interfaces"].replace("<name>ethernet1/1/1</name>", "<name>mgmt1/1/1</name>")
    assert "mgmt1/1/1" not in os10.read({"interfaces": other})


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
        word in {"show", "nv"}
        for commands in PORTS.values()
        for word in (each.split()[0] for each in commands.values())
    )
