"""Whether a node's power may be switched, and whether a person's play may begin a flash.

Not while a flash of it is open, nor before a failed one is understood; not where somebody uses the node.
"""

from collections.abc import Collection

from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.lifecycle.states import SERVING, State

AT_WORK = frozenset({State.BURN_IN, State.REBOOT, State.WIPE})
"""States in which a reset of the host would spoil what the runner does there."""


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


def by_hand(node: str, state: State, anyway: Collection[str]) -> str:
    """Return why a play that a person started may begin no flash of a node; "" where it may.

    `anyway` are the nodes that the person has named.
    """
    named = f"or name it: -e firmware_anyway={node}"
    if node in anyway:
        return ""
    if state in SERVING:
        return (
            f"{node} is in {state}, where tenants may use it, so no flash begins by hand; `fleet-runner firmware "
            f'update {node} --reason "…"` has it drained first, {named}'
        )
    if state in AT_WORK:
        return (
            f"{node} is in {state}, which a reset would spoil, so no flash begins by hand; wait for its end, {named}"
        )
    return ""
