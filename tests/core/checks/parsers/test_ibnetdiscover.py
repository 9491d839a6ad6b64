"""`ibnetdiscover` in both of its forms, as it is and as it arrives."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.ibnetdiscover import parse, whole
from tests.core.cabling import discoveries
from tests.core.cabling.fabrics import matchings
from tests.core.checks.catalogue.judging import cuts, text_of

PLAIN = text_of("ibnetdiscover/plain.txt")
BY_PORT = text_of("ibnetdiscover/by_port.txt")
LINKS = 7

FORMS = pytest.mark.parametrize("text", [PLAIN, BY_PORT], ids=["plain", "by-port"])

HOSTILE = st.sampled_from(
    ["' - '", '"', "' )", "\t", "\r", "\n", "\u2028", "\x00", "\ud800", "[1]", "(", "9" * 5000, "4x", "CA 1 1 0x1"]
)


def paired(text: str) -> set[frozenset[FabricPort]]:
    """Which ends are joined."""
    return {frozenset({each.a, each.b}) for each in whole(parse(text)).links}


@FORMS
@given(data=st.data())
def test_any_bent_capture_is_read_or_refused(text: str, data: st.DataObject) -> None:
    """A real answer with a stretch replaced reaches further into a parser than any random text."""
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 80)))
    with suppress(EvidenceError):
        whole(parse(text[:begin] + data.draw(st.text(max_size=20) | HOSTILE) + text[end:]))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but EvidenceError leaves the parser, and what it reads has a link."""
    with suppress(EvidenceError):
        assert parse(text).links


@FORMS
def test_a_capture_that_was_cut_is_never_taken_for_a_whole_one_with_fewer_links(text: str) -> None:
    """What half of a capture lacks is not missing from the fabric."""
    for cut in cuts(text):
        with suppress(EvidenceError):
            assert len(whole(parse(cut)).links) == LINKS, f"cut at {len(cut)}"


@given(matchings())
def test_both_forms_tell_the_same_links(links: tuple[Link, ...]) -> None:
    """Each link once, whichever end tells of it first."""
    if links:
        assert paired(discoveries.plain(links)) == paired(discoveries.by_port(links))


def test_both_forms_of_the_evidence_tell_the_same_links() -> None:
    assert paired(PLAIN) == paired(BY_PORT)
    assert len(parse(PLAIN).links) == len(parse(BY_PORT).links) == LINKS


BENDS: dict[str, Callable[[str], str]] = {
    "lost tabs": lambda text: text.replace("\t", ""),
    "tabs as spaces": lambda text: text.replace("\t", "    "),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "no blank lines": lambda text: "\n".join(line for line in text.split("\n") if line),
    "blank lines between rows": lambda text: text.replace("\n", "\n\n"),
    "no headers": lambda text: "\n".join(line for line in text.split("\n") if "id=" not in line and line[:1] != "#"),
    "indented": lambda text: text.replace("\n", "\n  "),
    "upper-case GUIDs": lambda text: text.replace("a088c2", "A088C2").replace("fc6a1c", "FC6A1C"),
    "without its last newline": lambda text: text.removesuffix("\n"),
}


@FORMS
@pytest.mark.parametrize("bend", BENDS.values(), ids=BENDS)
def test_what_happens_to_captures_on_their_way_changes_nothing(text: str, bend: Callable[[str], str]) -> None:
    """Copied from terminals, mailed, kept in tickets."""
    discovery = parse(bend(text))
    assert (discovery.unread, discovery.lonely) == ((), ())
    assert paired(bend(text)) == paired(text)


def test_guids_without_their_leading_zeros_are_the_same_guids() -> None:
    """Some versions print them so; in one capture both may stand."""
    text = PLAIN.replace("a088c20300ab0c10", "0000000300ab0c10")
    assert paired(text.replace("0000000300ab0c10", "300ab0c10")) == paired(text)
    assert paired(text.replace("H-0000000300ab0c10", "H-300ab0c10")) == paired(text)
    short = BY_PORT.replace("0xa088c20300ab0c10", "0x300ab0c10")
    assert {end.guid for ends in paired(short) for end in ends} >= {"0000000300ab0c10"}


def test_names_are_whatever_somebody_wrote() -> None:
    """Quotes, colons and semicolons in them; ports above 64 on a switch whose ports are split."""
    (odd,) = (each for each in parse(PLAIN).links if each.width == 2)
    assert odd == FabricLink(
        FabricPort("spine-1", 127, "SW", "fc6a1c0300e90000"),
        FabricPort('o\'brien; "rack:7" HCA-1', 1, "CA", "b0b1c20300ab0e10"),
        2,
        "NDR",
    )


def test_a_name_with_a_line_separator_in_it_is_one_line() -> None:
    """Only a newline ends a line."""
    for text in (PLAIN, BY_PORT):
        assert len(whole(parse(text.replace("gpu-01 mlx5_0", "gpu\u2028-01\x0bmlx5_0"))).links) == LINKS


def test_an_old_chassis_names_its_external_ports_too() -> None:
    text = PLAIN.replace("[33]\t", "[33][ext 3]\t").replace("[33]\t\t#", "[33][ext 3]\t\t#")
    assert paired(text) == paired(PLAIN)


def test_a_far_end_without_a_record_is_named_by_the_comment() -> None:
    """And told from one end only: the capture is not whole."""
    head = PLAIN[: PLAIN.index("\nvendid=0x2c9\ndevid=0x1021")]
    discovery = parse(head)
    assert FabricPort("gpu-01 mlx5_0", 1, "CA", "a088c20300ab0c10") in {each.b for each in discovery.lonely}
    with pytest.raises(EvidenceError, match="told 7 links from one end only, the first at 'MF0;leaf-1:"):
        whole(discovery)
    bare = parse('Switch 2 "S-1" # "a"\n[1] "R-2"[1]\n')
    assert bare.lonely == (
        FabricLink(FabricPort("a", 1, "SW", "1".rjust(16, "0")), FabricPort("", 1, "RT", "2".rjust(16, "0")), 0, ""),
    )
    with pytest.raises(EvidenceError, match="told 1 link from one end only"):
        whole(bare)


@FORMS
def test_a_line_that_cannot_be_read_is_reported_with_its_number(text: str) -> None:
    lines = text.split("\n")
    lines.insert(4, '[3]\t"H-xyz')
    discovery = parse("\n".join(lines))
    assert discovery.unread == ((5, '[3]\t"H-xyz'),)
    with pytest.raises(EvidenceError, match=r"line 5 cannot be read: '\[3\]"):
        whole(discovery)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no link at all"),
        ("# nothing\n", "no link at all"),
        ("SW 1 1 0x1 4x ??? 'a'\n", "no link at all"),
        ("ibwarn: mad_rpc_open_port: can't open UMAD port ((null):0)\n", "line 1: expected a record"),
        ('[1] "S-1"[1]\n', "before any record"),
    ],
)
def test_what_is_no_fabric_is_refused(text: str, said: str) -> None:
    with pytest.raises(EvidenceError, match=said):
        parse(text)


def test_a_width_that_is_not_told_is_none() -> None:
    (joined,) = parse("CA 1 1 0x1 ?? ??? - SW 2 1 0x2 ( 'a' - 'b' )\n").links
    assert joined.width == 0


def test_a_line_of_quotes_does_not_hold_the_parser_up() -> None:
    """A node writes its own name: a megabyte of it is refused, and at once."""
    noise = "' - '" * 200_000
    for text in (BY_PORT.replace("gpu-01 mlx5_0", noise), PLAIN.replace("gpu-01 mlx5_0", '"' * 1_000_000)):
        with suppress(EvidenceError):
            parse(text)


def test_captured_switches_and_nodes_are_read(samples: Path) -> None:
    """Trimmed by hand, so that one link has lost its other end."""
    found = [
        parse((samples / "fabric" / f"treydock_ibnetdiscover-p_{number}.txt").read_text("utf-8")) for number in (1, 2)
    ]
    assert [len(each.links) for each in found] == [4, 1]
    assert all(not each.unread and len(each.lonely) <= 3 for each in found)
    assert found[0].links[0].a == FabricPort("o0001 HCA-1", 1, "CA", "7cfe9003003b4bde")
