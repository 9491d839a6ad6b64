"""Hostile text in trackers: nothing mentions, links or runs."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.tickets.trackers import inert

HOSTILE = st.text(
    st.sampled_from([*"@#!~%&$`*_[]<>{}|^\\ \n\r\t:/.", "a", "1", "\u202e", "\x1b", "\u200b", "ü"]), max_size=80
) | st.lists(
    st.sampled_from(["```", "````", "{noformat}", "{code}", "[code]", "[/code]", "https://evil.example", "@all", "x",
                     "www.evil.example", "/close", "<img src=x>", "\n", "{NoFormat}", "[CODE]", "@[a:b]",
                     "mailto:a@b.c"]),
    max_size=20,
).map("".join)  # fmt: skip


@given(HOSTILE)
def test_a_title_is_one_line_that_mentions_nobody_and_links_nowhere(text: str) -> None:
    """Titles are not in a block; GitLab reads mentions in them."""
    title = inert.line(text, 100)
    assert len(title) <= 100
    assert not re.search(r"[\n\r\t\x1b\u202e]", title)
    assert not re.search(r"[@#!~%&$][\w\[{]", title)
    assert not re.search(r"(?i)://|www\.|mailto:", title)


@given(HOSTILE, st.sampled_from([inert.markdown, inert.netbox]))
def test_nothing_leaves_a_fenced_block(text: str, block: Callable[[str], str]) -> None:
    """Its fence is longer than any in it."""
    first, *inside, last = block(text).split("\n")
    assert first == f"{last}text"
    assert set(last) == {"`"}
    assert not any(line.strip().startswith(last) for line in inside)


@given(HOSTILE)
def test_nothing_leaves_a_wiki_block(text: str) -> None:
    """Only our own two tags are left of it."""
    shown = inert.wiki(text)
    assert shown.count("{noformat}") == 2
    assert "{noformat" not in shown.removeprefix("{noformat}").removesuffix("{noformat}").lower()
    assert "://" not in shown


@given(st.lists(HOSTILE, max_size=3))
def test_a_document_holds_text_alone(blocks: list[str]) -> None:
    """Mentions, links and media are nodes of their own; there is none."""
    document = inert.adf(*blocks)
    assert (document["type"], document["version"]) == ("doc", 1)
    for block in document["content"]:
        (text,) = block["content"]
        assert (block["type"], text["type"], set(text)) == ("codeBlock", "text", {"type", "text"})
        assert text["text"]


@given(st.lists(st.text("ab-1\n", min_size=1, max_size=120), max_size=12))
def test_lines_of_netboxs_journal_fit_unless_a_word_does_not(words: list[str]) -> None:
    """No word is lost or broken, so what is copied from there is what was written."""
    _, *lines, _ = inert.netbox(" ".join(words)).split("\n")
    assert " ".join(lines).split() == " ".join(words).split()
    assert all(len(line) <= inert.NETBOX_COLUMNS or " " not in line for line in lines)


@given(HOSTILE)
def test_a_journal_runs_no_html_and_mentions_nobody(text: str) -> None:
    """ServiceNow takes what stands between [code] and [/code] for HTML."""
    shown = inert.journal(text)
    assert not re.search(r"(?i)\[/?code\]", shown)
    assert "@[" not in shown
    assert not re.search(r"<[^\u200b]", shown)


@pytest.mark.parametrize(("text", "most"), [("abc", 3), ("abcd", 3), ("a" * 500, 20)])
def test_what_is_cut_says_so(text: str, most: int) -> None:
    """And is not longer than it may be."""
    shown = inert.cut(text, most)
    assert len(shown) <= most
    assert shown == text or shown.endswith("…")
