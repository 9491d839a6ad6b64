"""Who may speak for whom."""

from dataclasses import replace
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.faults.signals.places import Places
from fleet_runner.core.faults.signals.signal import Signal
from fleet_runner.core.faults.signals.speakers import Speakers, owners
from fleet_runner.core.faults.signals.tokens import Token
from tests.core.faults.signals.telling import signal

NODES = ("gpu-01", "gpu-02", "gpu-03")
PLACES = Places.of(NODES)
ADDRESSES = {name: (f"10.0.0.{at}/24", f"10.1.0.{at}") for at, name in enumerate(NODES, 1)}
RELAY, ELSEWHERE = "10.9.0.2", "10.8.0.1"
SPEAKERS = Speakers(owners(ADDRESSES.items()), (ip_network("10.9.0.0/24"), ip_network("fd00::/64")))
TOKEN = Token("vector", "d", 1.0, "ann")
BMC = replace(TOKEN, nodes=("gpu-02",))

hosts = st.sampled_from([*NODES, "gpu-02.hall.example", "GPU-03", "localhost", "strange", ""])
words = st.lists(hosts.map(lambda host: signal(node=host)), max_size=6)
senders = st.sampled_from([name for every in ADDRESSES.values() for name in every])


def heard(said: list[Signal], sender: str, token: Token | None = None) -> set[str]:
    """The nodes that are believed to be spoken of."""
    return {each.node for each in SPEAKERS.spoken(said, sender, token, PLACES).placed.signals}


@given(words, st.sampled_from(NODES), st.integers(0, 1), st.sampled_from([None, TOKEN, BMC]))
def test_a_nodes_own_address_speaks_for_that_node_alone(
    said: list[Signal], node: str, which: int, token: Token | None
) -> None:
    """Its system's address and its BMC's, with a token and without; what is about another node is counted by name."""
    sender = ADDRESSES[node][which].partition("/")[0]
    spoken = SPEAKERS.spoken(said, sender, token, PLACES)
    assert {each.node for each in spoken.placed.signals} <= {node}
    known = PLACES.place(said)
    assert len(spoken.placed.signals) + sum(spoken.another.values()) == len(known.signals)
    assert node not in spoken.another
    assert (spoken.placed.unknown, spoken.no_relay) == (known.unknown, 0)


@given(words, st.sampled_from(NODES))
def test_what_a_machine_logs_of_itself_is_that_nodes_whatever_it_calls_itself(said: list[Signal], node: str) -> None:
    """But for words in the name of another node, which stay about that one."""
    sender = ADDRESSES[node][0].partition("/")[0]
    for before, after in zip(said, SPEAKERS.named(said, sender, PLACES), strict=True):
        assert after.node == (before.node if PLACES.find(before.node) else node)
    for other in (RELAY, ELSEWHERE):
        assert SPEAKERS.named(said, other, PLACES) == tuple(said)


@given(words)
def test_a_listed_relay_speaks_for_every_node_and_an_address_that_is_nobodys_with_a_token_alone(
    said: list[Signal],
) -> None:
    """The token's own scope bounds that one further."""
    everybody = {each.node for each in PLACES.place(said).signals}
    assert heard(said, RELAY) == heard(said, RELAY, TOKEN) == heard(said, "fd00::9") == everybody
    assert heard(said, ELSEWHERE, TOKEN) == everybody
    assert heard(said, ELSEWHERE) == heard(said, "no address") == set()
    assert SPEAKERS.spoken(said, ELSEWHERE, None, PLACES).no_relay == len(PLACES.place(said).signals)


def test_nodes_that_share_an_address_speak_for_each_other_and_for_nobody_else() -> None:
    """As behind one gateway; which of them a nameless line is of nobody can tell."""
    shared = Speakers(owners([("gpu-01", ("10.0.0.9", None)), ("gpu-02", ("10.0.0.9/16",))]))
    said = [signal(node=each) for each in NODES]
    spoken = shared.spoken(said, "10.0.0.9", None, PLACES)
    assert {each.node for each in spoken.placed.signals} == {"gpu-01", "gpu-02"}
    assert spoken.another == {"gpu-03": 1}
    assert shared.named([signal(node="localhost")], "10.0.0.9", PLACES) == (signal(node="localhost"),)


@pytest.mark.parametrize(
    ("token", "sender", "known", "expected"),
    [
        (None, "10.0.0.1", True, False),
        (None, RELAY, True, False),
        (TOKEN, "10.0.0.1", True, True),
        (TOKEN, ELSEWHERE, True, True),
        (TOKEN, ELSEWHERE, False, False),
        (TOKEN, RELAY, False, True),
        (BMC, ELSEWHERE, False, True),
    ],
)
def test_only_a_token_authenticates_and_one_for_every_node_not_before_it_is_known_who_is_where(
    token: Token | None,
    sender: str,
    known: bool,
    expected: bool,
) -> None:
    """An address never does: anybody may write it into a datagram."""
    assert replace(SPEAKERS, known=known).proves(sender, token) is expected


def test_addresses_are_compared_in_one_form() -> None:
    """Also those that the source writes in another way; what is none is nobody's."""
    found = owners([("gpu-01", ("FD00:0:0:0::1/64", "bmc.example", None))])
    assert found == {"fd00::1": frozenset({"gpu-01"})}
    assert Speakers(found).nodes("fd00::1") == {"gpu-01"}
    assert Speakers(found).nodes("bmc.example") == frozenset()
