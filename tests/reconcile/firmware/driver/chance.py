"""Scenarios by chance: what is old, what goes wrong, when drivers are killed, and what kind of BMC it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from fleet_runner.lab.redfish import BmcBehaviour
from tests.reconcile.firmware.driver.child import OWN_POINTS
from tests.reconcile.firmware.driver.stage import BMC_POINTS, Kill

Rule = Mapping[str, Any]

NTH = st.integers(1, 3)
AT = st.sampled_from([1.0, 40.0, 99.0])
BRIEF = st.sampled_from([{"seconds": 0.3}, {"reads": 2}])


@dataclass(frozen=True)
class Scenario:
    """What is drawn."""

    components: Sequence[str]
    rules: Sequence[Rule]
    kills: Sequence[Kill]
    habits: BmcBehaviour
    accept_old: bool
    hop: bool
    seed: int


def rule(
    event: str, fault: str, options: "st.SearchStrategy[dict[str, Any]] | None" = None
) -> "st.SearchStrategy[Rule]":
    """Draw a rule for an event that is met once or twice."""
    wanted = st.just({}) if options is None else options
    return st.builds(lambda nth, some: {"when": {"event": event, "nth": nth}, "what": {fault: some}}, NTH, wanted)


def noise(fault: str, **options: Any) -> Rule:
    """Return a rule for some requests, by chance."""
    return {"when": {"event": "request", "share": 0.05, "times": 4}, "what": {fault: options}}


def reset_refused(times: int, status: int) -> Rule:
    """Return a rule for resets, so many of which the BMC does not take."""
    when = {"event": "request", "uri": "*Reset", "method": "POST", "times": times}
    return {"when": when, "what": {"answer": {"status": status}}}


RULES = st.one_of(
    rule("update", "fail", st.builds(lambda at: {"at": at}, AT)),
    rule("update", "restart", st.builds(lambda at, survives: {"at": at, "survives": survives}, AT, st.booleans())),
    rule("update", "stuck", st.just({"at": 40.0, "seconds": 0.3})),
    rule("update", "slow", st.just({"times": 5.0})),
    rule("update", "wrong_version"),
    rule("update", "lie"),
    rule("update", "stale_inventory", BRIEF),
    rule("upload", "drop_before_body"),
    rule("upload", "refuse", st.sampled_from([{"status": 400}, {"status": 503}])),
    rule("accept", "drop_unaccepted"),
    rule("accept", "drop_after_body"),
    rule("accept", "refuse"),
    rule("activate", "keep_pending"),
    rule("activate", "discard_pending"),
    st.builds(reset_refused, st.integers(1, 3), st.sampled_from([503, 409, 400])),
    rule("bmc_reset", "stale_inventory", BRIEF),
    rule("host_reset", "empty_inventory", BRIEF),
    st.sampled_from([noise("answer", status=503), noise("answer", status=500), noise("drop"), noise("lose_session")]),
)

LOSES = rule("update", "lose_task", st.builds(lambda at: {"at": at}, AT))
"""What no BMC of Dell's does: a job that has not ended stays in its queue; where it is taken away, it is not done."""

DELLS = st.one_of(
    rule("apply", "fail", st.builds(lambda at: {"at": at}, AT)),
    rule("apply", "restart", st.builds(lambda at, survives: {"at": at, "survives": survives}, AT, st.booleans())),
    rule("apply", "slow", st.just({"times": 5.0})),
    rule("apply", "stuck", st.just({"at": 40.0, "seconds": 0.3})),
    rule("apply", "lie"),
    rule("apply", "wrong_version"),
    rule("apply", "delete_task"),
    rule("update", "no_percent"),
    rule("update", "sideband"),
    rule("update", "restarts_host"),
    rule("update", "controller_waits", st.just({"seconds": 0.2})),
    rule("host_reset", "controller_unready", st.just({"seconds": 0.3})),
    rule("bmc_reset", "controller_unready", st.just({"seconds": 0.3, "state": "InUse"})),
)
"""What only a BMC of Dell's has."""

KILLS = st.builds(
    Kill, st.sampled_from([*OWN_POINTS, *BMC_POINTS]), st.integers(1, 2), st.sampled_from([0.0, 0.0, 0.02, 0.2])
)

HABITS = st.builds(
    BmcBehaviour,
    location=st.sampled_from(["monitor", "task", ""]),
    keeps_tasks=st.booleans(),
    reuses_task_ids=st.booleans(),
    checks_in_task=st.booleans(),
)


def scenarios(components: Sequence[str], *, dell: bool = False) -> "st.SearchStrategy[Scenario]":
    """Draw scenarios for a machine with such components, of Dell's making or not."""
    return st.builds(
        Scenario,
        components=st.lists(st.sampled_from(components), min_size=1, max_size=3, unique=True),
        rules=st.lists(RULES | (DELLS if dell else LOSES), max_size=3),
        kills=st.lists(KILLS, max_size=3),
        habits=HABITS,
        accept_old=st.booleans(),
        hop=st.booleans(),
        seed=st.integers(0, 1000),
    )
