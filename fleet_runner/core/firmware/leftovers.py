"""What lies staged in a BMC before a flash begins, and whose it is: the host's next start would do it."""

from collections.abc import Iterable

from fleet_runner.core.firmware.flash import Flash, Task, TaskEnd
from fleet_runner.core.firmware.flash_events import named


def staged(tasks: Iterable[Task], flashes: Iterable[Flash]) -> str:
    """Say of the first staged task whose it is, and what a person is to do; "" where none is staged.

    It is never taken away here: one of our own that a flash left behind may be half of what a person wants to see,
    and anybody else's is theirs.
    """
    waiting = sorted((task for task in tasks if task.state is TaskEnd.STAGED), key=lambda task: task.uri)
    if not waiting:
        return ""
    first = waiting[0]
    more = f" (and {len(waiting) - 1} more)" if len(waiting) > 1 else ""
    owner = next((flash for flash in flashes if flash.task == first.uri), None)
    whose = (
        f"is left over from flash {owner.id} ({owner.component}), which has {owner.end or 'not ended'}"
        if owner
        else "was not begun by fleet-runner"
    )
    return (
        f"the BMC has {named(first)} staged at {first.uri}{more}, which {whose}; a start of the host would do it as"
        f" well, so nothing that needs one is sent until it is done or deleted"
    )
