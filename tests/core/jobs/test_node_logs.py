"""What logs of a job's nodes say: findings at their times, and links that went down once."""

from fleet_runner.core.checks.pasted.text import Pasted
from fleet_runner.core.jobs import node_logs
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.node_logs import LinkDowns, events
from tests.core.jobs.test_output import at

XID = "NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
ISO = "2026-11-28T02:10:0{}.000000+00:00 "


def found(text: str, node: str = "gpu-07") -> list[Event]:
    """Return the events of a log."""
    log = Pasted("log", node)
    log.feed(text)
    return list(events([log.end()]))


def test_a_finding_is_an_event_when_it_was_first_and_last_seen() -> None:
    """What was seen once is one event."""
    one = ISO.format(1) + XID
    (event,) = found(one)
    assert (event.at, event.node, event.component) == (at("2026-11-28 02:10:01"), "gpu-07", "GPU 0000:9b:00.0")
    assert (event.area, event.role) == (Area.HARDWARE, Role.CAUSE)
    assert [each.at for each in found(one + ISO.format(5) + XID)] == [
        at("2026-11-28 02:10:01"),
        at("2026-11-28 02:10:05"),
    ]


def test_times_without_a_date_are_none() -> None:
    """They count from the boot, or have no year; a log that names no node is of nobody knows which."""
    assert [(each.at, each.node) for each in found("[   12.345678] " + XID, "")] == [(None, "")]
    assert [each.at for each in found("Nov 28 02:10:01 gpu-07 kernel: " + XID)] == [None]


def test_links_that_went_down() -> None:
    """Each time; other lines and pieces without a line say nothing."""
    up = ISO.format(1) + "mlx5_core 0000:5e:00.0 ibp94s0: Link down\n" + ISO.format(9)
    for name, role in (("ibp94s0", Role.CONTEXT), ("ibp95s0", Role.CAUSE)):
        downs = LinkDowns("gpu-07")
        downs.feed(f"{up}mlx5_core 0000:5e:00.0 {name}: Link up\n")
        assert [each.role for each in downs.end()] == [role]
    downs = LinkDowns("gpu-07")
    downs.feed(ISO.format(1) + "mlx5_core 0000:5e:00.0 ibp94s0: Link down\n" + ISO.format(3) + XID)
    downs.feed("2026-13-41T02:10:05+00:00 gpu-07 kernel: mlx5_core 0000:5e:00.0 ibp94s0: Link up\n")
    downs.feed("nothing of the kind\n")
    downs.feed("   \n")
    downs.feed("a link\n" * (node_logs.MOST * 60))
    (down,) = downs.end()
    assert (down.at, down.component, down.area, down.role) == (
        at("2026-11-28 02:10:01"),
        "ibp94s0",
        Area.FABRIC,
        Role.CAUSE,
    )
