"""What a check is: which reads, and a pure function over what they brought."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.inventory import profile

Readings = Mapping[str, Reading]


class Code(NamedTuple):
    """A kind of fault that a check can find ("gpu.remap_failed"; "xid.*" stands for a code of each number).

    `remedies` are those that it may call for; `meaning` is one clause: what is wrong, and beyond which limit.
    `twice`: in service two rounds in a row must find it, for one may have been slowed by a tenant's moment.
    """

    code: str
    remedies: tuple[Remedy, ...]
    meaning: str
    twice: bool = False


class Measure(NamedTuple):
    """A number that an active test measures, and the key of the profile that is its pass mark.

    `observed` is where it lies in what the check observed: names with dots between them, "*" for each entry of a
    mapping or list ("gpus.*.h2d_gbps"). `mark` is the profile's key ("active.gpu_bandwidth.host_to_device_gbps"), the
    least that passes, or the most where `higher` is false. From both a baseline is learned.
    """

    observed: str
    mark: str
    higher: bool = True


@dataclass(frozen=True, slots=True)
class Order:
    """A job that a node is to run: the command, and how long it is meant to take, in seconds.

    `program` is a file of ours in roles/active/files that the command needs; PROGRAM in `argv` stands for its path on
    the node. `helpers` are names of processes that do its work without being its children (15 characters, as the
    kernel keeps them): they are no tenant's, and end with it.
    """

    argv: tuple[str, ...]
    seconds: float
    program: str = ""
    helpers: tuple[str, ...] = ()


PROGRAM = "{program}"

OF_MAKER: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "NVIDIA": {"amd_smi_bad_pages": ()},
    "AMD": {"nvidia_smi": ("amd_smi_static", "amd_smi_metric", "amd_smi_process", "kfd_processes")},
}
"""What is asked in place of a read, by who made a node's GPUs (`profile.gpu_maker`)."""

NO_PROFILE = "the node's device type has no fleet_profile; is its file in inventory/group_vars, under its own name?"

NAMED = ("burn_in", "health_active")
"""Sections of a profile whose `tests` name active tests."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question. `judge` gets only readings that ended OK and may raise EvidenceError for UNKNOWN.

    `question` is one sentence for people. `active` checks use the GPUs and need the node idle. One that `remembers`
    is given its own previous answer (`Expected.run["before"]`): {"at": epoch seconds, "observed": its `observed`}.
    `also` are reads that say more where they end OK, and without which it can answer.

    `job` says what an active test has the node run, from what is expected of it; its reading is "<name>_job", the
    job's state (`parsers.job`). It raises EvidenceError where the profile does not tell enough.

    `section` is the part of the profile ("parts.nvme") that asks for the check: without it nothing is read, and the
    answer is SKIPPED. Checks without one are asked of every node. `codes` are all kinds of faults that it can find;
    `source` says where its rules and limits come from. Both make its page in docs/checks. `measures` are the numbers
    it measures, with their pass marks.
    """

    name: str
    question: str
    reads: tuple[str, ...]
    judge: Callable[[Readings, Expected], Result]
    active: bool = False
    needs_fabric: bool = False
    remembers: bool = False
    also: tuple[str, ...] = ()
    job: Callable[[Expected], Order] | None = None
    section: str = ""
    codes: tuple[Code, ...] = ()
    source: str = ""
    measures: tuple[Measure, ...] = ()


def wanted(check: Check, healthy: profile.Profile) -> bool:
    """Whether a device type's profile asks for a check; one that cannot be read does, for the judge to say so."""
    return profile.has(healthy, check.section)


def unasked(check: Check, healthy: profile.Profile) -> str:
    """Say of an active test that a profile names, but has no section for, what is wrong with that; else "".

    Left out in silence, it would be missed by nobody.
    """
    if check.job is None or wanted(check, healthy):
        return ""
    where = next((each for each in NAMED if check.name in _named(healthy, each)), "")
    return f"it is named in fleet_profile.{where}.tests, but the profile has no {check.section}" if where else ""


def _named(healthy: profile.Profile, stage: str) -> tuple[str, ...]:
    try:
        return profile.section(healthy, stage).texts("tests")
    except EvidenceError:
        return ()


def reads(check: Check, healthy: profile.Profile) -> tuple[str, ...]:
    """Return the reads that a check needs of a node of a device type: those of its GPUs' maker."""
    return _of_maker(check.reads, healthy)


def also(check: Check, healthy: profile.Profile) -> tuple[str, ...]:
    """Return the reads that say more of a node of a device type."""
    return _of_maker(check.also, healthy)


def _of_maker(names: tuple[str, ...], healthy: profile.Profile) -> tuple[str, ...]:
    others = OF_MAKER.get(profile.gpu_maker(healthy), {})
    return tuple(each for name in names for each in others.get(name, (name,)))


def run(check: Check, readings: Readings, expected: Expected) -> Result:
    """Judge a check over what was read; whatever could not be read makes it UNKNOWN, in one sentence."""
    if not wanted(check, expected.profile):
        # A file that was renamed must not look as if nobody asked any more.
        if lacking := unasked(check, expected.profile) if expected.profile else NO_PROFILE:
            return _unknown(check, lacking, ())
        why = f"the device type's profile has no {check.section}"
        return Result(check=check.name, verdict=Verdict.SKIPPED, message=why)
    needed = reads(check, expected.profile)
    mine = {name: readings[name] for name in needed if name in readings}
    more = (name for name in also(check, expected.profile) if name in readings)
    mine |= {name: readings[name] for name in more if readings[name].end is ReadEnd.OK}
    hashes = tuple(reading.hash for reading in mine.values() if reading.text)
    for name in needed:
        reading = mine.get(name)
        if reading is None:
            return _unknown(check, f"{name} was not read", hashes)
        if reading.end is not ReadEnd.OK:
            return _unknown(check, f"{name}: {reading.error or reading.end.value}", hashes)
    try:
        result = check.judge(mine, expected)
    except EvidenceError as error:
        return _unknown(check, str(error), hashes)
    return Result(
        check=check.name,
        verdict=result.verdict,
        message=result.message,
        findings=result.findings,
        observed=result.observed,
        evidence=hashes,
    )


def _unknown(check: Check, why: str, hashes: tuple[str, ...]) -> Result:
    return Result(check=check.name, verdict=Verdict.UNKNOWN, message=why, evidence=hashes)
