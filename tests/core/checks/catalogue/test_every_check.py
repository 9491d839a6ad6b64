"""What holds for every check of the catalogue."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.reads import READS, SUPPLIED
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.profile import Profile
from tests.core.checks.catalogue.judging import DEVICE, HEALTHY, NODE, PROFILE, cuts, judged

MINE = sorted(HEALTHY)

FINDS_NOTHING = {"gathered", "gpu_usage", "machine_power", "node_up", "scheduler", "work_ended"}
"""Checks whose answer is a fact, and no fault."""

ONE_READ = [(check, read) for check in MINE for read in HEALTHY[check]]


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_check_is_listed_under_its_name_and_asks_only_for_known_reads(name: str) -> None:
    """A misspelt read would make the check UNKNOWN for ever."""
    assert CHECKS[name].name == name
    assert CHECKS[name].question.endswith("?")
    job = {f"{name}_job"} if CHECKS[name].job else set()
    assert set(CHECKS[name].reads) <= set(READS) | SUPPLIED | job
    assert job <= set(CHECKS[name].reads)
    assert not job or CHECKS[name].active


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_check_says_what_it_can_find_and_where_its_rules_come_from(name: str) -> None:
    """Both make its page; `judging.documented` holds every test of every check to the first."""
    check = CHECKS[name]
    assert check.codes or name in FINDS_NOTHING
    assert check.source
    assert len({code.code for code in check.codes}) == len(check.codes)
    for code in check.codes:
        assert re.fullmatch(r"[a-z_0-9]+\.[a-z_0-9*]+", code.code), code
        assert code.remedies, code
        assert not code.meaning.endswith("."), code
        assert "|" not in code.meaning, code


@pytest.mark.parametrize("name", MINE)
def test_a_healthy_node_passes(name: str) -> None:
    """The evidence that all the other tests bend is good as it stands."""
    result = judged(name, HEALTHY[name])
    assert result.verdict is Verdict.PASS, result.message
    assert result.message


@pytest.mark.parametrize(("name", "read"), ONE_READ)
def test_cutting_healthy_evidence_anywhere_never_fails_a_node(name: str, read: str) -> None:
    """A read that ended early says nothing about hardware."""
    for cut in cuts(HEALTHY[name][read]):
        result = judged(name, HEALTHY[name] | {read: cut})
        assert result.verdict is not Verdict.FAIL, f"cut at {len(cut)}: {result.message}"


@pytest.mark.parametrize(("name", "read"), ONE_READ)
@given(text=st.text(max_size=200))
def test_a_text_that_is_no_evidence_is_unknown_or_harmless(name: str, read: str, text: str) -> None:
    """Whatever a tool prints instead of its answer, no judge raises anything, and none condemns the node."""
    result = judged(name, HEALTHY[name] | {read: text})
    assert result.verdict is not Verdict.FAIL
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result


@pytest.mark.parametrize("name", [name for name in MINE if name != "cloud_init"])
def test_a_command_that_failed_is_unknown_whatever_it_printed(name: str) -> None:
    """Exit statuses lie as well: a good answer with a bad status is nobody's word."""
    result = judged(name, HEALTHY[name], rc=3)
    assert result.verdict is Verdict.UNKNOWN
    assert "exited with 3" in result.message


@pytest.mark.parametrize("name", MINE)
def test_an_empty_answer_is_unknown_and_says_so(name: str) -> None:
    """An empty answer with status 0 is the commonest lie of all."""
    result = judged(name, dict.fromkeys(HEALTHY[name], ""))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message


PROFILED = ["parts_gpu", "parts_hca", "power_supplies", "gpu_thermals"]


@pytest.mark.parametrize("name", PROFILED)
@pytest.mark.parametrize("profile", [{}, dict.fromkeys(PROFILE), dict.fromkeys(PROFILE, "x")])
def test_a_bad_profile_is_unknown_and_names_its_key(name: str, profile: Profile) -> None:
    """A slip in a device type's file must not take out every node of that type."""
    result = judged(name, HEALTHY[name], Expected(NODE, profile, DEVICE))
    assert result.verdict is Verdict.UNKNOWN
    assert "fleet_profile." in result.message
