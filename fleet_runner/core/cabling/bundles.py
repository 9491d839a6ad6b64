"""Cables of several ports at each end, of which nobody says which are joined: any way to pair them is as designed."""

from collections.abc import Collection, Iterable

from fleet_runner.core.cabling.links import Link, link

Bundle = tuple[Link, ...]
"""One way to pair the ports of a cable: those of one end are all of one device, which has none at the other."""


def paired(designed: Iterable[Link], bundles: Iterable[Bundle], seen: Collection[Link]) -> tuple[Link, ...]:
    """Return the designed links, each bundle's between those of its ports that are seen joined.

    Ports that are not joined within their cable are paired in their order: so each is looked for at one place.
    """
    changed = {each: other for bundle in bundles for each, other in zip(bundle, _as_seen(bundle, seen), strict=True)}
    return tuple(changed.get(each, each) for each in designed)


def _as_seen(bundle: Bundle, seen: Collection[Link]) -> list[Link]:
    hub = min(set.intersection(*({port.device for port in joined} for joined in bundle)))
    pairs = [joined if joined.a.device == hub else joined[::-1] for joined in bundle]
    near, far = dict.fromkeys(pair[0] for pair in pairs), dict.fromkeys(pair[1] for pair in pairs)
    found: list[Link] = []
    for one in list(near):
        other = next((each for each in far if link(one, each) in seen), None)
        if other is not None:
            del near[one], far[other]
            found.append(link(one, other))
    return [*found, *(link(*pair) for pair in zip(near, far, strict=True))]
