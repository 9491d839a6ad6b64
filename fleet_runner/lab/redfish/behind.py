"""What stands behind an emulated BMC where that is not the emulator's own idea of a host."""

from collections.abc import Mapping
from typing import Any, Protocol


class BackingMachine(Protocol):
    """A machine of somebody else's making, which a BMC shows and switches; all methods are asked often."""

    def answers(self) -> bool:
        """Whether the BMC is there at all; if not, connections end without an answer."""
        ...

    def power(self) -> str:
        """Return the power state in Redfish's words."""
        ...

    def starts(self) -> int:
        """Return how often the host was started; more than before means that it was, by whomever."""
        ...

    def act(self, action: str) -> None:
        """Do a power action; this is called on a thread of its own, and may take its time."""
        ...

    def boot(self, boot: Mapping[str, Any]) -> None:
        """Take over changes of the boot settings."""
        ...

    def run(self, versions: Mapping[str, str]) -> None:
        """Take over versions that run from now on, by inventory id."""
        ...

    def shows(self, uri: str) -> Mapping[str, Any]:
        """Return what a resource says that its tree does not."""
        ...
