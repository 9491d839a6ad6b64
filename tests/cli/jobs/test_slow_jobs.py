"""fleet-runner job about jobs that nothing ended: who holds the others back, by files and by what the store knows."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from tests.cli.conftest import Type

NODES = tuple(f"gpu-{number:02}" for number in range(1, 7))
NOW = time.time()
PER_NODE = 2
WORDS = ("job", "--node", ",".join(NODES), "--from", "3h")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return the store of the fleet that commands see, with six nodes in production."""
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as found:
        found.register([Device(name, "h100", "gpu-server", "hall") for name in NODES], NOW - 9e5)
        yield found


def swept(store: Store, slow: str = "") -> None:
    """Store six sweeps of all nodes; a GPU of one of them is hot and slow from the third on."""
    well: dict[str, Any] = {"mhz": {"sm": 1980}, "reasons": []}
    hot: dict[str, Any] = {"mhz": {"sm": 1200}, "reasons": ["hw_thermal_slowdown"]}
    for number in range(6):
        at = NOW - 7200 + 1000 * number
        lines: list[Judged] = []
        for node in NODES:
            gpus = {"0000:52:00.0": hot if node == slow and number > 1 else well, "0000:9b:00.0": well}
            lines.append(Judged(node, at, Result("gpu_clocks", Verdict.PASS, "x", (), {"gpus": gpus})))
        store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", lines, at)


def output(slow: str = "") -> str:
    """Return what Megatron prints with --timing-log-option all, and where NCCL says that ranks are."""
    chance = random.Random(1)
    ranks = [(rank, NODES[rank // PER_NODE]) for rank in range(len(NODES) * PER_NODE)]
    lines = [f"{node}:1:2 [0] NCCL INFO comm 0x1 rank {rank} nranks {len(ranks)} cudaDev 0" for rank, node in ranks]
    for step in range(8):
        lines += [f" iteration {step}/ 500 | elapsed time per iteration (ms): 2100.0 | lm loss: 7.3E+00 |"]
        lines += ["times across ranks (ms):", "  forward-compute:"]
        lines += [f"     rank {rank:2d}: {(1900 if node == slow else 1200) * chance.gauss(1, 0.01):.2f}"
                  for rank, node in ranks]  # fmt: skip
    return "\n".join(lines) + "\n"


def test_the_node_that_holds_the_others_back_is_named_with_what_only_it_has(
    typed: Type, store: Store, tmp_path: Path
) -> None:
    """By the times of its ranks; the store says why. Nothing is done about it."""
    swept(store, "gpu-03")
    (tmp_path / "job.out").write_text(output("gpu-03"))
    said = typed(*WORDS, "--log", "job.out")
    assert said.code == 3
    assert max(map(len, said.out.splitlines())) <= 80
    assert "Slowed by one node: gpu-03 (rank " in said.words
    assert " holds the others back: forward-compute 1.9" in said.words
    assert "beside 1.2" in said.words
    assert "its GPU 0000:52:00.0 is at 1,200 MHz beside 1,980 MHz on 10 others, since 20" in said.words
    assert "it is slowed by heat or power in 67% of the looks beside 0% on 10 others" in said.words
    told = json.loads(typed(*WORDS, "--log", "job.out", "--json").out)
    assert told["held_by"] == "gpu-03"
    assert told["exclude"] == []
    [kept, *_] = store.answers(NOW - 9e5, time.time() + 60)
    assert kept.node == "", "nobody counts it as an interruption by this node"


def test_without_times_of_ranks_the_machine_that_differs_only_may(typed: Type, store: Store) -> None:
    swept(store, "gpu-05")
    said = typed(*WORDS)
    assert said.code == 3
    assert "One node differs from the others, and may hold them back: gpu-05: its GPU 0000:52:00.0" in said.words
    assert "how long each rank works is not known" in said.words


def test_where_all_are_alike_nobody_is_named(typed: Type, store: Store, tmp_path: Path) -> None:
    """All may be slow."""
    swept(store)
    (tmp_path / "job.out").write_text(output())
    told = json.loads(typed(*WORDS, "--log", "job.out", "--json").out)
    assert told["held_by"] == ""
    assert "No node holds the others back by what is known: forward-compute, GPU clocks, thr" in told["sentence"]
    assert told["sentence"].endswith("throttling of 6 nodes are alike.")


def test_an_answer_of_prometheus_names_the_node(typed: Type, store: Store, tmp_path: Path) -> None:
    """Saved with curl; a file that is none is told, and the rest is read."""
    swept(store)
    result = [
        {"metric": {"instance": f"{node}.hall.example:9400"},
         "values": [[NOW + step, "1.9" if node == "gpu-02" else "1.2"] for step in range(5)]}
        for node in NODES
    ]  # fmt: skip
    answer = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    (tmp_path / "before_barrier.json").write_text(json.dumps(answer))
    (tmp_path / "cut.json").write_text(json.dumps(answer)[:-9])
    said = typed(*WORDS, "--log", "before_barrier.json", "--log", "cut.json")
    assert "gpu-02 holds the others back: before_barrier 1.90 s beside 1.20 s on 5 other nodes" in said.words
    assert "cut.json: it is no whole JSON" in said.err


def test_files_alone_are_enough(typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without settings and store; one file a rank, with no word of a job's end."""
    for name in ("FLEET_STATE_DIR", "FLEET_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    logs = tmp_path / "logs"
    logs.mkdir()
    for rank in range(6):
        text = "".join(f"data_time: {2.0 if rank == 4 else 0.1} s\n" for _ in range(5))
        (logs / f"rank_{rank}.log").write_text(text)
    said = typed("job", "--log", "logs")
    assert said.err == ""
    assert "Slowed by one rank: rank 4 holds the others back: data_time 2.00 s beside 100 ms on 5 other" in said.words


def test_since_when_a_node_is_slow_is_told_by_prometheus_and_by_an_output_of_another_zone(
    typed: Type, store: Store, tmp_path: Path
) -> None:
    """Its clock is an hour ahead, and ends when the job did."""
    swept(store)
    begun = time.time() - 7_200
    lines: list[str] = []
    series: dict[str, list[list[Any]]] = {node: [] for node in NODES}
    for minute in range(120):
        at = begun + 60 * minute
        lines.append(f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(at + 3600))} step {minute} step_time: 2.1 s")
        for rank, node in enumerate(NODES):
            value = 1.9 if node == "gpu-02" and minute >= 90 else 1.2
            series[node].append([at, str(value)])
            lines.append(f"[rank{rank}]: data_time: {value} s")
    (tmp_path / "job.out").write_text("\n".join(lines) + "\n")
    result = [{"metric": {"node": node}, "values": values} for node, values in series.items()]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    (tmp_path / "before_barrier.json").write_text(json.dumps(answer))
    words = ("job", "--node", ",".join(NODES), "--from", "2h", "--log")
    said = typed(*words, "before_barrier.json")
    since = time.gmtime(begun + 60 * 90)
    told = f"since {time.strftime('%Y-%m-%d %H:%M UTC', since)}."
    assert f"before_barrier 1.90 s beside 1.20 s on 5 other nodes, {told}" in said.words
    assert f"data_time 1.90 s beside 1.20 s on 5 other ranks, {told}" in typed(*words, "job.out").words
