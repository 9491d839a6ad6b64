"""Who may speak for whom, at real sockets: own addresses, relays, tokens, and a source that was not read yet."""

from functools import partial
from pathlib import Path

import pytest

from fleet_runner.core.base.errors import SourceUnavailableError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.services.signals import serving
from fleet_runner.services.signals.senders import Roll
from tests.services.signals import hearing
from tests.services.signals.hearing import Ear, fleet_of, listening, xid
from tests.services.signals.test_syslog import HERE, codes, datagram, message
from tests.waiting import until

OWN = {"gpu-01": "127.0.0.11", "gpu-02": "127.0.0.12", "gpu-03": "127.0.0.13"}
ANOTHER, NO_RELAY = "refused: about another node", "refused: sender is no node and no relay"


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each node's address be one of this machine."""
    monkeypatch.setattr(hearing, "fleet_of", partial(fleet_of, addresses=OWN))


def proven(ear: Ear, name: str) -> list[bool]:
    """Whether each alarm that counts of a node is authenticated."""
    return [each.authenticated for each in ear.alarms(name)]


def test_syslog_speaks_for_the_node_whose_address_it_came_from_and_proves_nothing(tmp_path: Path) -> None:
    """Under whatever name; what it says of another is dropped, with the address and the name in the status."""
    with listening(tmp_path, signals_syslog=HERE) as ear:
        datagram(ear, message("gpu-02", 79), source=OWN["gpu-01"])
        datagram(ear, message("localhost", 48), source=OWN["gpu-01"])
        datagram(ear, message("gpu-03", 79), source="127.0.0.99")
        until(lambda: codes(ear, "gpu-01") == {"xid.48"})
        until(lambda: (ear.heard("kernel", ANOTHER), ear.heard("kernel", NO_RELAY)) == (1, 1))
        assert proven(ear, "gpu-01") == [False]
        assert codes(ear, "gpu-02") | codes(ear, "gpu-03") == set()
        details = {each.what: each.detail for each in ear.store.heard()}
        assert details[ANOTHER] == f"from {OWN['gpu-01']}: gpu-02"
        assert details[NO_RELAY] == "from 127.0.0.99"


def test_a_listed_relay_speaks_for_every_node_and_proves_nothing_either(tmp_path: Path) -> None:
    """It may be a node's own address."""
    with listening(tmp_path, signals_syslog=HERE, signals_relays=f"{OWN['gpu-01']}/32") as ear:
        datagram(ear, message("gpu-02", 79), source=OWN["gpu-01"])
        until(lambda: codes(ear, "gpu-02") == {"xid.79"})
        assert proven(ear, "gpu-02") == [False]


def test_a_token_for_every_node_speaks_from_a_nodes_address_for_that_node_alone(tmp_path: Path) -> None:
    """From a collector's it speaks for all; what came with it is authenticated."""
    with listening(tmp_path) as ear:
        answer = ear.push("/log", f"{xid('gpu-01')}\n{xid('gpu-02')}", source=OWN["gpu-01"]).json()
        assert answer == {"taken": 1, "refused": 1, "said": "about another node: 1"}
        assert (proven(ear, "gpu-01"), proven(ear, "gpu-02")) == ([True], [])
        assert ear.push("/log", xid("gpu-02")).json()["taken"] == 1
        assert proven(ear, "gpu-02") == [True]


def test_what_comes_both_ways_makes_two_alarms_of_which_one_is_believed(tmp_path: Path) -> None:
    """In either order, and though it is the same event."""
    with listening(tmp_path, signals_syslog=HERE) as ear:
        datagram(ear, message("gpu-01", 48), source=OWN["gpu-01"])
        until(lambda: proven(ear, "gpu-01") == [False])
        assert ear.push("/log", xid("gpu-01", 48)).json()["taken"] == 1
        assert sorted(proven(ear, "gpu-01")) == [False, True]


def test_before_the_source_was_read_a_token_for_every_node_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows then whether it is a node that speaks of another; a node's own token needs no address."""

    def away() -> Fleet:
        raise SourceUnavailableError("it is away")

    class Blind(Roll):
        """A roll that cannot read the source."""

        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type]  # whatever it is given
            self._read = away

    monkeypatch.setattr(serving, "Roll", Blind)
    with listening(tmp_path) as ear:
        own = ear.give("own", nodes=("gpu-02",))
        assert ear.push("/log", xid("gpu-01")).json()["taken"] == 1
        assert ear.push("/log", xid("gpu-02"), own).json()["taken"] == 1
        assert (proven(ear, "gpu-01"), proven(ear, "gpu-02")) == ([False], [True])
