"""The policy of the fleet, read again when its file changes; a file that became unusable changes nothing."""

from dataclasses import dataclass
from pathlib import Path

from fleet_runner.adapters.files import policy
from fleet_runner.adapters.files.policy import Stamp
from fleet_runner.adapters.logs import log
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.settings import Settings


@dataclass(slots=True)
class Policy:
    """The rules that were read last, and from which file."""

    known: tuple[Stamp, Rules] | None = None

    def rules(self, settings: Settings) -> Rules:
        """Return what the policy file says now; the last good rules where it cannot be used, which is logged once.

        One that was read and is gone is no policy either: the built-in rules would end what it forbids.

        Raises:
            SettingsError: it cannot be used, and there are no rules yet that could stay in use.
        """
        path = settings.policy
        stamp = policy.stamp(path)
        if self.known is not None and self.known[0] == stamp:
            return self.known[1]
        try:
            found = self._read(path)
        except SettingsError as error:
            if self.known is None:
                raise
            log.warning("the policy cannot be used; the last good one stays in use", why=str(error))
            found = self.known[1]
        self.known = (stamp, found)
        return found

    def _read(self, path: Path | None) -> Rules:
        if path is None and self.known is not None:
            raise SettingsError("policy.yml is missing; restore it, or write {} for the built-in rules")
        return policy.read(path)
