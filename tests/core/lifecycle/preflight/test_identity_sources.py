"""What the two who can tell of a machine told, and why one of them told nothing."""

from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.lifecycle.preflight.identity_sources import of_bmc, told


def test_whoever_could_not_be_read_says_why() -> None:
    """In the words of the read."""
    late = Reading("redfish_machine", ReadEnd.UNREACHABLE, error="the BMC https://10.0.0.1 did not finish in time")
    gone = Reading("dmi", ReadEnd.MISSING)
    bmc, system = told({"redfish_machine": late, "dmi": gone})
    assert bmc.why == "redfish_machine: the BMC https://10.0.0.1 did not finish in time"
    assert system.why == "dmi: missing; network_interfaces was not read"


def test_a_machine_without_smbios_still_has_its_interfaces() -> None:
    """And then not all of its serial numbers are known."""
    files = '{"/sys/class/net/eth0/address": "B8:3F:D2:00:00:01"}'
    _, system = told({"dmi": Reading("dmi", ReadEnd.OK, "{}"), "network_interfaces": Reading("n", ReadEnd.OK, files)})
    assert (system.macs, system.whole, system.why) == (frozenset({"b8:3f:d2:00:00:01"}), False, "")


def test_a_bmc_that_answered_in_part_is_told_of_as_far_as_it_did() -> None:
    """A chassis that gave an error may have the designed serial number."""
    system = {"@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "SerialNumber": "S1"}
    said = of_bmc({"/redfish/v1/Systems/1": system, "/redfish/v1/Chassis/1": None})
    assert (said.serials, said.whole) == (("S1",), False)
