"""cloud-init, uptime, ibstat, JSON."""

import json

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import cloud_init, ibstat, uptime
from fleet_runner.core.checks.parsers.json_text import enclosed, json_object, number, objects
from tests.core.checks.catalogue.judging import text_of


@pytest.mark.parametrize(
    ("raw", "status", "degraded"),
    [
        ({"status": "done"}, "done", False),
        ({"status": "done", "extended_status": "degraded done"}, "done", True),
        ({"status": "running", "extended_status": "degraded running"}, "running", True),
        ({"status": "error", "extended_status": "error - done"}, "error", False),
        ({"status": "not run"}, "not started", False),
        ({"status": "disabled", "extended_status": ""}, "disabled", False),
    ],
)
def test_cloud_inits_words_are_read_in_every_releases_spelling(
    raw: dict[str, str], status: str, degraded: bool
) -> None:
    """extended_status says what status no longer tells."""
    found = cloud_init.parse(json.dumps(raw))
    assert (found.status, found.degraded, found.errors) == (status, degraded, ())


def test_cloud_inits_errors_are_kept_as_texts() -> None:
    """They go into the message."""
    assert cloud_init.parse('{"status": "error", "errors": ["no phone home", 1]}').errors == ("no phone home", "1")


@pytest.mark.parametrize("raw", [{}, {"status": "maybe"}, {"status": "done", "errors": "x"}])
def test_a_cloud_init_that_says_nothing_known_is_refused(raw: dict[str, str]) -> None:
    """UNKNOWN, not a failed boot."""
    with pytest.raises(EvidenceError, match="cloud-init's"):
        cloud_init.parse(json.dumps(raw))


def test_a_boot_time_is_read_in_utc() -> None:
    """TZ=UTC is part of the read."""
    assert uptime.parse("2025-03-01 09:30:00\n") == 1_740_821_400.0


@pytest.mark.parametrize(
    "text", ["", "2025-03-01 09:30:0", "2025-02-30 09:30:00", " 09:30 up 1 day", "\u0662025-03-01"]
)
def test_what_is_no_boot_time_is_refused(text: str) -> None:
    """A cut time is another time."""
    with pytest.raises(EvidenceError, match="uptime -s printed"):
        uptime.parse(text)


def test_hcas_are_read_with_whole_guids() -> None:
    """Leading zeros are left out by some tools."""
    found = ibstat.parse(text_of("ibstat/two_rails.txt"))
    assert [(hca.name, hca.guid, hca.link_layer) for hca in found] == [
        ("mlx5_0", "a088c20300ab0c10", "InfiniBand"),
        ("mlx5_1", "a088c20300ab0c11", "InfiniBand"),
        ("mlx5_2", "00a088c203001122", "Ethernet"),
    ]
    assert (found[0].kind, found[0].firmware) == ("MT4129", "28.39.3560")
    assert ibstat.parse("") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ibpanic: cannot open\n", "expected its HCAs"),
        ("CA 'mlx5_0'\n", "not whole"),
        (text_of("ibstat/two_rails.txt").replace("mlx5_1", "mlx5_0"), "twice"),
        ("CA 'a'\n" * 200, "at most"),
    ],
)
def test_an_ibstat_that_is_none_is_refused(text: str, message: str) -> None:
    """The message says what is wrong with it."""
    with pytest.raises(EvidenceError, match=message):
        ibstat.parse(text)


@pytest.mark.parametrize("text", ["CA 'mlx5_0'\n", "no such tool here\n", "a\n" * 200])
def test_a_list_that_is_none_is_refused(text: str) -> None:
    """One name on each line."""
    with pytest.raises(EvidenceError, match="ibstat -l"):
        ibstat.names(text)


def test_a_list_of_hcas_is_read() -> None:
    """In the tool's order."""
    assert ibstat.names("mlx5_0\n\nmlx5_1\n") == ("mlx5_0", "mlx5_1")


@pytest.mark.parametrize("text", ["", "{", '{"a": NaN}', '{"a": -Infinity}', "[" * 100_000, "1" * 5000, "[]", '"x"'])
def test_json_that_could_surprise_is_refused(text: str) -> None:
    """NaN, endless nesting and endless numbers are no evidence."""
    with pytest.raises(EvidenceError, match="the tool's answer is"):
        json_object(text, "the tool's answer")


def test_lists_and_numbers_are_what_they_say() -> None:
    """A boolean is no number, whatever Python thinks."""
    assert objects([{}], "x") == [{}]
    with pytest.raises(EvidenceError, match="expected a list of objects"):
        objects([1], "x")
    assert [number(value) for value in (1, 1.5, True, "1", 1e300, 10**400)] == [1.0, 1.5, None, None, None, None]


@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("Done.\n", "\nbye\n"), ("WARNING: {\n{{}}}\n", ""), ("", "\n}}} {{\n"), ("{[", "]}")],
)
def test_an_object_is_found_among_lines_that_have_braces_too(before: str, after: str) -> None:
    """DCGM and nvbandwidth print warnings before and after their reports."""
    assert enclosed(before + '{\n\t"b": {"a": 1}}' + after, ("a", "b"), "it") == {"b": {"a": 1}}
    assert enclosed(before + '{ "a": {"b": 1}}' + after, ("a",), "it") == {"a": {"b": 1}}


@pytest.mark.parametrize(
    "text", ["", "x", "{", '{{"a": NaN}}', '{{"a": {"b": 1}', '}{"a": ' + "[" * 100_000, '{{"b": 1}']
)
def test_an_object_that_is_not_whole_is_refused(text: str) -> None:
    """Cut, without its key, or nested without end."""
    with pytest.raises(EvidenceError, match="it is not JSON"):
        enclosed(text, ("a",), "it")
