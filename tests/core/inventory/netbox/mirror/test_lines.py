"""Lines of a node's history as entries of its journal in NetBox, known again by their marks."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.inventory.netbox.mirror.lines import KINDS, LONGEST, comments, kind, mark, marks
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import Event, State

LINE = Entry(7, "gpu-01", 1_763_842_490.7, "condition", "Held: fan noise.", "ada")
MOVE = replace(LINE, kind="transition", state=State.VERIFY, event=Event.FAILED, to=State.TRIAGE)

ENTRIES = st.builds(
    Entry, st.integers(1, 2**62), st.text(max_size=10), st.floats(0, 4e9), st.sampled_from(KINDS),
    st.text(max_size=200), st.text(max_size=30),
)  # fmt: skip


def test_an_entry_says_what_who_and_when() -> None:
    assert comments(LINE) == (
        "```text\nHeld: fan noise.\nada, 2025-11-22 20:14:50 UTC\n```\n"
        f"<!-- fleet-runner line {mark(LINE)} -->"
    )  # fmt: skip
    assert "ada, 2025-11-22 20:14:50 UTC, verify → triage" in comments(MOVE)


def test_a_long_sentence_stands_in_lines_that_fit_and_who_and_when_in_the_last() -> None:
    sentence = "Burn-in found a fault; it is not retried, a person decides. gpu_burn: GPU 0000:d1:00.0 reached 40201."
    _, first, second, last, *_ = comments(replace(LINE, sentence=sentence)).split("\n")
    assert f"{first} {second}" == sentence
    assert last == "ada, 2025-11-22 20:14:50 UTC"


@pytest.mark.parametrize(
    ("entry", "colour"),
    [
        (MOVE, "danger"),
        (replace(MOVE, to=State.PRODUCTION), "success"),
        (replace(MOVE, to=State.VERIFY), "info"),
        (LINE, "warning"),
        (replace(LINE, kind="intent"), "info"),
    ],
)
def test_its_kind_says_how_bad_it_is(entry: Entry, colour: str) -> None:
    assert kind(entry) == colour


def test_another_line_of_the_same_number_has_another_mark() -> None:
    """After a store was restored, numbers are given again."""
    others = (replace(LINE, sentence="Held."), replace(LINE, at=1.0), replace(LINE, node="gpu-02"))
    assert len({mark(LINE), *map(mark, others)}) == 4


@given(st.lists(ENTRIES, max_size=4), st.lists(st.text(max_size=40), max_size=3))
def test_each_mark_is_found_again_and_no_other(entries: list[Entry], others: list[str]) -> None:
    """Also after NetBox cut the white space at the end."""
    texts = [comments(entry) for entry in entries]
    assert marks([*texts, *(f"{text}\n" for text in texts), *others]) == {mark(entry) for entry in entries}


@given(ENTRIES)
def test_no_sentence_passes_for_another_line(entry: Entry) -> None:
    """A node that says a mark has told no line by that."""
    assert marks([comments(replace(entry, sentence=comments(LINE)))]) == {
        mark(replace(entry, sentence=comments(LINE)))
    }


@given(st.text(alphabet="`~<>![]()\n# ab", max_size=300))
def test_nothing_in_a_sentence_breaks_out_of_its_block(sentence: str) -> None:
    text = comments(replace(LINE, sentence=sentence))
    fence = text[: len(text) - len(text.lstrip("`"))]
    body, end = text.removeprefix(f"{fence}text\n").rsplit(f"\n{fence}\n", 1)
    assert fence not in body
    assert end == f"<!-- fleet-runner line {mark(replace(LINE, sentence=sentence))} -->"


def test_a_long_sentence_is_cut() -> None:
    assert len(comments(replace(LINE, sentence="x" * 100_000))) < LONGEST + 300
