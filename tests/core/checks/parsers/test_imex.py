"""What IMEX says of its domain, and the nodes that it is configured with."""

import json

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.imex import MOST, Member, hosts, status
from tests.core.checks.catalogue.judging import text_of

JSON, TEXT = text_of("imex/up.json"), text_of("imex/degraded.txt")


def test_the_domain_is_read_from_json() -> None:
    """Each node with its address, state and version."""
    found = status(JSON)
    assert found.state == "UP"
    assert found.members[0] == Member("10.20.0.11", "READY", "580.95.05")
    assert len(found.members) == 4


def test_the_domain_is_read_from_text_as_well() -> None:
    """An unreachable node has no version; older releases print none at all, and -H a name behind the address."""
    found = status(TEXT)
    assert (found.state, len(found.members)) == ("DEGRADED", 4)
    assert found.members[3] == Member("10.20.0.14", "UNAVAILABLE")
    old = "Nodes:\nNode #0   - 10.20.0.11   - READY\nNode #1   - 10.20.0.12 (tray-2)  - READY\n\nDomain State: UP\n"
    assert [each.host for each in status(old).members] == ["10.20.0.11", "10.20.0.12"]


def test_nodes_may_be_a_list() -> None:
    """Whatever their keys are, they are not used."""
    told = json.loads(JSON)
    assert status(json.dumps(told | {"nodes": list(told["nodes"].values())})) == status(JSON)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Failed to connect",
        TEXT.partition("Domain State")[0],
        "Domain State: UP\n",
        TEXT.replace("10.20.0.12      - ", "10.20.0.12 = "),
        "{}",
        '{"status": "UP", "nodes": {}}',
        '{"status": "UP", "nodes": 3}',
        '{"status": "UP", "nodes": {"0": {"host": 3, "status": "READY"}}}',
        '{"status": "UP", "nodes": ["10.20.0.11"]}',
        '{"status": "UP", "nodes": [' + ", ".join(['{"host": "a", "status": "b"}'] * (MOST + 1)) + "]}",
    ],
)
def test_what_is_no_status_is_refused(text: str) -> None:
    """An empty domain is none, and a text that ends before its state was cut."""
    with pytest.raises(EvidenceError, match=r"imex|nodes"):
        status(text)


def test_a_configuration_is_one_host_a_line() -> None:
    """Comments, white space and lines that repeat one aside; it may be empty."""
    assert hosts(text_of("imex/nodes_config.cfg"))[:2] == ("10.20.0.11", "10.20.0.12")
    assert hosts("a\r\n\n b # c\na\n") == ("a", "b")
    assert hosts("") == ()


@pytest.mark.parametrize("text", ["10.0.0.1 10.0.0.2", "x" * 81, "\n".join(map(str, range(MOST + 1)))])
def test_what_is_no_configuration_is_refused(text: str) -> None:
    """Two on one line, a name that no host has, more than any domain has."""
    with pytest.raises(EvidenceError, match="expected one address in each line"):
        hosts(text)
