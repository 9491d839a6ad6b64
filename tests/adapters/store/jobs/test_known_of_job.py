"""What the store has of a job's nodes and its time, on both databases."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.jobs import known as reading
from fleet_runner.adapters.store.jobs import looks
from fleet_runner.adapters.store.schema.core import runs
from fleet_runner.adapters.store.schema.firmware import flashes
from fleet_runner.adapters.store.schema.remedies import alarms, attempts
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.jobs.event import Role
from fleet_runner.core.jobs.known import Booted, Known, Seen, events
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage, State
from tests.adapters.store.builders import START, decision, node, swap

BEGAN, ENDED = 10_000.0, 20_000.0
SWEEP = 500.0

NVLINK = ("nvlink.down", "GPU 3", "17 of 18 links", Remedy.REBOOT)
WARM = ("gpu.hot", "GPU 1", "it is hot", Remedy.WATCH)


def finding(code: str, component: str, message: str, remedy: Remedy) -> Finding:
    return Finding(code, component, message, remedy, f"gpu-01/{code}/{component}", ("gpu-01",))


def answer(at: float, check: str, *found: tuple[str, str, str, Remedy], **observed: Any) -> Judged:
    """Return what a check answered of gpu-01: FAIL where any finding asks for more than to be recorded."""
    findings = tuple(finding(*each) for each in found)
    failed = any(each.remedy is not Remedy.RECORD for each in findings)
    verdict = Verdict.FAIL if failed else Verdict.PASS
    return Judged("gpu-01", at, Result(check, verdict, "x", findings, observed))


def swept(store: Store, *lines: Judged) -> None:
    """Store answers, a sweep for each moment."""
    for at in sorted({line.at for line in lines}):
        mine = [line for line in lines if line.at == at]
        store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", mine, at)


def moments(since: float, until: float) -> list[float]:
    return [since + SWEEP * index for index in range(int((until - since) / SWEEP))]


def known(store: Store, names: Sequence[str] = ("gpu-01",)) -> Known:
    return store.known_of_job(names, BEGAN, ENDED)


def test_a_finding_is_dated_between_two_looks(stocked: Store) -> None:
    """Those in between are found by halves, whether the check failed by it or only recorded it."""
    record = ("nic.down", "eth0", "it is down", Remedy.RECORD)
    for at in moments(9_000.0, 22_000.0):
        broken = [NVLINK] if at >= 15_500.0 else []
        down = [record] if at >= 12_500.0 else []
        swept(stocked, answer(at, "nvlink", *broken), answer(at, "nic_ports", *down), answer(at, "xid"))
    assert sorted(known(stocked).seen) == [
        Seen("gpu-01", "nic_ports", *record, 12_500.0, 12_000.0),
        Seen("gpu-01", "nvlink", *NVLINK, 15_500.0, 15_000.0),
    ]
    assert known(stocked).left_out == ()


def test_what_stood_before_the_job_is_told_as_such_and_what_came_anew_as_new(stocked: Store) -> None:
    for at in moments(9_000.0, 22_000.0):
        gone = 14_000.0 <= at < 17_000.0
        swept(stocked, answer(at, "gpu_thermals", WARM), answer(at, "nvlink", *([] if gone else [NVLINK])))
    assert sorted(known(stocked).seen) == [
        Seen("gpu-01", "gpu_thermals", *WARM, 10_000.0, stood=True),
        Seen("gpu-01", "nvlink", *NVLINK, 10_000.0, stood=True),
        Seen("gpu-01", "nvlink", *NVLINK, 17_000.0, 16_500.0),
    ]
    roles = {(each.code, each.at): each.role for each in events(known(stocked))}
    assert roles == {
        ("gpu.hot", 10_000.0): Role.CONTEXT,
        ("nvlink.down", 10_000.0): Role.CONTEXT,
        ("nvlink.down", 17_000.0): Role.CAUSE,
    }


def test_a_check_that_was_never_asked_before_tells_of_no_beginning(stocked: Store) -> None:
    swept(stocked, answer(15_000.0, "nvlink", NVLINK))
    assert known(stocked).seen == (Seen("gpu-01", "nvlink", *NVLINK, 15_000.0),)


def test_what_a_log_says_again_is_told_again(stocked: Store) -> None:
    """An OOM kill of before the job is still in the log; the second is news."""

    def oom(count: str, at: str) -> tuple[str, str, str, Remedy]:
        return ("kernel.out_of_memory", "process x", f"ended; logged {count}, last at {at}", Remedy.RECORD)

    swept(stocked, answer(9_900.0, "kernel_log", oom("once", "1970-01-01 02:40:00 UTC")))
    swept(stocked, answer(19_900.0, "kernel_log", oom("2 times", "1970-01-01 05:00:00 UTC")))
    (told,) = events(known(stocked))
    assert (told.at, told.role, told.blur) == (18_000.0, Role.CAUSE, 5.0)


def test_a_look_after_the_end_may_tell_of_the_time_before(stocked: Store) -> None:
    swept(stocked, answer(19_950.0, "nvlink"), answer(20_050.0, "nvlink", NVLINK), answer(30_000.0, "xid", NVLINK))
    assert known(stocked).seen == (Seen("gpu-01", "nvlink", *NVLINK, 20_050.0, 19_950.0),)


def test_a_node_that_booted_is_seen_by_its_uptime(stocked: Store) -> None:
    """By a second more or less it is the same boot."""
    for at, booted in ((9_900.0, 5_000.0), (15_000.0, 5_001.0), (20_100.0, 16_000.0)):
        swept(stocked, answer(at, "link_flaps", booted=booted), answer(at + 1, "link_flaps"))
    assert known(stocked).booted == (Booted("gpu-01", 16_000.0, 15_000.0),)


def test_what_else_happened_to_the_nodes_is_read(stocked: Store) -> None:
    """Each kind within the time, and only of the nodes that are asked about."""
    base = {"fault": "f", "source": "kernel", "message": "m", "remedy": "REBOOT", "at_once": False, "count": 1,
            "heard_at": 1.0, "cleared_because": "", "authenticated": True, "component": "GPU 3"}  # fmt: skip
    flash = {"component": "bmc", "before": {}, "targets": {}, "image": "i", "sha256": "h", "activate": "bmc_reset",
             "times": 1, "seconds": 1.0, "attempt": 1, "by": "runner", "phase": "intended", "tasks_before": [],
             "task": "", "activations": 0, "activated": 0, "detail": "", "bmc": ""}  # fmt: skip
    run = {"stage": "reboot", "fence": 1, "by": "runner", "reason": "r", "detail": "", "done": 0, "total": 0,
           "task": ""}  # fmt: skip
    tried = {"remedy": "REBOOT", "faults": ["f"], "by": "runner", "because": ""}
    with stocked._database.write() as connection:
        for name in ("gpu-01", "gpu-02"):
            connection.execute(insert(alarms), [
                {**base, "node": name, "code": code, "first_at": first, "last_at": last, "cleared_at": cleared}
                for code, first, last, cleared in (
                    ("xid.79", 15_000.0, 15_000.0, None), ("xid.48", 1_000.0, 2_000.0, 3_000.0),
                    ("xid.74", 1_000.0, 2_000.0, None), ("xid.31", 90_000.0, 90_000.0, None),
                )
            ])  # fmt: skip
            connection.execute(insert(runs), [
                {**run, "node": name, "opened_at": 15_100.0, "ended_at": 15_200.0},
                {**run, "node": name, "opened_at": 1_000.0, "ended_at": 1_200.0},
                {**run, "node": name, "opened_at": 15_100.0, "ended_at": 15_200.0, "stage": "health_passive"},
            ])  # fmt: skip
            connection.execute(
                insert(flashes), [{**flash, "node": name, "intended_at": 15_000.0, "sent_at": 15_001.0}]
            )
            connection.execute(insert(attempts), [{**tried, "node": name, "at": 15_100.0}])
    stocked.apply(node(stocked), decision(START, swap("gpu-01", "gpu-02")), 16_000.0)
    found = known(stocked)
    assert [each.code for each in found.alarms] == ["xid.79", "xid.74"]
    assert [(each.stage, each.opened_at) for each in found.runs] == [(Stage.REBOOT, 15_100.0)]
    assert ([each.component for each in found.flashes], [each.remedy for each in found.attempts]) == (
        ["bmc"],
        [Remedy.REBOOT],
    )
    assert [(each.at, each.to) for each in found.moves] == [(16_000.0, State.PROVISION)]
    assert [(each.nodes, each.opened_at) for each in found.tickets] == [(("gpu-01", "gpu-02"), 16_000.0)]
    assert [each.name for each in found.nodes] == ["gpu-01"]
    assert {each.node for each in events(found)} == {"gpu-01"}
    both = known(stocked, ("gpu-02", "gpu-01", "elsewhere"))
    assert ([each.name for each in both.nodes], len(both.alarms)) == (["gpu-01", "gpu-02"], 4)
    assert both.left_out == ("1 of its nodes are not known here, like elsewhere.",)
    assert stocked.known_of_job(("elsewhere",), BEGAN, ENDED).alarms == ()


def test_what_was_too_much_is_said(stocked: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read without a bound."""
    for each in ("MOST_FAILED", "MOST_NARROWED", "MOST_GAPS"):
        monkeypatch.setattr(looks, each, 2)
    monkeypatch.setattr(reading, "MOST", 1)
    for at in (9_000.0, 10_000.0, 10_500.0, 11_000.0, 11_500.0, 11_600.0):
        lines = [answer(at, f"c{number}", *([NVLINK] if at in {10_500.0, 11_500.0, 11_600.0} else []))
                 for number in range(4)]  # fmt: skip
        swept(stocked, *lines)
    stocked.apply(node(stocked), decision(START), 10_600.0)
    dated = "Only 2 findings were dated between two looks in a row."
    first, second, third = known(stocked).left_out
    assert first == "Of the answers that failed meanwhile only the newest 2 were looked through."
    assert (second, third) == (dated, "Of the moves of 1 nodes only the newest 1 were read.")
    monkeypatch.setattr(looks, "MOST_FAILED", 200)
    assert known(stocked).left_out[:2] == ("Of 4 pauses of checks that failed only 2 were looked into.", dated)


def test_what_came_and_went_shortly_before_the_end_is_told_though_most_answers_say_the_same(stocked: Store) -> None:
    """Of answers that repeat one is read, and each that differs; a boot has the last look before it."""
    record = ("nic.down", "eth0", "it is down", Remedy.RECORD)
    for at in moments(9_000.0, 22_000.0):
        flicker = [record] if at == 18_000.0 else []
        booted = 18_700.0 if at >= 19_000.0 else 1_000.0
        swept(stocked, answer(at, "nic_ports", *flicker), answer(at, "link_flaps", booted=booted), answer(at, "xid"))
    found = known(stocked)
    assert found.seen == (Seen("gpu-01", "nic_ports", *record, 18_000.0, 17_500.0),)
    assert found.booted == (Booted("gpu-01", 18_700.0, 18_500.0),)
