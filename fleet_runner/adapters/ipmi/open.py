"""Opens a node's BMC by the scheme of its address: Redfish, or IPMI where its device type asks for that."""

from fleet_runner.adapters import redfish
from fleet_runner.adapters.ipmi.bmc import IpmiBmc
from fleet_runner.adapters.ipmi.tool import Ipmitool
from fleet_runner.adapters.redfish.credential_breaker import Breaker
from fleet_runner.adapters.redfish.open import is_ipmi
from fleet_runner.settings import Settings

SECONDS = 60.0
"""How long one question may take: an event log is read entry by entry."""

PowerBmc = redfish.Bmc | IpmiBmc


def opened(settings: Settings, url: str, limits: redfish.Limits | None = None, *, name: str = "") -> PowerBmc:
    """Return the BMC at an address, of the device of a name; nothing is sent before it is asked.

    Raises:
        SettingsError: there are no credentials for it, or the address names none.
    """
    if not is_ipmi(url):
        return redfish.opened(settings, url, limits, name=name)
    user = redfish.credentials(settings, url, name)
    breaker = Breaker(settings.state_dir.expanduser() / "bmc", url.rstrip("/").lower(), user)
    return IpmiBmc(Ipmitool(url, user, breaker, limits.total_seconds if limits else SECONDS))
