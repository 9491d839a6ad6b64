"""Opens a BMC from the settings: whom it trusts, with which credentials, and what is known of refused ones."""

from fleet_runner.adapters.redfish.bmc import Bmc
from fleet_runner.adapters.redfish.credential_breaker import Breaker
from fleet_runner.adapters.redfish.credentials import credentials
from fleet_runner.adapters.redfish.exchange import Limits
from fleet_runner.core.base.errors import NotOfferedError, SettingsError
from fleet_runner.settings import Settings


def opened(settings: Settings, url: str, limits: Limits | None = None, *, name: str = "") -> Bmc:
    """Return the BMC at an address, of the device of a name; nothing is sent before it is asked.

    Raises:
        SettingsError: there are no credentials for it, or the CA's file is not there.
        NotOfferedError: it speaks IPMI alone.
    """
    if is_ipmi(url):
        raise NotOfferedError(f"{url}: this BMC is asked by IPMI, which has power and an event log alone, no Redfish")
    user = credentials(settings, url, name)
    breaker = Breaker(settings.state_dir.expanduser() / "bmc", url.rstrip("/").lower(), user)
    return Bmc(url, *user, verify=trust(settings), limits=limits, breaker=breaker)


def is_ipmi(url: str) -> bool:
    """Say that a BMC is asked by IPMI (`adapters.ipmi`)."""
    return url.startswith("ipmi://")


def trust(settings: Settings) -> bool | str:
    """Return the file of authorities that must have signed a BMC's certificate, or whether any usual one must have.

    Raises:
        SettingsError: the settings contradict each other, or the file is not there.
    """
    if settings.bmc_ca is None:
        return not settings.bmc_insecure
    if settings.bmc_insecure:
        raise SettingsError("bmc_ca and bmc_insecure contradict each other; keep the one that is meant")
    if not settings.bmc_ca.is_file():
        raise SettingsError(f"bmc_ca names {settings.bmc_ca}, which is not a file; expected certificates in PEM")
    return str(settings.bmc_ca)
