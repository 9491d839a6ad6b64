"""Does every GPU multiply correctly, and fast enough, in each number type that it supports?"""

from collections.abc import Iterator, Sequence
from statistics import median

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import PROGRAM, Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import gemm
from fleet_runner.core.checks.parsers.gemm import TYPES, Product
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.shared.pass_marks import missed
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME = "gemm"
SECTION = f"active.{NAME}"


def judge(readings: Readings, expected: Expected) -> Result:
    """Wrong products are a fault of the device: their elements are exact in every type, whatever the software does.

    A type that a device lacks is skipped and said; one that the profile has a mark for must not be.
    """
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings[f"{NAME}_job"])
    still = jobs.unended(NAME, job, gemm.progress)
    if still is not None:
        return still
    every = gemm.parse(jobs.output_of(job, expected))
    done = [each for each in every if each.done]
    findings = [finding for each in done for finding in _wrong(each, expected)]
    findings += [finding for each in done for finding in _slow(each, done, wanted, expected)]
    unread = list(_unread(every, wanted))
    unread += _missing({each.whose.name for each in every}, wanted, expected)
    devices: dict[str, dict[str, float]] = {each.whose.pci or each.whose.name: {} for each in every}
    for each in done:
        devices[each.whose.pci or each.whose.name] |= {f"{each.type}_tflops": each.tflops}
    types = [name for name in TYPES if any(each.type == name for each in done)]
    left = [name for name in TYPES if any(each.type == name and each.skipped for each in every)]
    skipped = f"; skipped: {', '.join(left)}" if left else ""
    passed = f"{len(devices)} devices multiply correctly in {', '.join(types) or 'no type'}{skipped}"
    return unless_unread(conclude(NAME, findings, passed, {"devices": devices, "skipped": left}), unread)


def _wrong(each: Product, expected: Expected) -> Iterator[Finding]:
    steps = (f"Run a field diagnostic of {each.whose.described}; replace it if that fails.",)
    if each.wrong_rows:
        yield about(expected.node, "gemm.wrong", each.whose.component)(
            message=f"{each.whose.described} computes wrong results in {each.type}: {each.wrong_rows} rows of an "
            "exact product are wrong, expected none",
            remedy=Remedy.TRIAGE,
            steps=steps,
        )
    if each.unsteady:
        yield about(expected.node, "gemm.unsteady", each.whose.component)(
            message=f"{each.whose.described} gives different results in {each.type}: {each.unsteady} elements of "
            "the same product differ, expected the same bits",
            remedy=Remedy.TRIAGE,
            steps=steps,
        )


def _slow(each: Product, done: Sequence[Product], wanted: Section, expected: Expected) -> Iterator[Finding]:
    alike = [other.tflops for other in done if (other.type, other.whose.model) == (each.type, each.whose.model)]
    usual = median(alike)
    share = wanted.number("tflops_share_min") if wanted.has("tflops_share_min") else 0.0
    low = missed(wanted, f"{each.type}_tflops_min", each.tflops, " TFLOP/s")
    if not low and each.tflops < usual * share:
        low = f"{each.tflops:.4g} TFLOP/s, expected at least {share:.0%} of the node's median {usual:.4g}"
    if low:
        yield about(expected.node, "gemm.slow", each.whose.component)(
            message=f"{each.whose.described} reaches in {each.type} only {low}",
            remedy=Remedy.TRIAGE,
            steps=(f"Check the clocks, power limit and temperature of {each.whose.described} under load.",),
        )


def _unread(every: Sequence[Product], wanted: Section) -> Iterator[str]:
    for each in every:
        if each.trouble:
            yield f"{each.whose.described} did no product in {each.type}: {each.trouble}"
        elif each.skipped and wanted.has(f"{each.type}_tflops_min"):
            yield f"{each.whose.described} was not measured in {each.type}: {each.skipped}; the profile has a mark"
    if not any(each.done or each.trouble for each in every):
        yield "no device was measured in any type; does the profile name types that they support?"


def _missing(names: set[str], wanted: Section, expected: Expected) -> list[str]:
    if wanted.has("devices"):
        return []
    count = profile.parts(expected.profile, "gpu").count
    return [f"PyTorch measured {len(names)} of {count} GPUs; look at parts_gpu"] if len(names) < count else []


def order(expected: Expected) -> Order:
    """Return the measurement: every GPU in every type, or what the profile names."""
    wanted = profile.section(expected.profile, SECTION)
    python = wanted.text("python") if wanted.has("python") else "python3"
    each = wanted.number("seconds_each")
    types = wanted.texts("types") if wanted.has("types") else TYPES
    words = [f"--seconds={each:g}", f"--types={','.join(types)}"]
    words += [f"--size={wanted.whole('size')}"] if wanted.has("size") else []
    words += [f"--devices={wanted.text('devices')}"] if wanted.has("devices") else []
    named = len(wanted.text("devices").split(",")) if wanted.has("devices") else 0
    count = named or profile.parts(expected.profile, "gpu").count
    return Order((python, PROGRAM, *words), 2 * each * len(types) * max(1, count), f"{NAME}.py")


CHECK = Check(
    name=NAME,
    question="Does every GPU multiply correctly, and fast enough, in each number type that it supports?",
    reads=(f"{NAME}_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code("gemm.wrong", (Remedy.TRIAGE,), "a product with a known result was wrong"),
        Code("gemm.unsteady", (Remedy.TRIAGE,), "the same product gave other bits when it was repeated"),
        Code(
            "gemm.slow",
            (Remedy.TRIAGE,),
            f"fewer TFLOP/s than a mark of `{SECTION}` (as `bf16_tflops_min`), or than "
            "`tflops_share_min` of the node's median",
            twice=True,
        ),
    ),
    source="Freivalds' check of matrix products over whole numbers that every type holds exactly. Marks are shares "
    "of the vendor's data sheet, or learned.",
    measures=tuple(Measure(f"devices.*.{name}_tflops", f"{SECTION}.{name}_tflops_min") for name in TYPES),
)
