"""What can go wrong in a fabric: one row a fault class, each with what the simulator is told and what must be found.

No two rows touch the same port, so any of them can go wrong at once.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import Action, Add, Exchange, Move, Record, Remove, Reseat, Restore
from tests.fabric.building import (
    FACTORY_NAME,
    GUID_HCA,
    GUID_SWITCH,
    End,
    Fabric,
    Plug,
    Shelf,
    join,
    leaf_name,
    record,
    renumber,
    shelved,
    unlink,
)
from tests.fabric.ibsim import Ibsim

NEW_HCA = GUID_HCA + 0xFFFF0000
NEW_NAMED_HCA = GUID_HCA + 0xFFFE0000
NEW_SWITCH = GUID_SWITCH + 0xFFFF0000

STRAY = tuple(Shelf(End("stray-01", f"mlx5_{rail}"), f"stray-01 mlx5_{rail}") for rail in range(4))
BLANK = Shelf(End("blank", "mlx5_0"), FACTORY_NAME)
NARROW = Shelf(End("narrow", "mlx5_0"), "gpu-031 mlx5_4", "1xHDR")
SLOW = Shelf(End("slow", "mlx5_0"), "gpu-032 mlx5_4", "4xEDR")
SHELF = (*STRAY, BLANK, NARROW, SLOW)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One physical fault: what becomes of which cables and GUIDs, and the one right answer."""

    name: str
    kind: Kind
    actions: frozenset[Action]
    pulled: tuple[Plug, ...] = ()
    plugged: tuple[Plug, ...] = ()
    renumbered: tuple[tuple[str, int], ...] = ()

    def break_it(self) -> list[str]:
        """Return the console lines that make it go wrong."""
        numbered = [line for each in self.renumbered for line in renumber(*each)]
        return [*map(unlink, self.pulled), *numbered, *map(join, self.plugged)]

    def put_back(self, fabric: Fabric) -> list[str]:
        """Return the console lines that undo it; what lay on the shelf keeps its new number there."""
        known = dict(fabric.guids())
        numbered = [line for name, _ in self.renumbered if name in known for line in renumber(name, known[name])]
        return [*map(unlink, self.plugged), *numbered, *map(join, self.pulled)]


@contextmanager
def gone_wrong(simulator: Ibsim, fabric: Fabric, scenarios: Iterable[Scenario]) -> Iterator[None]:
    """Have all of them go wrong at once, and put them back however the test ends."""
    each = tuple(scenarios)
    simulator.console(line for scenario in each for line in scenario.break_it())
    try:
        yield
    finally:
        simulator.console(line for scenario in each for line in scenario.put_back(fabric))


def scenarios(fabric: Fabric) -> tuple[Scenario, ...]:
    """Return every scenario; the fabric has at least two groups of 32 servers and 8 rails."""
    return (
        *_of_one_cable(fabric),
        *_of_several_cables(fabric),
        *_of_whole_devices(fabric),
        *_of_replaced_devices(fabric),
        *_of_slow_links(fabric),
    )


def _of_one_cable(f: Fabric) -> Iterator[Scenario]:
    pulled = f.down(9, 5)
    yield Scenario("a missing cable", Kind.MISSING, frozenset({Add(_link(pulled))}), (pulled,))
    extra = Plug(f.free("leaf-03", 0), f.free("leaf-04", 0))
    yield Scenario("an extra cable", Kind.EXTRA, frozenset({Remove(_link(extra))}), plugged=(extra,))
    for name, kind, cable, wrong in (
        ("an end in the wrong port", Kind.MOVED, f.down(12, 2), f.free("leaf-03", 1)),
        ("an end in the wrong switch", Kind.WRONG_SWITCH, f.down(13, 3), f.free("leaf-05", 1)),
    ):
        move = _move(cable.a, wrong, cable.b)
        yield Scenario(name, kind, frozenset({move}), (cable,), (Plug(cable.a, wrong),))
    mine, orphan = f.down(14, 6), f.down(15, 6)
    yield Scenario(
        "an end in a port whose cable is gone",
        Kind.MOVED_AND_MISSING,
        frozenset({_move(mine.a, orphan.b, mine.b), Add(_link(orphan))}),
        (mine, orphan),
        (Plug(mine.a, orphan.b),),
    )
    cable, taker = f.down(16, 1), Plug(f.free("leaf-02", 3), f.down(16, 1).b)
    yield Scenario(
        "a port that a stray cable occupies",
        Kind.OCCUPIED,
        frozenset({Remove(_link(taker)), _move(cable.a, f.free("leaf-02", 2), cable.b)}),
        (cable,),
        (taker, Plug(cable.a, f.free("leaf-02", 2))),
    )


def _of_several_cables(f: Fabric) -> Iterator[Scenario]:
    """Each cable's far end stands in the next one's port; hands are fewest at those ends."""
    for name, kind, cables, last in (
        ("two swapped cables", Kind.SWAP, (f.down(2, 0), f.down(3, 1)), None),
        ("a rotation of three", Kind.ROTATION, (f.down(6, 2), f.down(7, 2), f.down(8, 2)), None),
        ("three uplinks turned at their spine", Kind.ROTATION, tuple(f.up(leaf, 5, 0) for leaf in (3, 4, 5)), None),
        (
            "a shifted bundle of four",
            Kind.SHIFTED,
            tuple(f.down(each, 1) for each in range(40, 44)),
            f.free(f.down(43, 1).b.device, 7),
        ),
    ):
        wrong = [*(each.b for each in cables[1:]), last or cables[0].b]
        yield Scenario(
            name,
            kind,
            frozenset(_move(each.a, port, each.b) for each, port in zip(cables, wrong, strict=True)),
            cables,
            tuple(Plug(each.a, port) for each, port in zip(cables, wrong, strict=True)),
        )
    one, other = f.down(5, 0), f.down(5, 5)
    yield Scenario(
        "two rails of one server exchanged, which is put right at the server",
        Kind.WRONG_RAIL,
        frozenset({_move(one.b, other.a, one.a), _move(other.b, one.a, other.a)}),
        (one, other),
        (Plug(one.a, other.b), Plug(other.a, one.b)),
    )


def _of_whole_devices(f: Fabric) -> Iterator[Scenario]:
    for name, kind, what, cables in (
        ("a dark server", Kind.DARK, "gpu-025", f.of("gpu-025")),
        ("a dark switch", Kind.DARK, "leaf-14", f.of("leaf-14")),
        ("a trunk that is down", Kind.CARRIER, "trunk T-03-03", f.trunk(8, 2)),
    ):
        links = tuple(sorted(map(_link, cables)))
        yield Scenario(name, kind, frozenset({Restore(what, links)}), tuple(cables))
    unknown = tuple(Plug(each.end, f.free(leaf_name(leaf), 5)) for leaf, each in enumerate(STRAY))
    yield Scenario(
        "a device that nobody planned",
        Kind.UNPLANNED,
        frozenset(Remove(_link(each)) for each in unknown),
        tuple(_on_shelf(each) for each in STRAY),
        unknown,
    )
    for name, devices in (
        ("two servers exchanged", ("gpu-021", "gpu-022")),
        ("two leaves exchanged", ("leaf-15", "leaf-16")),
        ("three servers exchanged", ("gpu-027", "gpu-028", "gpu-029")),
    ):
        yield _exchanged(f, name, devices)


def _exchanged(f: Fabric, name: str, devices: tuple[str, ...]) -> Scenario:
    """Each device stands in the place of the next."""
    turned = dict(zip(devices, (*devices[1:], devices[0]), strict=True))
    place = {new: old for old, new in turned.items()}
    pulled = tuple(dict.fromkeys(cable for device in devices for cable in f.of(device)))
    plugged = tuple(Plug(_renamed(each.a, place), _renamed(each.b, place)) for each in pulled)
    return Scenario(name, Kind.EXCHANGED, frozenset({Exchange(devices)}), pulled, plugged)


def _of_replaced_devices(f: Fabric) -> Iterator[Scenario]:
    known = dict(f.guids())
    blank, named = f.down(10, 2), f.down(11, 3)
    yield Scenario(
        "a replaced adapter that nobody named",
        Kind.REPLACED_HCA,
        frozenset({Record(*blank.a, _hex(known[record(blank.a)] + 1), _hex(NEW_HCA + 1))}),
        (blank, _on_shelf(BLANK)),
        (Plug(BLANK.end, blank.b),),
        ((record(BLANK.end), NEW_HCA),),
    )
    yield Scenario(
        "a replaced adapter with the right name",
        Kind.REPLACED_HCA,
        frozenset({Record(*named.a, _hex(known[record(named.a)] + 1), _hex(NEW_NAMED_HCA + 1))}),
        renumbered=((record(named.a), NEW_NAMED_HCA),),
    )
    yield Scenario(
        "a replaced switch",
        Kind.REPLACED_SWITCH,
        frozenset({Record("leaf-13", "1", _hex(known["S-leaf-13"]), _hex(NEW_SWITCH))}),
        renumbered=(("S-leaf-13", NEW_SWITCH),),
    )


def _of_slow_links(f: Fabric) -> Iterator[Scenario]:
    """The same adapter, as far as anybody can tell, but its link comes up narrower or slower."""
    known = dict(f.guids())
    for name, spare, cable, rate in (
        ("a narrow link", NARROW, f.down(30, 4), "1x HDR"),
        ("a slow link", SLOW, f.down(31, 4), "4x EDR"),
    ):
        yield Scenario(
            name,
            Kind.DEGRADED,
            frozenset({Reseat(_link(cable), rate)}),
            (cable, _on_shelf(spare)),
            (Plug(spare.end, cable.b),),
            ((record(spare.end), known[record(cable.a)]),),
        )


def _on_shelf(each: Shelf) -> Plug:
    return shelved(each.end, SHELF.index(each))


def _renamed(end: End, place: dict[str, str]) -> End:
    return End(place.get(end.device, end.device), end.port)


def _move(stays: End, source: End, target: End) -> Move:
    return Move(Port(*stays), Port(*source), Port(*target))


def _link(cable: Plug) -> Link:
    return link(Port(*cable.a), Port(*cable.b))


def _hex(guid: int) -> str:
    return f"{guid:016x}"
