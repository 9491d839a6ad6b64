"""Which designed links can be judged at all: what an observer hears nothing of is not missing for that.

Rails that are separate fabrics are not seen from each other: `ibnetdiscover` walks the one that it is plugged into. A
neighbour that hangs is not seen either: its cable is plugged, for the port at the near end is up.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from fleet_runner.core.cabling.links import Link, Port, link


def unheard(
    missing: Iterable[Link],
    expected: Mapping[Port, Port],
    observed: Mapping[Port, Port],
    servers: frozenset[str],
    *,
    one_fabric: bool = False,
) -> tuple[Link, ...]:
    """Return the designed links of which neither end, nor any switch of their fabric, was heard.

    A fabric is the switches that are joined by design, directly or not; of one from which anything was heard, what
    was not heard is missing. In `one_fabric` whose design has no cable between switches, a switch belongs to it most
    of whose servers are heard: the others may be off. `missing` are the designed links that are not there; both
    mappings are what `links.matching` returns.
    """
    quiet = [joined for joined in missing if observed.keys().isdisjoint(joined)]
    if not quiet:
        return ()
    here = {port.device for port in observed}
    heard = _reached(expected, here - servers, servers)
    if one_fabric and all(a.device in servers or b.device in servers for a, b in expected.items()):
        deaf = {port.device for pair in quiet for port in pair} - here - servers
        away = Counter(b.device for a, b in expected.items() if b.device in deaf and a.device not in here)
        every = Counter(b.device for b in expected.values() if b.device in deaf)
        heard |= {device for device in deaf if 2 * away[device] < every[device]}
    return tuple(sorted(each for each in quiet if each.a.device not in heard and each.b.device not in heard))


def mute(
    expected: Mapping[Port, Port],
    observed: Mapping[Port, Port],
    unanswered: Collection[Port],
    servers: frozenset[str],
) -> tuple[Link, ...]:
    """Return the designed links at ports that are up and where nobody answers, if no end is seen elsewhere.

    A switch that such ports lead to, and that is seen nowhere, tells nothing of its other links either.
    """
    quiet = [port for port in unanswered if port in expected and observed.keys().isdisjoint((port, expected[port]))]
    if not quiet:
        return ()
    seen = {port.device for port in observed}
    switches = {expected[port].device for port in quiet} - seen - servers
    found = {link(port, expected[port]) for port in quiet}
    found |= {link(a, b) for a, b in expected.items() if a.device in switches and b not in observed}
    return tuple(sorted(found))


def _reached(expected: Mapping[Port, Port], heard: set[str], servers: frozenset[str]) -> set[str]:
    """Return the switches that were heard, and all that the design joins to them through switches."""
    beside: dict[str, set[str]] = {}
    for a, b in expected.items():
        if a.device not in servers and b.device not in servers:
            beside.setdefault(a.device, set()).add(b.device)
    reached, ahead = set(heard), list(heard)
    while ahead:
        new = beside.get(ahead.pop(), set()) - reached
        reached |= new
        ahead += new
    return reached
