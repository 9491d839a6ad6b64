"""Records read by columns: the same as line by line, or not at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import discovery
from fleet_runner.core.checks.parsers.discovery import Discovery, FabricLink, FabricPort
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks, columns
from fleet_runner.core.checks.parsers.ibnetdiscover import by_columns, parse
from tests.core.cabling.discoveries import plain
from tests.core.cabling.fabrics import Story, rails, stories
from tests.core.checks.healthy import text_of
from tests.examples import examples

TEXT = plain(rails(2, 2))

PIECES = (
    "\n", " ", "\t", "\r", '"', "[", "]", "(", ")", "#", "-", "0", "9", "f", "x", "é", "4xNDR", " 4xNDR\n", "[1]",
    "Switch", "vendid=", "Ca\t", "S-", '"H-00000000000000aa"[1]', "Mellanox Technologies Aggregation Node",
)  # fmt: skip
"""What may stand in a capture where it does not belong."""


def by_line(text: str) -> Discovery | None:
    """Read line by line; None where the text cannot be read, or holds something to complain of."""
    try:
        found = parse(text)
    except EvidenceError:
        return None
    return found if not (found.unread or found.lonely or found.skipped) else None


@given(stories())
def test_a_fabric_is_read_by_columns_as_it_is_by_line(story: Story) -> None:
    found = by_columns(plain(story.observed))
    assert found is not None
    assert isinstance(found.links, FabricLinks)
    assert found == parse(plain(story.observed))
    assert {each.kind for each in found.links.faces} == {"CA", "SW"}


@settings(max_examples=10 * examples(100))
@given(st.integers(0, len(TEXT)), st.integers(0, 60), st.sampled_from(("", *PIECES)))
def test_what_is_read_by_columns_is_what_the_lines_say(at: int, gone: int, put: str) -> None:
    """Whatever is cut out of a capture, or put into it."""
    text = TEXT[:at] + put + TEXT[at + gone :]
    found = by_columns(text)
    assert found is None or found == by_line(text)


@given(st.text())
def test_any_text_is_read_or_left(text: str) -> None:
    assert by_columns(text) in {None, by_line(text)}


def test_evidence_is_read_by_columns_as_it_is_by_line() -> None:
    text = text_of("ibnetdiscover/plain.txt")
    assert by_columns(text) == by_line(text) is not None


def test_a_switchs_own_engine_is_no_cable() -> None:
    text = TEXT.replace("gpu-01 ib0", "Mellanox Technologies Aggregation Node")
    found = by_columns(text)
    assert found == by_line(text)
    assert found is not None
    assert len(found.links) == len(parse(TEXT).links) - 1


def test_a_large_capture_is_read_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    small = parse(TEXT)
    monkeypatch.setattr(discovery, "LARGE", len(TEXT))
    large = parse(TEXT)
    assert isinstance(large.links, FabricLinks)
    assert large == small
    assert len(parse(TEXT.replace("\n[1]", "\n [1]")).links) == len(small.links)


def test_links_by_columns_are_the_links() -> None:
    """In whichever way they are asked for."""
    ends = FabricPort("gpu-01 mlx5_0", 1, "CA", "aa"), FabricPort("leaf-1", 7, "SW", "bb")
    links = (FabricLink(*ends, 4, "NDR"), FabricLink(ends[1]._replace(port=8), ends[0]._replace(guid="cc"), 4, "NDR"))
    found = columns(links)
    assert (tuple(found), found[1], list(found[:1]), hash(found)) == (links, links[1], [links[0]], hash(links))
