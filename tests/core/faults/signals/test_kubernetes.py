"""Conditions that others set on a node become signals by a declared table, and are taken back when they are over."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.kubernetes import HEARD, MOST, PREFIX, faulty, signals, sound, table
from fleet_runner.core.faults.signals.signal import Signal, Source
from fleet_runner.core.lifecycle.node_conditions import CONDITIONS
from fleet_runner.core.lifecycle.node_lifecycle import LIFECYCLE

NOW = 1_800_000_000.0


def condition(kind: str, status: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": "R", "message": "it is so", **more}


def told(*conditions: Any, standing: tuple[str, ...] = (), heard: Any = None) -> list[Signal]:
    return list(signals("gpu-01", conditions, table({}) if heard is None else heard, standing, NOW))


def test_a_problem_and_what_is_not_ready_are_signals_that_are_watched_and_prove_nothing() -> None:
    problem = condition("KernelDeadlock", "True", lastTransitionTime="2027-01-01T00:00:00Z")
    unready = condition("AcceleratedHardwareReady", "False")
    first, second = told(problem, unready)
    assert first == Signal(
        "gpu-01", "alert.kubernetes.KernelDeadlock", "", NOW, Source.CLUSTER, "KernelDeadlock is True: R: it is so",
        Remedy.WATCH, key="KernelDeadlock@2027-01-01T00:00:00Z", began=1_798_761_600.0,
    )  # fmt: skip
    assert (second.code, second.began, second.authenticated) == (f"{PREFIX}AcceleratedHardwareReady", NOW, False)


@pytest.mark.parametrize("kind", sorted(HEARD))
def test_the_rules_only_watch_what_others_say(kind: str) -> None:
    assert Rules().of("any", f"{PREFIX}{kind}").remedy is Remedy.WATCH


@pytest.mark.parametrize(
    "quiet",
    [
        condition("KernelDeadlock", "False"),
        condition("KernelDeadlock", "Unknown"),
        condition("AcceleratedHardwareReady", "True"),
        condition("Ready", "False"),
        condition("OfSomebody", "True"),
        {"type": 7, "status": "True"},
        {"type": "Foo"},
        {"type": "KernelDeadlock"},
        {},
        "no condition",
    ],
)
def test_what_is_well_unknown_or_not_in_the_table_is_no_signal(quiet: Any) -> None:
    assert told(quiet) == []


def test_none_of_ours_is_heard() -> None:
    assert not {*CONDITIONS, *LIFECYCLE, "Ready"} & HEARD.keys()


def test_a_setting_adds_conditions_and_has_others_ignored() -> None:
    heard = table({"GpudUnhealthy": "True", "KernelDeadlock": ""})
    (one,) = told(condition("GpudUnhealthy", "True"), condition("KernelDeadlock", "True"), heard=heard)
    assert one.code == f"{PREFIX}GpudUnhealthy"


def test_what_is_over_is_taken_back_and_silence_takes_nothing_back() -> None:
    standing = (f"{PREFIX}KernelDeadlock", f"{PREFIX}KernelReady", f"{PREFIX}ReadonlyFilesystem")
    over = told(
        condition("KernelDeadlock", "False"),
        condition("KernelReady", "True"),
        condition("ReadonlyFilesystem", "Unknown"),
        standing=standing,
    )
    assert [(each.code, each.ended) for each in over] == [(code, True) for code in standing[:2]]
    assert told(standing=standing) == []
    assert told(condition("KernelDeadlock", "False")) == []
    ignored = told(condition("KernelDeadlock", "True"), standing=standing[:1], heard=table({"KernelDeadlock": ""}))
    assert [each.ended for each in ignored] == [True]


@pytest.mark.parametrize("said", [None, "", "yesterday", "9999-12-31T23:59:59-23:59", "2099-01-01T00:00:00Z", 7])
def test_a_time_that_cannot_be_is_now(said: Any) -> None:
    (one,) = told(condition("KernelDeadlock", "True", lastTransitionTime=said))
    assert one.began == NOW


def test_a_node_with_too_many_conditions_is_read_so_far() -> None:
    many = [condition(f"C{number}", "True") for number in range(MOST)]
    late = [*many, condition("KernelDeadlock", "True")]
    assert faulty(late, table({})) == {}
    assert sound([*many, condition("KernelDeadlock", "False")], table({})) >= {f"{PREFIX}C0"}
    assert f"{PREFIX}KernelDeadlock" not in sound([*many, condition("KernelDeadlock", "False")], table({}))


@given(st.lists(st.dictionaries(st.sampled_from(["type", "status", "reason", "message"]), st.text(max_size=500))))
def test_whatever_somebody_writes_is_bounded_and_printable(conditions: list[dict[str, str]]) -> None:
    heard = {each["type"]: "True" for each in conditions if "type" in each}
    wrong = [each | {"status": "True"} for each in conditions]
    for each in told(*wrong, heard=heard):
        assert len(each.code) <= 100
        assert len(each.message) <= 300
        assert not any(unicodedata.category(letter) == "Cc" for letter in each.message)
