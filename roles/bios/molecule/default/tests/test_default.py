"""What the role left behind: a setting that waits at the BMC for the next start of the node."""

from tests.scenario import found


def test_what_is_not_as_the_profile_says_was_set_once() -> None:
    """What is right already was not sent; the second run found the first one's waiting."""
    (event,) = found.events("bios_set")
    assert event["attributes"] == {"SRIOVEnable": "Enabled"}


def test_it_waits_for_a_reset_which_is_not_this_roles() -> None:
    """The role boot_anew resets the node."""
    assert found.shown("/redfish/v1/Systems/1/Bios/Settings")["Attributes"]["SRIOVEnable"] == "Enabled"
    assert found.shown("/redfish/v1/Systems/1/Bios")["Attributes"]["SRIOVEnable"] == "Disabled"
    assert found.events("power", "host_reset") == []


def test_a_node_whose_settings_wait_has_nothing_to_answer_for() -> None:
    """The check is for one whose BMC took them not."""
    assert found.verdicts() == {}
