"""Lines of UFM and of opensm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.fabric import read
from fleet_runner.core.faults.signals.kernel import MOST_LINES
from fleet_runner.core.faults.signals.signal import Source
from tests.core.faults.signals.telling import NOW, Rules

UFM = (
    "2023-11-14 22:13:20.000 [512] [329] WARNING Site [default] [Link] IBPort [Computer: gpu-01 / HCA-1/1]"
    " [dev_id: 0c42a10300ab0001]: {}"
)
SWITCH = (
    "2023-11-14 22:13:20.000 [513] [907] CRITICAL [Hardware] Switch [default(9) / Switch: leaf-1] [dev_id: 1]: {}"
)
ENDS = (
    "2023-11-14 22:13:20.000 [9] [64] INFO Site [default] [Link] Link"
    " [e41d2d0300062380_3 TO Dest: 0002c9030060dc20_7]: {}"
)
SM = "Nov 14 22:13:20 924124 [3DA006C0] 0x02 -> {}"


@pytest.mark.parametrize(
    ("event", "code", "ended"),
    [
        ("Link went down, (peer)", "fabric.link_down", False),
        ("Link is down", "fabric.link_down", False),
        ("Link is up", "fabric.link_down", True),
        ("Symbol error rate exceeded its threshold", "fabric.symbol_errors", False),
        ("Port was isolated", "fabric.isolated", False),
        ("isolated by the PDR plugin", "fabric.isolated", False),
        ("Port de-isolated", "fabric.isolated", True),
        ("High Bit Error Rate", "fabric.bit_errors", False),
        ("Node is Down", "fabric.node_down", False),
        ("Node is Up", "fabric.node_down", True),
        ("Link error recovery counter", "fabric.link_flaps", False),
    ],
)
def test_an_event_of_ufm_names_a_device_and_its_port(event: str, code: str, *, ended: bool) -> None:
    """A look at the fabric decides what follows."""
    (one,) = read(UFM.format(event), NOW + 5)
    assert (one.node, one.component, one.code, one.ended) == ("gpu-01", "port HCA-1/1", code, ended)
    assert (one.at, one.source, one.remedy, one.message) == (NOW, Source.FABRIC, Remedy.WATCH, event)


def test_a_switch_is_named_likewise_also_over_syslog() -> None:
    """Whatever header stands before the line."""
    for header in ("", "<12>Nov 14 22:13:20 ufm-01 UFM: ", "<12>1 2023-11-14T22:13:20Z ufm-01 ufm - - - "):
        (one,) = read(header + SWITCH.format("Switch is Down"), NOW)
        assert (one.node, one.component, one.code) == ("leaf-1", "", "fabric.switch_down")
    assert [each.ended for each in read(SWITCH.format("Switch is Up"), NOW)] == [True]


def test_a_link_has_two_ends() -> None:
    """Named by their ports' GUIDs, where nothing else is told."""
    assert [(each.node, each.component) for each in read(ENDS.format("Link went down"), NOW)] == [
        ("e41d2d0300062380", "port 3"), ("0002c9030060dc20", "port 7"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("event", "node", "component", "code", "ended"),
    [
        (
            "spst_rcv: Switch 0xb0cf0e03 MF0;leaf-1:MQM9700/U1 port 61 (sw7) changed state from ACTIVE to DOWN",
            "leaf-1", "port 61", "fabric.link_down", False,
        ),
        (
            "osm_pi_rcv_process: Switch 0x200000 Switch1 port 3 changed state from DOWN to INIT",
            "Switch1", "port 3", "fabric.link_down", True,
        ),
        (
            "drop_mgr_remove_port: Removed port with GUID:0x0c42a10300ab0001 LID range [3, 3] of node:gpu-01 mlx5_0",
            "gpu-01", "port 0c42a10300ab0001", "fabric.node_down", False,
        ),
        (
            "ni_rcv: Discovered new port with GUID:0x0c42a10300ab0001 LID range [3,3] of node: gpu-01 mlx5_0",
            "gpu-01", "port 0c42a10300ab0001", "fabric.node_down", True,
        ),
    ],
)  # fmt: skip
def test_opensm_names_devices_by_their_descriptions(
    event: str, node: str, component: str, code: str, *, ended: bool
) -> None:
    """A port that goes down and comes back, a node that left and came back."""
    (one,) = read(SM.format(event), NOW)
    assert (one.node, one.component, one.code, one.ended) == (node, component, code, ended)


@pytest.mark.parametrize(
    "line",
    [
        "", "SUBNET UP", UFM.format("Something else"), SM.format("do_sweep: Entering heavy sweep"),
        SM.format("osm_pi_rcv_process: Switch 0x20 S1 port 3 changed state from INIT to ACTIVE"),
        ENDS.replace("_3", "").replace("_7", "").format("Link went down"),
        "a person says: " + UFM.format("Link went down"),
    ],
)  # fmt: skip
def test_other_lines_tell_nothing(line: str) -> None:
    """Nor those that name no device."""
    assert read(line, NOW) == ()


def test_a_link_that_comes_back_takes_its_alarm_back() -> None:
    """By its own clock's order; a clock that is hours off is not believed, and then the order of arrival counts."""
    for off in (0, 7 * 3600):
        desk = AlarmEngine(Rules())
        desk.hear(read(UFM.format("Link went down"), NOW + off), NOW + off)
        up = UFM.format("Link is up").replace("22:13:20", "22:13:50")
        assert desk.hear(read(up, NOW + off + 30), NOW + off + 30).changed[0].cleared_at == NOW + off + 30
        assert desk.hear(read(UFM.format("Link went down"), NOW + off + 60), NOW + off + 60).changed == ()


def test_a_push_has_its_bounds() -> None:
    """More lines are refused."""
    with pytest.raises(EvidenceError, match="more than 50000 lines of a fabric's log in one push"):
        read("\n" * MOST_LINES, NOW)


WORDS = st.sampled_from(
    (UFM, SWITCH, ENDS, SM, "Link went down", "[Computer: ", "]: ", "Switch 0x1 ", " port 1", "\n")
)


@given(st.lists(st.one_of(st.text(max_size=10), WORDS), max_size=12).map("".join))
def test_nothing_in_a_line_surprises_the_reader(text: str) -> None:
    """It is read, or tells nothing."""
    assert all(each.code.startswith("fabric.") for each in read(text, NOW))


def test_a_hostile_line_is_read_at_once() -> None:
    """No pattern goes back and forth over it."""
    evil = UFM.format("") + "[Computer: " * 150 + SM + "Switch 0x1 " + " port 1 port 1" * 100
    assert read("\n".join([evil, SM.format("x: Switch 0x1 " + " port 1" * 300), "<1>" + "a" * 2000] * 300), NOW) == ()
