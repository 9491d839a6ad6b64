"""Are the node's RoCE ports set as the profile says, and do they lose nothing?"""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import DEVICE, HEALTHY, NODE, PROFILE, READ_AT, changed, cuts, judged
from tests.core.checks.healthy import text_of
from tests.core.checks.healthy.network import DCB_APP, DCB_PFC, FEC, QOS, ROCE_FILES, STATISTICS, by_interface

PASS, FAIL, UNKNOWN = Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN
TEXTS = HEALTHY["roce_ports"]
ROCE: dict[str, Any] = PROFILE["roce"]
FILES: dict[str, Any] = json.loads(ROCE_FILES)
HOUR = 3600.0
FAR = {"interface": "eth1", "far_device": "leaf-1", "far_interface": "swp3", "far_place": "hall-1 rack N1 U4"}
MISSING = {"end": "missing", "rc": -1, "error": "no such tool", "text": ""}


def answer(read: str, text: str | Mapping[str, Any]) -> dict[str, str]:
    """Return the readings with another answer of eth1 to one command: a text, or how the command ended."""
    found = json.loads(TEXTS[read])
    found["eth1"] = found["eth1"] | {"text": text} if isinstance(text, str) else text
    return TEXTS | {read: json.dumps(found)}


def nowhere(*reads: str) -> dict[str, str]:
    """Return the readings of a node without some tools."""
    return TEXTS | {read: json.dumps(dict.fromkeys(("eth1", "eth2"), MISSING)) for read in reads}


def files(read: str, **bent: Any) -> dict[str, str]:
    """Return the readings with some of eth1's files changed."""
    found = json.loads(TEXTS[read])
    return TEXTS | {read: json.dumps(found | {f"/sys/class/net/eth1/{name}": value for name, value in bent.items()})}


def counted(expected: Expected | None = None, /, **grown: int) -> Result:
    """Judge a node whose eth1 counted so much more than an hour ago; a counter that was not there counted from 0."""
    first = judged("roce_ports", TEXTS)
    (look,) = first.observed["looks"]
    lines = [line for line in STATISTICS.splitlines() if line.split(":")[0].strip() not in grown]
    for name, by in grown.items():
        before = look["counts"].setdefault(f"eth1/{name}", 0)
        lines.append(f"     {name}: {before + by}")
    held = expected or Expected(NODE, PROFILE, DEVICE | {"links": [FAR], "place": "hall-1 rack A1 U4"})
    seen = {"looks": [look | {"at": READ_AT - HOUR}], "boot": first.observed["boot"]}
    run = {"now": READ_AT, "before": {"roce_ports": {"at": READ_AT - HOUR, "observed": seen}}}
    return judged(
        "roce_ports",
        answer("ethtool_statistics", "\n".join(lines) + "\n"),
        Expected(NODE, held.profile, held.device, run=run | dict(held.run)),
    )


def only(result: Result) -> tuple[str, Remedy, str]:
    """Return the code, the remedy and the component of the only finding."""
    (finding,) = result.findings
    return finding.code, finding.remedy, finding.component


def test_a_node_without_such_a_profile_is_not_asked() -> None:
    bare = {key: value for key, value in PROFILE.items() if key != "roce"}
    assert judged("roce_ports", TEXTS, Expected(NODE, bare)).verdict is Verdict.SKIPPED


def test_ports_that_are_set_as_the_profile_says_pass() -> None:
    result = judged("roce_ports", TEXTS)
    assert (result.verdict, result.findings) == (PASS, ())
    assert result.message == "2 RoCE ports are set as the profile says, and lose nothing"
    remembered = result.observed["looks"][0]["counts"]
    assert remembered["eth1/rx_prio3_discards"] == 0
    assert not [name for name in remembered if "_prio" in name and "_prio3_" not in name]
    told = {"mtu": 9000, "pfc": [3], "trust": "dscp", "ecn": list(range(8)), "fec": ["rs"]}
    assert result.observed["ports"] == {"eth1": told, "eth2": told}


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (
            "mlnx_qos",
            QOS.replace("state: dscp", "state: pcp"),
            ("roce.trust", "trust", "the port trusts pcp at eth1"),
        ),
        ("ethtool_fec", FEC.replace("encoding: RS", "encoding: Off"), ("roce.fec", "FEC", "FEC is none at eth1")),
        (
            "mlnx_qos",
            QOS.replace("prio:3", "prio:X").replace("prio:4", "prio:3").replace("prio:X", "prio:4"),
            ("roce.dscp", "DSCP 26", "DSCP 26 goes to priority 4 at eth1"),
        ),
    ],
)
def test_a_setting_that_is_not_the_profiles_is_watched_and_says_where(
    read: str, text: str, found: tuple[str, str, str]
) -> None:
    """Nobody is sent to the node, and nothing takes it out of service."""
    result = judged("roce_ports", answer(read, text))
    assert result.verdict is FAIL
    assert only(result) == (found[0], Remedy.WATCH, found[1])
    assert result.message.startswith(f"{found[2]}, expected ")
    assert result.message.endswith("; correct the image's network settings")


def test_what_is_wrong_at_all_ports_is_told_once() -> None:
    """Two ports with one wrong setting are one finding."""
    pfc = json.dumps({"prio_pfc": ["on"] + ["off"] * 7})
    qos = QOS.replace("enabled     0   0   0   1", "enabled     1   0   0   0")
    result = judged("roce_ports", TEXTS | {"mlnx_qos": by_interface(qos), "dcb_pfc": by_interface(pfc)})
    assert only(result) == ("roce.pfc", Remedy.WATCH, "PFC")
    assert "PFC is on for priorities 0 at eth1, eth2, expected 3" in result.message


def test_a_switch_that_announces_another_pfc_by_dcbx_is_told_once_for_all_ports() -> None:
    heard = text_of("lldp/dcbx.json0")
    result = judged("roce_ports", TEXTS | {"lldp": heard})
    assert (result.verdict, result.observed["announced"]) == (PASS, {"eth1": [3], "eth2": [3]})
    assert "announced" not in judged("roce_ports", TEXTS).observed
    other = judged("roce_ports", TEXTS | {"lldp": heard.replace("08,08", "08,10")})
    assert only(other) == ("roce.dcbx", Remedy.WATCH, "DCBX")
    assert other.findings[0].message == (
        "by DCBX the switch announces PFC for priorities 4 at eth1, eth2, expected 3; correct the configuration of"
        " the switch's port"
    )
    silent = Expected(NODE, PROFILE | {"roce": {key: value for key, value in ROCE.items() if key != "pfc"}}, DEVICE)
    assert judged("roce_ports", TEXTS | {"lldp": heard.replace("08,08", "08,10")}, silent).verdict is PASS


def test_what_lldp_does_not_tell_of_dcbx_is_no_doubt() -> None:
    """A node may have no lldpd, and its answer may be cut anywhere."""
    heard = text_of("lldp/dcbx.json0")
    for said in ("", "lldpctl: not found", *list(cuts(heard))[::40]):
        assert judged("roce_ports", TEXTS | {"lldp": said}).verdict is PASS


def test_two_tools_that_say_different_things_are_both_not_believed() -> None:
    result = judged("roce_ports", answer("dcb_pfc", json.dumps({"prio_pfc": [False] * 8})))
    assert (result.verdict, result.findings) == (UNKNOWN, ())
    assert result.message == "eth1: pfc is not known: mlnx_qos says PFC 3, dcb none"


def test_an_mtu_is_told_under_the_key_that_the_interfaces_own_check_gives_it() -> None:
    result = judged("roce_ports", files("network_interfaces", mtu="1500"))
    assert only(result) == ("roce.mtu", Remedy.WATCH, "eth1")
    assert result.findings[0].fault == f"{NODE}/nic.mtu/eth1"
    assert "eth1 has an MTU of 1500, expected 9000" in result.message


def test_congestion_control_that_is_off_is_told_and_one_that_no_file_tells_of_is_unknown() -> None:
    off = judged("roce_ports", files("roce", **{"ecn/roce_rp/enable/3": "0"}))
    assert only(off) == ("roce.ecn", Remedy.WATCH, "ECN roce_rp")
    assert "the reaction point of DCQCN is off for priorities 3 at eth1, expected on" in off.message
    gone = {path: value for path, value in FILES.items() if "/eth1/ecn/" not in path}
    result = judged("roce_ports", TEXTS | {"roce": json.dumps(gone)})
    assert result.verdict is UNKNOWN
    assert "no file of its driver (/sys/class/net/eth1/ecn) tells whether DCQCN is on" in result.message
    assert "ecn" not in result.observed["ports"]["eth1"]


@pytest.mark.parametrize("tool", ["mlnx_qos", "dcb"])
def test_one_of_two_tools_is_enough(tool: str) -> None:
    gone = ("mlnx_qos",) if tool == "mlnx_qos" else ("dcb_pfc", "dcb_app")
    assert judged("roce_ports", nowhere(*gone)).verdict is PASS


def test_the_kernel_tells_that_a_port_trusts_dscp_but_not_that_it_does_not() -> None:
    """Another driver may keep no entries for code points, whatever it trusts."""
    bare = by_interface("{}")
    result = judged("roce_ports", nowhere("mlnx_qos") | {"dcb_app": bare})
    assert (result.verdict, result.findings) == (UNKNOWN, ())
    assert "eth1: trust is not known: mlnx_qos is not on the node" in result.message
    old = by_interface(QOS.replace("Priority trust state: dscp\n", ""))
    result = judged("roce_ports", TEXTS | {"dcb_app": bare, "mlnx_qos": old})
    assert "eth1: trust is not known: dcb tells no priorities of DSCP; mlnx_qos tells" in result.message


def test_a_node_without_any_tool_is_unknown_and_no_fault() -> None:
    result = judged("roce_ports", nowhere("mlnx_qos", "dcb_pfc", "dcb_app", "ethtool_fec", "ethtool_statistics"))
    assert (result.verdict, result.findings) == (UNKNOWN, ())
    assert "eth1: counters are not known: ethtool is not on the node" in result.message
    told = [text for text in ("pfc", "trust", "dscp", "fec") if text in result.message]
    assert told, result.message


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"end": "timeout", "rc": -1, "error": "no end within 20 s", "text": ""}, "ethtool: no end within 20 s"),
        ({"end": "ok", "rc": 1, "error": "netlink error: no\nmore", "text": ""}, "ethtool: netlink error: no"),
        ({"end": "ok", "rc": 75, "error": "", "text": ""}, "ethtool: it ended with 75"),
    ],
)
def test_a_tool_that_fails_is_quoted(how: Mapping[str, Any], why: str) -> None:
    result = judged("roce_ports", answer("ethtool_fec", how))
    assert (result.verdict, result.message) == (UNKNOWN, f"eth1: fec is not known: {why}")


def test_an_interface_that_was_not_asked_or_is_not_there_is_unknown() -> None:
    alone = json.dumps({"eth2": json.loads(TEXTS["ethtool_fec"])["eth2"]})
    result = judged("roce_ports", TEXTS | {"ethtool_fec": alone})
    assert result.message == "eth1: fec is not known: ethtool was not asked"
    result = judged("roce_ports", TEXTS, changed("roce", ROCE | {"interfaces": {"mlx5_2": "rail0"}}))
    assert (result.verdict, result.findings) == (UNKNOWN, ())
    assert (
        result.message
        == "rail0 is not among the node's interfaces (eth1, eth2, eth9, lo); correct the profile's names"
    )


def test_of_a_link_that_is_down_fec_says_nothing() -> None:
    result = judged("roce_ports", files("network_interfaces", operstate="down", carrier=None, mtu=None))
    assert (result.verdict, result.findings) == (UNKNOWN, ())
    assert result.message == "eth1: fec is not known: the link is down; eth1 reports no MTU"


def test_what_the_profile_does_not_ask_for_is_not_judged() -> None:
    """Adapters are then those of hca_interfaces."""
    bare = Expected(NODE, PROFILE | {"roce": {"trust": None}, "hca_interfaces": {"mlx5_2": "eth1"}}, DEVICE)
    texts = nowhere("mlnx_qos", "dcb_pfc", "dcb_app", "ethtool_fec")
    assert judged("roce_ports", texts, bare).verdict is PASS
    nobody = judged("roce_ports", texts, Expected(NODE, PROFILE | {"roce": {}, "hca_interfaces": {}}, DEVICE))
    assert "fleet_profile.roce has no interface" in nobody.message
    lossy = judged("roce_ports", TEXTS, changed("roce", ROCE | {"pfc": []}))
    assert "expected none" in lossy.message


@pytest.mark.parametrize(
    ("grown", "found"),
    [
        ({"rx_prio3_discards": 101}, ("roce.lossless_drops", Remedy.WATCH, "eth1 priority 3")),
        (
            {"rx_prio3_discards": 5000, "rx_discards_phy": 5100},
            ("roce.lossless_drops", Remedy.WATCH, "eth1 priority 3"),
        ),
        ({"rx_discards_phy": 5000}, ("roce.drops", Remedy.WATCH, "eth1")),
        ({"rx_oversize_pkts_phy": 101}, ("roce.oversize", Remedy.WATCH, "eth1")),
        ({"tx_pause_storm_error_events": 1}, ("roce.pause_storm", Remedy.WATCH, "eth1")),
        ({"rx_bits_phy": 10**15, "rx_pcs_symbol_err_phy": 1001}, ("roce.symbol_errors", Remedy.RECABLE, "eth1")),
        ({"rx_bits_phy": 10**9, "rx_corrected_bits_phy": 240_001}, ("roce.raw_errors", Remedy.WATCH, "eth1")),
    ],
)
def test_what_a_port_lost_since_the_last_look_is_told(grown: dict[str, int], found: tuple[str, Remedy, str]) -> None:
    result = counted(**grown)
    assert (result.verdict, only(result)) == (FAIL, found)
    assert "in 1.0 h" in result.message


@pytest.mark.parametrize(
    "grown",
    [
        {"rx_prio3_discards": 100, "rx_prio0_discards": 100_000},
        {"rx_discards_phy": 5000, "rx_packets_phy": 5_000_000_000},
        {"rx_bits_phy": 10**15, "rx_pcs_symbol_err_phy": 1000},
        {"rx_bits_phy": 1, "rx_pcs_symbol_err_phy": 100},
        {"rx_pcs_symbol_err_phy": 100_000, "rx_corrected_bits_phy": 10**9},
        {"rx_bits_phy": 10**9, "rx_corrected_bits_phy": 240_000},
        {"rx_prio3_pause": 10**9, "rx_prio3_pause_duration": 360_000_000, "tx_prio3_pause": 10**9},
        {"rx_oversize_pkts_phy": 100},
    ],
)
def test_pauses_and_what_a_good_link_counts_are_no_fault(grown: dict[str, int]) -> None:
    """A counter of another priority, errors that IEEE 802.3 allows, and errors of nobody knows how many bits."""
    result = counted(**grown)
    assert (result.verdict, result.findings) == (PASS, ()), result.message


def test_congestion_is_recorded_and_no_fault() -> None:
    """Notifications are counted, and only told."""
    result = counted(rx_prio3_pause_duration=361_000_000, tx_pause_storm_warning_events=2)
    assert result.verdict is PASS
    assert [(each.code, each.remedy) for each in result.findings] == [
        ("roce.pause_storm", Remedy.RECORD),
        ("roce.paused", Remedy.RECORD),
    ]
    notified = json.loads(ROCE_FILES) | {"/sys/class/infiniband/mlx5_2/ports/1/hw_counters/np_cnp_sent": "99999999"}
    (look,) = judged("roce_ports", TEXTS).observed["looks"]
    before = {"at": READ_AT - HOUR, "observed": {"looks": [look | {"at": READ_AT - HOUR}]}}
    held = Expected(NODE, PROFILE, DEVICE, run={"now": READ_AT, "before": {"roce_ports": before}})
    result = judged("roce_ports", TEXTS | {"roce": json.dumps(notified)}, held)
    assert (result.verdict, result.findings) == (PASS, ())
    assert result.observed["grown"] == {"eth1/np_cnp_sent": 99999999 - 88123}


def test_a_bad_cable_has_both_its_ends_and_its_worst_lane() -> None:
    lanes = {f"rx_err_lane_{lane}_phy": 10 for lane in range(3)} | {"rx_err_lane_3_phy": 31}
    result = counted(rx_bits_phy=10**15, rx_pcs_symbol_err_phy=5000, **lanes)
    (finding,) = result.findings
    assert finding.message == (
        "eth1 counted 5000 symbol errors that FEC did not correct in 1.0 h, allowed 1000 (most on lane 3)"
    )
    assert finding.devices == (NODE, "leaf-1")
    assert finding.steps[0].startswith("At gpu-01 port eth1 (hall-1 rack A1 U4): unplug")
    assert "leaf-1 port swp3 (hall-1 rack N1 U4)" in finding.steps[1]
    alike = counted(rx_bits_phy=10**15, rx_pcs_symbol_err_phy=5000, rx_err_lane_0_phy=9, rx_err_lane_1_phy=9)
    assert "lane" not in alike.message


def test_a_fast_link_may_have_a_tenth_of_the_errors_of_a_slow_one() -> None:
    speed = json.loads(TEXTS["network_interfaces"]) | {"/sys/class/net/eth1/speed": "400000"}
    first = judged("roce_ports", TEXTS)
    (look,) = first.observed["looks"]
    look["counts"] |= {"eth1/rx_bits_phy": 0, "eth1/rx_pcs_symbol_err_phy": 0}
    bits = STATISTICS.replace("rx_pcs_symbol_err_phy: 3", "rx_pcs_symbol_err_phy: 3457")
    before = {"at": READ_AT - HOUR, "observed": {"looks": [look | {"at": READ_AT - HOUR}]}}
    held = Expected(NODE, PROFILE, DEVICE, run={"now": READ_AT, "before": {"roce_ports": before}})
    texts = answer("ethtool_statistics", bits)
    assert judged("roce_ports", texts, held).verdict is PASS
    fast = judged("roce_ports", texts | {"network_interfaces": json.dumps(speed)}, held)
    assert only(fast) == ("roce.symbol_errors", Remedy.RECABLE, "eth1")
    assert "allowed 3456" in fast.message


def test_errors_of_a_link_that_went_down_say_nothing_of_its_cable() -> None:
    """The far switch may have booted."""
    result = counted(
        rx_bits_phy=10**12, rx_pcs_symbol_err_phy=10**6, rx_corrected_bits_phy=10**9, link_down_events_phy=1
    )
    assert result.verdict is PASS
    assert [(each.code, each.remedy) for each in result.findings] == [
        ("roce.symbol_errors", Remedy.RECORD),
        ("roce.raw_errors", Remedy.RECORD),
    ]
    assert "the link went down meanwhile" in result.findings[0].message


def test_what_was_counted_before_a_boot_or_a_drain_is_left_out() -> None:
    lost = {"rx_prio3_discards": 5000}
    held = Expected(NODE, PROFILE, DEVICE)
    assert counted(held, **lost).verdict is FAIL
    worked = Expected(NODE, PROFILE, DEVICE, run={"disturbed": {NODE: READ_AT - 60}})
    result = counted(worked, **lost)
    assert (result.verdict, result.findings) == (PASS, ())
    assert [look["at"] for look in result.observed["looks"]] == [READ_AT]
    long_ago = Expected(NODE, PROFILE, DEVICE, run={"disturbed": {NODE: READ_AT - 2 * HOUR}})
    assert counted(long_ago, **lost).verdict is FAIL
    before = {"looks": [{"at": READ_AT - HOUR, "counts": {"eth1/rx_prio3_discards": 0}}], "boot": "another"}
    booted = Expected(NODE, PROFILE, DEVICE, run={"before": {"roce_ports": {"at": 1.0, "observed": before}}})
    assert counted(booted, **lost).verdict is PASS
    nonsense = Expected(NODE, PROFILE, DEVICE, run={"before": {"roce_ports": {"at": 1.0, "observed": {"looks": 5}}}})
    assert counted(nonsense, **lost).verdict is PASS


@pytest.mark.parametrize(
    ("read", "text"),
    [
        ("mlnx_qos", QOS),
        ("dcb_pfc", DCB_PFC),
        ("dcb_app", DCB_APP),
        ("ethtool_fec", FEC),
        ("ethtool_statistics", STATISTICS),
    ],
)
def test_what_a_tool_prints_may_be_cut_anywhere_and_condemns_nobody(read: str, text: str) -> None:
    for short in cuts(text):
        result = judged("roce_ports", answer(read, short))
        assert (result.verdict in {PASS, UNKNOWN}, result.findings) == (True, ()), short[-80:]
