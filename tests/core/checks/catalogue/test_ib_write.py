"""Writes of every adapter."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.catalogue import ib_write
from fleet_runner.core.checks.check import Order
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.shared.culprits import culprits
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import NODE, judged, remedies
from tests.core.checks.healthy import text_of
from tests.core.checks.healthy.active_gpu import ended

GOOD = text_of("perftest/two_rails.jsonl")
RAILS = tuple(f"mlx5_{number}" for number in range(8))
TABLE = " RDMA_Write BW Test\n #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"


def expecting(named: tuple[str, ...] = RAILS[:2], **more: Any) -> Expected:
    """Return what is expected of some rails."""
    wanted = {"write_gbitps_min": 380, **more}
    return Expected(NODE, {"hca_interfaces": dict.fromkeys(named, "ib"), "active": {"ib_write": wanted}})


def wrote(text: str = GOOD, expected: Expected | None = None, /, **state: Any) -> Result:
    """Judge what our program printed."""
    return judged("ib_write", {"ib_write_job": ended(text, **state)}, expected or expecting())


def around(slow: set[str]) -> str:
    """Return the program's lines of rails that write each to the next, slowly where a slow one is at an end."""
    lines = []
    for rail, peer in zip(RAILS, [*RAILS[1:], RAILS[0]], strict=True):
        rate = 190.0 if {rail, peer} & slow else 392.0
        output = f"{TABLE} 8388608 9 0 {rate} 1\n"
        told = {"target": rail, "peer": peer, "test": "ib_write_bw", "rc": 0, "output": output}
        lines.append({"program": "ib_write", **told})
    return "".join(f"{json.dumps(line)}\n" for line in [*lines, {"program": "ib_write", "ended": True}])


@given(slow=st.sampled_from(RAILS))
def test_of_rails_in_a_ring_the_slow_one_is_named(slow: str) -> None:
    """Both its neighbours were slow with it."""
    result = wrote(around({slow}), expecting(RAILS))
    assert [finding.component for finding in result.findings] == [slow]
    assert result.message == f"{slow} writes at 190 Gb/s, expected 380 or more"


def test_of_two_rails_the_slower_direction_counts() -> None:
    """Each writes to the other."""
    shared = {"program": "ib_write", "test": "ib_write_bw", "rc": 0}
    lines = [
        shared | {"target": one, "peer": other, "output": f"{TABLE} 65536 9 0 {rate} 1\n"}
        for one, other, rate in (("mlx5_0", "mlx5_1", 190.0), ("mlx5_1", "mlx5_0", 392.0))
    ]
    result = wrote("".join(f"{json.dumps(line)}\n" for line in [*lines, {"program": "ib_write", "ended": True}]))
    assert [finding.component for finding in result.findings] == ["mlx5_0 and mlx5_1"]


@given(bad=st.sets(st.frozensets(st.integers(0, 9), min_size=1, max_size=2), min_size=1))
def test_whoever_is_blamed_explains_every_slow_pair(bad: set[frozenset[int]]) -> None:
    """Each pair once."""
    found = list(culprits(dict.fromkeys(bad, 1.0)))
    assert sorted((pair for _, pairs in found for pair in pairs), key=sorted) == sorted(bad, key=sorted)
    assert all(blamed & pair for blamed, pairs in found for pair in pairs)


def test_each_rail_is_held_against_the_mark() -> None:
    """With what it did."""
    result = wrote()
    assert result.verdict is Verdict.PASS
    assert result.observed == {
        "rails": {"mlx5_0": {"gbitps": 392.41, "latency_us": 1.66}, "mlx5_1": {"gbitps": 392.38, "latency_us": 1.67}}
    }
    slow = wrote(GOOD.replace("392.38", "195.10"))
    assert remedies(slow) == {"ib_write.slow": Remedy.TRIAGE}
    assert slow.findings[0].component == "mlx5_1"


def test_without_a_mark_the_numbers_are_kept_to_learn_one() -> None:
    """The answer says that there is none."""
    result = wrote(GOOD, expecting(write_gbitps_min=None))
    assert (result.verdict, "no pass mark is given" in result.message) == (Verdict.PASS, True)
    assert result.observed["rails"]["mlx5_0"]["gbitps"] == 392.41


def test_all_rails_slow_is_the_node() -> None:
    """Its settings, most likely."""
    result = wrote(GOOD, expecting(write_gbitps_min=400))
    assert [finding.component for finding in result.findings] == ["HCAs"]


def test_a_rail_that_takes_long_is_watched() -> None:
    """Where the profile has a mark for it."""
    assert remedies(wrote(GOOD, expecting(latency_us_max=1.665))) == {"ib_write.late": Remedy.WATCH}


def test_what_perftest_printed_itself_is_judged_too(samples: Path) -> None:
    """200 Gb/s of an HDR rail passes the mark of its system."""
    text = (samples / "gpu" / "superbench_ib_loopback_8M.log").read_text(encoding="utf-8")
    assert wrote(text, expecting(("ib0",), write_gbitps_min=180)).verdict is Verdict.PASS
    assert wrote(text, expecting(("ib0",))).verdict is Verdict.FAIL
    both = text_of("perftest/sweep_both_ways.txt")
    assert wrote(both, expecting(("mlx5_4",))).observed["rails"]["mlx5_4"]["gbitps"] == pytest.approx(
        384.83, abs=0.01
    )
    for end in range(0, len(text), 17):
        assert wrote(text[:end], expecting(("ib0",), write_gbitps_min=180)).verdict is not Verdict.FAIL


BW = {"program": "ib_write", "target": "mlx5_1", "peer": "mlx5_1", "test": "ib_write_bw"}
NO_DEVICE = BW | {"error": "Unable to find"}


@pytest.mark.parametrize(
    ("text", "state", "why"),
    [
        ("", {"rc": 127}, "it exited with 127; expected 0; this is no output of perftest"),
        ("", {}, "no output of perftest"),
        ("", {"state": "lost"}, "gone without an end"),
        (
            '{"program": "ib_write", "error": "ib_write_bw is not installed (perftest)"}\n',
            {"rc": 3},
            "is not installed",
        ),
        (GOOD, {"rc": 1}, "it exited with 1"),
        (GOOD[: GOOD.index('{"program": "ib_write", "target": "mlx5_1"')], {}, "did not come to its end"),
        (
            "\n".join([json.dumps(NO_DEVICE), GOOD.splitlines()[0], GOOD.splitlines()[-1], ""]),
            {},
            "mlx5_1 could not be",
        ),
        (GOOD.replace(" 8388608", "    4096"), {}, "no bandwidth of messages of 65536 bytes or more was measured of"),
    ],
)
def test_half_a_measurement_is_unknown(text: str, state: dict[str, Any], why: str) -> None:
    """A port that is down is another check's finding."""
    result = wrote(text, **state)
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


def test_a_profile_without_adapters_measures_none() -> None:
    """And says so."""
    assert "does the profile name them" in wrote('{"program": "ib_write", "ended": true}\n', expecting(())).message
    with pytest.raises(EvidenceError, match="hca_interfaces names no adapter"):
        ib_write.order(expecting(()))


def test_the_order_is_our_program_over_all_rails() -> None:
    """A few seconds each."""
    words = ("python3", "{program}", "--rails", "mlx5_0,mlx5_1", "--seconds")
    assert ib_write.order(expecting()) == Order((*words, "5"), 16.0, program="ib_write.py")
    own = {"rails": ["x", "y/2"], "seconds": 2, "to": "next", "arguments": ["-x", "3"]}
    more = expecting(("a",), **own, latency_us_max=3, gpu_memory=True)
    found = ib_write.order(more)
    assert found.argv[2:] == (
        "--rails", "x,y/2", "--seconds", "2", "--to", "next", "--latency", "--gpu-memory",
        "--argument=-x", "--argument=3",
    )  # fmt: skip
    assert found.seconds == 20.0


def test_a_measurement_that_runs_is_work() -> None:
    """Its answer comes."""
    assert wrote("", None, state="running").observed["working"] is True
