"""Syslog: both of its standards, and streams of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.faults.signals.kernel import Line
from fleet_runner.core.faults.signals.syslog import LARGEST, frames, read
from tests.core.faults.signals.telling import NOW

XID = "NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus."


@pytest.mark.parametrize(
    ("message", "at"),
    [
        (f"<4>1 2023-11-14T22:13:20.000000Z gpu-01 kernel - - - {XID}", NOW),
        (f'<4>1 2023-11-14T22:13:20+00:00 gpu-01 kernel 1 I [a@1 b="c\\]"][d@2 e="]"] \ufeff[ 12.5] {XID}\r\n', NOW),
        (f"<4>1 - gpu-01 kernel - - - {XID}", None),
        (f"<4>Nov 14 22:13:20 gpu-01 kernel: [   12.345678] {XID}\n", NOW),
        (f"<4>Nov 14 12:13:20 gpu-01 kernel: {XID}", None),
        (f"<3>2023-11-14T22:13:20.000000+00:00 gpu-01 kernel[0]: {XID}\x00", NOW),
    ],
)  # fmt: skip
def test_a_kernels_message_is_a_line(message: str, at: float | None) -> None:
    """With its host and time; of a time without a zone only one that is near."""
    line = read(message, NOW + 5)
    assert line is not None
    assert (line.host, line.text, line.at) == ("gpu-01", XID, at)


@pytest.mark.parametrize(
    "message",
    [
        f"<12>1 2023-11-14T22:13:20Z gpu-01 kernel - - - {XID}",
        f"<4>1 2023-11-14T22:13:20Z gpu-01 python3 - - - {XID}",
        f"<14>Nov 14 22:13:20 gpu-01 kernel: {XID}",
        f"<4>Nov 14 22:13:20 gpu-01 logger[12]: {XID}",
    ],
)
def test_what_a_program_said_is_not_the_kernels(message: str) -> None:
    """Whatever it calls itself: a program cannot log as the kernel's facility."""
    assert read(message, NOW) is None


def test_a_message_without_words_is_a_line_without_words() -> None:
    """RFC 5424 allows it."""
    assert read("<4>1 - gpu-01 kernel - - -", NOW) == Line("gpu-01", "", None, "-")


@pytest.mark.parametrize(
    "message", ["", "hello", "<4>hello", "<4444>1 - a kernel - - - x", "<4>1 - a kernel - - [x y"]
)
def test_what_is_no_syslog_is_refused(message: str) -> None:
    """With its beginning."""
    with pytest.raises(EvidenceError, match="expected the header of RFC 5424 or RFC 3164"):
        read(message, NOW)


@given(st.lists(st.binary(min_size=1, max_size=40).filter(lambda each: b"\n" not in each and each.strip(b"\r\x00 "))),
       st.booleans(), st.integers(1, 50))  # fmt: skip
def test_a_stream_is_cut_into_its_messages(messages: list[bytes], counted: bool, size: int) -> None:
    """However it arrives in pieces; by counts, or by lines where no line begins with a digit."""
    if counted:
        stream, expected = b"".join(b"%d %s" % (len(each), each) for each in messages), messages
    else:
        expected = [b"<4>" + each.strip(b"\r\x00 ") for each in messages]
        stream = b"\n".join([*expected, b""])
    held, found = b"", list[bytes]()
    for at in range(0, len(stream), size):
        whole, held = frames(held + stream[at : at + size])
        found += whole
    assert (found, held) == (expected, b"")


@pytest.mark.parametrize("held", [b"99999 x", b"12x4 ", b"<4>" + b"x" * LARGEST, b"123456"])
def test_a_stream_that_cannot_be_followed_is_refused(held: bytes) -> None:
    """Too long, or counted in another way."""
    with pytest.raises(EvidenceError, match="syslog stream"):
        frames(held)


def test_what_has_not_arrived_yet_is_waited_for() -> None:
    """Also within a count."""
    assert [frames(held) for held in (b"", b"12", b"5 abc", b"<4>abc", b"\n\r\n")] == [
        ([], b""), ([], b"12"), ([], b"5 abc"), ([], b"<4>abc"), ([], b""),
    ]  # fmt: skip


@given(
    st.one_of(st.text(), st.builds("<4>1 - {} kernel - - [{}] {}".format, st.text(), st.text(), st.text())),
    st.binary(),
)
def test_nothing_in_a_message_surprises_the_reader(message: str, stream: bytes) -> None:
    """It is a line, or none, or refused."""
    try:
        read(message, NOW)
        frames(stream)
    except EvidenceError:
        pass


def test_a_hostile_header_is_read_at_once() -> None:
    """No pattern goes back and forth over it."""
    for evil in ("[" * 8000, '[a="' * 2000, "[" + '"\\' * 4000, '[a b="c"]' * 900):
        with pytest.raises(EvidenceError):
            read(f"<4>1 - a kernel - - {evil}", NOW)
