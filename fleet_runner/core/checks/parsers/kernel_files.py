"""The kernel, its modules and its settings, from /proc and /sys."""

from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.files import Files, below, whole, word

RELEASE, CMDLINE, TAINTED = "/proc/sys/kernel/osrelease", "/proc/cmdline", "/proc/sys/kernel/tainted"
MODULES, OS_RELEASE, BIOS_DATE = "/proc/modules", "/etc/os-release", "/sys/class/dmi/id/bios_date"
IOMMU_GROUPS = "/sys/kernel/iommu_groups"

SETTINGS = {
    "numa_balancing": "/proc/sys/kernel/numa_balancing",
    "transparent_hugepage": "/sys/kernel/mm/transparent_hugepage/enabled",
    "clocksource": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "hugepages": "/proc/sys/vm/nr_hugepages",
    "swaps": "/proc/swaps",
    "governor": "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
}
"""Settings by the names that a profile gives them, and where they are."""

PATTERNS = (
    *(RELEASE, CMDLINE, TAINTED, MODULES, OS_RELEASE, BIOS_DATE),
    *SETTINGS.values(),
    "/sys/module/*/version",
    f"{IOMMU_GROUPS}/*/type",
)
"""What must be read."""

MOST_BYTES = 60_000
"""A longer file of these was cut by the reader."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """What runs. `modules` are None where they were not read; `settings` hold those that were, by their names.

    `iommu` holds the kinds of domains that devices are in: none without an IOMMU, "identity" alone where it lets
    everything through.
    """

    release: str
    cmdline: tuple[str, ...] | None
    tainted: int | None
    modules: frozenset[str] | None
    versions: dict[str, str]
    system: str
    bios_date: str
    iommu: frozenset[str]
    settings: dict[str, frozenset[str]]


def kernel(found: Files) -> Kernel:
    """Read it all; EvidenceError without the kernel's own release."""
    release = word(found.get(RELEASE))
    if not release:
        raise EvidenceError(f"{RELEASE} was not read; which kernel runs is open")
    cmdline, modules = found.get(CMDLINE), found.get(MODULES)
    return Kernel(
        release=release,
        cmdline=None if cmdline is None else tuple(cmdline.split()[:500]),
        tainted=whole(found.get(TAINTED)),
        modules=None if modules is None or len(modules) > MOST_BYTES else _modules(modules),
        versions={
            name: word(files.get("version"))
            for name, files in below(found, "/sys/module").items()
            if word(files.get("version"))
        },
        system=_system(found.get(OS_RELEASE) or ""),
        bios_date=word(found.get(BIOS_DATE)),
        iommu=frozenset(word(files.get("type")) for files in below(found, IOMMU_GROUPS).values()) - {""},
        settings=dict(_settings(found)),
    )


def _modules(text: str) -> frozenset[str]:
    """Return the modules that are loaded, by names with underscores; one that is only coming or going is not."""
    rows = [line.split() for line in text.split("\n")]
    return frozenset(row[0].replace("-", "_") for row in rows if len(row) > 4 and row[4] == "Live")  # noqa: PLR2004  the fifth column is the state


def _system(text: str) -> str:
    """Return "ubuntu 22.04" from /etc/os-release."""
    told = dict(line.split("=", 1) for line in text.split("\n") if "=" in line)
    return " ".join(told.get(name, "").strip("\"' \r") for name in ("ID", "VERSION_ID")).strip()[:80]


def _settings(found: Files) -> list[tuple[str, frozenset[str]]]:
    """Return each setting that was read with its values: of processors, they may differ."""
    rows: list[tuple[str, frozenset[str]]] = []
    for name, path in SETTINGS.items():
        head, _, tail = path.partition("*")
        texts = [text for at, text in found.items() if text is not None and at.startswith(head) and at.endswith(tail)]
        values = frozenset(_value(name, text) for text in texts) - {""}
        if values:
            rows.append((name, values))
    return rows


def _value(name: str, text: str) -> str:
    """Return what is set: of a choice, what stands in brackets; of swap space, whether there is any."""
    if name == "swaps":
        lines = [line for line in text.split("\n") if line.strip()]
        return ("on" if len(lines) > 1 else "off") if lines and lines[0].startswith("Filename") else ""
    chosen = [each.strip("[]") for each in text.split() if each.startswith("[") and each.endswith("]")]
    return (chosen[0] if chosen else word(text))[:80]
