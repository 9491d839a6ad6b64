"""In which cluster and which clique each tray lies, compared with the others and with the designed partitions."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.nvlink.trouble import Trouble, named

SHOWN = 12
"""Characters of a cluster's UUID that a message shows."""

ASK = "Ask NMX for the partitions of the domain: nv show sdn partition (NVOS) lists each with its GPUs."


class Place(NamedTuple):
    """Where a tray's GPUs lie, as they say it (ClusterUUID, CliqueId)."""

    cluster: str
    clique: str


def compare(places: Mapping[str, Place], designed: Mapping[str, str]) -> Iterator[Trouble]:
    """Compare the trays with each other, and those of designed partitions with their design.

    Trays in another cluster than most are judged by that alone: their cliques mean nothing here.
    """
    clusters = Counter(place.cluster for place in places.values())
    home = _most(clusters)
    if home is None:
        if clusters:
            yield _split(places, clusters)
        return
    away = [tray for tray, place in places.items() if place.cluster != home]
    yield from (_elsewhere(tray, places[tray], home, clusters[home]) for tray in away)
    here = {tray: place.clique for tray, place in places.items() if place.cluster == home}
    yield from _cliques(here, {tray: name for tray, name in designed.items() if tray in here})


def _most(counted: Counter[str]) -> str | None:
    """Return what more than half say; None where nothing has as many."""
    return next((each for each, count in counted.items() if count * 2 > counted.total()), None)


def _split(places: Mapping[str, Place], clusters: Counter[str]) -> Trouble:
    told = "; ".join(f"{count} in {cluster[:SHOWN]}" for cluster, count in sorted(clusters.items()))
    return Trouble(
        "nvlink.cluster",
        "clusters",
        f"{len(places)} compute trays lie in {len(clusters)} NVLink clusters ({told:.200}), expected one",
        (
            "Which switch trays run an NMX controller (nv show cluster apps)? Expected one for the whole domain.",
            "Have one controller lead all switch trays of the domain; then reboot the trays of the other cluster.",
        ),
    )


def _elsewhere(tray: str, place: Place, home: str, others: int) -> Trouble:
    return Trouble(
        "nvlink.cluster",
        tray,
        f"{tray} lies in NVLink cluster {place.cluster[:SHOWN]}, expected {home[:SHOWN]} as {others} trays of its"
        " domain",
        (
            f"Is {tray} in the rack that the source of truth says? Compare its serial number on the tray.",
            "If it is, look at the NVLink connectors at its back, then reboot it: it registers with NMX again.",
        ),
        (tray,),
    )


def _cliques(cliques: Mapping[str, str], designed: Mapping[str, str]) -> Iterator[Trouble]:
    members: dict[str, list[str]] = defaultdict(list)
    for tray, name in designed.items():
        members[name].append(tray)
    taken: dict[str, list[str]] = defaultdict(list)
    for name, trays in sorted(members.items()):
        found = Counter(cliques[tray] for tray in trays)
        right = name if name.isdecimal() else _most(found)
        if right is None:
            told = "; ".join(f"{count} in {clique}" for clique, count in sorted(found.items()))
            steps = (ASK, f"Put the GPUs of {named(trays)} into one partition.")
            message = (
                f"{len(trays)} trays of partition {name} lie in {len(found)} cliques ({told:.200}), expected one"
            )
            yield Trouble("nvlink.partition", f"partition {name}", message, steps)
            continue
        taken[right].append(name)
        for tray in trays:
            if cliques[tray] != right:
                yield _stray(tray, name, cliques[tray], right)
    for clique, names in taken.items():
        if len(names) > 1:
            message = f"partitions {named(names)} are one clique ({clique}), expected one for each"
            yield Trouble(
                "nvlink.partition", f"partitions {named(names)}", message, (ASK, "Create the missing partitions.")
            )


def _stray(tray: str, name: str, found: str, right: str) -> Trouble:
    return Trouble(
        "nvlink.partition",
        tray,
        f"{tray} lies in clique {found}, expected {right}: partition {name} of the design",
        (ASK, f"Move the GPUs of {tray} to the partition with clique {right}, once no work runs on the tray."),
        (tray,),
    )
