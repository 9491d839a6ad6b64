"""Are the memory modules in the node that were bought, each of the right size and speed, and all of them in use?"""

from collections.abc import Iterator, Sequence

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import dmidecode, files, meminfo
from fleet_runner.core.checks.parsers.dmidecode import GIB, Dimm
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section, section
from fleet_runner.core.inventory.records import Part

NAME = "parts_dimm"

MEMINFO = "/proc/meminfo"

MOST_NAMED = 8


def judge(readings: Readings, expected: Expected) -> Result:
    """Count the modules, hold sizes and speeds against the profile and serials against the source of truth."""
    wanted = section(expected.profile, "parts.dimm")
    memory = dmidecode.parse(text_of(readings["dmidecode"]))
    slots = memory.slots
    there = [each for each in slots if each.bytes != 0]
    total = _total(readings)
    findings = [
        *_modules(there, wanted, expected.node),
        *(_count(slots, wanted, expected) if memory.complete else ()),
    ]
    findings += _speeds(there, wanted, expected.node)
    if memory.complete:
        findings += [*_serials(there, wanted, expected), *_unused(there, total, wanted, expected.node)]
    unread = [f"the firmware reports no size of DIMM {each.name}" for each in there if each.bytes is None]
    if not memory.complete:
        unread.append(f"dmidecode describes {len(there)} DIMMs and not to the table's end; read it again")
    if total is None and wanted.has("usable_share_min"):
        unread.append(f"{MEMINFO} was not read; how much memory is in use is unknown")
    observed = {
        "dimms": len(there),
        "expected": wanted.whole("count"),
        "gib": round(sum(each.bytes or 0 for each in there) / GIB, 1),
        "usable_gib": None if total is None else round(total / GIB, 1),
        "serials": {each.name: each.serial for each in there if each.serial},
    }
    passed = f"{len(there)} of {wanted.whole('count')} DIMMs are present, {observed['gib']:g} GiB"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _total(readings: Readings) -> int | None:
    reading = readings.get("meminfo")
    text = files.parse(text_of(reading)).get(MEMINFO) if reading is not None else None
    return None if text is None else meminfo.parse(text)["MemTotal"]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _count(slots: Sequence[Dimm], wanted: Section, expected: Expected) -> list[Finding]:
    """Say which modules are missing: by their slots, where the source of truth or the empty ones leave only those."""
    there = [each for each in slots if each.bytes != 0]
    short = wanted.whole("count") - len(there)
    count = f"{len(there)} of {wanted.whole('count')} DIMMs are present"
    if short <= 0:
        surplus = about(expected.node, "dimm.surplus", "DIMMs")
        return [surplus(message=f"{count}: more than the profile's", remedy=Remedy.WATCH)] if short else []
    empty = [each.name for each in slots if each.bytes == 0]
    known = {part.slot: part for part in profile.device_parts(expected.device, "dimm")}
    named = [name for name in empty if name in known] or empty
    if len(named) != short:
        named = [""]
    return [_missing(name, known.get(name), count, expected.node) for name in named]


def _missing(name: str, part: Part | None, count: str, node: str) -> Finding:
    serial = f", serial {part.serial}" if part is not None and part.serial else ""
    which = f"DIMM {name}{serial}" if name else "which slot is unknown"
    return about(node, "dimm.missing", f"DIMM {name}" if name else "DIMMs")(
        message=f"{count}; missing: {which}",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Power the node off and reseat the DIMM that is missing ({which}); clean its contacts.",
            "Look at the BMC's event log: one that failed its training at the boot is left out.",
            "If it is still missing, put another DIMM of the same kind into the slot.",
        ),
    )


def _modules(there: Sequence[Dimm], wanted: Section, node: str) -> Iterator[Finding]:
    if wanted.has("gib"):
        gib = wanted.whole("gib")
        for each in there:
            if each.bytes is not None and each.bytes != gib * GIB:
                yield about(node, "dimm.size", f"DIMM {each.name}")(
                    message=f"DIMM {each.name} has {each.bytes / GIB:g} GiB, expected {gib}",
                    remedy=Remedy.TRIAGE,
                    steps=(f"Compare DIMM {each.name} ({each.model or 'part number unknown'}) with the order.",),
                )
    models = wanted.texts("models") if wanted.has("models") else ()
    for each in there:
        if models and each.model and each.model not in models:
            yield about(node, "dimm.model", f"DIMM {each.name}")(
                message=f"DIMM {each.name} is a {each.model}, expected {' or '.join(models)}",
                remedy=Remedy.TRIAGE,
                steps=(f"Compare DIMM {each.name} (serial {each.serial or 'unknown'}) with the order.",),
            )


def _speeds(there: Sequence[Dimm], wanted: Section, node: str) -> Iterator[Finding]:
    """A module that cannot be as fast is the wrong one; one that could and is not, is set so by the BIOS."""
    if not wanted.has("megatransfers"):
        return
    speed = wanted.whole("megatransfers")
    for each in there:
        if each.rated is not None and each.rated < speed:
            yield about(node, "dimm.slow", f"DIMM {each.name}")(
                message=f"DIMM {each.name} is made for {each.rated} MT/s, expected {speed}",
                remedy=Remedy.TRIAGE,
                steps=(f"Compare DIMM {each.name} ({each.model or 'part number unknown'}) with the order.",),
            )
    # Firmware rounds: 2933 and 2934 MT/s are one speed.
    late = [each for each in there if each.configured is not None and each.configured < speed - 1]
    held = [each for each in late if each.rated is None or each.rated >= speed]
    if held:
        yield about(node, "dimm.speed", "DIMMs")(
            message=f"{len(held)} DIMMs run at {min(each.configured or 0 for each in held)} MT/s, expected {speed}:"
            f" {_listed([each.name for each in held])}; look at the BIOS setting for the memory's frequency",
            remedy=Remedy.REFLASH,
        )


def _serials(there: Sequence[Dimm], wanted: Section, expected: Expected) -> list[Finding]:
    """A module nobody wrote down: the record or the node is wrong, and neither makes the node unfit to serve."""
    seen = {each.serial for each in there}
    if "" in seen or len(there) < wanted.whole("count"):
        return []
    known = profile.device_parts(expected.device, "dimm")
    strangers = _listed(sorted(seen - {part.serial for part in known})) or "none"
    return [
        about(expected.node, "dimm.serial", f"DIMM {part.slot or part.serial}")(
            message=f"DIMM {part.slot or 'of unknown slot'} should have serial {part.serial}, which no DIMM of the"
            f" node has; there but not in the source of truth: {strangers}",
            remedy=Remedy.WATCH,
        )
        for part in known
        if part.serial and part.serial not in seen
    ]


def _unused(there: Sequence[Dimm], total: int | None, wanted: Section, node: str) -> list[Finding]:
    """Memory that is there and not used was mapped out by the firmware, or the kernel was told to leave it."""
    if total is None or not wanted.has("usable_share_min") or any(each.bytes is None for each in there):
        return []
    installed, least = sum(each.bytes or 0 for each in there), wanted.number("usable_share_min")
    if not installed or total >= least * installed:
        return []
    return [
        about(node, "dimm.unused", "DIMMs")(
            message=f"the kernel uses {total / GIB:.0f} of {installed / GIB:.0f} GiB, expected at least {least:.0%}",
            remedy=Remedy.TRIAGE,
            steps=(
                "Look at the BMC's event log for memory that was mapped out at the boot, and for the DIMM it names.",
                "Look at the kernel's command line for mem= and memmap=.",
            ),
        )
    ]


CHECK = Check(
    name=NAME,
    question="Are all memory modules that were bought in the node, of the right size and speed, and in use?",
    reads=("dmidecode",),
    also=("meminfo",),
    judge=judge,
    section="parts.dimm",
    codes=(
        Code("dimm.missing", (Remedy.TRIAGE,), "fewer modules than `parts.dimm.count`; named by its slot"),
        Code("dimm.size", (Remedy.TRIAGE,), "a module of another size than `parts.dimm.gib`"),
        Code("dimm.model", (Remedy.TRIAGE,), "a part number that is none of `parts.dimm.models`"),
        Code("dimm.slow", (Remedy.TRIAGE,), "a module that is made for less than `parts.dimm.megatransfers`"),
        Code(
            "dimm.speed",
            (Remedy.REFLASH,),
            "modules that run slower than `parts.dimm.megatransfers` though they could",
        ),
        Code(
            "dimm.unused",
            (Remedy.TRIAGE,),
            "the kernel uses less than `parts.dimm.usable_share_min` of what is there",
        ),
        Code("dimm.surplus", (Remedy.WATCH,), "more modules than the profile's"),
        Code("dimm.serial", (Remedy.WATCH,), "a serial number of the source of truth that no module has"),
    ),
    source="The profile's `parts.dimm` and the source of truth; Azure's node health checks let 5 % of memory miss.",
)
