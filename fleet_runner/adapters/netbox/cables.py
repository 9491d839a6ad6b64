"""NetBox's cables between interfaces; those to power and console ports and patch panels are not read."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fleet_runner.adapters.netbox.client import Json
from fleet_runner.adapters.netbox.records import Place
from fleet_runner.core.consistency import Found, Problem, paired
from fleet_runner.core.records import Cable, Termination

CABLE_FIELDS = "id,type,label,status"
TERMINATION_FIELDS = "cable,cable_end,termination_type,termination_id"
INTERFACE = "dcim.interface"
REMOVED = "decommissioning"  # NetBox's status of a cable that is designed no more


@dataclass(frozen=True, slots=True)
class Ends:
    """The interfaces a cable ends at, by their ids, and whether it also ends at something else."""

    interfaces: list[int]
    others: list[str]


def cables(
    rows: Iterable[Json], ends: Iterable[Json], known: Mapping[int, Termination | None], page: str
) -> Iterator[Found[Cable] | Problem]:
    """Return the designed cables; `known` has every interface by its id, None where its device has no name."""
    by_cable: dict[tuple[int, str], Ends] = defaultdict(lambda: Ends([], []))
    for end in ends:
        side = by_cable[end["cable"], end["cable_end"]]
        if end["termination_type"] == INTERFACE:
            side.interfaces.append(end["termination_id"])
        else:
            side.others.append(end["termination_type"])
    for row in rows:
        if _value(row["status"]) != REMOVED:
            a, b = by_cable[row["id"], "A"], by_cable[row["id"], "B"]
            yield from _cable(row, a, b, known, Place(f"{page}/{row['id']}/"))


def _cable(
    row: Json, a: Ends, b: Ends, known: Mapping[int, Termination | None], place: Place
) -> Iterator[Found[Cable] | Problem]:
    if a.others or b.others:
        return
    pairs = paired(a.interfaces, b.interfaces)
    if not pairs:
        text = f"the cable has {len(a.interfaces)} interfaces at end A and {len(b.interfaces)} at end B"
        yield Problem(place(), f"{text}, expected one at each; correct it")
    for one, other in pairs:
        if one not in known or other not in known:
            missing = one if one not in known else other
            yield Problem(place(), f"the cable ends at interface {missing}, which was not there; read it again")
            continue
        near, far = known[one], known[other]
        if near is not None and far is not None:
            yield Found(Cable(near, far, label=row["label"] or "", kind=_value(row["type"])), place)


def _value(choice: object) -> str:
    """Return the value of a choice: NetBox gives some as text, some as {"value", "label"}, some as null."""
    if isinstance(choice, dict):
        choice = choice.get("value")
    return choice if isinstance(choice, str) else ""
