"""Who may speak for whom: a node's own address for that node alone, listed relays for every node.

An address proves little: a datagram may bear any. So it only narrows what is believed, and never authenticates it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import NamedTuple

from fleet_runner.core.faults.signals.places import Placed, Places
from fleet_runner.core.faults.signals.signal import Signal
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.inventory.addresses import ip

ANOTHER = "refused: about another node"
"""What is counted of words about a node, from the address of another node that is no relay."""

NO_RELAY = "refused: sender is no node and no relay"
"""What is counted of words without a token, from an address that is neither a node's own nor a relay's."""

Networks = tuple[IPv4Network | IPv6Network, ...]


class Spoken(NamedTuple):
    """Signals of nodes for which their sender may speak; `another` counts what is refused by whom it is about."""

    placed: Placed
    another: Mapping[str, int]
    no_relay: int = 0


@dataclass(frozen=True, slots=True)
class Speakers:
    """The nodes whose own each address is, and the networks of relays, which may speak for every node.

    `known` is False while nobody has said which addresses are whose.
    """

    own: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    relays: Networks = ()
    known: bool = True

    def is_relay(self, address: str) -> bool:
        """Whether an address is that of a listed relay or collector."""
        canonical = ip(address)
        return canonical is not None and any(ip_address(canonical) in network for network in self.relays)

    def nodes(self, address: str) -> frozenset[str]:
        """Return the nodes whose own an address is: more than one where they share it."""
        return self.own.get(ip(address) or "", frozenset())

    def proves(self, sender: str, token: Token | None) -> bool:
        """Whether what comes with a token is authenticated: not without one, nor before it is known who is where.

        A token that is good for one node alone needs no address beside it.
        """
        return token is not None and (self.known or bool(token.node) or self.is_relay(sender))

    def spoken(self, signals: Iterable[Signal], sender: str, token: Token | None, places: Places) -> Spoken:
        """Return the signals for whose nodes a sender may speak."""
        placed = places.place(signals)
        if self.is_relay(sender):
            return Spoken(placed, {})
        mine = self.nodes(sender)
        if mine:
            another = Counter(signal.node for signal in placed.signals if signal.node not in mine)
            kept = tuple(signal for signal in placed.signals if signal.node in mine)
            return Spoken(Placed(kept, placed.unknown), another)
        if token is None:
            return Spoken(Placed((), placed.unknown), {}, len(placed.signals))
        return Spoken(placed, {})

    def named(self, signals: Iterable[Signal], sender: str, places: Places) -> tuple[Signal, ...]:
        """Return lines of a node's own log as that node's, where they name a host that is no node of the fleet.

        A machine may call itself `localhost`; what it logs it logs of itself.
        """
        mine = self.nodes(sender)
        if len(mine) != 1 or self.is_relay(sender):
            return tuple(signals)
        (node,) = mine
        return tuple(each if places.find(each.node) else replace(each, node=node) for each in signals)


def owners(nodes: Iterable[tuple[str, Iterable[str | None]]]) -> dict[str, frozenset[str]]:
    """Return the nodes of each address, from nodes with their addresses (with or without a mask)."""
    found: dict[str, set[str]] = {}
    for node, addresses in nodes:
        for each in addresses:
            canonical = ip(each) if each else None
            if canonical is not None:
                found.setdefault(canonical, set()).add(node)
    return {address: frozenset(mine) for address, mine in found.items()}
