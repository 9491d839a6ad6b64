"""cloud-init's four documents, rendered for one boot; only `user-data` holds secrets."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from fleet_runner.core.boot.facts import Facts
from fleet_runner.settings import Settings

NAMES = ("meta-data", "vendor-data", "network-config", "user-data")
"""The documents, as NoCloud asks for them."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A document with secrets. `revoke` takes back what was minted for it; None where nothing was."""

    body: bytes = field(repr=False)
    revoke: Callable[[], Awaitable[None]] | None = None


class Documents:
    """Renders the documents, from files that are read again when they change.

    Each method raises DocumentError for a template, JoinError for a cluster, and SettingsError for a file that a
    setting names: all of them FleetErrors, and none of them quotes a secret.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def meta_data(self, facts: Facts) -> bytes:
        """Return the document that names the instance."""
        raise NotImplementedError

    def vendor_data(self, facts: Facts) -> bytes:
        """Return the document with ssh keys and phone-home."""
        raise NotImplementedError

    def network_config(self, facts: Facts) -> bytes:
        """Return the document that sets up the network."""
        raise NotImplementedError

    async def user_data(self, facts: Facts) -> Filled:
        """Return the document with what the node joins its cluster with; a token is minted for it alone."""
        raise NotImplementedError

    def preview(self, facts: Facts) -> bytes:
        """Return user-data as it would be, with every secret hidden and nothing minted."""
        raise NotImplementedError

    def close(self) -> None:
        """End the connections to clusters."""
