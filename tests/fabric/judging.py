"""From what a tool printed to faults, through the readers and the judge that the product uses; and back to hands."""

from collections.abc import Iterable, Iterator

from fleet_runner.core.cabling.explain import Fault, Places
from fleet_runner.core.cabling.judge import Verdicts, judge
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.plan import Action, Add, Move, Remove, Restore
from fleet_runner.core.parsers import ibnetdiscover
from tests.fabric.building import End, Plug, console, join
from tests.fabric.scenarios import Scenario
from tests.fabric.truth import Design

FORMS = ((), ("-p",))
"""How the tool is asked: plain, and by port."""


def judged(text: str, design: Design) -> Verdicts:
    """Return what a whole capture says."""
    seen = ibnetdiscover.whole(ibnetdiscover.parse(text))
    return judge(design.links, seen.links, design.names, design.places)


def hold_right(faults: Iterable[Fault], scenarios: Iterable[Scenario]) -> None:
    """There is exactly one fault for each scenario, of its kind and with its actions, each done once."""
    found = {(fault.kind, frozenset(fault.actions)): len(fault.actions) for fault in faults}
    assert found == {(each.kind, each.actions): len(each.actions) for each in scenarios}


def hold_clean(verdicts: Verdicts) -> None:
    """Everything is as designed, and nothing is left open."""
    assert verdicts.faults == verdicts.doubts == verdicts.silent == verdicts.unbound == ()
    assert verdicts.matched == verdicts.designed


def hold_followable(fault: Fault, places: Places) -> None:
    """A technician reads in the steps where each end stands that somebody handles: device, port, rack and U."""
    said = "\n".join(fault.steps)
    for port in (port for action in fault.actions for port in _handled(action)):
        assert f"{port.device} port {port.interface}" in said or f"{port}" in said
        assert places.words[port.device] in said


def by_hand(actions: Iterable[Action]) -> list[str]:
    """Return the console lines that carry a plan out: first what must come out does, then each plug goes in."""
    each = tuple(actions)
    return [*(line for action in each for line in _out(action)), *(line for action in each for line in _in(action))]


def _out(action: Action) -> Iterator[str]:
    match action:
        case Move(_, source, _):
            yield f"Unlink {console(End(*source))}"
        case Remove(cable):
            yield f"Unlink {console(End(*cable.a))}"
        case _:
            return


def _in(action: Action) -> Iterator[str]:
    match action:
        case Move(stays, _, target):
            yield join(Plug(End(*stays), End(*target)))
        case Add(cable):
            yield _joined(cable)
        case Restore(_, links):
            yield from map(_joined, links)
        case _:
            return


def _joined(cable: Link) -> str:
    return join(Plug(End(*cable.a), End(*cable.b)))


def _handled(action: Action) -> tuple[Port, ...]:
    match action:
        case Move(stays, source, target):
            return stays, source, target
        case Add(cable) | Remove(cable):
            return tuple(cable)
        case _:
            return ()
