"""`ibqueryerrors`: what it counted is read, and nothing is taken from a report that is not whole."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.ibqueryerrors import PortErrors, parse
from tests.core.checks.catalogue.judging import cuts, text_of

TEXT = text_of("ibqueryerrors/two_bad_ports.txt")
NONE = (
    "\n## Summary: 12 nodes checked, 0 bad nodes found\n"
    "##          264 ports checked, 0 ports have errors beyond threshold\n"
    "## Thresholds: \n## Suppressed:\n"
)
UNANSWERED = NONE.replace("## Suppressed", "##          {} PMA query failures\n## Suppressed")


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(EvidenceError):
        parse(text)


def test_no_beginning_of_a_report_is_taken_for_a_report() -> None:
    """Half of one would make the counters of the other half look cleared."""
    for cut in cuts(TEXT):
        with pytest.raises(EvidenceError):
            parse(cut)


@given(st.data())
def test_a_report_from_which_a_port_is_gone_is_refused(data: st.DataObject) -> None:
    lines = TEXT.split("\n")
    counted = [
        at for at, line in enumerate(lines) if "port " in line and "ALL" not in line and line.startswith("   ")
    ]
    at = data.draw(st.sampled_from(counted))
    with pytest.raises(EvidenceError, match="lines are missing"):
        parse("\n".join(lines[:at] + lines[at + 1 :]))


def test_each_port_that_counted_is_read_once_and_sums_are_not() -> None:
    report = parse(TEXT)
    assert report.ports == (
        PortErrors("fc6a1c0300e70000", 1, 21, 3),
        PortErrors("fc6a1c0300e70000", 2, 0, 2),
        PortErrors("a088c20300ab0c10", 1, 0, 1),
    )
    assert (report.checked, report.unread) == (196, 0)


def test_carriage_returns_short_guids_link_lines_and_data_counters_change_nothing() -> None:
    """As other options and other terminals make them."""
    text = TEXT.replace("[PortRcvErrors == 4]", "[PortRcvErrors == 4] [PortXmitData == 4032 (15.750KB)]")
    text = text.replace(
        "   GUID 0xfc6a1c0300e70000 port 2",
        '       Link info:      2   1[  ] ==( 4X 2.5 Gbps Active/  LinkUp)==>  0x01  1    1[  ] "gpu-01 mlx5_0" ( )'
        "\n   GUID 0xfc6a1c0300e70000 port 2",
    )
    text = text.replace("0xa088c20300ab0c10", "0x2C9")
    assert parse(text.replace("\n", "\r\n")).ports == (
        *parse(TEXT).ports[:2],
        PortErrors("00000000000002c9", 1, 0, 1),
    )


def test_a_node_may_call_itself_anything() -> None:
    assert parse(TEXT.replace("gpu-01 mlx5_0", 'o\'brien; "rack:7" port 1: [x == 1]')) == parse(TEXT)


def test_a_fabric_without_errors_is_a_report() -> None:
    assert parse(NONE).ports == ()


def test_queries_without_an_answer_are_counted() -> None:
    """The tool ends with status 0 all the same."""
    assert parse(UNANSWERED.format(3)).unread == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "printed nothing.*subnet manager"),
        (" \n", "printed nothing"),
        (UNANSWERED.format(276), "no answer from the 264 ports.*addresses"),
        (TEXT + TEXT, "found 2 summaries, expected one"),
        (TEXT.replace("## Suppressed", "##          7 PMA"), "was it cut short"),
        (TEXT.replace("[LinkDownedCounter == 2]", "[LinkDownedCounter == many]"), "line 4 cannot be read: 'GUID"),
        (TEXT.replace("port 2:", "port 1:"), "one port twice"),
        ("ibwarn: [19549] sa_get_handle: No SM/SA found\n", "line 1 cannot be read: 'ibwarn"),
    ],
)
def test_what_is_no_report_says_why(text: str, says: str) -> None:
    with pytest.raises(EvidenceError, match=says):
        parse(text)
