"""Does the node run the kernel, the drivers and the settings that its device type needs?"""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import files, kernel_files, ldconfig
from fleet_runner.core.checks.parsers.kernel_files import Kernel
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import Section, section

NAME = "kernel"

DIED = 1 << 7
"""Of /proc/sys/kernel/tainted: it has met an oops or a BUG since it booted (the kernel's document on them)."""

MACHINE_CHECK = 1 << 4
"""Of the same: a processor reported a machine check."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold everything that the profile names against the kernel's own files; what it does not name is not asked."""
    wanted = section(expected.profile, NAME)
    seen = kernel_files.kernel(files.parse(text_of(readings["kernel_files"])))
    findings = [*_versions(seen, wanted, expected), *_modules(seen, wanted, expected.node)]
    findings += [*_words(seen, wanted, expected.node), *_settings(seen, wanted, expected)]
    findings += [*_iommu(seen, wanted, expected.node), *_tainted(seen, expected.node)]
    unread = _unread(seen, wanted, expected)
    if wanted.has("libraries"):
        reading = readings.get("ldconfig")
        if reading is None:
            unread.append("ldconfig was not asked, or did not answer")
        else:
            there = ldconfig.parse(text_of(reading))
            findings += [_library(name, expected.node) for name in wanted.texts("libraries") if name not in there]
    observed = {
        "release": seen.release,
        "system": seen.system,
        "bios_date": seen.bios_date,
        "tainted": seen.tainted,
        "versions": dict(sorted(seen.versions.items())),
        "settings": {name: sorted(values) for name, values in seen.settings.items()},
    }
    passed = f"kernel {seen.release} of {seen.system or 'an unknown system'} is set as the profile says"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _is_one(value: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in patterns)


def _versions(seen: Kernel, wanted: Section, expected: Expected) -> Iterator[Finding]:
    """A node boots its image anew each time: what is in it changes with a boot."""
    for name, value, remedy in (
        ("release", seen.release, Remedy.REBOOT),
        ("system", seen.system, Remedy.REBOOT),
        ("bios_date", seen.bios_date, Remedy.REFLASH),
    ):
        if value and wanted.has(name) and not _is_one(value, wanted.texts(name)):
            yield about(expected.node, f"kernel.{name}", name.replace("_", " "))(
                message=f"the {name.replace('_', ' ')} is {value}, expected {' or '.join(wanted.texts(name))}",
                remedy=remedy,
            )
    for driver, accepted in _pins(wanted, expected):
        version = seen.versions.get(driver)
        if version is not None and not _is_one(version, accepted):
            yield about(expected.node, "kernel.driver", f"driver {driver}")(
                message=f"driver {driver} has version {version}, expected {' or '.join(accepted)}",
                remedy=Remedy.REBOOT,
            )


def _pins(wanted: Section, expected: Expected) -> list[tuple[str, tuple[str, ...]]]:
    if not wanted.has("drivers"):
        return []
    pins = section(expected.profile, f"{NAME}.drivers")
    return [(driver, pins.texts(driver)) for driver in pins.values]


def _modules(seen: Kernel, wanted: Section, node: str) -> Iterator[Finding]:
    if seen.modules is None:
        return
    for module in wanted.texts("modules") if wanted.has("modules") else ():
        if module not in seen.modules:
            yield about(node, "kernel.module_missing", f"module {module}")(
                message=f"the module {module} is not loaded, expected it loaded", remedy=Remedy.REBOOT
            )
    for module in wanted.texts("modules_forbidden") if wanted.has("modules_forbidden") else ():
        if module in seen.modules:
            yield about(node, "kernel.module_forbidden", f"module {module}")(
                message=f"the module {module} is loaded, expected it not to be", remedy=Remedy.REBOOT
            )


def _words(seen: Kernel, wanted: Section, node: str) -> Iterator[Finding]:
    if seen.cmdline is None:
        return
    for pattern in wanted.texts("cmdline") if wanted.has("cmdline") else ():
        if not any(fnmatchcase(each, pattern) for each in seen.cmdline):
            yield about(node, "kernel.cmdline", f"kernel command line {pattern}")(
                message=f"the kernel was started without {pattern}", remedy=Remedy.REBOOT
            )
    for pattern in wanted.texts("cmdline_forbidden") if wanted.has("cmdline_forbidden") else ():
        there = [each for each in seen.cmdline if fnmatchcase(each, pattern)]
        if there:
            yield about(node, "kernel.cmdline", f"kernel command line {pattern}")(
                message=f"the kernel was started with {there[0]:.80}, expected it not to be", remedy=Remedy.REBOOT
            )


def _settings(seen: Kernel, wanted: Section, expected: Expected) -> Iterator[Finding]:
    if not wanted.has("settings"):
        return
    chosen = section(expected.profile, f"{NAME}.settings")
    for name in chosen.values:
        found, accepted = seen.settings.get(name), chosen.texts(name)
        strange = sorted(value for value in found or () if not _is_one(value, accepted))
        if strange:
            yield about(expected.node, "kernel.setting", f"setting {name}")(
                message=f"{name} is {', '.join(strange):.80}, expected {' or '.join(accepted)}", remedy=Remedy.REBOOT
            )


def _library(name: str, node: str) -> Finding:
    return about(node, "kernel.library", f"library {name}")(
        message=f"the library {name} is not on the node, expected it in the linker's cache", remedy=Remedy.REBOOT
    )


def _iommu(seen: Kernel, wanted: Section, node: str) -> Iterator[Finding]:
    """With domains of their own, devices reach memory, and each other, through the IOMMU's tables."""
    if not wanted.has("iommu"):
        return
    accepted, kind = wanted.texts("iommu"), _kind(seen)
    if kind not in accepted:
        yield about(node, "kernel.iommu", "IOMMU")(
            message=f"the IOMMU is {kind} ({', '.join(sorted(seen.iommu)) or 'no groups'}),"
            f" expected {' or '.join(accepted)}; look at the BIOS setting and at iommu= on the kernel's command line",
            remedy=Remedy.REBOOT,
        )


def _kind(seen: Kernel) -> str:
    if not seen.iommu:
        return "off"
    return "passthrough" if seen.iommu == {"identity"} else "translating"


def _tainted(seen: Kernel, node: str) -> Iterator[Finding]:
    tainted = seen.tainted or 0
    if tainted & DIED:
        yield about(node, "kernel.died", NAME)(
            message="the kernel had an oops since it booted (taint D); it can no longer be trusted",
            remedy=Remedy.REBOOT,
        )
    if tainted & MACHINE_CHECK:
        yield about(node, "kernel.machine_check", NAME)(
            message="a machine check has tainted the kernel (M); look at memory_errors", remedy=Remedy.RECORD
        )


def _unread(seen: Kernel, wanted: Section, expected: Expected) -> list[str]:
    """Say what the profile asks about and the files do not tell. A driver that is not loaded tells no version."""
    told = {"system": seen.system, "bios_date": seen.bios_date}
    unread = [
        f"the node does not report its {name.replace('_', ' ')}"
        for name in told
        if wanted.has(name) and not told[name]
    ]
    if seen.modules is None and (wanted.has("modules") or wanted.has("modules_forbidden")):
        unread.append("the list of modules was not read, or not to its end")
    if seen.cmdline is None and (wanted.has("cmdline") or wanted.has("cmdline_forbidden")):
        unread.append("the kernel's command line was not read")
    unread += [
        f"driver {driver} reports no version; is it loaded?"
        for driver, _ in _pins(wanted, expected)
        if driver not in seen.versions
    ]
    if wanted.has("settings"):
        names = section(expected.profile, f"{NAME}.settings").values
        unread += [f"the kernel does not report {name}" for name in names if name not in seen.settings]
    return unread


CHECK = Check(
    name=NAME,
    question="Does the node run the kernel, the drivers and the settings that its device type needs?",
    reads=("kernel_files",),
    also=("ldconfig",),
    judge=judge,
    section=NAME,
    codes=(
        Code("kernel.release", (Remedy.REBOOT,), "a kernel that is none of `kernel.release`"),
        Code("kernel.system", (Remedy.REBOOT,), "a system that is none of `kernel.system`"),
        Code("kernel.bios_date", (Remedy.REFLASH,), "a BIOS whose date is none of `kernel.bios_date`"),
        Code("kernel.driver", (Remedy.REBOOT,), "a driver whose version is none of its `kernel.drivers`"),
        Code("kernel.module_missing", (Remedy.REBOOT,), "a module of `kernel.modules` is not loaded"),
        Code("kernel.module_forbidden", (Remedy.REBOOT,), "a module of `kernel.modules_forbidden` is loaded"),
        Code(
            "kernel.cmdline", (Remedy.REBOOT,), "a word is missing on the kernel's command line, or forbidden there"
        ),
        Code("kernel.library", (Remedy.REBOOT,), "a library of `kernel.libraries` is not on the node"),
        Code("kernel.setting", (Remedy.REBOOT,), "a setting is none of its `kernel.settings`"),
        Code("kernel.iommu", (Remedy.REBOOT,), "the IOMMU is not as `kernel.iommu`: off, passthrough or translating"),
        Code("kernel.died", (Remedy.REBOOT,), "the kernel had an oops since it booted"),
        Code("kernel.machine_check", (Remedy.RECORD,), "a machine check has tainted the kernel"),
    ),
    source="The profile's `kernel`; the kernel's document on tainted kernels. Meta's GCM looks at modules, the"
    " governor and the clock source, gpud at modules, Azure's checks at swap.",
)
