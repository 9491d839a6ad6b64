"""Units as `systemctl show` lists them: a block of lines for each, an empty line between two."""

import re
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.files import whole

MOST = 5000
"""More units than any node has loaded."""

STATES = ("LoadState", "ActiveState", "SubState")
"""Without them nothing is known of a unit."""

_STAMP = re.compile(r"[A-Z][a-z]{2} (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})(?: \S{1,20})?")

PROPERTIES = ("Id", "Names", "LoadState", "ActiveState", "SubState", "Result", "NRestarts")

KNOWN = (
    *("nvidia-fabricmanager.service", "nvidia-persistenced.service", "nvidia-dcgm.service", "nvidia-imex.service"),
    *(
        "openibd.service",
        "slurmd.service",
        "munge.service",
        "kubelet.service",
        "containerd.service",
        "docker.service",
    ),
    *("chronyd.service", "chrony.service", "systemd-timesyncd.service", "lldpd.service", "irqbalance.service"),
    *("rasdaemon.service", "nvsm.service", "nvidia-cdi-refresh.service", "ssh.service", "sshd.service"),
)
"""Units that are asked for by name, because systemd forgets those that are neither running nor failed; "*.service"
brings whatever else it has loaded."""

ARGV = ("systemctl", "show", "--property", ",".join(PROPERTIES), *KNOWN, "*.service")


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit, with systemd's own words; `restarts` is None where an older systemd does not count them.

    `since` is when it was started last, in the node's own time ("2026-08-27 07:13:21"), "" where that is not told.
    """

    name: str
    names: frozenset[str]
    load: str
    active: str
    sub: str
    result: str
    restarts: int | None
    since: str


def one(text: str) -> Unit:
    """Return the only unit that was asked for, by name or without; EvidenceError where its state is not told."""
    unit = _unit(text.rpartition("\n")[0].strip(), need=STATES)  # a line without its end may be half a value
    if unit is None:
        raise EvidenceError(f"systemctl show printed {text[:60]!r}, expected a unit's {', '.join(STATES)}")
    return unit


def parse(text: str) -> dict[str, Unit]:
    """Return the units by their names; EvidenceError for anything else. A last one that is cut short is left out."""
    blocks = text.replace("\r\n", "\n").split("\n\n")
    if not text.endswith("\n"):
        blocks.pop()
    if len(blocks) > MOST:
        raise EvidenceError(f"systemctl shows {len(blocks)} units, expected at most {MOST}; look at the node")
    units = [unit for unit in (_unit(block) for block in blocks if block.strip()) if unit is not None]
    if not units:
        raise EvidenceError(f"systemctl printed {text.strip()!r:.120}, expected units; does systemd run?")
    return {unit.name: unit for unit in units}


def _unit(block: str, need: tuple[str, ...] = ("Id", *STATES)) -> Unit | None:
    told = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
    if not all(told.get(name) for name in need):
        return None
    name, since = told.get("Id", "")[:120], _STAMP.fullmatch(told.get("InactiveExitTimestamp", ""))
    return Unit(
        name=name,
        names=frozenset([name, *told.get("Names", "").split()[:50]]),
        load=told["LoadState"][:40],
        active=told["ActiveState"][:40],
        sub=told["SubState"][:40],
        result=told.get("Result", "")[:40],
        restarts=whole(told.get("NRestarts")),
        since=since[1] if since else "",
    )
