"""The steps of a boot, and what it is after each."""

from fleet_runner.core.boot.boots import Boot, Claim, Identity, Leased, Milestone, PhonedHome, Proved, Reached
from fleet_runner.core.boot.steps import Step, after, kind

ARMED = Boot(7, "gpu-01", None, 100.0, 700.0, Identity())
HERE = "10.0.0.1"


def test_every_step_has_a_name_of_its_own() -> None:
    steps: list[Step] = [Reached(7, milestone, 1.0, HERE) for milestone in Milestone]
    names = [kind(step) for step in [*steps, Proved(7, 1.0, HERE), Claim(7, 1.0, HERE)]]
    assert names == [*(milestone.value for milestone in Milestone), "proved", "claimed"]


def test_each_further_lease_is_a_step_of_its_own() -> None:
    boot = after(after(ARMED, Reached(7, Milestone.DHCP, 101.0, HERE)), Leased(7, 102.0, "10.0.0.2"))
    assert boot.leased == {HERE, "10.0.0.2"}
    assert dict(boot.sources) == {Milestone.DHCP: HERE}
    assert kind(Leased(7, 102.0, "10.0.0.2")) == "lease 10.0.0.2"


def test_who_phoned_home_has_come_there() -> None:
    assert kind(PhonedHome(7, 1.0, HERE)) == kind(Reached(7, Milestone.PHONE_HOME, 1.0, HERE))


def test_steps_add_up() -> None:
    boot = ARMED
    for step in (
        Reached(7, Milestone.SCRIPT, 101.0, HERE),
        Proved(7, 102.0, "10.0.0.2"),
        Claim(7, 103.0, "10.0.0.3"),
        PhonedHome(7, 104.0, "10.0.0.4", ("ssh-ed25519 AAAA",)),
    ):
        boot = after(boot, step)
    assert dict(boot.reached) == {Milestone.SCRIPT: 101.0, Milestone.PHONE_HOME: 104.0}
    assert dict(boot.sources) == {Milestone.SCRIPT: HERE, Milestone.PHONE_HOME: "10.0.0.4"}
    assert (boot.proved_by, boot.claimed_by, boot.claimed_at) == ("10.0.0.2", "10.0.0.3", 103.0)
    assert boot.host_keys == ("ssh-ed25519 AAAA",)
    assert (boot.id, boot.node, boot.armed_at, boot.expires_at) == (7, "gpu-01", 100.0, 700.0)
    assert ARMED.reached == {}
