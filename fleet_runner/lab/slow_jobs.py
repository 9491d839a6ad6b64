"""Jobs that nothing ended: one node holds the others back, or all are as slow as each other.

Each is drawn from a seed: what the job writes of its ranks' times, in one of the forms that frameworks have, and what
sweeps measured of its nodes. Both have noise: GPUs that are a little slower by nature, hiccups, a GPU that was hot
at one look, a last pipeline stage with more to do.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.node_measures import Measured, measured
from fleet_runner.lab.job_deaths import BEGUN, RANKS

REPORTS = 12
"""How often each rank's times are written."""

AVERAGED = 20
"""Steps of which Megatron's straggler lines tell the mean; NVRx takes the median of many, which has no hiccups."""

HICCUPS = 0.01
"""How many of all steps of ranks take longer, for nothing that lasts."""

LOOKS = 6
EVERY = 600.0
"""Sweeps of a job's time, and seconds between them."""

WORK = 1200.0
"""Milliseconds that a healthy rank works in a step."""


class Form(StrEnum):
    """How a job tells of its times; the last two do not tell whose they are, or tell nothing."""

    TIMERS = "Megatron's timers of all ranks"
    STRAGGLER = "Megatron's --log-straggler"
    SCORES = "NVRx's scores"
    LINES = "lines of each rank"
    SPREAD = "smallest and largest"
    NOTHING = "times of steps alone"


class Why(StrEnum):
    """What slows a node: its clocks, its PCIe, its rail, or its data, of which no sweep tells."""

    CLOCKS = "clocks"
    PCIE = "pcie"
    RAIL = "rail"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class SlowJob:
    """A job with the truth: the node that holds it back, "" where none does; its output, and what sweeps measured."""

    job: Job
    form: Form
    node: str
    output: str
    looks: tuple[Measured, ...]

    @property
    def types(self) -> dict[str, str]:
        """Return the device type of each node."""
        return dict.fromkeys(self.job.nodes, "h100")


def slow_job(seed: int, form: Form, *, is_alike: bool) -> SlowJob:
    """Return a slow job that tells its times in a form, the same for the same seed."""
    chance = random.Random(f"{seed}-{form}-{is_alike}")
    count = chance.choice((4, 8, 16, 32))
    nodes = tuple(f"gpu-{number:03}" for number in sorted(chance.sample(range(1, 400), count)))
    slow = "" if is_alike else chance.choice(nodes)
    times = chance.uniform(1.2, 2.5)
    why = chance.choice(tuple(Why))
    ended = None if chance.random() < 0.5 else BEGUN + LOOKS * EVERY  # noqa: PLR2004  a coin
    job = Job("4711", nodes, BEGUN, ended, "slurm", "pretrain", state="" if ended is None else "COMPLETED",
              gpus=count * RANKS)  # fmt: skip
    whole = chance.random() < 0.5  # noqa: PLR2004  all ranks of the node wait for its slow one, or none do
    local = chance.randrange(RANKS)
    work: dict[int, float] = {}
    for rank in range(count * RANKS):
        is_slow = nodes[rank // RANKS] == slow and (whole or rank % RANKS == local)
        work[rank] = WORK * chance.gauss(1, 0.01) * (times if is_slow or is_alike else 1.0)
    stages = is_alike and form in {Form.TIMERS, Form.LINES, Form.SPREAD} and chance.random() < 0.3  # noqa: PLR2004  some
    if stages:
        work.update({rank: each * 1.3 for rank, each in work.items() if rank >= (count - 1) * RANKS})
    lines = [*_head(nodes, stages=stages), *_FORMS[form](nodes, work, chance)]
    shown = (slow, why, f"0000:{0x1B + 16 * local:02x}:00.0", times)
    looks = tuple(_looks(nodes, shown, chance, is_alike=is_alike))
    return SlowJob(job, form, slow, "".join(f"{line}\n" for line in lines), looks)


def _head(nodes: tuple[str, ...], *, stages: bool) -> Iterator[str]:
    world = len(nodes) * RANKS
    yield (
        f"using world size: {world}, data-parallel size: {world // 2 if stages else world}, context-parallel size: 1,"
        f" tensor-model-parallel size: 1, pipeline-model-parallel size: {2 if stages else 1}"
    )
    for rank in range(world):
        node, local = nodes[rank // RANKS], rank % RANKS
        yield f"{node}:{4700 + local}:{4800 + local} [{local}] NCCL INFO comm 0x55d0 rank {rank} nranks {world}"


def _now(work: Mapping[int, float], chance: random.Random) -> dict[int, float]:
    """Return what ranks worked in one step: a rank in a hundred has a hiccup."""
    hiccups = {rank for rank in work if chance.random() < HICCUPS}
    return {
        rank: each * chance.gauss(1, 0.02) * (chance.uniform(1.5, 4) if rank in hiccups else 1.0)
        for rank, each in work.items()
    }


def _step(number: int, now: Mapping[int, float]) -> str:
    """Return Megatron's line of a step, for which all wait for the slowest rank."""
    spent = max(now.values()) * 1.4
    return f" iteration {number}/ 500 | elapsed time per iteration (ms): {spent:.1f} | lm loss: 2.1E+00 |"


def _timers(nodes: tuple[str, ...], work: Mapping[int, float], chance: random.Random) -> Iterator[str]:
    del nodes
    for number in range(REPORTS):
        now = _now(work, chance)
        yield _step(number, now)
        yield "times across ranks (ms):"
        yield "  forward-backward:"
        for rank in now:
            yield f"     rank {rank:2d}: {max(now.values()) * chance.uniform(1, 1.01):.2f}"
        yield "  forward-compute:"
        for rank, spent in now.items():
            yield f"     rank {rank:2d}: {spent:.2f}"


def _straggler(nodes: tuple[str, ...], work: Mapping[int, float], chance: random.Random) -> Iterator[str]:
    del nodes
    for number in range(REPORTS):
        many = [_now(work, chance) for _ in range(AVERAGED)]
        now = {rank: sum(each[rank] for each in many) / len(many) for rank in work}
        least, most = min(now, key=now.__getitem__), max(now, key=now.__getitem__)
        yield _step(number, now)
        yield (
            f" 0: INFO:megatron.core.utils:[2026-11-28 23:{number:02}:56] | MnRtt/Rnk: {now[least]:.2f}ms/{least} |"
            f" MxRtt/Rnk: {now[most]:.2f}ms/{most} | MnPwr/Rnk: 601796W/8 | MnTmp/Rnk: 52C/0 | MxTmp/Rnk: 65C/{least}"
        )


def _scores(nodes: tuple[str, ...], work: Mapping[int, float], chance: random.Random) -> Iterator[str]:
    for number in range(REPORTS):
        now = {rank: each * chance.gauss(1, 0.005) for rank, each in work.items()}
        yield _step(number, _now(work, chance))
        ranked = sorted(now, key=lambda rank: -now[rank])
        fastest = min(now.values())
        yield "GPU relative performance:"
        for words, some in (("Worst", ranked[:10]), ("Best", ranked[-5:])):
            yield f" {words} performing {len(some)}/{len(now)} ranks:"
            for rank in some:
                yield f"  Rank={rank} Node={nodes[rank // RANKS]} Score={fastest / now[rank]:.2f}"
        yield ""


def _lines(nodes: tuple[str, ...], work: Mapping[int, float], chance: random.Random) -> Iterator[str]:
    del nodes
    for number in range(REPORTS):
        now = _now(work, chance)
        step = max(now.values()) * 1.4
        for rank, spent in now.items():
            yield f"[rank{rank}]: step {number} forward_time: {spent:.1f} ms step_time: {step:.1f} ms"


def _spread(nodes: tuple[str, ...], work: Mapping[int, float], chance: random.Random) -> Iterator[str]:
    del nodes
    for number in range(REPORTS):
        now = _now(work, chance)
        yield _step(number, now)
        yield "(min, max) time across ranks (ms):"
        ends = f"({min(now.values()):.2f}, {max(now.values()):.2f})"
        yield f"    forward-compute ................................: {ends}"


def _nothing(nodes: tuple[str, ...], work: Mapping[int, float], chance: random.Random) -> Iterator[str]:
    del nodes
    for number in range(REPORTS):
        yield _step(number, _now(work, chance))


_FORMS: Mapping[Form, Callable[[tuple[str, ...], Mapping[int, float], random.Random], Iterator[str]]] = {
    Form.TIMERS: _timers, Form.STRAGGLER: _straggler, Form.SCORES: _scores, Form.LINES: _lines, Form.SPREAD: _spread,
    Form.NOTHING: _nothing,
}  # fmt: skip

Shown = tuple[str, Why, str, float]
"""The slow node, why, which of its GPUs, and how many times as slow."""


def _looks(nodes: tuple[str, ...], shown: Shown, chance: random.Random, *, is_alike: bool) -> Iterator[Measured]:
    """Yield what sweeps measured; where all nodes are as slow as each other, all are under the same low limit."""
    slow, why, bad, times = shown
    base = 1500.0 if is_alike else 1850.0
    own = {(node, gpu): base * chance.gauss(1, 0.015) for node in nodes for gpu in range(RANKS)}
    own[chance.choice(nodes), chance.randrange(RANKS)] *= 0.95  # the worst of its kind, and well
    for number in range(LOOKS):
        for node in nodes:
            at = BEGUN + 60 + EVERY * number + chance.uniform(0, 300)
            clocks: dict[str, Any] = {}
            links: dict[str, Any] = {}
            for gpu in range(RANKS):
                pci = f"0000:{0x1B + 16 * gpu:02x}:00.0"
                is_bad = node == slow and pci == bad
                mhz = own[node, gpu] * chance.gauss(1, 0.01) / (times if is_bad and why is Why.CLOCKS else 1.0)
                hot = (is_bad and why is Why.CLOCKS) or chance.random() < 0.003  # noqa: PLR2004  three looks in a thousand
                clocks[pci] = {"mhz": {"sm": mhz, "mem": 2619},
                               "reasons": ["sw_power_cap", *(["hw_thermal_slowdown"] if hot else [])]}  # fmt: skip
                links[pci] = {"width": 8 if is_bad and why is Why.PCIE else 16, "generation": 5, "replays": number}
            down = "ACTIVE 200 Gb/sec (4X HDR)" if node == slow and why is Why.RAIL else "ACTIVE 400 Gb/sec (4X NDR)"
            ports = {f"mlx5_{port}": "ACTIVE 400 Gb/sec (4X NDR)" for port in range(RANKS)} | {"mlx5_3": down}
            yield measured(node, "gpu_clocks", at, {"gpus": clocks})
            yield measured(node, "gpu_pcie", at, {"gpus": links})
            yield measured(node, "ib_ports", at, {"ports": ports})
