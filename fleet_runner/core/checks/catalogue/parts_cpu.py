"""Are the processors those that were bought, with all their cores, and set up as designed?"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import files, lscpu
from fleet_runner.core.checks.parsers.lscpu import Processors
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import Section, section

NAME = "parts_cpu"

MICROCODE = "/microcode/version"


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold sockets, cores and model against the profile; while CPUs are offline, cores cannot be counted."""
    wanted = section(expected.profile, "parts.cpu")
    seen = lscpu.parse(text_of(readings["lscpu"]))
    microcodes = _microcodes(readings)
    findings = [*_built(seen, wanted, expected.node), *_set_up(seen, wanted, expected.node)]
    findings += _microcode(microcodes, wanted, expected.node)
    unread = [*_unread(seen, wanted)]
    if wanted.has("microcodes") and not microcodes:
        unread.append("no CPU reports the version of its microcode")
    observed = {
        "model": seen.model,
        "online": seen.online,
        "offline": seen.offline,
        "sockets": seen.sockets,
        "numa_nodes": seen.numa_nodes,
        "microcodes": sorted(microcodes),
    }
    passed = f"{seen.sockets or 'unknown'} sockets, {seen.online} CPUs online, {seen.model or 'model unknown'}"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _microcodes(readings: Readings) -> set[str]:
    reading = readings.get("cpu_microcode")
    if reading is None:
        return set()
    found = files.parse(text_of(reading))
    return {files.word(text) for path, text in found.items() if path.endswith(MICROCODE) and files.word(text)}


def _built(seen: Processors, wanted: Section, node: str) -> Iterator[Finding]:
    sockets = wanted.whole("sockets")
    if seen.sockets is not None and seen.sockets != sockets:
        yield about(node, "cpu.sockets", "CPUs")(
            message=f"{seen.sockets} of {sockets} processors run",
            remedy=Remedy.TRIAGE,
            steps=(
                "Look at the BMC's event log for a processor that was left out at the boot.",
                "Power the node off and look at the socket's latch, heat sink and pins.",
            ),
        )
    elif not _short(seen, wanted) and seen.cores is not None and wanted.has("cores_per_socket"):
        cores = wanted.whole("cores_per_socket")
        if seen.cores != cores:
            yield about(node, "cpu.cores", "CPUs")(
                message=f"each processor has {seen.cores} cores, expected {cores}",
                remedy=Remedy.TRIAGE,
                steps=(
                    "Compare the processors with the order, and look in the BIOS for cores that are switched off.",
                ),
            )
    if seen.model and wanted.has("model") and seen.model != wanted.text("model"):
        yield about(node, "cpu.model", "CPUs")(
            message=f"the processors are {seen.model:.80}, expected {wanted.text('model')}",
            remedy=Remedy.TRIAGE,
            steps=("Compare the processors with the order.",),
        )
    if _short(seen, wanted):
        yield about(node, "cpu.offline", "CPUs")(
            message=f"{seen.offline} CPUs are offline and {seen.online} online, expected {_total(wanted)} online",
            remedy=Remedy.REBOOT,
        )


def _short(seen: Processors, wanted: Section) -> bool:
    """Whether CPUs that should run are offline; those that the kernel was told to leave out are no fault."""
    total = _total(wanted)
    return bool(seen.offline) and total is not None and seen.online < total


def _total(wanted: Section) -> int | None:
    if not wanted.has("cores_per_socket") or not wanted.has("threads_per_core"):
        return None
    return wanted.whole("sockets") * wanted.whole("cores_per_socket") * wanted.whole("threads_per_core")


def _set_up(seen: Processors, wanted: Section, node: str) -> Iterator[Finding]:
    """What the BIOS decides: threads per core, and how memory is parted into NUMA nodes."""
    if not _short(seen, wanted) and seen.threads is not None and wanted.has("threads_per_core"):
        threads = wanted.whole("threads_per_core")
        if seen.threads != threads:
            yield about(node, "cpu.threads", "CPUs")(
                message=f"each core has {seen.threads} threads, expected {threads}; look at the BIOS setting for SMT",
                remedy=Remedy.REFLASH,
            )
    if seen.numa_nodes is not None and wanted.has("numa_nodes") and seen.numa_nodes != wanted.whole("numa_nodes"):
        yield about(node, "cpu.numa_nodes", "CPUs")(
            message=f"there are {seen.numa_nodes} NUMA nodes, expected {wanted.whole('numa_nodes')};"
            " look at the BIOS settings for NUMA (NPS, SNC)",
            remedy=Remedy.REFLASH,
        )


def _microcode(found: set[str], wanted: Section, node: str) -> list[Finding]:
    accepted = wanted.texts("microcodes") if wanted.has("microcodes") else ()
    strange = sorted(found.difference(accepted)) if accepted else []
    return [
        about(node, "cpu.microcode", "CPUs")(
            message=f"the microcode is {', '.join(strange):.120}, expected {' or '.join(accepted)}",
            remedy=Remedy.REFLASH,
        )
        for _ in strange[:1]
    ]


def _unread(seen: Processors, wanted: Section) -> Iterator[str]:
    told = {
        "sockets": seen.sockets,
        "cores_per_socket": seen.cores,
        "threads_per_core": seen.threads,
        "numa_nodes": seen.numa_nodes,
        "model": seen.model or None,
    }
    for name, value in told.items():
        if wanted.has(name) and value is None:
            yield f"lscpu does not report {name.replace('_', ' ')}"


CHECK = Check(
    name=NAME,
    question="Are the processors those that were bought, with all their cores, and set up as designed?",
    reads=("lscpu",),
    also=("cpu_microcode",),
    judge=judge,
    section="parts.cpu",
    codes=(
        Code("cpu.sockets", (Remedy.TRIAGE,), "another number of processors than `parts.cpu.sockets`"),
        Code("cpu.cores", (Remedy.TRIAGE,), "another number of cores than `parts.cpu.cores_per_socket`"),
        Code("cpu.model", (Remedy.TRIAGE,), "processors of another model than `parts.cpu.model`"),
        Code("cpu.offline", (Remedy.REBOOT,), "CPUs that should run are offline"),
        Code("cpu.threads", (Remedy.REFLASH,), "another number of threads than `parts.cpu.threads_per_core`"),
        Code("cpu.numa_nodes", (Remedy.REFLASH,), "another number of NUMA nodes than `parts.cpu.numa_nodes`"),
        Code("cpu.microcode", (Remedy.REFLASH,), "a microcode that is none of `parts.cpu.microcodes`"),
    ),
    source="The profile's `parts.cpu`; Azure's node health checks hold sockets, cores and threads likewise.",
)
