"""Are the switches' ports set for RoCE as the nodes behind them, and do they receive without errors?"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.cabling import quality
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.port_states.port import (
    ECN_MARKS,
    LOSSLESS_DROPS,
    STORM_DROPS,
    STORMS,
    UNCORRECTED,
    SwitchPort,
)
from fleet_runner.core.checks.parsers.switch_ports import written
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import READ_AT, judged

PASS, FAIL, UNKNOWN = Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN
FABRIC, HOUR = "ethernet.hall", 3600.0
GOOD = SwitchPort(400_000, 9100, "rs", frozenset({3}), {UNCORRECTED: 5})
PROFILE: dict[str, Any] = {
    "roce": {"interfaces": {"mlx5_0": "eth1", "mlx5_1": "eth2"}, "mtu": 9000, "pfc": [3], "fec": ["RS"]}
}
LINKS = [
    ["gpu-01", "eth1", "leaf-1", "Ethernet0", "400gbase-x-osfp", []],
    ["gpu-01", "eth2", "leaf-2", "Ethernet0", "400gbase-x-osfp", []],
    ["gpu-02", "eth1", "leaf-1", "Ethernet8", "400gbase-x-osfp", []],
    ["gpu-02", "eth2", "leaf-2", "Ethernet8", "400gbase-x-osfp", []],
    ["leaf-1", "Ethernet16", "spine-1", "Ethernet1/1", "400gbase-x-osfp", []],
    ["leaf-2", "Ethernet16", "spine-1", "Ethernet2/1", "400gbase-x-osfp", []],
    ["store-1", "eth0", "leaf-1", "Ethernet24", "100gbase-x-qsfp28", []],
]
SWITCHES = ("leaf-1", "leaf-2", "spine-1")
PORTS: dict[str, dict[str, SwitchPort]] = {
    "leaf-1": dict.fromkeys(("Ethernet0", "Ethernet8", "Ethernet16"), GOOD)
    | {"Ethernet24": SwitchPort(100_000, 1500, "none", frozenset())},
    "leaf-2": dict.fromkeys(("Ethernet0", "Ethernet8", "Ethernet16"), GOOD),
    "spine-1": dict.fromkeys(("Ethernet1/1", "Ethernet2/1"), replace(GOOD, mtu=9214)),
}


def held(profile: Mapping[str, Any] = PROFILE, **run: Any) -> Expected:
    """Return what is expected of the fabric, whose GPU servers have that profile."""
    kinds = {"gpu-01": "gpu", "gpu-02": "gpu", "store-1": "store"}
    devices = {
        name: {
            "device_type": kinds.get(name, "switch"),
            "role": "gpu-server" if name in kinds else "leaf",
            "site": "hall",
        }
        for name in (*kinds, *SWITCHES)
    }
    return Expected(
        FABRIC,
        device={"switches": list(SWITCHES)},
        fabric={"devices": devices, "links": LINKS},
        run={"now": READ_AT} | run,
        profiles={"gpu": profile, "store": {}},
    )


def asked(
    changes: Mapping[tuple[str, str], SwitchPort] | None = None,
    expected: Expected | None = None,
    unread: Mapping[str, str] | None = None,
) -> Result:
    """Judge the fabric with some ports changed, and some switches not read."""
    ports = {name: dict(mine) for name, mine in PORTS.items() if name not in (unread or {})}
    for (switch, name), port in (changes or {}).items():
        ports[switch][name] = port
    text = json.dumps(written(ports, unread or {}))
    return judged("fabric_roce", {"switch_ports": text}, expected or held())


def later(changes: Mapping[tuple[str, str], SwitchPort], bad: Mapping[str, int] | None = None, **run: Any) -> Result:
    """Judge the fabric an hour after a look at the good one, at which some ports were bad already."""
    looks = {
        switch: [row | {"at": READ_AT - HOUR} for row in rows] for switch, rows in asked().observed["looks"].items()
    }
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": looks, "bad": bad or {}}}}
    return asked(changes, held(before=before, **run))


def counted(**counts: int) -> SwitchPort:
    """Return the good port with other counts."""
    return replace(GOOD, counts={**GOOD.counts, **counts})


def test_ports_that_are_set_as_the_nodes_pass() -> None:
    """Storage that has no RoCE in its profile may have what it likes at its port."""
    result = asked()
    assert (result.verdict, result.findings) == (PASS, ())
    assert result.message == "7 links with RoCE are set alike at both ends, as far as 3 switches tell"


@pytest.mark.parametrize(
    ("port", "component", "said"),
    [
        (
            replace(GOOD, pfc=frozenset()),
            "leaf-1 PFC",
            "leaf-1: PFC is off at Ethernet0, expected 3 as the profile of the nodes there says",
        ),
        (
            replace(GOOD, pfc=frozenset({5}), dcbx=True),
            "leaf-1 PFC",
            "leaf-1: PFC is on for priorities 5 (by DCBX, which the other end may not speak) at Ethernet0,",
        ),
        (replace(GOOD, mtu=1500), "leaf-1 MTU", "leaf-1: MTU is 1500 at Ethernet0, expected at least 9000"),
        (replace(GOOD, fec="none"), "leaf-1 FEC", "leaf-1: FEC is none at Ethernet0, expected rs"),
    ],
)
def test_a_port_that_is_set_otherwise_than_its_node_is_a_matter_of_its_switchs_configuration(
    port: SwitchPort, component: str, said: str
) -> None:
    result = asked({("leaf-1", "Ethernet0"): port})
    (finding,) = result.findings
    assert (finding.code, finding.remedy, finding.component) == ("roce.switch_setting", Remedy.WATCH, component)
    assert finding.message.startswith(said)
    assert (finding.nodes, finding.devices, finding.steps) == ((FABRIC,), ("leaf-1",), ())


def test_a_priority_without_loss_that_a_switch_does_not_mark_is_told_where_the_profile_wants_ecn() -> None:
    """Of a priority without PFC nothing is said, nor where the switch does not tell, or nobody wants it."""
    unmarked = {("leaf-1", "Ethernet0"): replace(GOOD, ecn=frozenset())}
    wanted = held(profile={"roce": {**PROFILE["roce"], "ecn": [3, 5]}})
    (finding,) = asked(unmarked, wanted).findings
    assert (finding.code, finding.remedy, finding.component) == ("roce.switch_setting", Remedy.WATCH, "leaf-1 ECN")
    assert finding.message.startswith("leaf-1: ECN is off for priorities 3 at Ethernet0, expected on for 3")
    assert asked({("leaf-1", "Ethernet0"): replace(GOOD, ecn=frozenset({3}))}, wanted).findings == ()
    assert asked(None, wanted).findings == asked(unmarked).findings == ()


def test_all_ports_of_a_switch_with_one_wrong_setting_are_one_finding() -> None:
    lossy = replace(GOOD, pfc=frozenset())
    result = asked({("leaf-1", "Ethernet0"): lossy, ("leaf-1", "Ethernet8"): lossy})
    assert [finding.component for finding in result.findings] == ["leaf-1 PFC"]
    assert "at Ethernet0, Ethernet8, expected 3" in result.message


@pytest.mark.parametrize(
    ("port", "setting", "correct"),
    [
        (replace(GOOD, pfc=frozenset({4})), "PFC", "spine-1"),
        (replace(GOOD, fec="baser"), "FEC", "one"),
        (replace(GOOD, mbps=200_000), "speed", "one"),
    ],
)
def test_two_switches_that_differ_at_a_link_are_told_and_which_one_is_wrong_if_that_is_known(
    port: SwitchPort, setting: str, correct: str
) -> None:
    (finding,) = asked({("spine-1", "Ethernet1/1"): port}).findings
    assert (finding.code, finding.remedy) == ("roce.ends", Remedy.WATCH)
    assert finding.component == f"leaf-1 Ethernet16 to spine-1 Ethernet1/1 {setting}"
    assert finding.message.endswith(f"expected alike; correct the configuration of {correct}")
    assert finding.devices == ("leaf-1", "spine-1")


def test_an_mtu_between_switches_is_told_only_if_it_is_too_small_for_a_node() -> None:
    assert asked({("spine-1", "Ethernet1/1"): replace(GOOD, mtu=9000)}).verdict is PASS
    (finding,) = asked({("spine-1", "Ethernet1/1"): replace(GOOD, mtu=1500)}).findings
    assert finding.message.startswith("spine-1: MTU is 1500 at Ethernet1/1, expected at least 9000")


def test_without_an_mtu_in_the_profile_one_link_is_told_whose_ends_are_far_apart() -> None:
    """Makers count other headers: 9100 and 9214 are alike, 1500 and 9214 are not; it is one finding for both ends."""
    profile = {"roce": {name: value for name, value in PROFILE["roce"].items() if name != "mtu"}}
    assert asked({("leaf-1", "Ethernet16"): replace(GOOD, mtu=4608)}, held(profile)).verdict is PASS
    (finding,) = asked({("leaf-1", "Ethernet16"): replace(GOOD, mtu=1500)}, held(profile)).findings
    assert (finding.code, finding.component) == ("roce.ends", "leaf-1 Ethernet16 to spine-1 Ethernet1/1 MTU")
    assert "MTU is 1500 at leaf-1 and 9214 at spine-1, expected alike" in finding.message


def test_a_link_whose_ends_differ_has_one_finding_for_its_setting_not_one_for_each_end() -> None:
    """Between switches as at a node, where the profile says which end is wrong."""
    odd = {("leaf-1", "Ethernet16"): replace(GOOD, mtu=1500), ("leaf-1", "Ethernet0"): replace(GOOD, pfc=frozenset())}
    found = asked(odd).findings
    assert [(each.code, each.component) for each in found] == [
        ("roce.switch_setting", "leaf-1 MTU"),
        ("roce.switch_setting", "leaf-1 PFC"),
    ]


def test_what_a_switch_does_not_tell_is_no_fault() -> None:
    silent = SwitchPort()
    assert asked({("leaf-1", "Ethernet0"): silent, ("spine-1", "Ethernet1/1"): silent}).verdict is PASS
    other = {name: replace(GOOD, pfc=None, fec="", mbps=None) for name in PORTS["spine-1"]}
    assert asked({("spine-1", name): port for name, port in other.items()}).verdict is PASS


def test_a_leaf_that_was_not_read_is_unknown_and_a_spine_is_not() -> None:
    result = asked(unread={"leaf-2": "ssh ended with 255: refused"})
    assert (result.verdict, result.message) == (UNKNOWN, "leaf-2 was not read: ssh ended with 255: refused")
    assert asked(unread={"spine-1": "no command of its ports is known"}).verdict is PASS
    nobody = asked(unread=dict.fromkeys(SWITCHES, "ssh ended with 255: refused"))
    assert nobody.verdict is UNKNOWN
    assert nobody.message.startswith("no switch told the state of its ports: leaf-1: ssh ended with 255")


def test_without_roce_in_a_profile_nothing_is_judged() -> None:
    """A profile that cannot be read is told by the node's own check."""
    for profile in ({}, {"roce": {"pfc": 3}}):
        result = asked({("leaf-1", "Ethernet0"): replace(GOOD, mtu=1500)}, held(profile))
        assert result.message == "no device type of the fabric has RoCE ports in its profile (roce)"
        assert result.verdict is PASS


def test_a_bad_cable_is_named_by_the_end_that_receives_and_has_the_key_of_its_node() -> None:
    """144 bits of 400 Gb/s for an hour may have errors by 802.3bs."""
    result = later({("leaf-1", "Ethernet8"): counted(uncorrected=5 + 145)}, {"leaf-1 Ethernet8": 5})
    (finding,) = result.findings
    assert (finding.code, finding.remedy) == ("cabling.symbol_errors", Remedy.RECABLE)
    assert finding.message == (
        "leaf-1 Ethernet8 received 145 blocks from gpu-02 eth1 that FEC could not correct in 1.0 h, allowed 144"
    )
    assert finding.fault == quality.key((Port("gpu-02", "eth1"), Port("leaf-1", "Ethernet8")))
    assert (finding.nodes, finding.devices) == ((FABRIC, "gpu-02"), ("gpu-02", "leaf-1"))
    assert finding.steps[0].startswith("At leaf-1 port Ethernet8")
    assert later({("leaf-1", "Ethernet8"): counted(uncorrected=5 + 144)}, {"leaf-1 Ethernet8": 5}).verdict is PASS


def test_errors_that_do_not_go_on_are_recorded() -> None:
    """A node that crashed and booted, of which nobody had been told, made its switch count."""
    burst = {("leaf-1", "Ethernet8"): counted(uncorrected=9000)}
    for result in (later(burst), later(burst, {"leaf-1 Ethernet8": 9000 - 144})):
        (finding,) = result.findings
        assert (result.verdict, finding.remedy) == (PASS, Remedy.RECORD)
        assert finding.message.endswith("; the next sweep tells whether it goes on")
        assert result.observed["bad"] == {"leaf-1 Ethernet8": 9000}
    assert later(burst, {"leaf-1 Ethernet8": 9000 - 145}).verdict is FAIL


def test_a_link_between_switches_is_told_once_by_its_worse_end() -> None:
    result = later(
        {("leaf-1", "Ethernet16"): counted(uncorrected=500), ("spine-1", "Ethernet1/1"): counted(uncorrected=900)},
        {"spine-1 Ethernet1/1": 5},
    )
    (finding,) = result.findings
    assert finding.message.startswith("spine-1 Ethernet1/1 received 895 blocks from leaf-1 Ethernet16")
    assert finding.nodes == (FABRIC,)


def test_what_a_boot_of_a_node_or_a_switch_made_it_count_is_left_out() -> None:
    bad = {("leaf-1", "Ethernet8"): counted(uncorrected=9000, storms=3)}
    assert later(bad, disturbed={"gpu-02": READ_AT - 60}).verdict is PASS
    assert later(bad, {"leaf-1 Ethernet8": 5}, disturbed={"gpu-01": READ_AT - 60}).verdict is FAIL
    booted = bad | {("leaf-1", "Ethernet0"): counted(uncorrected=0)}
    assert later(booted, {"leaf-1 Ethernet8": 5}).verdict is PASS


def test_a_counter_that_the_last_look_lacked_is_no_growth() -> None:
    """The command for it may have failed then."""
    looks = {"leaf-1": [{"at": READ_AT - HOUR, "counts": {}}], "leaf-2": 5}
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": looks}}}
    assert asked({("leaf-1", "Ethernet8"): counted(uncorrected=10**6)}, held(before=before)).verdict is PASS
    nonsense = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": 5}}}
    assert asked(expected=held(before=nonsense)).verdict is PASS


def test_a_pause_storm_names_the_node_that_paused() -> None:
    first = {("leaf-1", "Ethernet0"): counted(storms=2)}
    looks = asked(first).observed["looks"]
    aged = {switch: [row | {"at": READ_AT - HOUR} for row in rows] for switch, rows in looks.items()}
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": aged}}}
    result = asked({("leaf-1", "Ethernet0"): counted(storms=5)}, held(before=before))
    (finding,) = result.findings
    assert (finding.code, finding.remedy, finding.component) == (
        "roce.watchdog",
        Remedy.WATCH,
        "leaf-1 Ethernet0",
    )
    assert "its PFC watchdog saw 3 pause storms from gpu-01 eth1 in 1.0 h" in finding.message
    assert STORMS in "".join(aged["leaf-1"][0]["counts"])


def grown(first: Mapping[str, int], then: Mapping[str, int]) -> Result:
    """Judge the fabric an hour after a look at which leaf-1 Ethernet0 had counted otherwise."""
    looks = asked({("leaf-1", "Ethernet0"): counted(**first)}).observed["looks"]
    aged = {switch: [row | {"at": READ_AT - HOUR} for row in rows] for switch, rows in looks.items()}
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": aged}}}
    return asked({("leaf-1", "Ethernet0"): counted(**then)}, held(before=before))


def test_packets_that_the_watchdog_dropped_in_a_storm_are_told() -> None:
    (finding,) = grown({STORMS: 2, STORM_DROPS: 100}, {STORMS: 3, STORM_DROPS: 400}).findings
    assert "saw 1 pause storms from gpu-01 eth1 and dropped 300 packets in 1.0 h" in finding.message


def test_what_wred_drops_in_lossless_queues_is_recorded_and_what_it_marks_is_observed() -> None:
    """A queue may belong to another priority than its number says: nobody is condemned for it."""
    none, few = {LOSSLESS_DROPS: 0, ECN_MARKS: 7}, {LOSSLESS_DROPS: 100, ECN_MARKS: 5007}
    result = grown(none, few)
    assert (result.verdict, result.findings, result.observed[ECN_MARKS]) == (PASS, (), {"leaf-1": 5007})
    assert ECN_MARKS not in json.dumps(result.observed["looks"]), "they need no look to compare with"
    result = grown(none, {LOSSLESS_DROPS: 101})
    (finding,) = result.findings
    assert (result.verdict, finding.code, finding.remedy) == (PASS, "roce.switch_drops", Remedy.RECORD)
    assert finding.message.startswith(
        "leaf-1 dropped 101 packets in queues of priorities with PFC at Ethernet0 in 1.0 h"
    )
    assert ECN_MARKS not in result.observed


def test_drops_at_many_ports_of_a_switch_are_one_finding() -> None:
    rows = [[f"gpu-{n:02d}", "eth1", "leaf-1", f"Ethernet{8 * n}", "400gbase-x-osfp", []] for n in range(6)]
    expected = held()
    devices = dict.fromkeys((row[0] for row in rows), expected.fabric["devices"]["gpu-01"]) | {
        "leaf-1": expected.fabric["devices"]["leaf-1"]
    }
    wide = replace(expected, fabric={"devices": devices, "links": rows}, device={"switches": ["leaf-1"]})
    first, then = (
        {"leaf-1": {f"Ethernet{8 * n}": counted(**{LOSSLESS_DROPS: more * (n + 101)}) for n in range(6)}}
        for more in (0, 1)
    )
    looks = judged("fabric_roce", {"switch_ports": json.dumps(written(first, {}))}, wide).observed["looks"]
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {
        "looks": {"leaf-1": [row | {"at": READ_AT - HOUR} for row in looks["leaf-1"]]}}}}  # fmt: skip
    result = judged("fabric_roce", {"switch_ports": json.dumps(written(then, {}))},
                    replace(wide, run={"now": READ_AT, "before": before}))  # fmt: skip
    (finding,) = result.findings
    assert "dropped 621 packets" in finding.message
    assert "at Ethernet40, Ethernet32, Ethernet24, Ethernet16 and 2 more in" in finding.message


def test_very_many_bad_links_at_once_are_no_faults_of_cables() -> None:
    rows = [[f"gpu-{n:02d}", "eth1", "leaf-1", f"Ethernet{8 * n}", "400gbase-x-osfp", []] for n in range(11)]
    expected = held()
    devices = dict.fromkeys((row[0] for row in rows), expected.fabric["devices"]["gpu-01"]) | {
        "leaf-1": expected.fabric["devices"]["leaf-1"]
    }
    good = {"leaf-1": {f"Ethernet{8 * n}": GOOD for n in range(11)}}
    wide = replace(expected, fabric={"devices": devices, "links": rows}, device={"switches": ["leaf-1"]})
    looks = judged("fabric_roce", {"switch_ports": json.dumps(written(good, {}))}, wide).observed["looks"]
    aged = {"leaf-1": [row | {"at": READ_AT - HOUR} for row in looks["leaf-1"]]}
    known = {f"leaf-1 {name}": 5 for name in good["leaf-1"]}
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": aged, "bad": known}}}
    bad = {"leaf-1": dict.fromkeys(good["leaf-1"], counted(uncorrected=10**6))}
    result = judged(
        "fabric_roce",
        {"switch_ports": json.dumps(written(bad, {}))},
        replace(wide, run={"now": READ_AT, "before": before}),
    )
    (finding,) = result.findings
    assert (finding.code, finding.remedy) == ("roce.suspect", Remedy.WATCH)
    assert "11 links are bad at once" in finding.message


def test_ports_are_found_by_another_spelling_and_a_strange_name_is_left_out() -> None:
    short = {"Et1/1": replace(GOOD, mtu=1500), "Vlan5": replace(GOOD, mtu=1500)}
    ports = PORTS | {"spine-1": short}
    result = judged("fabric_roce", {"switch_ports": json.dumps(written(ports, {}))}, held())
    assert "spine-1: MTU is 1500 at Ethernet1/1," in result.message
