"""Limits are proposed by device type, with what each would have flagged."""

import json

from fleet_runner.core.reliability.check_value.limits import LIMITS, Look
from fleet_runner.core.reliability.check_value.past import DAY
from fleet_runner.core.reliability.check_value.proposals import Fleet, Limits, analyse

DISK = next(limit for limit in LIMITS if limit.key == "disk_health.celsius_max")
SPAN = (100 * DAY, 130 * DAY)
PROFILES = {"hgx": {"disk_health": {"celsius_max": 70}}, "dgx": {"disk_health": {}}}


def fleet(nodes: int = 20, **bad: list[float]) -> Fleet:
    """Return a fleet of two types, half each."""
    types = {f"gpu_{at:02}": "hgx" if at % 2 else "dgx" for at in range(nodes)}
    return Fleet({**types, "odd": "undescribed"}, frozenset(types) - bad.keys(), bad)


def looks(**worst: float) -> list[Look]:
    """Return five looks at each node at 50 C, and one look more at some."""
    told = [Look(f"gpu_{node:02}", (101 + at) * DAY, 50.0) for node in range(20) for at in range(5)]
    return [*told, *(Look(node, 110 * DAY, value) for node, value in worst.items())]


def limits(found: list[Look], here: Fleet) -> Limits:
    """Propose from looks at disks."""
    return analyse({DISK: found}, here, PROFILES, SPAN)


def test_a_limit_is_proposed_by_type_and_says_whom_it_would_have_flagged() -> None:
    told = limits(looks(gpu_01=60.0, odd=99.0), fleet(gpu_01=[120 * DAY], gpu_03=[110 * DAY]))
    dgx, hgx = told.proposals
    assert [each.device_type for each in told.proposals] == ["dgx", "hgx"]
    assert (hgx.learned.mark, hgx.learned.now, hgx.changes) == (53.0, 70, True)
    assert hgx.sentence == (
        "disk_health.celsius_max of hgx: at most 53 celsius instead of 70; at their worst 8 good nodes had 50 ± 0, 0"
        " of them are outside (at most 32.4% of good nodes are); it would have flagged 1 of 10 nodes, 1 of which"
        " turned out bad afterwards (1 of the 9 others did)"
    )
    assert "at most 53 celsius; at their worst" in dgx.sentence
    assert "it would have flagged none of 10 nodes" in dgx.sentence
    assert told.sentences == (
        "2 limits could be learned from 18 good nodes; 2 would change.",
        "In the last 30 days those would have flagged 1 node; 1 of them turned out bad afterwards.",
    )


def test_all_of_it_is_plain_and_says_what_the_limit_of_today_flags() -> None:
    body = limits(looks(gpu_01=75.0, gpu_03=60.0), fleet(gpu_01=[120 * DAY])).to_json()
    assert json.loads(json.dumps(body, allow_nan=False)) == body
    hgx = next(row for row in body["limits"] if row["device_type"] == "hgx")
    assert (body["since_day"], body["until_day"], body["good"]) == ("1970-04-11", "1970-05-11", 19)
    assert (hgx["key"], hgx["side"], hgx["now"], hgx["metric"]) == (DISK.key, "most", 70, "disk_temperature")
    assert (hgx["flagged_nodes"], hgx["today_nodes"], hgx["today_bad"]) == (1, 1, 1)
    assert hgx["flagged"] == [
        {"node": "gpu_01", "looks": 1, "of": 6, "worst": 75.0, "first_day": "1970-04-21", "bad": True}
    ]


def test_a_limit_that_is_what_it_was_is_told_as_such() -> None:
    same = {"hgx": {"disk_health": {"celsius_max": 53}}}
    told = analyse({DISK: looks()}, fleet(), same, SPAN)
    assert "at most 53 celsius, as today; at" in told.proposals[0].sentence
    assert told.sentences[0] == "1 limit could be learned from 20 good nodes; 0 would change."


def test_too_little_is_said_and_comes_last() -> None:
    told = limits([each for each in looks() if each.node < "gpu_08" or int(each.node[4:]) % 2], fleet())
    assert [each.device_type for each in told.proposals] == ["hgx", "dgx"]
    assert told.proposals[1].sentence == (
        "disk_health.celsius_max of dgx: not enough data: 20 looks at 4 good nodes, expected at least 20 of 5"
    )
    nothing = limits([], fleet())
    assert nothing.sentences == ("No limit could be learned from 20 good nodes.",)
    assert nothing.to_json()["limits"] == []
    row = told.to_json()["limits"][1]
    assert (row["proposed"], row["outside_share"], row["flagged"], row["today_nodes"]) == (None, None, [], None)
