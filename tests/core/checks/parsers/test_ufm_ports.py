"""UFM's list of ports: each link once, and nothing of a list that lacks one end."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import fabric_capture, ufm_ports
from tests.core.checks.catalogue.judging import cuts
from tests.core.checks.healthy import text_of

TEXT = text_of("ufm/ports.json")
PORTS = json.loads(TEXT)


def said(ports: object) -> str:
    """Why a list is refused."""
    with pytest.raises(EvidenceError) as caught:
        ufm_ports.parse(json.dumps(ports))
    return str(caught.value)


def test_each_link_is_told_once_from_both_of_its_ports() -> None:
    found = fabric_capture.read(TEXT)
    assert [(each.a[:3], each.b[:3], each.width, each.speed) for each in found.links] == [
        (("MF0;leaf-01:MQM9700/U1", at, "SW"), (f"gpu-0{at} mlx5_0", 1, "CA"), 4, "NDR") for at in (1, 2)
    ]


def test_a_link_whose_other_port_is_not_in_the_list_is_refused() -> None:
    assert said(PORTS[:3]).startswith("UFM's ports: b8599f0300aa0001_2 is joined to b8599f0300cc0002_1, of which")
    crossed = [*PORTS[:3], {**PORTS[3], "peer": "b8599f0300aa0001_1"}]
    assert "of which the list does not say so" in said(crossed)


@pytest.mark.parametrize("ports", [[], [1], {}, [{"peer": "x"}], PORTS[4:]])
def test_what_tells_no_link_is_refused(ports: object) -> None:
    assert said(ports)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(EvidenceError):
        ufm_ports.parse(text)


def test_a_list_that_was_cut_is_refused() -> None:
    for cut in cuts(TEXT.rstrip()):
        with pytest.raises(EvidenceError):
            ufm_ports.parse(cut)
