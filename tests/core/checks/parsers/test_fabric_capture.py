"""Whatever somebody captured of a fabric: seven forms of one fabric, as they are and as they arrive."""

import re
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import (
    ibdiagnet,
    ibdiagnet_lst,
    ibdiagnet_net_dump,
    iblinkinfo,
    ufm_links,
)
from fleet_runner.core.checks.parsers.discovery import Discovery, FabricPort
from fleet_runner.core.checks.parsers.fabric_capture import begins, read
from tests.core.checks.catalogue.judging import cuts, text_of
from tests.examples import examples

TEXTS = {
    "ibnetdiscover": text_of("ibnetdiscover/plain.txt"),
    "ibnetdiscover -p": text_of("ibnetdiscover/by_port.txt"),
    "iblinkinfo": text_of("iblinkinfo/by_node.txt"),
    "iblinkinfo -l": text_of("iblinkinfo/by_line.txt"),
    "db_csv": text_of("ibdiagnet/db_csv.txt"),
    "lst": text_of("ibdiagnet/lst.txt"),
    "net_dump": text_of("ibdiagnet/net_dump.txt"),
}
READERS = (
    read,
    iblinkinfo.parse,
    ibdiagnet.parse,
    ibdiagnet_lst.parse,
    ibdiagnet_net_dump.parse,
    ufm_links.parse,
)
LINKS = 7

FORMS = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)

HOSTILE = st.sampled_from(
    [
        "' - '",
        '"',
        '" (',
        "\t",
        "\r",
        "\n",
        "\u2028",
        "\x00",
        "\ud800",
        "[1]",
        "(",
        "9" * 5000,
        "==(",
        ")==>",
        ",",
        "0x",
    ]
)


def told(found: Discovery) -> set[tuple[frozenset[FabricPort], int, str]]:
    """Which ends are joined, and at which rate."""
    return {(frozenset({each.a, each.b}), each.width, each.speed) for each in found.links}


def said(text: str) -> str:
    """Why a text is refused."""
    with pytest.raises(EvidenceError) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but EvidenceError leaves a reader, and what it reads has a link."""
    for reader in READERS:
        with suppress(EvidenceError):
            assert reader(text).links


@FORMS
@settings(max_examples=examples(200))
@given(data=st.data())
def test_any_bent_capture_is_read_or_refused(text: str, data: st.DataObject) -> None:
    """A real answer with a stretch replaced reaches further into a reader than any random text."""
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 80)))
    bent = text[:begin] + data.draw(st.text(max_size=20) | HOSTILE) + text[end:]
    for reader in READERS:
        with suppress(EvidenceError):
            reader(bent)


def test_all_forms_of_the_evidence_tell_the_same() -> None:
    """Names, GUIDs, kinds, ports and rates, of a split port and of names with quotes and colons too."""
    expected = told(read(TEXTS["ibnetdiscover"]))
    assert len(expected) == LINKS
    assert [told(read(text)) == expected for text in TEXTS.values()] == [True] * len(TEXTS)


@FORMS
def test_a_capture_that_was_cut_is_never_taken_for_a_whole_one_with_fewer_links(text: str) -> None:
    """What half of a capture lacks is not missing from the fabric."""
    for cut in cuts(text):
        with suppress(EvidenceError):
            assert len(read(cut).links) == LINKS, f"cut at {len(cut)}"


@FORMS
def test_a_switch_and_its_own_aggregation_node_are_no_cable(text: str) -> None:
    """SHARP's engine stands in every form as an adapter behind the switch's last port."""
    assert "Aggregation Node" in text
    assert not any("Aggregation" in port.name for each in read(text).links for port in each[:2])


BENDS: dict[str, Callable[[str], str]] = {
    "spaces lost": lambda text: text.replace("   ", " ").replace("  ", " "),
    "tabs as spaces": lambda text: text.replace("\t", "    "),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "no blank lines": lambda text: "\n".join(line for line in text.split("\n") if line),
    "blank lines around": lambda text: f"\n\n{text}\n\n",
    "byte order mark": lambda text: f"\ufeff{text}",
    "upper-case GUIDs": lambda text: text.replace("a088c2", "A088C2").replace("fc6a1c", "FC6A1C"),
    "without its last newline": lambda text: text.removesuffix("\n"),
    "names with blanks around": lambda text: text.replace("spine-1", " spine-1 "),
}


@FORMS
@pytest.mark.parametrize("bend", BENDS.values(), ids=BENDS)
def test_what_happens_to_captures_on_their_way_changes_nothing(text: str, bend: Callable[[str], str]) -> None:
    """Copied from terminals, mailed, kept in tickets."""
    assert told(read(bend(text))) == told(read(text))


@FORMS
def test_guids_without_their_leading_zeros_are_the_same_guids(text: str) -> None:
    zeros = text.replace("a088c20300ab0c10", "0000000300ab0c10")
    assert told(read(zeros.replace("0000000300ab0c10", "300ab0c10"))) == told(read(zeros)) != told(read(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "it is empty; expected the output of ibnetdiscover (plain or -p) or iblinkinfo"),
        ("\n \n", "it is empty; expected"),
        ("\x7fELF\x02\x01\n", "line 1: found '\\x7fELF\\x02\\x01'; expected the output of"),
        ("\n<!DOCTYPE html>\n<p>Sign in</p>\n", "line 2: found '<!DOCTYPE html>'; expected the output of"),
        ("ibwarn: mad_rpc_open_port: can't open UMAD port\n", 'line 1: found "ibwarn: mad_rpc_open_port'),
        ("x" * 1_000_000, f"line 1: found '{'x' * 80}'; expected"),
    ],
    ids=["empty", "blank", "binary", "HTML", "the tool's error", "endless"],
)
def test_what_is_no_capture_is_refused_with_what_was_found_and_expected(text: str, expected: str) -> None:
    assert said(text).startswith(expected)


@pytest.mark.parametrize("form", sorted(set(TEXTS) - {"db_csv"}))
def test_a_banner_before_the_output_is_skipped_and_named_by_its_line(form: str) -> None:
    banner = "\nWelcome to gpu-01. Authorized use only."
    found = read(f"{banner}\n{TEXTS[form]}")
    assert found.skipped == ((2, "Welcome to gpu-01. Authorized use only."),)
    assert told(found) == told(read(TEXTS[form]))


def test_a_banner_before_sections_does_no_harm() -> None:
    """A db_csv says itself where its sections begin and end."""
    assert told(read(f"Welcome to gpu-01.\n{TEXTS['db_csv']}")) == told(read(TEXTS["db_csv"]))


@FORMS
def test_one_capture_twice_is_refused(text: str) -> None:
    """The second may be of another day: what it lacks would look as if it were there."""
    why = said(text + text)
    assert "is listed twice" in why or "begins again" in why


@pytest.mark.parametrize("form", sorted(set(TEXTS) - {"db_csv"}))
def test_two_captures_in_one_are_refused_with_both_far_ends(form: str) -> None:
    """What stood at one leaf stands at another leaf's port in the second."""
    text = TEXTS[form]
    lines = [line for line in text.split("\n") if "gpu-02 mlx5_0" not in line and "ab0d10" not in line]
    moved = "\n".join(lines).replace("leaf-1", "leaf-9").replace("e70000", "e70099")
    why = said(f"{text}\n{moved}")
    assert re.search(r"is listed twice, joined to 'MF0;leaf-1:\S+' port (\d+) and to 'MF0;leaf-9:\S+' port \1;", why)


def test_two_forms_in_one_are_refused_by_the_line_of_the_second() -> None:
    text = TEXTS["ibnetdiscover -p"]
    line = text.count("\n") + 1
    assert said(text + TEXTS["iblinkinfo"]) == (
        f"line {line}: found iblinkinfo after ibnetdiscover -p; expected one capture in one form"
    )


def test_captures_of_separate_fabrics_may_stand_in_one_file() -> None:
    """Rails can be fabrics of their own: no port is listed twice."""
    text = TEXTS["ibnetdiscover -p"]
    other = text.replace("0xa0", "0xa1").replace("0xfc", "0xfd").replace("0xb0", "0xb1")
    assert len(read(text + other).links) == 2 * LINKS


@FORMS
def test_a_name_of_a_million_marks_does_not_hold_a_reader_up(text: str) -> None:
    """A node writes its own name, and quadratic time would take hours here."""
    for mark in ("' - '", '"', "[1]", "==(", ",", "\\", "0x", ")==> ", "\r"):
        with suppress(EvidenceError):
            read(text.replace("gpu-01 mlx5_0", mark * (1_000_000 // len(mark))))


@pytest.mark.parametrize(
    "line",
    [
        "Switch: 0x1 a:",
        "CA: a:",
        "{ CA Ports:01 ",
        '"a", b, 0x1, LID 1',
        '{"source_guid": 1},',
        "START_NODES",
        "0x1 ",
        "SW 1 1 0x1 ",
        "[1] ",
        " " * 40,
    ],
)
def test_many_lines_without_an_end_do_not_hold_a_reader_up(line: str) -> None:
    for reader in READERS:
        with suppress(EvidenceError):
            reader(f"{line}\n" * 20_000 + line * 20_000)


def test_what_a_tool_printed_of_a_fabric_is_known_by_its_lines() -> None:
    """UFM's table may be somebody's design as well."""
    assert all(map(begins, TEXTS.values()))
    assert not begins(text_of("ufm/links.csv"))
    assert not begins("Device A,Port A,Device B,Port B\ngpu-01,mlx5_0,leaf-1,1\n")
