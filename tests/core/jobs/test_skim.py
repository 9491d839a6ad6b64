"""Which lines of a big output are looked at, and that no other one would have changed what is told of it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.lines import Line
from fleet_runner.core.jobs.output import IDLE, JobOutput
from fleet_runner.core.jobs.skim import EDGE, FEW, KEY, WORDS, marked, plain, worth
from fleet_runner.core.jobs.steps import SURVIVED, Steps

BEGUN = datetime(2026, 11, 28, tzinfo=UTC)

ERROR = (
    "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    main()\nKeyError: 'tokens'\n"
)
BUG = "\n".join(f"[rank3]: {line}" for line in ERROR.splitlines()) + "\n"

KINDS = (
    "{clock} step {number} loss 2.1",
    "{clock} [INFO] a word of the program",
    "gpu-07:4711:4790 [3] NCCL INFO Channel {number}/0 : 0[0] -> 1[1] via P2P",
    "train: {number}%|##| {number}/9000 [00:01<00:10, 4.9it/s]",
    "nothing that anybody looks for",
)

EVENTS = (
    ERROR,
    BUG,
    "[rank5]: RuntimeError: CUDA error\n",
    "gpu-07:4711:4790 [3] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer gpu-08<5>\n",
    "srun: error: gpu-07: task 3: Killed\n",
    "\x1b[31mslurms\x1b[0mtepd: error: *** JOB 4711 ON gpu-07 CANCELLED AT 2026-11-28T02:20:04 DUE TO PREEMPTION\n",
    "Root Cause (first observed failure):\n  rank      : 9 (local_rank: 1)\n  exitcode  : -9 (pid: 4711)\n=====\n",
)


def chatter(kind: str, lines: int, since: int) -> str:
    """Return so many lines of a kind, a second apart; they begin so many seconds after the job."""
    return "".join(
        kind.format(clock=f"{BEGUN + timedelta(seconds=since + number):%Y-%m-%d %H:%M:%S}", number=number) + "\n"
        for number in range(lines)
    )


@pytest.mark.parametrize("word", WORDS)
def test_every_word_belongs_to_what_is_taken_apart(word: str) -> None:
    """Whatever the pattern names holds a word: each piece of it does."""
    pieces = KEY.pattern.replace("(?:ECC|NVLink)", "ECC").replace(r"\w+", "x").replace(r"\d", "1").replace("\\", "")
    assert all(any(mine in piece for mine in WORDS) for piece in pieces.split("|"))
    assert any(word in piece or word.rstrip() in piece for piece in pieces.split("|"))


@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(KINDS), st.integers(min_value=1, max_value=350)),
            st.tuples(st.sampled_from(EVENTS), st.just(0)),
        ),
        max_size=6,
    ),
    st.integers(min_value=1, max_value=3),
)
def test_what_is_told_is_what_all_lines_tell(made: list[tuple[str, int]], pieces: int) -> None:
    """Of an output whose clock goes forward, however it comes in pieces."""
    text, since = "", 0
    for what, lines in made:
        text, since = text + (chatter(what, lines, since) if lines else what), since + lines
    whole, each = JobOutput("a", 2026), JobOutput("a", 2026)
    rows = text.splitlines(keepends=True)
    for at in range(0, len(rows), len(rows) // pieces + 1):
        whole.feed("".join(rows[at : at + len(rows) // pieces + 1]))
    for line in rows:
        each.feed(line)
    assert whole.end() == each.end()
    assert (whole.times, whole.progress, whole.survived) == (each.times, each.progress, each.survived)
    assert whole.known == each.known


@given(st.sampled_from(KINDS), st.integers(min_value=FEW + 1, max_value=5_000))
def test_of_many_lines_few_are_looked_at(kind: str, count: int) -> None:
    """The first and last ones, and others that tell how it went on."""
    lines = chatter(kind, count, 0).splitlines()
    steps = Steps()
    taken = []
    for line in worth(lines, lambda: steps.made):
        taken.append(line)
        steps.take(Line(line))
    assert taken[:EDGE] == lines[:EDGE]
    assert taken[-EDGE:] == lines[-EDGE:]
    most = 2 * EDGE + count // EDGE + 4 + (SURVIVED if kind.startswith(("{clock} step", "train")) else 0)
    assert len(taken) <= most


def test_the_last_step_and_time_are_found_before_long_chatter() -> None:
    """They say when the program made progress last."""
    chat = chatter(KINDS[4], 5_000, 0)
    output = JobOutput("a", 2026)
    output.feed(f"{chatter(KINDS[0], 900, 0)}{chat}")
    assert output.progress == (BEGUN + timedelta(seconds=899)).timestamp()
    output = JobOutput("a", 2026)
    output.feed(f"{chatter(KINDS[0], 66, 0)}{chatter(KINDS[1], 1, 66)}{chatter(KINDS[3], 190, 0)}")
    assert output.progress == (BEGUN + timedelta(seconds=65)).timestamp()
    output = JobOutput("a", 2026)
    output.feed(f"{ERROR}{chat}{chatter(KINDS[1], 1, 77)}{chat}")
    assert [event.at for event in output.end()] == [(BEGUN + timedelta(seconds=77)).timestamp()]


def test_sparse_steps_show_that_an_error_was_survived() -> None:
    """One in a thousand lines is enough."""
    sparse = "".join(f"{chatter(KINDS[4], 1_000, 0)}step {number}\n" for number in range(30))
    output = JobOutput("a", 2026)
    output.feed(f"{ERROR}{sparse}")
    output.end()
    assert output.survived == 1


def test_words_in_colours_are_found() -> None:
    """And those with blanks of no width between their letters."""
    text = plain("a\x1b[1mNCCL\x1b[0m WARN\rb\u200bc NCCL\u00a0WARN\n")
    assert [text[begin:end] for begin, end in marked(text)] == ["aNCCL WARN", "bc NCCL WARN"]
    assert list(marked("NCCL WARN and no end")) == [(0, 20)]


def test_a_rank_that_says_nothing_more_does_not_make_the_rest_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its exception's words are over after very many lines of others."""
    taken: list[str] = []
    output = JobOutput("a", 2026)
    output.feed(BUG)
    take = output._take

    def counted(line: str) -> None:
        taken.append(line)
        take(line)

    monkeypatch.setattr(output, "_take", counted)
    output.feed(chatter(KINDS[4], 3 * IDLE, 0))
    assert IDLE <= len(taken) < 2 * IDLE
    assert [event.code for event in output.end()] == ["job.exception"]
