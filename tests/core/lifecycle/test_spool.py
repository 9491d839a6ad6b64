"""The spool gives back what was written, whole lines only, and a line nobody can read stops nothing."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.spool import Decoded, Ended, Evidence, Judged, Line, PlayEnd, Progress, encode

TEXT = st.text(max_size=30)
TIMES = st.floats(0, 4e9)
LINES: st.SearchStrategy[Line] = st.one_of(
    st.builds(Progress, TEXT, TIMES, st.integers(0, 99), st.integers(0, 99), TEXT),
    st.builds(Judged, TEXT, TIMES, st.builds(Result, TEXT, st.sampled_from(Verdict), TEXT)),
    st.builds(Evidence, TEXT, TIMES, TEXT, TEXT, TEXT),
    st.builds(Ended, TEXT, TIMES, st.sampled_from(PlayEnd), TEXT),
)
SPOOLS = st.lists(LINES, max_size=8)


def written(lines: list[Line]) -> bytes:
    return "".join(encode(line) for line in lines).encode()


@given(SPOOLS)
def test_what_was_written_is_read(lines: list[Line]) -> None:
    data = written(lines)
    assert Decoded.of(data) == Decoded(tuple(lines), len(data), 0)


@given(LINES)
def test_a_line_is_one_line_of_ascii(line: Line) -> None:
    """Whatever a node's tool printed, it cannot start a line of its own."""
    text = encode(line)
    assert text.isascii()
    assert text.count("\n") == 1
    assert text.splitlines() == [text[:-1]]


@given(SPOOLS, st.integers(0, 4000))
def test_reading_in_two_halves_loses_nothing_and_doubles_nothing(lines: list[Line], at: int) -> None:
    """The writer may die, or be read, in the middle of a line."""
    data = written(lines)
    first = Decoded.of(data[:at])
    second = Decoded.of(data[first.used :])
    assert first.lines + second.lines == tuple(lines)
    assert first.used + second.used == len(data)
    assert first.bad + second.bad == 0


@given(SPOOLS, SPOOLS, st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")))
def test_a_line_nobody_can_read_is_counted_and_left_out(before: list[Line], after: list[Line], junk: bytes) -> None:
    decoded = Decoded.of(written(before) + b"{" + junk.replace(b"\r", b"") + b"\n" + written(after))
    assert decoded.lines == (*before, *after)
    assert decoded.bad == 1


@given(st.binary(max_size=300))
def test_no_bytes_at_all_raise(data: bytes) -> None:
    assert Decoded.of(data).used <= len(data)


def test_json_that_is_no_line_of_ours_is_bad() -> None:
    data = b'[]\n{}\n{"kind":"poem","node":"a","at":1}\n{"kind":"end","node":"a","at":1,"end":"well","message":""}\n'
    assert Decoded.of(data) == Decoded((), len(data), 4)
