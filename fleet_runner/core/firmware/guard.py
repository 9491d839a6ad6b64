"""Whether a node's power may be switched: not while a flash of it is open, nor before a failed one is understood."""

from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.lifecycle import State


def refusal(node: str, state: State | None, flash: Flash | None, allowed: str) -> str:
    """Return why no power action may be sent to a node, and what to do; "" where one may.

    `allowed` is who allowed it whatever the firmware is at, and why ("" for nobody); `state` is None of a node that
    the store does not know.
    """
    if allowed:
        return ""
    anyway = f'fleet-runner firmware allow-power {node} --reason "…"'
    if flash is not None:
        return (
            f"flash {flash.id} of {node} ({flash.component}) is {flash.phase} and its end is not certain, so power "
            f"could ruin the node; wait for it, or look and then `fleet-runner firmware settle {node}`, or `{anyway}`"
        )
    if state is State.FIRMWARE_FAILED:
        return (
            f"{node} is in {state}, where power could ruin it until a person understands why; "
            f"`fleet-runner explain {node}` says what happened; then `fleet-runner retry {node}`, or `{anyway}`"
        )
    return ""
