"""Drawn deaths as a fleet's store has them: pushed kernel logs, sweeps and boots, through what takes these in.

Nothing is written by hand: lines are read and judged as the listener does, checks judge what a sweep would have read,
and Slurm's accounts are what sacct would print.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.faults.alarms import Known
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rules import DEFAULT
from fleet_runner.core.faults.signals import fabric, json_lines, kernel
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.places import Places
from fleet_runner.core.faults.signals.signal import Signal
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.lab.job_deaths import BEGUN, Cause, Death, dmesg

SWEEP = 3600.0
"""Seconds between two sweeps."""

BOOTS = 420.0
"""Seconds from the end of a machine to its next start."""

SWEPT = ("xid", "kernel_log", "link_flaps")
"""Checks of a sweep that need no more than a kernel's log and its start."""

TYPE = "gpu-server"


def put(store: Store, made: Death, *, pushed: bool) -> None:
    """Have a store learn of a death what its fleet would: by sweeps, and `pushed` by its kernels' logs and UFM."""
    store.register([Device(node, "h100", TYPE, "hall") for node in made.job.nodes], BEGUN - 1e6)
    if pushed:
        for at, node, texts in _parcels(made):
            _hear(store, node, at, _kernels(node, at, texts))
        if made.cause is Cause.LINK:
            _hear(store, made.node, made.at + 2, fabric.read(_ufm(made), made.at + 2))
    end = (made.job.ended or made.at) + SWEEP
    moments = [BEGUN - SWEEP + made.zone % 1800]
    while moments[-1] < end:
        moments.append(moments[-1] + SWEEP)
    for at in moments:
        lines = [line for node in made.job.nodes for line in _swept(made, node, at)]
        store.record_by_hand(Stage.HEALTH_PASSIVE, "sweep", lines, at)


def sacct(made: Death) -> str:
    """Return the row of Slurm's accounts of a death's job, and of its first step."""
    job = made.job
    times = "|".join(_clock(each) for each in (job.begun - 60, job.begun, job.ended or 0.0))
    size = f"billing=1,gres/gpu={job.gpus},node={len(job.nodes)}"
    where = ",".join(job.nodes)
    row = f"{job.state}|{job.exit_code}|{job.exit_code}|{times}|{where}|{size}"
    failed = made.node if job.state == "NODE_FAIL" else ""
    return (
        f"{job.id}|{job.id}|{row}|ada|research|{failed}|0|{job.name}\n"
        f"{job.id}.0|{job.id}.0|{row}|||{failed}|0|train\n"
    )


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S}"


def _parcels(made: Death) -> Iterator[tuple[float, str, list[tuple[float, str]]]]:
    """Yield what log shippers push: a node's lines of one second, in the order of time."""
    lines = sorted((at, node, text) for node, said in made.kernel.items() for at, text in said)
    for (second, node), group in groupby(lines, key=lambda each: (int(each[0]), each[1])):
        texts = [(at, text) for at, _, text in group]
        yield second + 1.0, node, texts


def _kernels(node: str, at: float, texts: Sequence[tuple[float, str]]) -> tuple[Signal, ...]:
    """Return what lines of a node's journal tell, pushed at a moment."""
    rows = (
        {"_HOSTNAME": node, "_TRANSPORT": "kernel", "MESSAGE": text, "timestamp": moment} for moment, text in texts
    )
    lines, _ = json_lines.read("\n".join(map(json.dumps, rows)), node, at)
    return kernel.read(lines, at)


def _ufm(made: Death) -> str:
    """Return what UFM logs of a link that went down."""
    at = f"{datetime.fromtimestamp(made.at, UTC):%Y-%m-%d %H:%M:%S}.000"
    where = f"IBPort [Computer: {made.node} / HCA-1/1] [dev_id: 0c42a10300ab0001]"
    return f"{at} [4711] [329] WARNING Site [default] [Link] {where}: Link went down\n"


def _hear(store: Store, node: str, at: float, told: Sequence[Signal]) -> None:
    """Take signals of one push in as the listener does, sent with a token that proves the sender."""
    placed = Places.of([node]).place(told).signals
    signals = [replace(signal, authenticated=True) for signal in placed]

    def judge(known: tuple[Known, ...]) -> Iterator[Alarm]:
        for each in known:
            yield from _changed(each, signals, at)

    if signals:
        store.keep_alarms([node], judge, at)


def _changed(known: Known, signals: Sequence[Signal], at: float) -> Sequence[Alarm]:
    return AlarmEngine.of(known.standing, _following).hear(signals, at).changed


def _following(node: str, code: str) -> Following:
    del node
    return DEFAULT.of(TYPE, code)


def _swept(made: Death, node: str, at: float) -> Iterator[Judged]:
    """Yield what the checks of a sweep say of a node at a moment; none of one that is down."""
    lines = [(moment, text) for moment, text in made.kernel[node] if moment <= at]
    booted = min(moment for moment, _ in made.kernel[node])
    if made.cause is Cause.MACHINE and node == made.node and at >= made.at:
        booted = made.at + BOOTS
        if at < booted:
            return
        lines = [
            (booted, "Linux version 6.8.0-51-generic (build@host)"),
            *(each for each in lines if each[0] > booted),
        ]
    start = f"{datetime.fromtimestamp(booted, UTC):%Y-%m-%d %H:%M:%S}\n"
    readings = {
        "dmesg": Reading("dmesg", ReadEnd.OK, dmesg(lines), at=at),
        "uptime": Reading("uptime", ReadEnd.OK, start, at=at),
    }
    for name in SWEPT:
        check = CHECKS[name]
        mine = {each: readings[each] for each in check.reads}
        yield Judged(node, at, check.judge(mine, Expected(node)))
