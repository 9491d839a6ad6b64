"""Redfish: reading a BMC, power and one-time boot; every trouble is a BmcError in one sentence."""

from fleet_runner.adapters.redfish.bmc import Bmc, opened
from fleet_runner.adapters.redfish.credentials import credentials
from fleet_runner.adapters.redfish.wire import Limits

__all__ = ["Bmc", "Limits", "credentials", "opened"]
