"""One end of a pair of nodes that write to each other."""

import json
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.catalogue import ib_write_pair
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import NODE, judged, remedies
from tests.core.checks.healthy import text_of
from tests.core.checks.healthy.active_gpu import ended

GOOD = text_of("perftest/pair.jsonl")
TABLE = " RDMA_Write Bidirectional BW Test\n #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"


def expecting(**wanted: Any) -> Expected:
    return Expected(NODE, {"active": {"ib_write_pair": wanted}})


def said(output: str = "", rc: int = 0, **more: Any) -> str:
    """Return what our program prints of a pair."""
    line = {"program": "ib_write", "target": "mlx5_9", "peer": "gpu-02 eth2", "test": "ib_write_bw", "rc": rc}
    line |= {"output": output} | more
    return f'{json.dumps(line)}\n{{"program": "ib_write", "ended": true}}\n'


def wrote(text: str, expected: Expected, **state: Any) -> Result:
    return judged("ib_write_pair", {"ib_write_pair_job": ended(text, **state)}, expected)


def test_both_directions_together_count_as_one_each() -> None:
    result = wrote(GOOD, expecting(write_gbitps_min=380))
    assert (result.verdict, result.message) == (Verdict.PASS, "mlx5_9 and gpu-02 eth2 write at 392 Gb/s each way")
    assert result.observed == {
        "adapter": "mlx5_9",
        "peer": "gpu-02 eth2",
        "write_gbitps_min": 380.0,
        "gbitps": 392.0,
    }
    assert "write_gbitps_min" not in wrote(GOOD, expecting()).observed


def test_a_slow_pair_is_only_watched_and_names_both_ends() -> None:
    result = wrote(GOOD, expecting(write_gbitps_min=395))
    assert result.verdict is Verdict.FAIL
    assert remedies(result) == {"ib_write_pair.slow": Remedy.WATCH}
    assert "mlx5_9 and gpu-02 eth2 write at 392 Gb/s, expected at least 395 Gb/s each way" in result.message


@pytest.mark.parametrize(
    ("text", "apart", "why"),
    [
        (said(f"{TABLE} Failed status 12: wr_id 0 syndrom 0x81\n", 1), True, "Failed status 12"),
        (said(f"{TABLE} Unable to Connect the HCA's through the link\n", 1), True, "Unable to Connect the HCA's"),
        (said("Couldn't connect to 192.0.2.1:18516\n", 1), False, "Couldn't connect to 192.0.2.1"),
        (said(f"{TABLE} 64 9 0 3.1 1\n"), False, "no message of 65536 bytes or more"),
        (said(error="it did not end in 70 s", target=""), False, "the adapter and gpu-02 eth2 measured nothing"),
    ],
)
def test_a_pair_that_measured_nothing_is_unknown_and_apart_only_where_adapters_did_not_meet(
    text: str, apart: bool, why: str
) -> None:
    result = wrote(text, expecting(write_gbitps_min=380))
    assert (result.verdict, "apart" in result.observed) == (Verdict.UNKNOWN, apart)
    assert why in result.message


def test_other_output_than_one_pairs_is_unknown() -> None:
    two = GOOD.splitlines()[0] + "\n" + GOOD
    result = wrote(two, expecting())
    assert (result.verdict, "2 measurements were printed" in result.message) == (Verdict.UNKNOWN, True)
    result = wrote('{"program": "ib_write", "ended": true}\n', expecting())
    assert (result.verdict, "0 measurements were printed" in result.message) == (Verdict.UNKNOWN, True)
    assert wrote("", expecting(), state="running").verdict is Verdict.UNKNOWN
    assert wrote("", expecting(), state="preempted").verdict is Verdict.SKIPPED


PAIR = {"adapter": "", "interface": "eth1", "peer": "gpu-02 eth2", "port": 18516, "flows": 12, "seconds": 10}


def test_each_end_is_told_where_both_meet() -> None:
    server, client = (
        ib_write_pair.order(Expected(NODE, expecting().profile, run={"pair": {**PAIR, "server": address}})).argv
        for address in ("", "192.0.2.2")
    )
    assert "--serve" in server
    assert client[client.index("--to") + 1] == "192.0.2.2"
    for words in (server, client):
        told = dict(zip(words[2::2], words[3::2], strict=False)) if words is client else {}
        assert not told or (told["--port"], told["--flows"], told["--interface"]) == ("18516", "12", "eth1")


def test_a_node_in_no_pair_is_told_how_pairs_are_tested() -> None:
    with pytest.raises(EvidenceError, match="fleet-runner cabling paths --run tests pairs"):
        ib_write_pair.order(expecting())
