"""The real `ibqueryerrors` on a simulated fabric, called as the product does: two looks, and what lies between."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import ibqueryerrors
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.checks.verdicts import Result, Verdict
from tests.fabric.building import End, Fabric, count
from tests.fabric.ibsim import Ibsim, running

FABRIC = Fabric(servers=8, rails=2, leaf_servers=4, spines=2)
NAME = "infiniband.h"
NOW = time.time()
SYMBOLS, DOWNED = "PortCounters.SymbolErrorCounter", "PortCounters.LinkDownedCounter"
CONGESTION = ("PortCounters.PortXmitWait", "PortCounters.PortXmitDiscards", "PortCounters.VL15Dropped")


@pytest.fixture
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ibsim]:
    """A fabric of its own for each test, since counters only grow; the subnet manager has given it addresses."""
    with running(tmp_path_factory.mktemp("counters"), FABRIC.netlist()) as found:
        found.opensm()
        yield found


def expected(**run_data: Any) -> Expected:
    """Return the design, as Ansible would have it."""
    names = {end.device for cable in FABRIC.cables() for end in cable}
    devices = {
        name: {"site": "h", "rack": "A1", "unit": 1, "role": "gpu-server", "device_type": "hgx", "guids": {}}
        if name.startswith("gpu")
        else {"site": "h", "rack": "N1", "unit": 2, "role": "leaf", "device_type": "q", "guids": {}}
        for name in names
    }
    links = [[*cable.a, *cable.b, "infiniband-hdr", []] for cable in FABRIC.cables()]
    switches = sorted(name for name in names if not name.startswith("gpu"))
    return Expected(NAME, device={"switches": switches}, fabric={"links": links, "devices": devices}, run=run_data)


def counters(fabric: Ibsim) -> str:
    """Read the counters with the product's own command."""
    return fabric._run("ibqueryerrors", READS["ibqueryerrors"].argv[1:], codes=(0, 1))


def look(fabric: Ibsim, before: Result | None = None, **run_data: Any) -> Result:
    """Look at the fabric: now, or ten minutes later if another look was before."""
    said = counters(fabric)
    readings = {
        "ibqueryerrors": Reading("ibqueryerrors", ReadEnd.OK, said, rc=1 if "Errors for" in said else 0),
        "ibnetdiscover": Reading("ibnetdiscover", ReadEnd.OK, fabric.ibnetdiscover("-p")),
    }
    told = {"at": NOW, "observed": json.loads(json.dumps(before.observed))} if before else None
    now = NOW + 600.0 if before else NOW
    return run(CHECKS["fabric_counters"], readings, expected(now=now, before={"fabric_counters": told}, **run_data))


def test_what_the_console_sets_between_two_looks_is_found_at_its_link(fabric: Ibsim) -> None:
    """Old counters say nothing, new ones do; what congestion counts never does."""
    noisy, flapping, quiet = FABRIC.down(2, 1), FABRIC.up(1, 0, 0), FABRIC.down(5, 0)
    fabric.console([count(quiet.b, SYMBOLS, 40), count(quiet.b, DOWNED, 9)])
    first = look(fabric)
    assert (first.verdict, first.observed["ports_with_errors"]) == (Verdict.PASS, 1)
    fabric.console([count(end, counter, 7000) for end in quiet for counter in CONGESTION])
    assert look(fabric, first).findings == ()
    fabric.console([count(noisy.b, SYMBOLS, 500), count(noisy.a, DOWNED, 1), count(noisy.b, DOWNED, 1)])
    fabric.console([count(end, DOWNED, 4) for end in flapping])
    second = look(fabric, first)
    found = {finding.component: finding for finding in second.findings}
    assert second.verdict is Verdict.FAIL
    assert {name: finding.code for name, finding in found.items()} == {
        f"{min(noisy)} to {max(noisy)}": "cabling.symbol_errors",
        f"{min(flapping)} to {max(flapping)}": "cabling.link_flaps",
    }
    assert found[f"{min(noisy)} to {max(noisy)}"].steps[0].startswith(f"At {noisy.b.device} port {noisy.b.port} (")
    disturbed = look(fabric, first, disturbed={noisy.a.device: NOW + 60.0})
    assert [finding.code for finding in disturbed.findings] == ["cabling.link_flaps"]
    fabric.console([count(end, counter, 0) for end in (*noisy, *flapping) for counter in (SYMBOLS, DOWNED)])
    assert look(fabric, disturbed).verdict is Verdict.FAIL, "it flapped within the hour, cleared or not"


def test_a_counter_at_its_end_is_read_as_full(fabric: Ibsim) -> None:
    """The simulator stops where the field does, as real ports do."""
    port = FABRIC.down(0, 0).b
    fabric.console([count(port, SYMBOLS, 70_000), count(port, DOWNED, 300)])
    (only,) = ibqueryerrors.parse(counters(fabric)).ports
    assert (only.symbol, only.downed) == (ibqueryerrors.SYMBOL_LIMIT, ibqueryerrors.DOWNED_LIMIT)


def test_every_port_of_the_fabric_can_be_read_at_once(fabric: Ibsim) -> None:
    ends: list[End] = [end for cable in FABRIC.cables() for end in cable]
    fabric.console([count(end, SYMBOLS, 3) for end in ends])
    report = ibqueryerrors.parse(counters(fabric))
    assert len(report.ports) == len(ends)
    assert {each.symbol for each in report.ports} == {3}
    assert look(fabric).observed["unread"] == 0


def test_without_a_subnet_manager_the_answer_is_none(tmp_path: Any) -> None:
    """The tool ends with status 0, whether it asks the manager or skips it."""
    with running(tmp_path, FABRIC.netlist()) as unmanaged:
        with pytest.raises(EvidenceError, match=r"no answer from the \d+ ports it asked"):
            ibqueryerrors.parse(counters(unmanaged))
        with pytest.raises(EvidenceError, match="printed nothing"):
            ibqueryerrors.parse(unmanaged._run("ibqueryerrors", []))
