"""An NVLink domain in the loop: what all of its trays lose is one ticket, and no tray is rebooted for it."""

from collections.abc import Callable
from dataclasses import replace

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.nvlink.common_cause import COMMON
from fleet_runner.reconcile.lifecycle.domains_view import SEEN_ONCE
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import GOOD, IDLE, Scripted, a_fleet, in_state, played

Make = Callable[..., TickContext]
DOMAIN = "nvlink.hall.nvl-1"
WELL = Result("fabric_nvlink", Verdict.PASS, "3 compute trays with 12 GPUs are one NVLink domain")
LINKS = Result("nvlink", Verdict.PASS, "4 GPUs have 18 NVLinks each")


def lost(*trays: str) -> Result:
    """A sweep that found a lost switch tray."""
    message = "NVLinks 4, 5 are down at every GPU: the switch tray is lost"
    finding = Finding(
        "nvlink.switch_tray", "NVLinks 4, 5", message, Remedy.TRIAGE, "n/nvlink.switch_tray/4", (DOMAIN,)
    )
    return Result("fabric_nvlink", Verdict.FAIL, message, (finding,), {COMMON: list(trays)})


def down(tray: str) -> Result:
    """What the tray's own check sees."""
    finding = Finding("nvlink.down", "GPU 1", "16 of 18 NVLinks up", Remedy.REBOOT, f"{tray}/nvlink.down/1", (tray,))
    return Result("nvlink", Verdict.FAIL, "16 of 18 NVLinks up", (finding,))


class Rack:
    """Three compute trays in service."""

    def __init__(self, make: Make) -> None:
        plain = a_fleet(3)
        context = {"nvlink_domain": "nvl-1"}
        devices = {name: replace(device, context=context) for name, device in plain.devices.items()}
        self.sweep, self.bad, self.flaps = WELL, frozenset[str](), frozenset[str]()
        self.world = make(self._say, fleet=replace(plain, devices=devices))
        self.now = played(self.world, in_state(State.PRODUCTION))
        self.run(20, 30.0)

    def _say(self, node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.FABRIC:
            return (self.sweep,)
        links = down(node) if node in self.bad else LINKS
        if node in self.flaps and stage is Stage.HEALTH_PASSIVE:
            self.bad ^= {node}
        return (links, IDLE) if stage is Stage.HEALTH_PASSIVE else (GOOD, IDLE)

    def run(self, ticks: int, step: float) -> None:
        """Have time go by."""
        for _ in range(ticks):
            self.now += step
            tick(self.world, self.now)

    def look(self, node: str, stage: str) -> None:
        """Have a person ask for a look, and at what follows."""
        self.world.store.leave_intent(node, IntentKind.RUN, "ann", detail=stage, now=self.now)
        self.run(4, 5.0)

    def stages(self) -> list[Stage]:
        """The stages that were played, in order."""
        assert isinstance(self.world.engine, Scripted)
        return [batch.stage for batch in self.world.engine.launched]

    def says(self, name: str) -> str:
        """What a node or the domain says in `status`."""
        row = self.world.store.node(name)
        assert row is not None
        return row.waiting


def test_a_lost_switch_tray_is_one_ticket_and_reboots_nothing(make_world: Make) -> None:
    """Each tray sees it at its own sweep; the domain is swept before anything follows, and again to confirm it."""
    rack = Rack(make_world)
    assert rack.says(DOMAIN).startswith("3 compute trays with 12 GPUs are one NVLink domain; next sweep at ")
    rack.bad = frozenset({"gpu-01", "gpu-02", "gpu-03"})
    rack.sweep = lost(*sorted(rack.bad))
    rack.look("gpu-01", "health_passive")
    assert SEEN_ONCE in rack.says("gpu-01")
    rack.run(120, 60.0)
    assert Stage.REBOOT not in rack.stages()
    (ticket,) = rack.world.store.tickets()
    assert (ticket.fault, ticket.check) == ("n/nvlink.switch_tray/4", "fabric_nvlink")
    assert "its NVLink domain is at fault: NVLinks 4, 5 are down at every GPU" in rack.says("gpu-02")
    rack.bad, rack.sweep = frozenset(), WELL
    rack.look(DOMAIN, "fabric")
    assert rack.world.store.tickets() == ()


def test_a_tray_that_lost_links_alone_is_repaired_once_its_domain_was_asked(make_world: Make) -> None:
    """The domain is swept within minutes, not hours; the second sight of the tray's own check acts."""
    rack = Rack(make_world)
    swept = rack.stages().count(Stage.FABRIC)
    rack.bad = frozenset({"gpu-01"})
    rack.look("gpu-01", "health_passive")
    rack.run(30, 60.0)
    found = rack.stages()
    assert found[: found.index(Stage.REBOOT)].count(Stage.FABRIC) == swept + 1


def test_a_link_that_comes_and_goes_is_followed_up_once_its_domain_was_asked(make_world: Make) -> None:
    """It is down at every other look: never twice in a row. A link that was down once only is left alone."""
    rack = Rack(make_world)
    rack.bad = frozenset({"gpu-02"})
    rack.look("gpu-02", "health_passive")
    rack.bad = frozenset()
    rack.run(60, 60.0)
    assert Stage.REBOOT not in rack.stages()
    rack.bad = rack.flaps = frozenset({"gpu-01"})
    rack.look("gpu-01", "health_passive")
    assert SEEN_ONCE in rack.says("gpu-01")
    rack.run(240, 60.0)
    assert Stage.REBOOT in rack.stages()


def test_links_that_come_and_go_with_a_switch_tray_reboot_nothing(make_world: Make) -> None:
    """The sweeps say that it is lost: none of its trays is to blame."""
    rack = Rack(make_world)
    rack.bad = rack.flaps = frozenset({"gpu-01", "gpu-02", "gpu-03"})
    rack.sweep = lost(*sorted(rack.bad))
    rack.run(240, 60.0)
    assert Stage.REBOOT not in rack.stages()
