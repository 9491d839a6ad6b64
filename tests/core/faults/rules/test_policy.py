"""A policy from plain data: what it means, and everything that is wrong with it at once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.fields import Problem
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.built_in import BUILT_IN
from fleet_runner.core.faults.rules.policy import PolicyError, read, strange, told
from fleet_runner.core.faults.rules.rule import Rule
from fleet_runner.core.faults.rules.rules import CAPS, AtDeadline, Cap, Rules

DAY = 86_400.0
SAYS_NOTHING = (
    "rules[0]: found an empty rule, expected one of remedy, at_once, repeats, within, beside, hold, quiet in it"
)
NO_CODE = "expected a code, or a glob over codes, that a check or a signal knows"
NO_REMEDY = "expected one of RECORD, WATCH, RESTART, RESET, REBOOT, POWER_CYCLE, TRIAGE, RMA"


def place(path: tuple[str | int, ...]) -> str:
    """Where something stands, as an adapter would say it."""
    return "policy.yml:" + ".".join(map(str, path))


def wrong(raw: object) -> list[str]:
    """Everything that is wrong with a policy."""
    with pytest.raises(PolicyError) as caught:
        read(raw, place)
    return [told(problem) for problem in caught.value.problems]


def test_nothing_said_is_the_built_in_policy() -> None:
    """An empty file, and one with an empty mapping."""
    assert read(None, place) == read({}, place) == Rules()


def test_a_policy_says() -> None:
    """Every key of it."""
    rules = read(
        {
            "observe": True,
            "rules": [
                {"code": "xid.79", "device_types": ["dgx-*"], "remedy": "REBOOT", "at_once": False},
                {"code": ["xid.31", "xid.13"], "repeats": 3, "within": "12h", "hold": "30s", "quiet": 600},
                {"code": "xid.74", "beside": []},
            ],
            "ladder": ["RESET", "REBOOT"],
            "caps": {"REBOOT": {"most": 1, "within": "2d"}, "RESET": {"most": 0}},
            "memory": "3d",
            "deadline": "90min",
            "at_deadline": "act",
        },
        place,
    )
    assert rules.rules[len(BUILT_IN) :] == (
        Rule(("xid.79",), ("dgx-*",), remedy=Remedy.REBOOT, at_once=False, source="policy.yml:rules.0"),
        Rule(("xid.31", "xid.13"), repeats=3, within=43_200, hold=30, quiet=600, source="policy.yml:rules.1"),
        Rule(("xid.74",), beside=(), source="policy.yml:rules.2"),
    )
    assert (rules.observe, rules.ladder) == (True, (Remedy.RESET, Remedy.REBOOT))
    assert rules.caps == CAPS | {Remedy.REBOOT: Cap(1, 2 * DAY), Remedy.RESET: Cap(0, DAY)}
    assert (rules.memory, rules.deadline, rules.at_deadline) == (3 * DAY, 5400, AtDeadline.ACT)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([], "the policy: found [], expected a mapping"),
        ({"rulez": []}, "rulez: found the key 'rulez', expected 'rules'"),
        ({"rules": {}}, "rules: found {}, expected a list"),
        ({"rules": ["xid.79"]}, "rules[0]: found 'xid.79', expected a mapping"),
        ({"rules": [{"remedy": "RESET"}]}, "rules[0].code: found nothing, expected it to be given"),
        (
            {"rules": [{"code": "xid.79"}]},
            SAYS_NOTHING,
        ),
        (
            {"rules": [{"code": "gpu.remap_faild", "hold": 1}]},
            f"rules[0].code: found 'gpu.remap_faild', {NO_CODE}; did you mean gpu.remap_failed?",
        ),
        (
            {"rules": [{"code": "xld.79", "hold": 1}]},
            f"rules[0].code: found 'xld.79', {NO_CODE}; did you mean xid.*?",
        ),
        ({"rules": [{"code": [], "hold": 1}]}, "rules[0].code: found [], expected at least one"),
        (
            {"rules": [{"code": "*", "remedy": "reboot"}]},
            f"rules[0].remedy: found 'reboot', {NO_REMEDY}; did you mean REBOOT?",
        ),
        (
            {"rules": [{"code": "*", "remedy": 7}]},
            f"rules[0].remedy: found 7, {NO_REMEDY}",
        ),
        (
            {"rules": [{"code": "*", "within": "1 month"}]},
            "rules[0].within: found '1 month', expected a span of time from 1 s to 366d, like 90s, 10min, 24h or 7d",
        ),
        ({"rules": [{"code": "*", "at_once": "yes"}]}, "rules[0].at_once: found 'yes', expected true or false"),
        (
            {"rules": [{"code": "*", "repeats": 0}]},
            "rules[0].repeats: found 0, expected a whole number from 1 to 1000",
        ),
        (
            {"ladder": ["REBOOT", "RESET"]},
            "ladder: found REBOOT, RESET, expected mild to hard: RESET, REBOOT",
        ),
        ({"ladder": ["RESET", "RESET"]}, "ladder[1]: found 'RESET', expected each only once"),
        (
            {"caps": {"TRIAGE": {"most": 1}}},
            "caps.TRIAGE: found the key 'TRIAGE', expected one of RESTART, RESET, REBOOT, POWER_CYCLE",
        ),
        ({"caps": {"RESET": {"within": 60}}}, "caps.RESET.most: found nothing, expected it to be given"),
        ({"at_deadline": "kill"}, "at_deadline: found 'kill', expected one of ask, act"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_what_was_meant(raw: object, expected: str) -> None:
    """A slip of the pen would be a rule that is not kept."""
    assert wrong(raw) == [expected]


@pytest.mark.parametrize(
    ("found", "meant"),
    [
        ("XID.79", "xid.79"),
        ("Xid.79", "xid.79"),
        ("Alert.GpuLost", "alert.GpuLost"),
        ("79", "xid.79"),
        ("gpu", "gpu.*"),
        ("nvlink.", "nvlink.*"),
        ("GPU", "gpu.*"),
    ],
)
def test_a_code_that_would_never_speak_is_a_slip(found: str, meant: str) -> None:
    """Codes are written as checks and signals write them: a number alone, or capitals, match nothing."""
    expected = f"rules[0].code: found '{found}', {NO_CODE}; did you mean {meant}?"
    assert wrong({"rules": [{"code": found, "hold": 1}]}) == [expected]


def test_spaces_around_a_name_are_no_part_of_it() -> None:
    """Nobody sees them."""
    rows = [{"code": "xid.79 ", "device_types": [" dgx-h100"], "beside": "sxid.* ", "hold": 1}]
    (rule,) = read({"rules": rows}, place).rules[-1:]
    assert (rule.codes, rule.device_types, rule.beside) == (("xid.79",), ("dgx-h100",), ("sxid.*",))


def test_somebodys_own_signals_may_have_codes_of_their_own() -> None:
    """But none that is called nearly as a known one."""
    mine = [
        {"code": code, "hold": 1}
        for code in ("rattle.door", "fan.noisy", "redfish.PowerSupplyFailed", "alert.Hot", "*.lost")
    ]
    assert [rule.codes for rule in read({"rules": mine}, place).rules[-5:]] == [(each["code"],) for each in mine]


def test_everything_is_told_at_once() -> None:
    """Not one slip after the other."""
    assert len(wrong({"observe": 1, "rules": [{"code": "*", "hold": -1}, {"codes": "*"}], "memory": 0})) == 6


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("observe", "rules", "ladder", "caps", "memory", "deadline", "at_deadline", "code", "remedy", "REBOOT", "most")
near_junk = st.recursive(
    junk, lambda inner: st.dictionaries(st.sampled_from(KEYS), inner) | st.lists(inner, max_size=3), max_leaves=20
)


@given(near_junk)
def test_no_data_whatever_breaks_it(raw: Any) -> None:
    """It is rules, or a list of what is wrong."""
    problems: tuple[Problem, ...] = ()
    try:
        assert isinstance(read(raw, place), Rules)
    except PolicyError as error:
        problems = error.problems
    assert all(told(problem) for problem in problems)


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("xid.79", None),
        ("gpu.remap_failed", None),
        ("alert.Anything", None),
        ("fan.noisy", None),
        ("gpu.remap_faild", "gpu.remap_failed"),
        ("79", "xid.79"),
        ("nonsense.code", ""),
    ],
)
def test_a_code_is_strange_that_no_check_no_signal_and_no_rule_knows(code: str, meant: str | None) -> None:
    """A rule about everything knows none."""
    assert strange(code, (Rule(("*",)), Rule(("fan.*",)))) == meant
