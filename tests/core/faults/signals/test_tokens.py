"""A token is good for what it was made for, and no longer than that."""

import pytest

from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.faults.signals.tokens import Token

NOW = 1_000.0
TOKEN = Token("vector", "0" * 64, 1.0, "ann")


@pytest.mark.parametrize(
    ("until", "revoked_at", "why"),
    [(None, None, ""), (NOW + 1, None, ""), (NOW, None, "expired"), (None, 2.0, "revoked"), (NOW, 2.0, "revoked")],
)
def test_it_ends_when_it_expires_or_is_revoked(until: float | None, revoked_at: float | None, why: str) -> None:
    """The very second of its end is past it."""
    assert Token("vector", "0" * 64, 1.0, "ann", until=until, revoked_at=revoked_at).refusal(NOW) == why


def test_without_bounds_it_is_good_for_every_source_and_node() -> None:
    """It names no single node, either."""
    assert all(TOKEN.speaks_for(each) for each in Source)
    assert TOKEN.speaks_of("gpu-01")
    assert TOKEN.node == ""


def test_it_speaks_for_its_sources_and_of_its_nodes_alone() -> None:
    """Names are held whole, and by their case."""
    bounded = Token("bmc", "0" * 64, 1.0, "ann", sources=(Source.REDFISH,), nodes=("gpu-0?", "cpu-01"))
    assert [each for each in Source if bounded.speaks_for(each)] == [Source.REDFISH]
    names = ["gpu-01", "cpu-01", "gpu-011", "CPU-01", "cpu-010", ""]
    assert [name for name in names if bounded.speaks_of(name)] == ["gpu-01", "cpu-01"]


@pytest.mark.parametrize(
    ("nodes", "node"), [(("gpu-01",), "gpu-01"), (("gpu-0*",), ""), (("gpu-01", "gpu-02"), ""), (("gpu-0[12]",), "")]
)
def test_one_node_is_known_by_its_token(nodes: tuple[str, ...], node: str) -> None:
    """A glob may stand for several."""
    assert Token("bmc", "0" * 64, 1.0, "ann", nodes=nodes).node == node
