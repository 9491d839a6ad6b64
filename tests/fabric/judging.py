"""From what a tool printed to faults, through the readers and the judge that the product uses; and back to hands."""

from collections.abc import Callable, Iterable, Iterator

from fleet_runner.core.cabling.explain import Fault, Places
from fleet_runner.core.cabling.judge import Verdicts, judge
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.plan import Action, Add, Exchange, Move, Record, Remove, Reseat, Restore
from fleet_runner.core.checks.parsers import fabric_capture
from tests.fabric.building import End, Plug, console, join
from tests.fabric.ibsim import Ibsim
from tests.fabric.scenarios import Scenario
from tests.fabric.truth import Design

FORMS: tuple[Callable[[Ibsim], str], ...] = (
    lambda fabric: fabric.ibnetdiscover(),
    lambda fabric: fabric.ibnetdiscover("-p"),
    lambda fabric: fabric.iblinkinfo(),
    lambda fabric: fabric.iblinkinfo("-l"),
)
"""How a fabric is asked: by node and by port, with either tool."""


def judged(text: str, design: Design) -> Verdicts:
    """Return what a whole capture says."""
    found = fabric_capture.read(text)
    return judge(design.links, found.links, design.names, design.places, unanswered=found.unanswered)


def hold_right(faults: Iterable[Fault], scenarios: Iterable[Scenario]) -> None:
    """There is exactly one fault for each scenario, of its kind and with its actions, each done once."""
    found = {(fault.kind, frozenset(fault.actions)): len(fault.actions) for fault in faults}
    wanted = {(each.kind, each.actions): len(each.actions) for each in scenarios}
    assert found == wanted, f"found {found}, expected {wanted}"


def hold_clean(verdicts: Verdicts) -> None:
    """Everything is as designed, and nothing is left open."""
    assert verdicts.faults == verdicts.doubts == verdicts.silent == verdicts.unbound == ()
    assert verdicts.matched == verdicts.designed


def hold_followable(fault: Fault, places: Places) -> None:
    """A technician reads in the steps where to go: device, port, rack and U of whatever is handled."""
    said = "\n".join(fault.steps)
    for action in fault.actions:
        match action:
            case Move(stays, source, target):
                assert all(places.port(port) in said for port in (stays, target))
                assert f"{source}" in said or places.port(source) in said
            case Add(cable) | Remove(cable) | Reseat(cable, _):
                assert all(places.port(port) in said for port in cable)
            case Restore(what, _):
                assert what in said
            case Exchange(devices):
                assert "serial" in said
                assert all(f"{device} ({places.words[device]})" in said for device in devices)
            case Record(device, _, known, found):
                assert f"{device} ({places.words[device]})" in said
                assert known in fault.message
                assert found in fault.message


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
