"""redfish_power sends only what is still to be done, and nothing in check mode."""

import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.adapters.redfish import power as gentle
from fleet_runner.core.base.errors import BmcError
from tests.playing import PROJECT

ALLOWED = ("On", "ForceOff", "GracefulShutdown", "ForceRestart", "PowerCycle")
STATES = st.sampled_from(["On", "Off", "PoweringOn", None])
ACTIONS = st.sampled_from(["on", "off", "cycle", "restart", "reboot"])


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The plugin, as Python."""
    return plugin("action/redfish_power")


class Bmc:
    """A BMC that does what it is told, some questions later."""

    def __init__(self, slow: int = 0) -> None:
        self.state, self.slow, self.sent = "On", slow, []

    def power(self, action: str) -> None:
        """Take an action, and remember in which state it came."""
        self.sent.append((action, self.state))
        self.state = "Off" if action == "ForceOff" else "On"
        self.left = self.slow

    def power_state(self) -> str:
        """Be on for some more questions."""
        self.left -= 1
        return "On" if self.left >= 0 else self.state


@given(action=ACTIONS, state=STATES, allowed=st.lists(st.sampled_from(ALLOWED)), done=st.booleans())
def test_nothing_is_sent_that_the_bmc_does_not_allow_but_off_and_on(
    module: ModuleType, action: str, state: str | None, allowed: list[str], done: bool
) -> None:
    sent = module.plan(action, state, tuple(allowed), done=done)
    assert set(sent) <= {"On", "ForceOff"} | set(allowed or ALLOWED)
    assert len(sent) <= 2


@given(action=ACTIONS, done=st.booleans())
def test_a_node_that_is_as_it_should_be_is_left_alone(module: ModuleType, action: str, done: bool) -> None:
    """Above all: one that its BMC has reset since is not reset again."""
    for state, wanted in (("Off", "off"), ("On", "on")):
        assert module.plan(wanted, state, ALLOWED, done=done) == []
    if action != "off":
        assert module.plan(action, "On", ALLOWED, done=True) == []


@given(action=st.sampled_from(["on", "cycle", "restart"]), done=st.booleans())
def test_a_node_that_is_off_is_only_switched_on(module: ModuleType, action: str, done: bool) -> None:
    """Also when its BMC has reset it already: an earlier try may have ended between off and on."""
    assert module.plan(action, "Off", ALLOWED, done=done) == ["On"]


@given(action=ACTIONS, state=STATES, allowed=st.lists(st.sampled_from(ALLOWED)), done=st.booleans())
def test_a_node_is_off_before_a_boot_of_it_is_armed(
    module: ModuleType, action: str, state: str | None, allowed: list[str], done: bool
) -> None:
    """Whatever its BMC can do: the boot is armed between the two, or the system before it could have its data."""
    sent = module.plan(action, state, tuple(allowed), done=done, served=True)
    assert sent in ([], ["ForceOff"] if action == "off" else ["On"] if state == "Off" else ["ForceOff", "On"])
    assert bool(sent) is bool(module.plan(action, state, tuple(allowed), done=done))


def test_a_bmc_that_knows_no_power_cycle_switches_off_waits_and_switches_on(module: ModuleType) -> None:
    """A DGX H100's BMC is such a one."""
    sent = module.plan("cycle", "On", ("On", "ForceOff", "GracefulShutdown", "ForceRestart"), done=False)
    assert sent == ["ForceOff", "On"]
    bmc = Bmc(slow=3)
    pauses: list[float] = []
    gentle.switch_off(bmc, _alive, pauses.append)  # type: ignore[arg-type]  # a recorder
    module.start(bmc, "On", _alive)
    assert bmc.sent == [("ForceOff", "On"), ("On", "Off")]
    assert len(pauses) == 3


def test_a_node_that_does_not_go_off_is_not_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gentle, "OFF_SECONDS", 0.0)
    bmc = Bmc(slow=1_000_000)
    with pytest.raises(BmcError, match="switched off, but its BMC is On"):
        gentle.switch_off(bmc, _alive, lambda _: None)  # type: ignore[arg-type]  # a recorder
    assert [action for action, _ in bmc.sent] == ["ForceOff"]


def _alive() -> None:
    """Nobody else is at the node."""


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ({"action": "cycle", "boot_once": "pxe", "unless_reset_since": "12.5"}, ("cycle", "pxe", 12.5)),
        ({"action": True}, ("on", "none", None)),
        ({"action": False, "boot_once": "none"}, ("off", "none", None)),
    ],
)
def test_arguments_are_read_as_yaml_gives_them(
    module: ModuleType, args: dict[str, Any], found: tuple[str, str, float | None]
) -> None:
    assert module._arguments(args) == found


@pytest.mark.parametrize(
    "args",
    [{}, {"action": "kick"}, {"action": "on", "boot_once": "usb"}, {"action": "on", "unless_reset_since": "now"}],
)
def test_other_arguments_are_refused_with_what_is_expected(module: ModuleType, args: dict[str, Any]) -> None:
    with pytest.raises(AnsibleActionFail, match="expected"):
        module._arguments(args)


def test_the_documented_choices_are_those_that_work(module: ModuleType) -> None:
    assert (
        (PROJECT / "plugins" / "action" / "redfish_power.py")
        .read_text()
        .count('choices: ["on", "off", cycle, restart, reboot]')
    )
    assert set(module.ACTIONS) == {"on", "off", "cycle", "restart", "reboot"}


@given(allowed=st.lists(st.sampled_from((*ALLOWED, "GracefulRestart"))), answers=st.booleans(), served=st.booleans())
def test_a_reboot_is_as_gentle_as_it_can_be(
    module: ModuleType, allowed: list[str], answers: bool, served: bool
) -> None:
    """A system that does not answer is not asked to restart; one whose boot is armed is off in between."""
    sent = module.plan("reboot", "On", tuple(allowed), done=False, served=served, answers=answers)
    graceful = {"GracefulRestart", "GracefulShutdown"}.intersection(sent)
    assert not graceful or answers
    if served:
        assert sent[-1] == "On"
        assert bool(graceful) is (answers and "GracefulShutdown" in allowed)
    elif answers and "GracefulRestart" in (allowed or ["GracefulRestart"]):
        assert sent == ["GracefulRestart"]
    else:
        assert sent in (["ForceRestart"], ["ForceOff", "On"])


def test_a_system_that_does_not_shut_down_is_cut_off() -> None:
    """After its grace, and the caller then does so."""
    bmc = Bmc(slow=1_000_000)
    assert not gentle.shut_down(bmc, _alive, 0.0, lambda _: None)
    willing = Bmc()
    willing.power = lambda action: (willing.sent.append((action, "On")), setattr(willing, "state", "Off"))[0]
    willing.left = 2
    assert gentle.shut_down(willing, _alive, 60.0, lambda _: None)


class Telling(Bmc):
    """A BMC that knows when it reset its computer last, or does not."""

    def __init__(self, age: float | None) -> None:
        super().__init__()
        self.age, self.left = age, 1_000_000

    def last_reset_age(self) -> float | None:
        """Return what it knows."""
        return self.age


@pytest.mark.parametrize(
    ("age", "gone", "restarted"),
    [(None, False, False), (None, True, True), (900.0, False, False), (-1.0, False, True)],
)
def test_a_restart_is_seen_by_the_bmc_or_by_the_system_being_gone(
    age: float | None, gone: bool, restarted: bool
) -> None:
    assert gentle.restarts(Telling(age), 0.05, lambda: gone, lambda _: time.sleep(0.01)) is restarted
