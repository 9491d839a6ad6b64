"""Links between switches that go down and up again, as the switches at their ends count it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.cabling import quality
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.checks.parsers.port_states.port import DOWNS, UNCORRECTED, SwitchPort
from fleet_runner.core.checks.parsers.switch_ports import written
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import READ_AT, judged
from tests.core.checks.catalogue.test_fabric_roce import FABRIC, GOOD, HOUR, asked, counted, held

NEAR, FAR = ("leaf-1", "Ethernet16"), ("spine-1", "Ethernet1/1")
Downs = Mapping[tuple[str, str], int | None]
KEY = quality.key((Port(*NEAR), Port(*FAR)))


def after(first: Downs, then: Downs, **run: Any) -> Result:
    """Judge the fabric an hour after a look, with what ports counted of their going down; None: it is not told."""
    looks = asked({port: told(count) for port, count in first.items()}).observed["looks"]
    aged = {switch: [row | {"at": READ_AT - HOUR} for row in rows] for switch, rows in looks.items()}
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": aged}}}
    return asked({port: told(count) for port, count in then.items()}, held(before=before, **run))


def told(count: int | None) -> SwitchPort:
    """Return a good port that has counted so much of it."""
    return GOOD if count is None else counted(**{DOWNS: count})


def test_a_link_between_switches_that_both_ends_saw_go_down_is_a_cable() -> None:
    """The same ticket as for errors of this link: it is one cable."""
    (finding,) = after({NEAR: 4, FAR: 9}, {NEAR: 10, FAR: 16}).findings
    assert (finding.code, finding.remedy, finding.fault) == ("cabling.link_flaps", Remedy.RECABLE, KEY)
    assert finding.message == (
        "spine-1 Ethernet1/1 to leaf-1 Ethernet16 went down 7 times in 1.0 h, expected fewer than 6 in a day;"
        " the other end counted 6"
    )
    assert (finding.nodes, finding.devices) == ((FABRIC,), ("leaf-1", "spine-1"))
    assert [step.split(",")[0] for step in finding.steps[:2]] == [
        "At spine-1 port Ethernet1/1 (hall rack unknown U unknown): unplug the cable",
        "At its other end",
    ]


@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        ({NEAR: 4, FAR: 9}, {NEAR: 10, FAR: 14}, "the other end counted 5"),
        ({NEAR: 4, FAR: 9}, {NEAR: 10, FAR: 9}, "the other end counted 0"),
        ({NEAR: 4, FAR: None}, {NEAR: 10, FAR: None}, "its switch does not tell"),
        ({NEAR: 4, FAR: 9}, {NEAR: 10, FAR: 0}, "its switch does not tell"),
    ],
)
def test_what_only_one_end_saw_is_recorded(first: Downs, then: Downs, words: str) -> None:
    """In the last row the spine restarted: what it counts since then says nothing yet."""
    result = after(first, then)
    (finding,) = result.findings
    assert (result.verdict, finding.code, finding.remedy) == (Verdict.PASS, "cabling.one_end_down", Remedy.RECORD)
    assert finding.message.startswith("leaf-1 Ethernet16 to spine-1 Ethernet1/1 went down 6 times in 1.0 h")
    assert finding.message.endswith(words)
    assert (finding.fault, finding.steps) == (f"{KEY}/one_end_down", ())


def test_a_few_downs_a_nodes_link_and_a_first_look_say_nothing() -> None:
    """A node's own log tells of its links; a switch that was not read leaves its links alone."""
    node = ("leaf-1", "Ethernet0")
    assert after({NEAR: 4, FAR: 9}, {NEAR: 9, FAR: 14}).findings == ()
    assert after({node: 4}, {node: 400}).findings == ()
    assert asked({NEAR: told(50), FAR: told(50)}).findings == ()
    assert after({NEAR: None, FAR: None}, {NEAR: 50, FAR: 50}).findings == ()


def test_a_link_of_a_switch_under_work_and_one_whose_spine_is_not_read_are_left_out() -> None:
    first, then = {NEAR: 0, FAR: 0}, {NEAR: 9, FAR: 9}
    assert after(first, then).verdict is Verdict.FAIL
    assert after(first, then, disturbed={"spine-1": READ_AT - 60}).findings == ()
    looks = asked({NEAR: told(0)}).observed["looks"]
    aged = {switch: [row | {"at": READ_AT - HOUR} for row in rows] for switch, rows in looks.items()}
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": aged}}}
    assert asked({NEAR: told(9)}, held(before=before), {"spine-1": "refused"}).findings == ()


@pytest.mark.parametrize(("sure", "code"), [(True, "roce.suspect"), (False, "cabling.one_end_down")])
def test_very_many_links_that_flap_at_once_are_no_faults_of_cables(sure: bool, code: str) -> None:
    """Where only one end tells, each is recorded, and nothing is suspected."""
    links = [["gpu-01", "eth1", "leaf-1", "Ethernet0", "400gbase-x-osfp", []]] + [
        ["leaf-1", f"Ethernet{8 * n}", "spine-1", f"Ethernet{n}/1", "400gbase-x-osfp", []] for n in range(1, 12)
    ]
    expected = held()
    wide = replace(expected, fabric={**expected.fabric, "links": links})

    def ports(count: int) -> str:
        leaf = {f"Ethernet{8 * n}": counted(**{DOWNS: count}) for n in range(1, 12)}
        spine = {f"Ethernet{n}/1": counted(**({DOWNS: count} if sure else {})) for n in range(1, 12)}
        return json.dumps(written({"leaf-1": leaf, "spine-1": spine}, {}))

    looks = judged("fabric_roce", {"switch_ports": ports(0)}, wide).observed["looks"]
    aged = {switch: [row | {"at": READ_AT - HOUR} for row in rows] for switch, rows in looks.items()}
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": aged}}}
    result = judged("fabric_roce", {"switch_ports": ports(8)}, replace(wide, run={"now": READ_AT, "before": before}))
    assert {finding.code for finding in result.findings} == {code}
    assert len(result.findings) == (1 if sure else 11)


def test_a_link_with_errors_that_flaps_is_one_ticket() -> None:
    first, then = (
        {NEAR: counted(**{DOWNS: n, UNCORRECTED: 5 + 10**6 * n}), FAR: counted(**{DOWNS: n})} for n in (0, 7)
    )
    looks = asked(first).observed["looks"]
    aged = {switch: [row | {"at": READ_AT - HOUR} for row in rows] for switch, rows in looks.items()}
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": {"looks": aged, "bad": {"leaf-1 Ethernet16": 5}}}}
    found = asked(then, held(before=before)).findings
    assert [finding.code for finding in found] == ["cabling.symbol_errors", "cabling.link_flaps"]
    assert {finding.fault for finding in found} == {KEY}
