"""Redfish: reading a BMC, power, boot, firmware, BIOS settings; every trouble is a BmcError in one sentence."""

from fleet_runner.adapters.redfish.bmc import Bmc
from fleet_runner.adapters.redfish.credentials import credentials
from fleet_runner.adapters.redfish.exchange import Limits
from fleet_runner.adapters.redfish.open import opened

__all__ = ["Bmc", "Limits", "credentials", "opened"]
