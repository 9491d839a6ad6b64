"""How right foresight is about places, parts and lemons: synthetic fleets whose truth is known, seeded.

Prints precision and recall of bad places, of bad parts and of lemons, false ones on noise alone, and the time it
takes. Failures of parts are Poisson at the rate of a fleet; a bad place or part fails at a rate of its own. Lemons
leave production at several times the rate of other nodes, with tickets, Xids and remedies as they come.
"""

import argparse
import random
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.lemons import analyse as lemons
from fleet_runner.core.reliability.lemons.past import AFTER, TIMES, WINDOW
from fleet_runner.core.reliability.lemons.score import Weighing
from fleet_runner.core.reliability.lemons.signals import Ended, NodeHistory
from fleet_runner.core.reliability.parts import repeat_failures
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.report.rows import Fix, Hold, PastRemedy, Step
from fleet_runner.core.reliability.report.stories import Exclusion, Story

DAY = 86_400.0
NOW = 2_000 * DAY
GPUS = 8
SINCE = NOW - repeat_failures.DAYS * DAY
A_YEAR = 0.06
"""Failures of a GPU in a year."""

OUT_A_YEAR = 0.8
"""Times that a node leaves production in a year."""

SECOND_HAND, SWAPPED, TRIAGED, BY_A_PERSON, TICKET, REMEDY, HELD = 0.5, 0.8, 0.35, 0.2, 0.5, 0.4, 0.15
"""How often a part that comes was taken out elsewhere, one that fails is swapped, a node goes to triage, …"""

LEMONS = 0.015
"""Of the fleet."""


@dataclass
class Hall:
    """A fleet as it is made up: where parts are now, where they were, what failed."""

    chance: random.Random
    stays: list[Stay] = field(default_factory=list[Stay])
    episodes: list[Episode] = field(default_factory=list[Episode])
    here: dict[tuple[str, int], tuple[str, float]] = field(default_factory=dict[tuple[str, int], tuple[str, float]])
    spare: list[str] = field(default_factory=list[str])
    made: int = 0

    def part(self) -> str:
        """Return a part from the shelf, or a new one."""
        if self.spare and self.chance.random() < SECOND_HAND:
            return self.spare.pop(0)
        self.made += 1
        return f"S{self.made}"

    def leave(self, place: tuple[str, int], at: float) -> str:
        """End a stay."""
        serial, since = self.here.pop(place)
        node, slot = place
        self.stays.append(Stay(len(self.stays) + 1, "gpu", serial, node, f"GPU {slot}", f"GPU {slot}", since, at))
        return serial


def parts(nodes: int, bad: int, a_year: float, seed: int) -> tuple[repeat_failures.Given, set[str], set[str]]:
    """Make a fleet with so many bad places and parts: most parts that fail are swapped, half with others that did."""
    chance = random.Random(seed)
    hall = Hall(chance)
    places = [(f"n{node:05}", slot) for node in range(nodes) for slot in range(GPUS)]
    for place in places:
        hall.here[place] = (hall.part(), SINCE)
    slots = {*chance.sample(places, bad)}
    sick = {hall.here[place][0] for place in chance.sample([each for each in places if each not in slots], bad)}
    for day in range(int(repeat_failures.DAYS)):
        at = SINCE + day * DAY
        ill = sorted(slots | {place for place in places if hall.here[place][0] in sick})
        fail = [place for place in ill if chance.random() < a_year / 365]
        fail += [places[chance.randrange(len(places))] for _ in range(_poisson(chance, len(places) * A_YEAR / 365))]
        for place in sorted(set(fail)):
            node, slot = place
            when = at + chance.random() * DAY / 2
            code = chance.choice(("xid.79", "xid.48", "xid.64", "gpu.missing"))
            serial = hall.here[place][0]
            told = Episode(len(hall.episodes) + 1, node, f"GPU {slot}", code, "f", "gpu", serial, when, when)
            hall.episodes.append(told)
            if chance.random() < SWAPPED:  # else it is only reset, and stays
                hall.spare.append(hall.leave(place, when + 3_600))
                hall.here[place] = (hall.part(), when + DAY / 4)
    for place in list(hall.here):
        hall.leave(place, NOW)
    given = repeat_failures.Given(SINCE, NOW, hall.stays, hall.episodes)
    return given, {f"{node} GPU {slot}" for node, slot in slots}, sick


def _poisson(chance: random.Random, mean: float) -> int:
    number, left = 0, chance.expovariate(1.0)
    while left < mean:
        number, left = number + 1, left + chance.expovariate(1.0)
    return number


def sour(nodes: int, times: float, seed: int) -> tuple[NodeHistory, set[str]]:
    """Make nodes that leave production at some rate, lemons `times` as often; a lemon is one all along."""
    chance = random.Random(seed)
    names = [f"n{node:05}" for node in range(nodes)]
    bad = {*chance.sample(names, round(LEMONS * nodes))} if times > 1 else set[str]()
    past = NodeHistory([], [], [], [], [])
    for node in names:
        _live(past, node, OUT_A_YEAR / 365 * (times if node in bad else 1.0), chance)
    return past, bad


def _live(past: NodeHistory, node: str, rate: float, chance: random.Random) -> None:
    """Have a node serve, leave and come back until now; `rate` is how often a day it leaves."""
    served = NOW - (TIMES * AFTER + WINDOW + 10) * DAY
    spans: list[tuple[float, float | None]] = []
    gone: list[Exclusion] = []
    while (at := served + chance.expovariate(rate) * DAY) < NOW:
        back = at + chance.lognormvariate(-0.5, 1.5) * DAY
        triaged = chance.random() < TRIAGED
        event, state = (Event.TRIAGE_NEEDED, State.TRIAGE) if triaged else (Event.REBOOT_NEEDED, State.REBOOT)
        by = "alice" if chance.random() < BY_A_PERSON else "runner"
        gone.append(Exclusion(Step(node, at, State.PRODUCTION, event, state, by), at, back if back < NOW else None))
        spans.append((served, at))
        _trouble(past, node, at, chance)
        served = back
    past.stories.append(Story(node, (), (*spans, (served, None)) if served < NOW else tuple(spans), tuple(gone)))


def _trouble(past: NodeHistory, node: str, at: float, chance: random.Random) -> None:
    """Have what comes with one time out."""
    for _ in range(chance.choice((1, 1, 2))):
        code = chance.choice(("xid.79", "xid.48", "xid.74", "xid.119", "nvlink.down", "pcie.width"))
        past.episodes.append(Episode(len(past.episodes) + 1, node, "GPU 1", code, "f", "c", "", at - 60, at))
    if chance.random() < TICKET:
        past.fixes.append(Fix(len(past.fixes) + 1, "t", "TRIAGE", (node,), at, None))
    if chance.random() < REMEDY:
        past.ended.append(Ended(PastRemedy(node, "REBOOT", at, chance.choice((True, False))), at + 3_600))
    if chance.random() < HELD:
        past.holds.append(Hold(node, at + 60, "bob", "look", begins=True))


def main() -> None:
    """Print a table of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    print(
        f"{given.nodes} nodes of {GPUS} GPUs, {repeat_failures.DAYS:.0f} days, {given.seeds} seeds, "
        f"{A_YEAR} failures a year"
    )
    print("| a bad one fails a year | places told, right, bad, shown | parts told, right, bad, shown | CPU s |")
    for a_year in (0.0, 3.0, 6.0, 12.0):
        _repeats(given.nodes, given.seeds, a_year)
    print("| lemons leave so often | suggested, right, lemons | precision | recall | on its past | CPU s |")
    for times in (1.0, 10.0, 20.0, 40.0):
        _lemons(given.nodes, given.seeds, times)


def _repeats(nodes: int, seeds: int, a_year: float) -> None:
    counts, took = Counter[str](), 0.0
    for seed in range(seeds):
        fleet, bad, sick = parts(nodes, nodes // 100 if a_year else 0, a_year, seed)
        begun = time.process_time()
        found = repeat_failures.analyse(fleet)
        took += time.process_time() - begun
        slots = {f"{each.stay.node} {each.stay.component}" for each in found.slots}
        serials = {each.stay.serial for each in found.parts}
        bad_shown, sick_shown = _shown(fleet, bad, sick)
        counts.update(slot=len(slots), slot_right=len(slots & bad), slot_bad=len(bad), slot_shown=bad_shown)
        counts.update(part=len(serials), part_right=len(serials & sick), part_bad=len(sick), part_shown=sick_shown)
    told = [f"{_said(counts, each)}, {counts[f'{each}_shown']}" for each in ("slot", "part")]
    print(f"| {a_year:g} | {' | '.join(told)} | {took / seeds:.2f} |")


def _shown(fleet: repeat_failures.Given, bad: set[str], sick: set[str]) -> tuple[int, int]:
    """Return of how many bad places and parts enough was seen: three parts failed there, it failed in two nodes."""
    parts = defaultdict[str, set[str]](set)
    nodes = defaultdict[str, set[str]](set)
    for each in fleet.episodes:
        parts[f"{each.node} {each.component}"].add(each.serial)
        nodes[each.serial].add(each.node)
    places = sum(len(parts[each]) >= repeat_failures.PARTS for each in bad)
    return places, sum(len(nodes[each]) >= repeat_failures.NODES for each in sick)


def _lemons(nodes: int, seeds: int, times: float) -> None:
    counts, took = Counter[str](), 0.0
    for seed in range(seeds):
        past, bad = sour(nodes, times, seed)
        begun = time.process_time()
        found = lemons.analyse(past, NOW, Weighing())
        took += time.process_time() - begun
        told = {each.node for each in found.scores if each.suggested}
        counts.update(node=len(told), node_right=len(told & bad), node_bad=len(bad))
        proof = found.proof.suggested
        counts.update(flagged=proof.flagged, right=proof.right, turned=proof.bad, seen=found.proof.nodes)
    shares = [_share(counts["node_right"], counts[each]) for each in ("node", "node_bad")]
    base = _share(counts["turned"], counts["seen"])
    then = f"{counts['right']} of {counts['flagged']} turned bad ({_share(counts['right'], counts['flagged'])})"
    print(
        f"| {times:g} | {_said(counts, 'node')} | {' | '.join(shares)} | {then}, of all {base} | {took / seeds:.2f} |"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _said(counts: Counter[str], what: str) -> str:
    return f"{counts[what]}, {counts[f'{what}_right']}, {counts[f'{what}_bad']}"


if __name__ == "__main__":
    main()
