"""What a ticket tells: sentences, numbered steps, and its devices in the order in which hands meet them."""

import re
from dataclasses import dataclass

from fleet_runner.core.lifecycle.runs import Ticket

MOST_STEPS, MOST_LINES = 100, 20


@dataclass(frozen=True, slots=True)
class WorkOrderText:
    """A ticket's text in parts: what is wrong, what to do, and how somebody at a terminal asks for the proof."""

    said: tuple[str, ...]
    steps: tuple[str, ...]
    after: tuple[str, ...]


def sheet(ticket: Ticket) -> WorkOrderText:
    """Take a ticket's text apart; what its title says already, and where it is, is said elsewhere."""
    lines = [line for line in ticket.body.splitlines() if line.strip() and not _is_place(ticket, line)]
    steps: list[str] = []
    said: list[str] = []
    after: list[str] = []
    for line in lines:
        number = f"{len(steps) + 1}. "
        if line.startswith(number):
            steps.append(line.removeprefix(number))
        else:
            (after if steps or _is_command(line) else said).append(line)
    news = [line for line in said if line not in ticket.title]
    return WorkOrderText(tuple(news[:MOST_LINES]), tuple(steps[:MOST_STEPS]), tuple(after[:MOST_LINES]))


def _is_place(ticket: Ticket, line: str) -> bool:
    return any(line.startswith(f"{node}, ") and line.endswith(".") for node in ticket.nodes)


def _is_command(line: str) -> bool:
    return "fleet-runner " in line


def ordered(ticket: Ticket) -> tuple[str, ...]:
    """Return the devices of a ticket, those first that its steps name first; the others as they stand there."""
    steps = "\n".join(sheet(ticket).steps)
    at = {name: _first(name, steps) for name in ticket.nodes}
    return tuple(sorted(ticket.nodes, key=lambda name: (at[name] < 0, at[name])))


def _first(name: str, text: str) -> int:
    """Return where a name stands in a text as a word of its own; -1 where it does not: gpu-1 is not in gpu-12."""
    found = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text)
    return found.start() if found else -1
