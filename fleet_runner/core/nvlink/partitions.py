"""In which cluster and which clique each tray lies, compared with the others and with the designed partitions."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.nvlink.trouble import Trouble, named

SHOWN = 12
"""Characters of a cluster's UUID that a message shows."""

ASK = "Ask NMX for the partitions of the domain: nv show sdn partition (NVOS) lists each with its GPUs."


class Place(NamedTuple):
    """Where a tray's GPUs lie, as they say it (ClusterUUID, CliqueId)."""

    cluster: str
    clique: str


def compare(places: Mapping[str, Place], designed: Mapping[str, str], count: int) -> Iterator[Trouble]:
    """Compare the trays with each other, and those of designed partitions with their design.

    `count` is how many trays the domain has: what not more than half of them say blames no single tray. Trays in
    another cluster than most are judged by that alone: their cliques mean nothing here.
    """
    clusters = Counter(place.cluster for place in places.values())
    home = _most(clusters, count)
    if home is None:
        if clusters:
            yield _split(places, clusters)
        return
    away = [tray for tray, place in places.items() if place.cluster != home]
    yield from (_elsewhere(tray, places[tray], home, clusters[home]) for tray in away)
    here = {tray: _number(place.clique) for tray, place in places.items() if place.cluster == home}
    yield from _cliques(here, {tray: _number(name) for tray, name in designed.items()})


def _most(counted: Counter[str], whole: int) -> str | None:
    """Return what all say, or more than half of the `whole` that could; None where nothing has as many."""
    if len(counted) == 1:
        return next(iter(counted))
    return next((each for each, count in counted.items() if count * 2 > max(whole, counted.total())), None)


def _number(text: str) -> str:
    """Return a number without zeros before it, so that "01" is 1; any other text as it is."""
    return (text.lstrip("0") or "0") if text.isdecimal() else text


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
    """Compare the cliques of trays that were read with the design of all."""
    sizes = Counter(designed.values())
    members: dict[str, list[str]] = defaultdict(list)
    for tray in designed.keys() & cliques.keys():
        members[designed[tray]].append(tray)
    taken: dict[str, list[str]] = defaultdict(list)
    for name, unordered in sorted(members.items()):
        trays = sorted(unordered, key=natural)
        found = Counter(cliques[tray] for tray in trays)
        right = name if name.isdecimal() else _most(found, sizes[name])
        if right is None:
            told = "; ".join(f"{count} in {clique}" for clique, count in sorted(found.items()))
            steps = (ASK, f"Put the GPUs of {named(trays)} into one partition.")
            message = (
                f"{len(trays)} trays of partition {name} lie in {len(found)} cliques ({told:.200}), expected one"
            )
            yield Trouble("nvlink.partition", f"partition {name}", message, steps)
            continue
        taken[right].append(name)
        if len(trays) > 1 and len(found) == 1 and right not in found:
            message = f"all {len(trays)} trays of partition {name} lie in clique {cliques[trays[0]]}, expected {name}"
            steps = (ASK, f"Give the partition the number of its clique in the design, or create clique {name}.")
            yield Trouble("nvlink.partition", f"partition {name}", message, steps)
            continue
        yield from (_stray(tray, name, cliques[tray], right) for tray in trays if cliques[tray] != right)
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
