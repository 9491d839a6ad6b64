"""Reports of which one look says little: counters that nobody knows the age of, symptoms, and what only NCCL saw."""

import json

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks import check as checking
from fleet_runner.core.checks.answers import about
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.catalogue import nvlink as nvlinks
from fleet_runner.core.checks.catalogue.fabric_manager import KINDS, PART
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import (
    dcgm_health,
    fabric_manager,
    ibqueryerrors,
    nccl_log,
    nccl_tests,
    nvlink,
    perfquery,
)
from fleet_runner.core.checks.parsers.fabric_manager import LogError
from fleet_runner.core.checks.pasted.fabric_journal import NO_NVSWITCH, without_nvswitch
from fleet_runner.core.checks.pasted.told import THIS_NODE, Part, Told, by_rules

SHOWN = 5
"""Ports or links that a sentence names."""

TWICE = "what one look counts may be months old: print it again in an hour, only growth is a fault"

RESTARTED = "Fabric Manager was restarted since; if it comes again, it counts"


def health_watch(text: str, node: str) -> Part:
    """Say what DCGM's health watch found; a watch is a hint, not a diagnosis."""
    name = "dcgmi health"
    try:
        found = dcgm_health.parse(text)
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))
    unsure = tuple(
        f"DCGM's health watch on {node}, {each.where}: {each.words}; run dcgmi diag -r 3" for each in found
    )
    return Part(name, unsure=unsure[:SHOWN])


def fabric_manager_log(text: str, node: str) -> Part:
    """Judge the errors of Fabric Manager's log; those before its last start are over."""
    starts = [line for line in text.split("\n") if "version is" in line.lower() and line.startswith("[")]
    started = next((each.at for each in fabric_manager.errors(_as_error(starts[-1]))), "") if starts else ""
    kinds: dict[str, list[LogError]] = {}
    for error in fabric_manager.errors(text if text.endswith("\n") else text.rpartition("\n")[0] + "\n"):
        kind = next(each for each in KINDS if each.words.search(error.words))
        kinds.setdefault(kind.code, []).append(error)
    told = tuple(_logged(errors, node, started) for code, errors in kinds.items() if code != NO_NVSWITCH)
    unsure = (without_nvswitch(node),) if NO_NVSWITCH in kinds else ()
    return Part("Fabric Manager log", told, unsure, matter=sum(map(len, kinds.values())))


def _as_error(line: str) -> str:
    """Return a line of the log as an error's, for its time to be read as theirs are."""
    stamp, _, _ = line.partition("]")
    return f"{stamp}] [ERROR] start\n"


def _logged(errors: list[LogError], node: str, started: str) -> Told:
    first, last = errors[0], errors[-1]
    kind = next(each for each in KINDS if each.words.search(last.words))
    finding = about(node, kind.code, PART)(message=kind.meaning, remedy=kind.remedy, steps=kind.steps)
    over = RESTARTED if last.at < started else ""
    return Told(node, by_rules(finding), len(errors), first.at, last.at, f"{first.at} {first.words}"[:200], over)


def fabric_errors(text: str, node: str) -> Part:
    """Say which ports of a fabric have counted errors; one look cannot tell when."""
    del node
    name = "ibqueryerrors"
    try:
        report = ibqueryerrors.parse(text)
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))
    bad = sorted((each for each in report.ports if each.symbol or each.downed), key=lambda each: -each.symbol)
    names = [f"0x{each.guid} port {each.port} (symbol errors {each.symbol}, downed {each.downed})" for each in bad]
    return Part(f"{name} of {counted(report.checked, 'port')}", unsure=_once(names, "port"))


def port_counters(text: str, node: str) -> Part:
    """Say which ports have counted errors; one look cannot tell when."""
    del node
    name = "perfquery"
    try:
        ports = perfquery.parse(text)
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))
    bad = [(port.name, {what: count for what, count in port.bad.items() if count}) for port in ports]
    names = [f"{port} ({_told(counts)})" for port, counts in bad if counts]
    return Part(f"{name} of {counted(len(ports), 'port')}", unsure=_once(names, "port"))


def nvlink_report(text: str, node: str) -> Part:
    """Compare the NVLinks of one node's GPUs with each other, and say which have counted errors."""
    name = "nvidia-smi nvlink"
    try:
        links, errors = nvlink.status(text), nvlink.errors(f"{text}\n")
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))
    shown = {uuid: each for uuid, each in links.items() if each.gbytes_per_second or each.inactive or each.dead}
    up = {uuid: len(each.gbytes_per_second) for uuid, each in shown.items()}
    most = max(up.values(), default=0)
    fewer = [
        f"{_gpu(uuid)} has {f'{count} of {most}' if count else 'none of its'} NVLinks up"
        for uuid, count in up.items()
        if count < max(most, 1) or shown[uuid].inactive
    ]
    wanted = f"how many there should be is for the device type to define; where one is down, {node} asks for a reboot"
    unsure = [f"{', '.join(fewer[:SHOWN])}: {wanted}"] if fewer else []
    counting = [
        f"{_gpu(uuid)} link {link} ({_told(bad)})"
        for uuid, each in errors.items()
        for link, counts in each.items()
        if (bad := {what: count for what, count in counts.items() if count and what in nvlinks.COUNTED})
    ]
    unsure += _once(counting, "NVLink")
    return Part(f"{name} of {counted(len(links), 'GPU')}", unsure=tuple(unsure))


def _gpu(uuid: str) -> str:
    return f"GPU{uuid[3:]}"


def nccl_test(text: str, node: str) -> Part:
    """Judge the values of nccl-tests, which may never be wrong; how fast is fast enough is for the profile to say."""
    name = "nccl-tests"
    try:
        sweep = nccl_tests.parse(f"{text}\n")
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))
    job = json.dumps({"state": "ended", "rc": 0, "elapsed": 0, "seconds": 0, "output": f"{text}\n"})
    profile = {"parts": {"gpu": {"count": len(sweep.ranks)}}, "active": {"nccl_allreduce": {"bytes": "1"}}}
    readings = {"nccl_allreduce_job": Reading("nccl_allreduce_job", ReadEnd.OK, job)}
    result = checking.run(CHECKS["nccl_allreduce"], readings, Expected(node, profile))
    told = tuple(Told(node, by_rules(each), line=_failed(text)) for each in result.findings)
    ended = sweep.average_gbps is not None
    unsure = (
        () if ended or told else ("nccl-tests did not come to its end; what it measured until then says nothing",)
    )
    speed = f"{sweep.average_gbps:.1f} GB/s of bus bandwidth on average; " if ended else ""
    notes = (
        (f"nccl-tests: {speed}whether that is fast enough is for the profile's pass mark to say",) if ended else ()
    )
    return Part(f"{name} of {counted(len(sweep.ranks), 'GPU')}", told, unsure, notes)


def _failed(text: str) -> str:
    return next((line.strip()[:200] for line in text.split("\n") if "Out of bounds values" in line), "")


def nccl_warnings(text: str, node: str) -> Part:
    """Say what NCCL's complaints may mean, and what would show it: a complaint is a symptom."""
    found = nccl_log.parse(text)
    unsure = tuple(
        f"{each.host or node}: NCCL complained {counted(each.times, 'time')}: {each.meaning.meaning}; next step:"
        f" {each.meaning.tells}"
        for each in found
    )
    hosts = {each.host for each in found} - {"", THIS_NODE}
    name = f"NCCL output of {counted(len(hosts), 'host')}" if hosts else "NCCL output"
    return Part(name, unsure=unsure, matter=sum(each.times for each in found))


def _once(names: list[str], what: str) -> tuple[str, ...]:
    """Say of ports or links that have counted errors that one look is none."""
    if not names:
        return ()
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (f"{counted(len(names), what)} counted errors: {', '.join(names[:SHOWN])}{more}; {TWICE}",)


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{what} {count}" for what, count in sorted(counts.items())[:SHOWN])
