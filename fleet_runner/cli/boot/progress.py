"""The network boots that are on their way, and how far each came in a word."""

from typing import TYPE_CHECKING

from fleet_runner.core.boot.boots import Boot
from fleet_runner.core.boot.progress import last

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store


def on_their_way(store: "Store") -> dict[str, Boot]:
    """Return the open boot of each node that has one."""
    return {boot.node: boot for boot in store.open_boots()}


def place(boot: Boot) -> str:
    """Return in a word how far a boot came."""
    came = last(boot)
    return "armed" if came is None else came.value
