"""What the plugin makes of an answer: it may say anything, and what is shown is text and addresses of the web."""

import json
import math
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netbox_fleet_runner import brief
from netbox_fleet_runner.brief import BriefError

NAME = "gpu-01"
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
FIELDS = ("at", "why", "mode", "wanted", "tickets", "firmware", "links", "node")
COLUMNS = ("id", "title", "opened_at", "urls", "entry", "found", "pins", "comparison", "port", "far", "seen")
ROWS = st.fixed_dictionaries({}, optional=dict.fromkeys(COLUMNS, ANYTHING))


def answer(**more: Any) -> dict[str, Any]:
    """An answer as fleet-runner's."""
    node = {"name": NAME, "state": "triage", "since": 1_795_000_000.0, "waiting": "A person inspects it."}
    return {"node": node, "why": "GPU 3 is gone.", **more}


@given(ANYTHING, st.dictionaries(st.sampled_from(FIELDS), ANYTHING | st.lists(ROWS, max_size=3), max_size=6))
def test_no_answer_is_more_than_a_brief_or_an_error(anything: Any, more: dict[str, Any]) -> None:
    for said in (anything, more, {**answer(), **more}):
        try:
            found = brief.read(said, NAME)
        except BriefError:
            continue
        assert all(url.startswith(("http://", "https://")) for each in found.tickets for url in each.urls)
        assert len(found.tickets) <= brief.MOST


@given(st.text())
def test_a_text_becomes_one_line_without_signs_that_hide(text: str) -> None:
    found = brief.plain(text)
    assert len(found) <= brief.LONGEST
    assert not any(unicodedata.category(sign).startswith("C") for sign in found)


@given(st.floats() | st.integers())
def test_a_number_is_a_moment_or_none(value: float) -> None:
    found = brief.moment(value)
    assert found is None or math.isclose(found.timestamp(), value, abs_tol=1e-3)


def test_an_answer_about_another_node_is_refused() -> None:
    with pytest.raises(BriefError, match="not about gpu-02"):
        brief.read(answer(), "gpu-02")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example/",
        "https://",
        "https://a b/",
        "https://user@evil.example/",
        "https://[::1",
        "HTTPS\n://x",
        "https://x/\u202e",
    ],
)
def test_an_address_that_is_not_of_the_web_is_left_out(url: str) -> None:
    assert brief.urls([url, "https://jira.example/browse/DC-1", 7]) == ("https://jira.example/browse/DC-1",)


def test_what_fleet_runner_says_is_read() -> None:
    said = answer(
        wanted=["hold", "debug"],
        tickets=[{"id": 7, "title": "Reseat GPU 3", "opened_at": 1_795_000_000.0, "urls": []}, {"title": "no id"}],
        firmware=[{"entry": "BMC", "found": "1.2", "pins": ["1.3", "1.4"], "comparison": "drift"}],
        links=[{"port": "ib0", "far": "leaf-0 p1", "comparison": "as designed", "seen": "joined"}],
    )
    found = brief.read(json.loads(json.dumps(said)), NAME)
    assert (found.state, found.why, found.waiting) == ("triage", "GPU 3 is gone.", "A person inspects it.")
    assert found.wanted == {"hold", "debug"}
    assert [(each.id, each.title) for each in found.tickets] == [(7, "Reseat GPU 3")]
    assert [(each.name, each.pins, each.comparison) for each in found.firmware] == [("BMC", "1.3 or 1.4", "drift")]
    assert [(each.port, each.far) for each in found.links] == [("ib0", "leaf-0 p1")]


@pytest.mark.parametrize("cut", [lambda said: said.pop("node"), lambda said: said["node"].pop("state")])
def test_an_answer_without_a_state_is_none(cut: Callable[[dict[str, Any]], object]) -> None:
    said = answer()
    cut(said)
    with pytest.raises(BriefError):
        brief.read(said, NAME)
