"""What ethtool, dcb and mlnx_qos print of an interface, and what the kernel tells of RoCE in files."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import dcb, ethtool, mlnx_qos, roce_files
from fleet_runner.core.checks.reads import READS
from tests.core.checks.healthy import text_of
from tests.core.checks.healthy.network import DCB_APP, DCB_PFC, FEC, QOS, STATISTICS


@given(st.sets(st.integers(0, 7)))
def test_priorities_with_pfc_are_those_that_either_tool_marks(priorities: set[int]) -> None:
    flags = "   ".join(str(int(each in priorities)) for each in range(8))
    assert mlnx_qos.parse(QOS.replace("0   0   0   1   0   0   0   0   \n\tb", f"{flags}\n\tb")).pfc == priorities
    assert dcb.pfc(json.dumps({"prio_pfc": [each in priorities for each in range(8)]})) == priorities


def test_a_port_has_its_trust_and_the_priority_of_every_code_point() -> None:
    found = mlnx_qos.parse(QOS)
    assert (found.trust, found.pfc, found.dscp[26], len(found.dscp)) == ("dscp", frozenset({3}), 3, 64)
    assert dcb.dscp(DCB_APP) == dict(found.dscp)
    assert dcb.pfc(DCB_PFC) == {3}


@pytest.mark.parametrize("bent", [QOS.replace("26,", ""), QOS.replace("26,", "25,"), QOS.replace("26,", "26,26,")])
def test_code_points_that_are_not_all_told_once_are_not_told(bent: str) -> None:
    """A line that lost its end must not look as if a code point had no priority."""
    assert mlnx_qos.parse(bent).dscp == {}


@pytest.mark.parametrize("text", ["", "PFC configuration:\n", QOS.replace("\tenabled     0   0", "\tenabled     0")])
def test_pfc_that_is_not_told_of_eight_priorities_is_refused(text: str) -> None:
    with pytest.raises(EvidenceError, match="expected the PFC of 8 priorities"):
        mlnx_qos.parse(text)


@pytest.mark.parametrize("rows", [None, 3, [True] * 7, [1] * 8, ["on"] * 7 + ["maybe"]])
def test_dcb_says_on_or_off_of_eight_priorities(rows: object) -> None:
    with pytest.raises(EvidenceError, match="expected on or off for 8 priorities"):
        dcb.pfc(json.dumps({"prio_pfc": rows}))
    assert dcb.pfc(json.dumps({"prio_pfc": ["on"] + ["off"] * 7})) == {0}


@pytest.mark.parametrize("rows", [3, [3], [[26]], [[True, 3]], [[64, 3]], [[26, 8]], [["AF31", 3]]])
def test_dcb_says_pairs_of_code_points_and_priorities(rows: object) -> None:
    with pytest.raises(EvidenceError, match="expected pairs of a code point and a priority"):
        dcb.dscp(json.dumps({"dscp_prio": rows}))
    assert dcb.dscp("{}") == {}


def test_statistics_are_read_whole_and_filtered_alike() -> None:
    whole = ethtool.statistics(text_of("ethtool/statistics_whole.txt"))
    kept = ethtool.statistics(STATISTICS)
    assert kept.items() <= whole.items()
    assert set(whole) - set(kept) == {"rx_packets", "rx0_packets", "rx_prio3_bytes", "tx0_xmit_more"}
    assert READS["ethtool_statistics"].argv == ("ethtool", "-S", "{interface}")


@pytest.mark.parametrize(
    ("text", "why"), [("NIC statistics:\n", "printed no statistic"), ("\n" * 20_001, "expected at most 20000")]
)
def test_no_statistics_or_far_too_many_are_refused(text: str, why: str) -> None:
    with pytest.raises(EvidenceError, match=why):
        ethtool.statistics(text)


def test_a_statistic_without_the_end_of_its_line_may_have_lost_digits() -> None:
    assert ethtool.statistics("     a: 12\n     b: 34") == {"a": 12}


@pytest.mark.parametrize(
    ("told", "found"),
    [("encoding: RS", {"rs"}), ("encodings: BaseR RS", {"baser", "rs"}), ("encoding: Off", {"none"})],
)
def test_fec_is_told_in_ethtools_own_words(told: str, found: set[str]) -> None:
    assert ethtool.fec(FEC.replace("encoding: RS", told)) == found


@pytest.mark.parametrize("told", ["encoding: R", "encoding: ", "encoding: RS ?", "nothing"])
def test_fec_in_words_that_nobody_knows_is_refused(told: str) -> None:
    with pytest.raises(EvidenceError, match="expected the active FEC encoding"):
        ethtool.fec(FEC.replace("encoding: RS", told))


def test_files_tell_counters_by_port_and_congestion_control_by_priority() -> None:
    found = roce_files.parse(
        json.dumps(
            {
                "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence": "7",
                "/sys/class/infiniband/mlx5_0/ports/2/hw_counters/out_of_sequence": "8",
                "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent": None,
                "/sys/class/infiniband/mlx5_0/fw_ver": "28",
                "/sys/class/net/eth1/ecn/roce_np/enable/3": "1",
                "/sys/class/net/eth1/ecn/roce_rp/enable/3": "0",
                "/sys/class/net/eth1/ecn/roce_rp/enable/4": "?",
                "/sys/class/net/eth1/mtu": "9000",
            }
        )
    )
    assert found.boot == ""
    assert found.counters == {"mlx5_0": {"out_of_sequence": 7}, "mlx5_0/2": {"out_of_sequence": 8}}
    assert found.ecn == {("eth1", "roce_np", 3): True, ("eth1", "roce_rp", 3): False}
