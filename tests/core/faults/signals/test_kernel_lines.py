"""What pushed lines of a kernel's log tell: the same as the sweep's findings."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.shared.kernel_messages import findings
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals import json_lines
from fleet_runner.core.faults.signals.kernel import LONGEST, TABLE, Line, read
from fleet_runner.core.faults.signals.signal import Signal, Source
from tests.core.faults.signals.telling import NOW

EVIDENCE = Path(__file__).parents[3] / "evidence" / "dmesg"
STAMP = "2023-11-14T22:13:20,000000+00:00 "
XID = "NVRM: Xid (PCI:0000:9b:00): "
SXID = "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): "


def lines(text: str, host: str, heard: float) -> list[Line]:
    """Return a log's lines as a shipper sends them, with nothing beside their text."""
    rows = [{"message": each, "_TRANSPORT": "kernel"} for each in text.split("\n") if each.strip()]
    return json_lines.read("\n".join(map(json.dumps, rows)), host, heard)[0] if rows else []


def told(*texts: str) -> tuple[Signal, ...]:
    """Return what lines of one node tell in one push."""
    return read(lines("\n".join(STAMP + each for each in texts), "gpu-01", NOW + 5), NOW + 5)


def test_a_line_is_a_signal_with_its_own_time() -> None:
    """Code, component and remedy are those of the sweep's finding."""
    (one,) = told(XID + "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.")
    assert (one.node, one.code, one.component) == ("gpu-01", "xid.79", "GPU 0000:9b:00.0")
    assert (one.at, one.source, one.remedy, one.ended) == (NOW, Source.KERNEL, Remedy.REBOOT, False)
    assert one.message.startswith("GPU 0000:9b:00.0: Xid 79 (")


def test_each_line_counts() -> None:
    """Repeats are counted where all signals are known, so a push does not add them up."""
    assert [each.code for each in told(XID + "31, pid=1, a", XID + "31, pid=2, b", "eth0: up")] == ["xid.31"] * 2


@pytest.mark.parametrize("name", ["boot.txt", "host_faults.txt"])
def test_a_push_tells_what_the_sweep_finds(name: str) -> None:
    """Of the kernel's own log: the same codes, components and remedies."""
    text = (EVIDENCE / name).read_text()
    swept = findings(Reading("dmesg", ReadEnd.OK, text), TABLE, Expected("gpu-01"))
    pushed = {(each.code, each.component, each.remedy) for each in read(lines(text, "gpu-01", NOW), NOW)}
    assert {each for each in pushed if not each[0].startswith(("xid", "sxid"))} == {
        (each.code, each.component, each.remedy) for each in swept
    }
    assert pushed or name == "boot.txt"


def test_an_nvlink_error_beside_a_fatal_one_of_the_switch_asks_for_a_reset() -> None:
    """In whichever order; alone it is watched unless it is fatal itself. A switch's next lines are none."""
    fatal = SXID + "20034, Fatal, Link 30 LTSSM Fault Up"
    more = SXID + "20034, Severity 1 Engine instance 62 Sub-engine instance 00", SXID + "20034, Data {0x1, 0x2}"
    link = XID + "74, pid=1, NVLink: error detected on link 6"
    for push in ((fatal, *more, link), (link, fatal, *more)):
        assert {(each.code, each.remedy) for each in told(*push)} == {
            ("xid.74", Remedy.RESET), ("sxid.20034", Remedy.RESET),
        }  # fmt: skip
        assert len(told(*push)) == 2
    assert [each.remedy for each in told(link)] == [Remedy.WATCH]
    assert [each.remedy for each in told(SXID + "20034, Non-fatal, Link 30", link)] == [Remedy.WATCH, Remedy.RECORD]
    assert told(*more) == ()
    assert [each.remedy for each in told(link.replace("error", "fatal error"))] == [Remedy.RESET]


def test_what_the_driver_says_beside_an_xid_is_told_once() -> None:
    """Without one it is told by itself."""
    words = "NVRM: nvAssertFailedNoLog: Assertion failed: Back to back GSP RPC timeout detected! GPU marked for reset"
    for number in ("119, pid=1, Timeout after 6s of waiting for RPC response from GPU1 GSP!", "120, pid=1, GSP task"):
        assert [each.code for each in told(words, XID + number)] == [f"xid.{number[:3]}"]
    assert [each.code for each in told(words, XID + "31, pid=1, MMU Fault")] == ["gpu.driver_stuck", "xid.31"]
    assert [(each.component, each.remedy) for each in told(words)] == [("GPU", Remedy.RESET)]


def test_a_gpu_falls_off_the_bus_once() -> None:
    """Also where the driver says so with and without a number, or over three lines when it is loaded."""
    words = "NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus."
    number = XID + "79, pid=1, GPU has fallen off the bus."
    assert [each.code for each in told(words, number)] == ["xid.79"]
    assert [each.code for each in told(words)] == ["xid.79"]
    begun = (
        "NVRM: The NVIDIA GPU 0000:9b:00.0", "NVRM: (PCI ID: 10de:2330) installed in this system has",
        "NVRM: fallen off the bus and is not responding to commands.",
    )  # fmt: skip
    assert [(each.code, each.component) for each in told(*begun)] == [("xid.79", "GPU 0000:9b:00.0")]
    assert told(*begun[1:]) == ()


def test_a_driver_that_asks_for_nothing_any_more_takes_its_request_back() -> None:
    """Xid 154 says what recovery is needed now."""
    asked = "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
    none = "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"
    assert [(each.remedy, each.ended) for each in told(XID + asked, XID + none)] == [
        (Remedy.RESET, False), (Remedy.RECORD, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "stamp", ["", "[  123.456789] ", "2019-01-01T00:00:00,000000+00:00 ", "Mar  1 09:40:00 gpu-01 kernel: "]
)
def test_a_time_that_cannot_be_believed_is_when_it_was_heard(stamp: str) -> None:
    """The time as it stands tells a line that comes twice from one that happened twice."""
    first, again = (read(lines(f"{stamp}{XID}79, x", "gpu-01", heard), heard)[0] for heard in (NOW, NOW + 60))
    assert (first.at, again.at) == (NOW, NOW + 60)
    assert first.key == again.key
    assert bool(first.key) is bool(stamp)  # without any time nothing tells two lines from one that came twice


@pytest.mark.parametrize(
    "line",
    [f"audit: a process says {XID}79, x", f"python3[1]: {XID}79, x", "kernel says: BUG: unable to handle", XID],
)
def test_what_only_quotes_the_driver_tells_nothing(line: str) -> None:
    """Only what begins a message is the kernel's own."""
    assert told(line) == ()


def test_lines_of_several_nodes_are_judged_apart() -> None:
    """The switch of one is no company for another's GPU."""
    both = [Line("a", SXID + "20034, Fatal, Link 30"), Line("b", XID + "74, pid=1, NVLink: error")]
    assert {(each.node, each.remedy) for each in read(both, NOW)} == {("a", Remedy.RESET), ("b", Remedy.WATCH)}


def test_of_a_long_line_only_the_beginning_is_read() -> None:
    """Whatever is quoted at its end."""
    assert [len(each.text) for each in lines("x" * 10_000, "gpu-01", NOW)] == [LONGEST]


WORDS = st.sampled_from(
    (
        XID, SXID, "79, ", "74, ", "154, ", "fallen off the bus", "\n", "[1.5] ", "\x1b[31m", "to 0x0 (None)",
        "NVRM: The NVIDIA GPU 0000:9b:00.0", *(each.rule.word for each in TABLE),
    )
)  # fmt: skip


@given(st.lists(st.one_of(st.text(max_size=20), WORDS), max_size=20).map("".join))
def test_nothing_in_a_line_surprises_the_reader(text: str) -> None:
    """Whatever a node sends is read or tells nothing."""
    for each in read(lines(text, "gpu-01", NOW), NOW):
        assert each.code
        assert each.node == Expected("gpu-01").node
