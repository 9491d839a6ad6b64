"""Whose a task of the BMC is: this flash's, another client's, or nobody can tell.

Only what is proven is adopted: the end of somebody else's task would else be told as the flash's own. The proof is
the request that a task shows (Redfish's `Payload`), or exclusion: the BMC said that it took the image, and has begun
one update since.
"""

import re
from collections.abc import Iterable

from fleet_runner.core.firmware.flash import Flash, Task, TaskEnd

CLOCK = 5.0
"""Seconds by which a BMC's telling of a time may be wrong: it counts whole ones, and an answer takes some."""

LATE = 60.0
"""Seconds after its answer within which a BMC begins the task of an image."""

_UPDATES = re.compile(r"updat|upgrad|firmware|flash|image|upload", re.IGNORECASE)
_ELSE = re.compile(r"\b(reset|reboot|dump|logs?|diagnostics?|erase|telemetry)\b", re.IGNORECASE)
"""What the names of tasks say that are no update's."""

_PLAIN = frozenset(
    {"a", "an", "and", "apply", "bundle", "dcim", "dup", "file", "firmware", "flash", "for", "image", "images",
     "installed", "install", "job", "new", "of", "on", "package", "remote", "service", "simple", "simpleupdate",
     "software", "task", "the", "to", "update", "updates", "updateservice", "updating", "upgrade", "upload", "with"}
)  # fmt: skip
"""Words in the name of an update that say nothing of what it is for."""

_PART = re.compile(r"[^\s:#_,;()\[\]]+")


def anothers(flash: Flash, task: Task) -> str:
    """Say why a task is certainly not the flash's; "" where it may be."""
    if task.started_at is not None and task.started_at < flash.intended_at - CLOCK:
        return "which began before this update"
    return elses(flash, task)


def elses(flash: Flash, task: Task) -> str:
    """Say of a task that certainly is new why it is not the flash's, whatever the clocks say; "" where it may be."""
    if task.image and task.image != _file(flash):
        return f"which is about {task.image}"
    if task.targets and not set(task.targets) & flash.targets.keys():
        return f"which is for {', '.join(task.targets[:2])}"
    if task.asked and not _UPDATES.search(task.asked):
        return f"which was asked for at {task.asked}"
    return "which is no update" if _ELSE.search(task.name) and not is_update(task) else ""


def is_update(task: Task) -> bool:
    """Whether a task's name, or where it was asked for, says that it updates something."""
    return _UPDATES.search(f"{task.name} {task.asked}") is not None


def fits(flash: Flash, task: Task) -> bool:
    """Whether the name of an update names this flash's part, or none at all.

    Dell's say "Firmware Update: BIOS", "Firmware Update: Network" or "update:DCIM:INSTALLED#301_C_RAID.Slot.1-1".
    Where a name has a part's own address, that counts alone: two cards differ in nothing else.
    """
    words = [word for word in _PART.findall(task.name.casefold()) if word not in _PLAIN and len(word) > 1]
    addresses = [word for word in words if "." in word]
    about = " ".join((flash.component, *flash.targets, _file(flash))).casefold()
    return not words or any(_says(about, word) for word in addresses or words)


def _says(about: str, word: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", about) is not None


def own(flash: Flash, tasks: Iterable[Task]) -> Task | None:
    """Return the new task that is proven to be the flash's; of several the newest, one that ended well first."""
    mine = [task for task in tasks if not anothers(flash, task)]
    proven = [task for task in mine if _proves(flash, task)]
    if not proven and len(mine) == 1 and _follows(flash, mine[0]):
        proven = mine
    ended = [task for task in proven if task.state is TaskEnd.DONE] or proven
    return max(ended, key=lambda task: (task.started_at or 0.0, task.uri), default=None)


def _proves(flash: Flash, task: Task) -> bool:
    """Whether the request that a task shows is the flash's: it names its image, or just its entries."""
    fits = not task.targets or set(task.targets) == flash.targets.keys()
    return fits and bool(task.image or task.targets)


def _follows(flash: Flash, task: Task) -> bool:
    """Whether an update that names no other part began when the BMC said that it took the image."""
    if flash.sent_at is None or not is_update(task) or not fits(flash, task):
        return False
    return task.started_at is None or task.started_at <= flash.sent_at + LATE


def _file(flash: Flash) -> str:
    return flash.image.rpartition("/")[2]
