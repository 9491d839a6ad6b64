"""What lies staged in a BMC before a flash begins, and whose it is: the host's next start would do it."""

from collections.abc import Iterable

from fleet_runner.core.firmware.flash import Flash, Task, TaskEnd
from fleet_runner.core.firmware.flash_events import named
from fleet_runner.core.firmware.task_owner import is_update


def staged(tasks: Iterable[Task], flashes: Iterable[Flash], *, bios: bool = False) -> str:
    """Say of the first staged task whose it is, and what a person is to do; "" where none is staged.

    `bios` says that fleet-runner has set BIOS settings in the node's present stay, which wait for a start too. It is
    never taken away here: one of our own that a flash left behind may be half of what a person wants to see,
    and anybody else's is theirs.
    """
    waiting = sorted((task for task in tasks if task.state is TaskEnd.STAGED), key=lambda task: task.uri)
    if not waiting:
        return ""
    first = waiting[0]
    more = f" (and {len(waiting) - 1} more)" if len(waiting) > 1 else ""
    return (
        f"the BMC has {named(first)} staged at {first.uri}{more}, which"
        f" {_whose(first, flashes, bios=bios)}; a start of the host would do it as"
        f" well, so nothing that needs one is sent until it is done or deleted"
    )


def _whose(task: Task, flashes: Iterable[Flash], *, bios: bool) -> str:
    if owner := next((flash for flash in flashes if flash.task == task.uri), None):
        return f"is left over from flash {owner.id} ({owner.component}), which has {owner.end or 'not ended'}"
    if bios and "bios" in task.name.casefold() and not is_update(task):
        return "is of BIOS settings, as fleet-runner has set some: if it is that, restart the host once"
    return "was not begun by fleet-runner"
