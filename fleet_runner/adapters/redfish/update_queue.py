"""HPE's update task queue: whether what somebody put there waits for the host's next start, or is written now."""

from collections.abc import Mapping

from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.core.base.printable import printable

OPEN = ("Pending", "InProgress")
"""States of a task that has not ended; a reset of the host begins those that wait."""

MOST_LETTERS = 80


def unready(at: Resources, service: Body) -> str:
    """Say which task of the queue has not ended; "" where none has not, or the BMC has no such queue.

    Raises:
        BmcError: the queue cannot be read: what a reset would begin is not known.
    """
    oem = service.get("Oem")
    queue = at.link(oem if isinstance(oem, Mapping) else None, "Hpe", "UpdateTaskQueue")
    if queue is None or at.find(queue) is None:
        return ""
    for uri in at.members(queue):
        task = at.find(uri) or {}
        if task.get("State") in OPEN:
            name = printable(str(task.get("Name") or uri)[:MOST_LETTERS])
            return (
                f"its update task queue has {name!r}, which is {task['State']}; a reset of the host would begin it:"
                " have it done, or delete it"
            )
    return ""
