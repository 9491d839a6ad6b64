"""The NVMe controllers that the kernel knows, from /sys/class/nvme: the same with any nvme-cli, and without one."""

import re
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.files import Files, below, whole, word
from fleet_runner.core.faults.pci import canonical

FOLDER = "/sys/class/nvme"

SECTOR = 512
"""In which the kernel tells the size of any block device, whatever its own sectors are."""

DRIVER = "/sys/module/nvme/parameters/io_queue_depth"
"""Is there once the driver is loaded; without it, that no controller is listed says nothing."""

PATTERNS = (
    *(f"{FOLDER}/nvme*/{name}" for name in ("model", "serial", "firmware_rev", "transport", "address", "state")),
    f"{FOLDER}/nvme*/nvme*n*/size",
    DRIVER,
)
"""What must be read."""

_NAMESPACE = re.compile(r"nvme[0-9]{1,4}(?:c[0-9]{1,4})?n[0-9]{1,6}/size", re.ASCII)


@dataclass(frozen=True, slots=True)
class Controller:
    """One controller in the node itself. `bytes` is the size of its namespaces, None where none is told.

    `pci` is its address, "" where the kernel tells none; `state` the kernel's word: live, resetting, dead.
    """

    name: str
    pci: str
    model: str
    serial: str
    firmware: str
    state: str
    bytes: int | None

    @property
    def component(self) -> str:
        """Return how findings name it: by its place, which no reboot changes."""
        return f"NVMe {self.pci or self.name}"


def controllers(found: Files) -> tuple[Controller, ...]:
    """Return the controllers by name, without those of drives in other servers."""
    return tuple(
        _controller(name, files)
        for name, files in sorted(below(found, FOLDER).items())
        if word(files.get("transport")) in {"pcie", ""} and "model" in files
    )


def loaded(found: Files) -> bool:
    """Whether the driver is there that would know them."""
    return DRIVER in found


def _controller(name: str, files: Files) -> Controller:
    sizes = [whole(value) for path, value in files.items() if _NAMESPACE.fullmatch(path)]
    return Controller(
        name=name[:20],
        pci=canonical(word(files.get("address"))) or "",
        model=word(files.get("model")),
        serial=word(files.get("serial")),
        firmware=word(files.get("firmware_rev")),
        state=word(files.get("state")),
        bytes=sum(each * SECTOR for each in sizes if each is not None) if sizes and None not in sizes else None,
    )
