"""One text that somebody gave: fed piece by piece, then told what it holds and what follows."""

from dataclasses import dataclass, replace

from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks.pasted import exports
from fleet_runner.core.checks.pasted.cleaning import cleaned
from fleet_runner.core.checks.pasted.forms import READABLE, parts
from fleet_runner.core.checks.pasted.kernel import KernelLogs
from fleet_runner.core.checks.pasted.told import THIS_NODE, Part, Told
from fleet_runner.core.faults.xid import FALLEN_OFF_THE_BUS

LARGEST = 16_000_000
"""Characters up to which a text is looked through for whole reports; of more, only kernel messages are read."""


FALLEN, LOST = f"xid.{FALLEN_OFF_THE_BUS}", "gpu.lost"
"""What the kernel's log and nvidia-smi call the same."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a text said. `useless` says why it cannot be used, "" where it can."""

    label: str
    lines: int
    parts: tuple[Part, ...] = ()
    useless: str = ""

    @property
    def told(self) -> tuple[Told, ...]:
        """Return all findings. A GPU that fell off the bus by the kernel's log is not told of again by nvidia-smi."""
        told = tuple(each for part in self.parts for each in part.told)
        fallen = {(each.node, each.finding.component) for each in told if each.finding.code == FALLEN}
        return tuple(
            each for each in told if each.finding.code != LOST or (each.node, each.finding.component) not in fallen
        )

    @property
    def unsure(self) -> tuple[str, ...]:
        """Return what cannot be told, in sentences."""
        return tuple(dict.fromkeys(each for part in self.parts for each in part.unsure))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what else there is to say."""
        return tuple(dict.fromkeys(each for part in self.parts for each in part.notes))

    @property
    def summary(self) -> str:
        """Say how much was read and what it is: "3 of 8,214 lines matter; kernel log of 2 hosts"."""
        counts = [part.matter for part in self.parts if part.matter is not None]
        matter = sum(counts)
        names = ", ".join(dict.fromkeys(part.name for part in self.parts))
        verb = "matters" if matter == 1 else "matter"
        lines = counted(self.lines, "line")
        return f"{f'{matter:,} of {lines} {verb}' if counts else lines}; {names}"


class Pasted:
    """A text as it is read: kernel messages are taken as they come, the rest is kept up to LARGEST characters."""

    def __init__(self, label: str, node: str = "") -> None:
        """Take what the text is called, and the node that it is of where it names none, "" where nobody knows."""
        self.label = label
        self._node = node
        self._kernel = KernelLogs(node)
        self._kept: list[str] = []
        self._size = 0
        self._lines = 0
        self._blank = True
        self._open = False

    def feed(self, text: str) -> None:
        """Take the next piece: whole lines, but for the last one of the text."""
        self._kernel.feed(text)
        self._lines += text.count("\n")
        self._open = not text.endswith("\n") if text else self._open
        self._blank = self._blank and not text.strip("\ufeff\x00 \t\r\n")
        self._size += len(text)
        if self._size <= LARGEST:
            self._kept.append(text)
        else:
            self._kept.clear()

    def _exported(self, inner: str) -> tuple[tuple[Part, ...], Part | None]:
        """Return what the lines say that a store of logs gave out; nothing of another text."""
        logs = KernelLogs(self._node)
        logs.feed(inner)
        return parts(cleaned(inner), self._node or THIS_NODE) if inner else (), logs.end()

    def end(self, cut: str = "") -> Read:
        """Return what the text said; `cut` says that it could not be read to its end, and why."""
        lines = self._lines + self._open
        if self._blank:
            return Read(self.label, 0, useless=f"nothing is in it{f' ({cut})' if cut else ''}, so it says nothing")
        whole = "".join(self._kept)
        inner = exports.told(whole) or ""
        found, kernel = self._exported(inner)
        if not found and kernel is None:
            found = parts(cleaned(whole), self._node or THIS_NODE) if self._kept else ()
            kernel = self._kernel.end()
        if kernel is not None and not self._kept:
            note = f"{self.label} is so large that only the kernel's messages in it were read"
            kernel = replace(kernel, notes=(note,))
        found = (*found, *((kernel,) if kernel is not None else ()))
        if not found:
            known = "; ".join(READABLE)
            return Read(
                self.label, lines, useless=f"nothing in its {counted(lines, 'line')} is known. Known are: {known}"
            )
        if cut:
            found = (*found, Part("cut", unsure=(f"{self.label} could not be read to its end: {cut}",)))
        return Read(self.label, lines, found)
