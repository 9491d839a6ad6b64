"""Does every GPU of the node train to the same bits, and as fast as its neighbours?"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from statistics import median

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import PROGRAM, Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import training
from fleet_runner.core.checks.parsers.training import Device
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.shared.pass_marks import missed
from fleet_runner.core.checks.shared.replicas import named, odd
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME = "training"
SECTION = f"active.{NAME}"

SIZES = ("layers", "width", "heads", "context", "batch", "vocabulary", "steps", "rounds")
"""What a profile may say about the model and its training, each a whole number."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Compare bits: same model, data, seed and order of operations give the same ones on every device that is sound.

    More than half of the devices of one model are right; without such a majority a reference of the profile tells
    who is, and without one it is only known that one of them is wrong. Where all agree and only the reference
    differs, the software may be another, and nothing is said about hardware.
    """
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings[f"{NAME}_job"])
    still = jobs.unended(NAME, job, training.progress)
    if still is not None:
        return still
    every = training.parse(jobs.output_of(job, expected))
    devices = [each for each in every if not each.trouble]
    unread = [f"{each.whose.described} did not finish its training: {each.trouble}" for each in every if each.trouble]
    unread += _missing(every, wanted, expected)
    findings = list(_unsteady(devices, expected))
    notes: list[str] = []
    for group in _groups(devices):
        found, doubt, note = _compared(group, _reference(wanted, group[0]), expected)
        findings += found
        unread += doubt
        notes.append(note)
        findings += _slow(group, wanted, expected)
    observed = {
        "devices": {each.whose.pci or each.whose.name: _observed(each) for each in devices},
        "kinds": sorted({f"{each.kind} ({each.shape})" for each in devices}),
    }
    passed = f"{len(devices)} devices trained to the same bits; {'; '.join(notes)}"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _observed(device: Device) -> dict[str, object]:
    return {
        "name": device.whose.name,
        "serial": device.whose.serial,
        "digest": device.marks[-1].digest,
        "rounds": device.rounds,
        "tokens_per_second": device.tokens_per_second,
        "peak_bytes": device.peak_bytes,
    }


def _missing(every: tuple[Device, ...], wanted: Section, expected: Expected) -> list[str]:
    """PyTorch may see fewer GPUs for many reasons; which parts are missing is another check's question."""
    if wanted.has("devices"):
        return []
    count = profile.parts(expected.profile, "gpu").count
    return [f"PyTorch trained on {len(every)} of {count} GPUs; look at parts_gpu"] if len(every) < count else []


def _groups(devices: Iterable[Device]) -> list[list[Device]]:
    """Only devices of one model, under one PyTorch, doing the same, can be expected to agree."""
    found: dict[tuple[str, str], list[Device]] = {}
    for each in devices:
        found.setdefault((each.kind, each.shape), []).append(each)
    return list(found.values())


def _reference(wanted: Section, device: Device) -> str:
    given = wanted.values.get("reference") or {}
    if not isinstance(given, Mapping):
        raise EvidenceError(
            f'fleet_profile.{SECTION}.reference: found {given!r:.60}, expected {{"<torch>/<model>": "<sha256>"}}'
        )
    return str(given.get(device.kind, ""))


def _unsteady(devices: Iterable[Device], expected: Expected) -> Iterator[Finding]:
    for each in devices:
        if each.differing:
            yield _finding("training.unsteady", [each], expected)(
                message=f"{each.whose.described} gave different results in {each.differing} of {each.rounds} "
                f"rounds, from step {each.parted} on; expected the same bits each time",
                remedy=Remedy.TRIAGE,
                steps=_steps([each]),
            )


def _compared(group: list[Device], reference: str, expected: Expected) -> tuple[list[Finding], list[str], str]:
    """Return findings, what cannot be told, and a note for the message of a pass."""
    answers = {each.whose.name: each.marks for each in group}
    names, sure = odd(answers)
    differing = [each for each in group if each.whose.name in names]
    right = [each for each in group if reference and each.marks[-1].digest == reference]
    if not sure and right:
        differing, sure = [each for each in group if each not in right], True
    if not sure and len([each for each in differing if not each.differing]) == 1:
        differing = []  # all others were found not to agree with themselves: nothing is known against this one
    if differing and sure:
        usual = next(each for each in group if each not in differing)
        return [_corrupt(each, usual, expected) for each in differing if not each.differing], [], ""
    if differing:
        return [_disagreement(differing, expected)], [], ""
    first = group[0]
    if not all(mark.finite for mark in first.marks):
        return (
            [],
            [f"the loss is not a number on {first.whose.model}, the same on all of them: the training is wrong"],
            "",
        )
    if not reference:
        return [], [], f"no reference for {first.kind}"
    if first.marks[-1].digest != reference:
        doubt = (
            f"{len(group)} of {first.kind} agree with each other, but not with the reference {reference:.12}; "
            "is their software another? Take a reference from a node that is known to be good"
        )
        return [], [doubt], ""
    return [], [], f"as the reference of {first.kind}"


def _corrupt(device: Device, usual: Device, expected: Expected) -> Finding:
    pairs = zip(device.marks, usual.marks, strict=False)
    step, mine, its = next(((m.step, m.loss, i.loss) for m, i in pairs if m != i), (0, "", ""))
    no_number = "" if all(mark.finite for mark in device.marks) else " (not a number)"
    return _finding("training.corrupt", [device], expected)(
        message=f"{device.whose.described} computes wrong results without an error: at step {step} its loss is {mine}"
        f"{no_number}, expected {its} as on the others",
        remedy=Remedy.TRIAGE,
        steps=_steps([device]),
    )


def _disagreement(devices: list[Device], expected: Expected) -> Finding:
    who = named(each.whose.described for each in devices)
    return _finding("training.disagreement", devices, expected)(
        message=f"{who} trained to different bits, and it is unknown which of them is right; one of them computes "
        "wrong results: run the test again with more rounds, or give the profile a reference",
        remedy=Remedy.TRIAGE,
        steps=_steps(devices),
    )


def _finding(code: str, devices: list[Device], expected: Expected) -> partial[Finding]:
    return about(expected.node, code, named(each.whose.component for each in devices))


def _steps(devices: Iterable[Device]) -> tuple[str, ...]:
    return tuple(f"Run a field diagnostic of {each.whose.described}; replace it if that fails." for each in devices)


def _slow(group: list[Device], wanted: Section, expected: Expected) -> Iterator[Finding]:
    usual = median(each.tokens_per_second for each in group)
    share = wanted.number("tokens_share_min") if wanted.has("tokens_share_min") else 0.0
    for each in group:
        low = missed(wanted, "tokens_per_second_min", each.tokens_per_second)
        if not low and each.tokens_per_second < usual * share:
            low = f"{each.tokens_per_second:.4g}, expected at least {share:.0%} of the node's median {usual:.4g}"
        if low:
            yield _finding("training.slow", [each], expected)(
                message=f"{each.whose.described} trained on {low} tokens per second",
                remedy=Remedy.TRIAGE,
                steps=(f"Check the clocks, power limit and temperature of {each.whose.described} under load.",),
            )


def order(expected: Expected) -> Order:
    """Return the training: every GPU at once, or the devices that the profile names."""
    wanted = profile.section(expected.profile, SECTION)
    seconds = wanted.number("seconds")
    python = wanted.text("python") if wanted.has("python") else "python3"
    words = [f"--{name}={wanted.whole(name)}" for name in SIZES if wanted.has(name)]
    words += [f"--{name}={wanted.text(name)}" for name in ("devices", "precision") if wanted.has(name)]
    return Order((python, PROGRAM, f"--seconds={seconds:g}", *words), seconds, f"{NAME}.py")


CHECK = Check(
    name=NAME,
    question="Does every GPU of the node train to the same bits, and as fast as its neighbours?",
    reads=(f"{NAME}_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code(
            "training.corrupt", (Remedy.TRIAGE,), "a device's bits differ from those of most, or from the reference"
        ),
        Code("training.unsteady", (Remedy.TRIAGE,), "a device's bits differ from its own of an earlier round"),
        Code("training.disagreement", (Remedy.TRIAGE,), "devices differ, and it is unknown which of them is right"),
        Code(
            "training.slow",
            (Remedy.TRIAGE,),
            f"fewer tokens per second than `{SECTION}.tokens_per_second_min`, or than `tokens_share_min` of the "
            "node's median",
            twice=True,
        ),
    ),
    source="PyTorch's notes on reproducibility: with deterministic algorithms the same software on the same model of "
    "device gives the same bits. There is no public pass mark for its speed: the share is of the node's own median.",
    measures=(Measure("devices.*.tokens_per_second", f"{SECTION}.tokens_per_second_min"),),
)
