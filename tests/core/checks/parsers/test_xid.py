"""Xid and SXid lines of the kernel's log."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import xid
from fleet_runner.core.checks.parsers.xid import MAX_LINES, KernelLog, XidLine, parse
from fleet_runner.core.faults.pci import canonical
from tests.core.checks.catalogue.judging import DMESG

FALLEN = "NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."

NEVER_BEGAN = """[ 12.3] NVRM: The NVIDIA GPU 0000:9b:00.0
{0}NVRM: (PCI ID: 10de:2330) installed in this system has
{0}NVRM: fallen off the bus and is not responding to commands.
"""


@pytest.mark.parametrize(
    ("prefix", "at"),
    [
        ("", ""),
        ("2025-03-01T09:40:00,123456+00:00 ", "2025-03-01T09:40:00,123456+00:00"),
        ("[Sat Mar  1 09:40:00 2025] ", "Sat Mar  1 09:40:00 2025"),
        ("[  123.456789] ", "123.456789"),
        ("<4>[  123.456789] ", "123.456789"),
        ("kern  :err   : [  123.456789] ", "123.456789"),
        ("Mar  1 09:40:00 gpu-01 kernel: [  123.456789] ", "Mar  1 09:40:00"),
        ("2025-03-01T09:40:00.123456+00:00 gpu-01 kernel: ", "2025-03-01T09:40:00.123456+00:00"),
        ("[  123.456789] [  T1234] ", "123.456789"),
        ("2025-03-01T09:40:00,123456+00:00 [    C7] ", "2025-03-01T09:40:00,123456+00:00"),
        ("Mar  1 09:40:00 gpu-01 kernel: [  123.456789][    C7] ", "Mar  1 09:40:00"),
        ("Mar 01 09:40:00.123456 gpu-01 kernel: ", "Mar 01 09:40:00.123456"),
        ("Mär 01 09:40:00 gpu-01 kernel: ", "Mär 01 09:40:00"),
        ("Sat 2025-03-01 09:40:00 UTC gpu-01 kernel: ", "Sat 2025-03-01 09:40:00 UTC"),
        ("1740822000.123456 gpu-01 kernel: ", "1740822000.123456"),
        ("[  123.456789] gpu-01 kernel: ", "123.456789"),
        ("kernel: [  123.456789] ", "123.456789"),
        ("<4>1 2025-03-01T09:40:00.123456Z gpu-01 kernel - - - ", "2025-03-01T09:40:00.123456Z"),
        ("192.0.2.7: kern: warning: [2025-03-01T09:40:00.123456789Z]: ", "2025-03-01T09:40:00.123456789Z"),
        ("192.0.2.7: kern:     err: [2025-03-01T09:40:00.123456789Z]: ", "2025-03-01T09:40:00.123456789Z"),
        ("4,1234,123456789,-,caller=T12;", ""),
        ("\x1b[32m[  123.456789] \x1b[0m\x1b[33m", "123.456789"),
    ],
)
def test_a_line_is_read_whatever_writes_its_time(prefix: str, at: str) -> None:
    """The forms of dmesg, also with colours and with who spoke; journalctl's, syslog's, Talos' and /dev/kmsg's."""
    (line,) = parse(f"{prefix}{FALLEN}\n").xids
    assert (line.at, line.pci, line.code) == (at, "0000:9b:00.0", 79)
    assert line.text.endswith("GPU has fallen off the bus.")


@pytest.mark.parametrize("where", ["PCI:0000:9b:00", "PCI:0000:9b:00.0", "0000:9b:00", "PCI:0000:9b:00 GPU-I:05"])
def test_a_gpu_is_the_same_however_the_driver_spells_it(where: str) -> None:
    """With and without function, and with a MIG instance behind it."""
    assert parse(f"NVRM: Xid ({where}): 69\n").xids[0].pci == "0000:9b:00.0"


@pytest.mark.parametrize(
    "line",
    [
        f"audit: a process says {FALLEN}",
        f"foo[123]: {FALLEN}",
        "NVRM: Xid (PCI:0000:1b:00): 13, pid=1, name=NVRM: Xid (PCI:0000:9b:00): 79, x",
        "NVRM: Xid (nowhere): 79, x",
        "NVRM: Xid (PCI:0000:9b:0): 79, x",
        "NVRM: Xid (PCI:0000:9b:00): seventy-nine",
        "NVRM: Xid (PCI:0000:9b:00): 79",
        "nvidia-nvswitch0: SXid (invalid): some error",
        "NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.",
    ],
)
def test_what_only_looks_like_an_xid_79_is_none(line: str) -> None:
    """Quoted by others, named by a process, without an address, or cut within its code (no line end after it)."""
    assert 79 not in [found.code for found in parse(line).xids]
    assert parse(line).sxids == ()


def test_only_a_newline_ends_a_line() -> None:
    """A process may be named with a character that Python takes for a line's end."""
    log = parse(f"NVRM: Xid (PCI:0000:1b:00): 13, pid=1, name=x\u2028{FALLEN}\n")
    assert [line.code for line in log.xids] == [13]


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.\n",
        "Mar  1 09:40:00 gpu-01 kernel: NVRM: GPU 9b:00.0: GPU has fallen off the bus.\n" * 2,
        NEVER_BEGAN.format(" " * 15),
        NEVER_BEGAN.format("[ 12.3] "),
        f"{FALLEN}\nNVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.\n",
    ],
)
def test_a_gpu_that_fell_off_the_bus_counts_once_whatever_the_driver_calls_it(text: str) -> None:
    """Newer drivers say it without an Xid: in a line while they run, in three where they cannot begin."""
    assert [(line.code, line.pci) for line in parse(text).xids] == [(79, "0000:9b:00.0")]


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus",
        "foo: NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.\n",
        "NVRM: GPU 0:0:0: GPU has fallen off the bus.\n",
        "NVRM: fallen off the bus and is not responding to commands.\n",
        "NVRM: The NVIDIA GPU 123456:9b:00.0\nNVRM: fallen off the bus and is not responding to commands.\n",
    ],
)
def test_a_fall_that_is_not_told_by_the_driver_in_whole_lines_is_none(text: str) -> None:
    """Cut, quoted, or without an address."""
    assert parse(text).xids == ()


def test_a_log_in_json_is_refused() -> None:
    """Any process may write such a line; and a log of which nothing is read must not pass for one without errors."""
    with pytest.raises(EvidenceError, match="is JSON"):
        parse('{"MESSAGE":"' + FALLEN + '","_TRANSPORT":"syslog"}\n')


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_log_is_no_log(text: str) -> None:
    """A kernel that booted has said something."""
    with pytest.raises(EvidenceError, match="empty"):
        parse(text)


def test_an_endless_log_is_refused() -> None:
    """Sizes are bounded."""
    with pytest.raises(EvidenceError, match="lines"):
        parse("\n" * MAX_LINES + "x\n")


def test_severity_and_recovery_are_read_from_the_line() -> None:
    """Double spaces, `Link -1`, and the action behind the last bracket."""
    log = parse(
        DMESG + "NVRM: Xid (PCI:0000:1b:00): 145, RLW_CTRL  Fatal   XC0 i0 Link -1 (0x0\n"
        "NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)\n"
    )
    assert [(line.code, line.fatal, line.action) for line in log.xids] == [
        (13, None, None), (144, False, None), (145, True, None), (154, None, "Drain and Reset")
    ]  # fmt: skip


def test_every_captured_line_is_read(samples: Path) -> None:
    """115 lines, real and invented; every one has its code and its address."""
    text = (samples / "gpu" / "xid_lines_gpud.txt").read_text(encoding="utf-8")
    assert len(parse(text).xids) == text.count("NVRM: Xid (PCI:")


def test_every_captured_sxid_line_is_read_but_the_one_without_an_address(samples: Path) -> None:
    """They come in groups: severity first, then data."""
    text = (samples / "gpu" / "sxid_lines_gpud_nvsentinel.txt").read_text(encoding="utf-8")
    found = parse(text).sxids
    assert len(found) == text.count("SXid (PCI:")
    assert (found[2].code, found[2].fatal, found[2].switch, found[2].pci) == (20034, True, 0, "0000:05:00.0")


def test_a_captured_kernel_log_has_its_five_xids(samples: Path) -> None:
    """A real GSP time-out, in the middle of the driver's tables."""
    text = (samples / "gpu" / "gpud_dmesg_xid119_real.log").read_text(encoding="utf-8")
    log = parse(text)
    assert [(line.code, line.pci) for line in log.xids] == [(119, "0000:9b:00.0")] * 5
    assert log.xids[0].at == "Sun Feb 23 16:24:18 2025"
    assert xid.parse(text[: len(text) // 2]).xids


WHERE = st.sampled_from(["0000:9b:00", "0000:9B:00.0", "00000000:1b:00.0", "9b:00:00", "0000:9b:0:0", "0000:9b:00.9"])
SAID = st.lists(
    st.sampled_from(
        ["Fatal", "FATAL", "Non-fatal", "nonfatal", "fatality", "fata\u017f", ", ", " ", "\u2028", "\x1b[0m"]
    )
    | st.text(st.characters(exclude_characters="\n"), max_size=9),
    max_size=6,
).map("".join)
STORM = st.lists(
    st.builds("[ 12.5] NVRM: Xid (PCI:{}): {}, {}".format, WHERE, st.integers(1, 160), SAID)
    | st.builds("{}NVRM: Xid (PCI:{}): 31, x".format, SAID, WHERE)
    | SAID,
    max_size=30,
)


@given(STORM)
def test_each_line_of_a_storm_is_read_as_it_would_be_alone(lines: list[str]) -> None:
    """Whatever stands before it and behind it, and however often its GPU was named before."""
    log = parse("[ 1.0] booted\n" + "".join(f"{line}\n" for line in lines))
    alone = [parse(f"[ 1.0] booted\n{line}\n") for line in lines]
    assert log == KernelLog(tuple(each for one in alone for each in one.xids), ())
    assert all(each == plainly(each) for each in log.xids)


def plainly(line: XidLine) -> XidLine:
    """Return a line with its address and severity read once more, with nothing left out for speed."""
    found = re.search(r"\b(Non-?fatal|Fatal)\b", line.text, re.IGNORECASE)
    return line._replace(pci=canonical(line.pci) or "", fatal=found and found[1].lower() == "fatal")


MARK = "[ 30.0] fleet-runner: reset of {}\n"
BEFORE = "[ 12.3] NVRM: Xid (PCI:0000:9b:00): 48, pid=1\n[ 13.3] NVRM: Xid (PCI:0000:1b:00): 48, pid=1\n"
SWITCH = "[ 14.3] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 11001, Fatal, Link 3\n"


@pytest.mark.parametrize(
    ("mark", "left"),
    [
        (MARK.format("0000:9b:00.0"), {"0000:1b:00.0"}),
        (MARK.format("0000:9b:00.0, 0000:1b:00.0"), set()),
        (MARK.format("all GPUs"), set()),
        (MARK.format("0000:9b:00.0")[:-1], {"0000:1b:00.0", "0000:9b:00.0"}),
        ("[ 30.0] python[7]: " + MARK.format("all GPUs")[7:], {"0000:1b:00.0", "0000:9b:00.0"}),
        ("[ 30.0] fleet-runner: reset of nothing\n", {"0000:1b:00.0", "0000:9b:00.0"}),
    ],
)
def test_what_was_logged_before_a_gpu_was_reset_is_over(mark: str, left: set[str]) -> None:
    """By the log's own order; a line that is cut, or that a process wrote under another name, proves nothing."""
    assert {line.pci for line in parse(BEFORE + mark).xids} == left


def test_what_is_logged_after_its_reset_counts_again() -> None:
    found = parse(BEFORE + MARK.format("all GPUs") + BEFORE.splitlines()[0] + "\n")
    assert [line.pci for line in found.xids] == ["0000:9b:00.0"]


def test_a_reset_of_one_gpu_says_nothing_of_switches_and_none_of_a_gpu_that_fell_off_the_bus() -> None:
    """Only all of them together reset the switches; and no reset brings back what left the bus."""
    assert parse(SWITCH + MARK.format("0000:9b:00.0")).sxids
    assert not parse(SWITCH + MARK.format("all GPUs")).sxids
    assert [line.code for line in parse(f"{FALLEN}\n" + MARK.format("all GPUs")).xids] == [79]
