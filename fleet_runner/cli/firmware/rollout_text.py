"""Rollouts as people read them."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from fleet_runner.cli.base.session import age, stamp
from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus
from fleet_runner.core.firmware.rollout_text import by_wave, counts, reasons, wave_name
from fleet_runner.core.firmware.turns import Member, RolloutStep
from fleet_runner.core.firmware.waves import NO_WAVE
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.settings import Settings

COLOURS = {
    RolloutStatus.RUNNING: "green",
    RolloutStatus.PAUSED: "yellow",
    RolloutStatus.STOPPED: "red",
    RolloutStatus.DONE: "default",
}


def planned(rollout: Rollout, members: Sequence[Member], settings: Settings) -> Group:
    """Return who would be asked, wave by wave, and who not, with the reason."""
    share = f"{rollout.failed_share:.0%} of the nodes may fail, none of the canary"
    lines = [Text(f"device type {rollout.device_type}: {printable(rollout.reason)}; {share}", style="bold")]
    for wave, nodes in by_wave(each for each in members if each.turn is RolloutStep.WAITING).items():
        lines.append(Text(f"{wave_name(wave)}: {_nodes(nodes)}"))
    lines += _reasons(members)
    at_once = f"{settings.firmware_at_once} nodes at a time, {settings.firmware_at_once_rack} of a rack"
    watts = f" and {settings.firmware_rack_watts:g} W" if settings.firmware_rack_watts else ""
    out = f"{settings.max_out_share:.0%} of the fleet out, {settings.max_out_rack} of a rack"
    lines.append(Text(f"Within a wave, at most {out}; firmware of at most {at_once}{watts}.", style="dim"))
    return Group(*(Padding(line, (0, 0, 0, 2 if at else 0)) for at, line in enumerate(lines)))


def listed(rollout: Rollout, members: Iterable[Member]) -> Text:
    """Return a rollout in one line."""
    line = Text(f"{rollout.id:>4} ").append(f"{rollout.standing:<8}", style=COLOURS[rollout.standing])
    about = f"{rollout.device_type} {stamp(rollout.at)} by {printable(rollout.by)}: {printable(rollout.reason)}"
    return line.append(f" {about}; {counts(members)}", style="default")


def shown(
    rollout: Rollout, members: Sequence[Member], rows: Mapping[str, Node], now: float, held: Mapping[str, str]
) -> Group:
    """Return a rollout with its waves, who is out, what failed and who was skipped.

    `held` says of NVLink domains that wait why they do.
    """
    head = Text(f"{rollout.name} ").append(str(rollout.standing), style=COLOURS[rollout.standing])
    head.append(f": {rollout.device_type}, {printable(rollout.reason)}", style="default")
    since = f"started {stamp(rollout.at)} by {printable(rollout.by)}"
    lines = [Text(since)]
    if rollout.detail:
        lines.append(Text(f"{printable(rollout.detail)} ({age(now - rollout.changed_at)} ago)"))
    for wave, nodes in by_wave(members).items():
        if wave != NO_WAVE:
            lines.append(Text(f"{wave_name(wave)}: {counts(nodes)}"))
    lines += [
        Text(f"failed: {each.node}: {printable(each.detail)}", style="red")
        for each in members
        if each.turn is RolloutStep.FAILED
    ]
    lines += [Text(f"waits: {name}: {printable(why)}", style="yellow") for name, why in held.items()]
    lines += [_under_way(each, rows, now) for each in members if each.turn is RolloutStep.ASKED]
    lines += _reasons(members)
    return Group(head, *(Padding(line, (0, 0, 0, 2)) for line in lines))


def _under_way(member: Member, rows: Mapping[str, Node], now: float) -> Text:
    node = rows[member.node]
    doing = f", {printable(node.waiting)}" if node.waiting else ""
    return Text(f"out: {node.name}: in {node.state} for {age(now - node.since)}{doing}")


def _reasons(members: Iterable[Member]) -> list[Text]:
    """Return one line for each reason for which nodes are skipped."""
    return [Text(f"skipped, {printable(why)}: {_nodes(nodes)}") for why, nodes in reasons(members).items()]


def _nodes(members: Sequence[Member]) -> str:
    count = "1 node" if len(members) == 1 else f"{len(members)} nodes"
    return f"{count}, {', '.join(each.node for each in members)}"
