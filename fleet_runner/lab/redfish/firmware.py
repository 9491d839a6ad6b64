"""The firmware of a machine: what runs, and what is written and waits for a reset."""

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from fleet_runner.lab.redfish.background_copy import BackgroundCopy
from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.pace import ACTIVATION, DELL, HPE

BY: Mapping[str, frozenset[str]] = {
    "bmc_reset": frozenset({"self", "bmc_reset"}),
    "host_reset": frozenset({"host_reset"}),
    "ac_drain": frozenset({"self", "bmc_reset", "ac_drain"}),
}
"""What each reset makes run; after a drain of all power the host starts as well, which is a reset of its own."""


@dataclass(slots=True)
class Pending:
    """A version that was written; `left` more resets make it run."""

    version: str
    how: str
    left: int


class Firmware:
    """The versions of one machine by inventory id."""

    def __init__(self, chip: Chip) -> None:
        self._chip = chip
        tree = chip.tree
        self.running = {entry: str(tree.get(uri).get("Version") or "") for entry, uri in tree.entries.items()}
        self.pending: dict[str, Pending] = {}
        self.copies = BackgroundCopy(tree)
        self._versioned = {
            entry: around
            for entry, version in self.running.items()
            if version and (around := _around(entry, version))
        }
        self._hashed = {entry for entry, version in self.running.items() if entry == _hash(version)}
        self._shown: Mapping[str, str] | None = None
        self._until = 0.0
        self._reads: float | None = None

    def how(self, entry: str) -> tuple[str, int]:
        """Return what makes a written version of an entry run, and how many times it takes."""
        tree = self._chip.tree
        usual = DELL if tree.dell else HPE if tree.hpe else ACTIVATION
        names = {entry, str(tree.get(tree.entries[entry]).get("Name"))} if tree.hpe else {entry}
        for glob, how in (*self._chip.habits.activation.items(), *usual.items()):
            if any(fnmatchcase(name, glob) for name in names):
                return (how, 1) if isinstance(how, str) else how
        return "none", 1

    def write(self, versions: Mapping[str, str]) -> None:
        """Take versions as written; those that need no reset run at once."""
        for entry, version in versions.items():
            how, times = self.how(entry)
            self.pending[entry] = Pending(version, how, times)
        self._run([entry for entry in versions if self.pending[entry].how == "none"], "none")

    def activate(self, by: str) -> None:
        """Let a reset make versions run that waited for it."""
        due = []
        for entry, pending in self.pending.items():
            if pending.how in BY[by]:
                pending.left -= 1
                due += [entry] if pending.left <= 0 else []
        if not due:
            return
        faults = self._chip.rules.fire("activate", components=due)
        self.disturb(faults)
        if "keep_pending" in faults:
            for entry in due:
                self.pending[entry].left = 1
        elif "discard_pending" in faults:
            self.pending = {entry: pending for entry, pending in self.pending.items() if entry not in due}
        else:
            self._run(due, by)

    def _run(self, entries: list[str], by: str) -> None:
        if not entries:
            return
        versions = {entry: self.pending[entry].version for entry in entries}
        self._chip.emit("activated", components=versions, by=by)
        self._keep_previous(versions)
        if self._chip.behind is not None:
            self._chip.behind.run(versions)
        self.running |= versions
        for entry in entries:
            del self.pending[entry]

    def name(self, entry: str) -> str:
        """Return what an entry is called now: Dell's names have the version in them, OpenBMC's are a hash of it."""
        if entry in self._hashed:
            return _hash(self.shown().get(entry, ""))
        if entry not in self._versioned:
            return entry
        before, after = self._versioned[entry]
        return f"{before}-{self.shown().get(entry)}{after}"

    def find(self, name: str) -> str | None:
        """Return the entry that has a name now."""
        if name in self.running and self.name(name) == name:
            return name
        return next((entry for entry in (*self._versioned, *self._hashed) if self.name(entry) == name), None)

    def _keep_previous(self, entries: Iterable[str]) -> None:
        """Keep what ran until now as what can be rolled back to, where the inventory has an entry for that."""
        for entry in entries:
            kind, _, device = entry.partition("__")
            number = kind.removeprefix("Installed-").partition("-")[0]
            for other in self._versioned if kind.startswith("Installed-") else ():
                if other.startswith(f"Previous-{number}-") and other.endswith(f"__{device}"):
                    self.running[other] = self.running[entry]
            for other in self._hashed - {entry} if entry in self._hashed else ():
                if self._about(other) == self._about(entry):
                    self.running[other] = self.running[entry]

    def _about(self, entry: str) -> object:
        return self._chip.tree.get(self._chip.tree.entries[entry]).get("RelatedItem")

    def disturb(self, faults: Mapping[str, Mapping[str, float | None]]) -> None:
        """Show something else than what runs for a while, or copy it, where faults say so."""
        self.copies.begin(faults)
        for name, shown in (("empty_inventory", {}), ("stale_inventory", dict(self.running))):
            if name in faults:
                seconds, self._reads = faults[name]["seconds"], faults[name]["reads"]
                forever = seconds is None and self._reads is None
                self._shown = shown
                self._until = time.monotonic() + (3600.0 if seconds is None else seconds)
                self._reads = 3.0 if forever else self._reads

    def shown(self) -> Mapping[str, str]:
        """Return the versions that the inventory shows now; an empty inventory has no entries at all."""
        if self._shown is None:
            return self.running
        if time.monotonic() >= self._until or (self._reads is not None and self._reads <= 0):
            self._shown = None
            return self.running
        return self._shown

    def read(self) -> None:
        """Take note that the inventory was read as a whole."""
        if self._shown is not None and self._reads is not None:
            self._reads -= 1


def _hash(version: str) -> str:
    return hashlib.sha512(version.encode()).hexdigest()[:8]


def _around(entry: str, version: str) -> tuple[str, str] | None:
    """Return what stands before and after the version in a name of Dell's; None where it holds none."""
    before, found, after = entry.partition(f"-{version}__")
    if found:
        return before, f"__{after}"
    older = entry.startswith("Installed-") and entry.endswith(f"-{version}")
    return (entry.removesuffix(f"-{version}"), "") if older else None
