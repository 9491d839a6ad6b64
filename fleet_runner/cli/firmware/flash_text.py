"""A flash in words: what it brings, how far it is, who is at it, and what a person may do about it."""

import os
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.firmware.power_permits import Leave
from fleet_runner.cli.base.session import age, stamp
from fleet_runner.core.checks.catalogue.firmware_update import NAME
from fleet_runner.core.firmware.activation import NAMES
from fleet_runner.core.firmware.flash import Flash, FlashTiming, Phase
from fleet_runner.core.firmware.flash_text import since
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State
from fleet_runner.settings import Settings

MEANINGS = {
    Phase.INTENDED: "it is recorded; whether the BMC has the image is not known yet",
    Phase.SENT: "the BMC took the image",
    Phase.UPDATED: "the BMC has written the image",
}
"""What is known of a flash in a phase."""

NEXT = {
    State.FIRMWARE: "fleet-runner serve continues it",
    State.FIRMWARE_FAILED: "no run continues it: check the BMC, then `fleet-runner retry {node}`, which does;"
    " or `fleet-runner firmware settle {node}`",
}
"""What becomes of an open flash that nobody is at, by the state of its node."""

BY_HAND = "the play that began it continues it, if it is started again"


class Holder(NamedTuple):
    """Who drives a node's firmware, and until when (epoch seconds) at least."""

    name: str
    until: float


class Opened(NamedTuple):
    """An open flash and what is known about it. `waits` is what its last visit waited for, "" before the first."""

    flash: Flash
    holder: Holder | None
    waits: str = ""
    waits_since: float | None = None


def opened_flash(store: Store, node: str, now: float) -> Opened | None:
    """Return a node's open flash with all that is known about it."""
    flash = store.open_flash(node)
    if flash is None:
        return None
    newest = next((each for each in store.latest_results(node) if each.result.check == NAME), None)
    if newest is None or newest.at < flash.intended_at:
        return Opened(flash, holder(store, node, now))
    return Opened(flash, holder(store, node, now), newest.result.message, newest.at)


def holder(store: Store, node: str, now: float) -> Holder | None:
    """Return who is at a node's firmware."""
    found = store.firmware_holder(node, now)
    return Holder(*found) if found is not None else None


def meaning(flash: Flash) -> str:
    """Return what is known of an open flash."""
    if flash.phase is not Phase.ACTIVATING:
        return MEANINGS[flash.phase]
    return f"{NAMES[flash.activate]} was asked for, number {flash.activations} of {flash.times}"


def overdue(flash: Flash, now: float) -> bool:
    """Say if a flash has been in its phase for longer than that may take."""
    pace = FlashTiming()
    limits = {Phase.INTENDED: pace.send + flash.seconds, Phase.SENT: flash.seconds, Phase.UPDATED: pace.settle}
    return now - since(flash) > limits.get(flash.phase, pace.outage + pace.settle)


def by_hand(settings: Settings, node: Node) -> str:
    """Return what goes on with a flash that no runner goes on with, as it is typed; "" where one does."""
    if node.state in NEXT:
        return ""
    project, program = settings.project_dir, Path(sys.executable).with_name("ansible-playbook")
    shown = program.relative_to(project) if program.is_relative_to(project) else program
    play = shlex.join([
        str(shown), "-i", str(settings.inventory_file), "playbooks/firmware.yml", "--limit", node.name
    ])  # fmt: skip
    return play if Path.cwd() == project else f"cd {shlex.quote(os.fspath(project))} && {play}"


def whose(found: Holder | None, node: Node, now: float) -> str:
    """Return who is at it; where nobody is, who will be."""
    if found is not None:
        return f"{found.name}, for {age(found.until - now)} more unless it renews that"
    return f"nobody; {NEXT.get(node.state, BY_HAND).format(node=node.name)}"


def allowed(leave: Leave, now: float) -> str:
    """Return who allows power actions, until when and why."""
    left = leave.at + leave.seconds - now
    return f"allowed by {leave.by} until {stamp(leave.at + leave.seconds)}, {age(left)} more: {leave.reason}"
