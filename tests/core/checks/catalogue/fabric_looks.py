"""Looks at the counters of a small fabric, one after the other, for tests."""

import json
from typing import Any

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Finding, Result, Verdict
from tests.core.checks.catalogue.judging import documented, text_of

SEEN = text_of("ibnetdiscover/by_port.txt")
NOW = 1_740_900_000.0
HOUR = 3600.0
FABRIC = "infiniband.h"
NDR = "infiniband-ndr"
NODE, OTHER_NODE = "a088c20300ab0c10", "a088c20300ab0d10"
LEAF, SPINE, NEW_NODE = "fc6a1c0300e70000", "fc6a1c0300e90000", "a088c20300ab0c99"


def device(role: str, rack: str, unit: int) -> dict[str, Any]:
    """Return where a device stands."""
    kind = "hgx" if role == "gpu-server" else "q"
    return {"site": "h", "rack": rack, "unit": unit, "role": role, "device_type": kind, "guids": {}}


EXPECTED = Expected(
    FABRIC,
    device={"switches": ["leaf-1", "leaf-2", "spine-1"]},
    fabric={
        "links": [
            ["gpu-01", "ib0", "leaf-1", "1", NDR, []],
            ["gpu-01", "ib1", "leaf-2", "1", NDR, []],
            ["gpu-02", "ib0", "leaf-1", "2", NDR, []],
            ["gpu-02", "ib1", "leaf-2", "2", NDR, []],
            ["leaf-1", "33", "spine-1", "1", NDR, []],
            ["leaf-2", "33", "spine-1", "2", NDR, []],
        ],
        "devices": {
            "gpu-01": device("gpu-server", "A1", 4),
            "gpu-02": device("gpu-server", "A2", 4),
            "leaf-1": device("leaf", "N1", 1),
            "leaf-2": device("leaf", "N1", 2),
            "spine-1": device("spine", "N1", 3),
        },
    },
    profiles={"hgx": {"hca_interfaces": {"mlx5_0": "ib0", "mlx5_1": "ib1"}}},
)

Counts = dict[tuple[str, int], tuple[int, int]]


def report(counts: Counts, unread: int = 0, checked: int = 196) -> str:
    """Return what ibqueryerrors prints of ports that counted (symbol errors, link downs)."""
    lines = [
        f'Errors for "x"\n   GUID 0x{guid} port {port}: [SymbolErrorCounter == {symbol}]'
        f" [LinkDownedCounter == {down}]\n"
        for (guid, port), (symbol, down) in counts.items()
    ]
    failures = f"##          {unread} PMA query failures\n" if unread else ""
    return (
        f"{''.join(lines)}\n## Summary: 9 nodes checked, {len(lines)} bad nodes found\n"
        f"##          {checked} ports checked, {len(lines)} ports have errors beyond threshold\n"
        f"## Thresholds: \n{failures}## Suppressed:\n"
    )


def look(
    counters: str, before: Result | None = None, *, at: float | None = None, seen: str = SEEN, **run_data: Any
) -> Result:
    """Look at the fabric: at NOW, and ten minutes later if another look was before, or at a moment after NOW."""
    at = (600.0 if before else 0.0) if at is None else at
    rc = run_data.pop("rc", 1)
    ago = run_data.pop("ago", 600.0)
    told = {"at": NOW + at - ago, "observed": json.loads(json.dumps(before.observed))} if before else None
    readings = {
        "ibqueryerrors": Reading("ibqueryerrors", ReadEnd.OK, counters, rc=rc, at=NOW + at),
        "ibnetdiscover": Reading("ibnetdiscover", ReadEnd.OK, seen, at=NOW + at),
    }
    without = run_data.pop("without", None)
    fabric = {**EXPECTED.fabric, "links": [row for row in EXPECTED.fabric["links"] if row[:2] != without]}
    data = {"now": NOW + at, "before": {"fabric_counters": told}, **run_data}
    held = Expected(FABRIC, device=EXPECTED.device, fabric=fabric, profiles=EXPECTED.profiles, run=data)
    return documented(CHECKS["fabric_counters"], run(CHECKS["fabric_counters"], readings, held))


def looks(*steps: tuple[float, Counts], seen: str = SEEN) -> list[Result]:
    """Look again and again, each time so many seconds after NOW."""
    results: list[Result] = []
    last = 0.0
    for at, counts in steps:
        results.append(look(report(counts), results[-1] if results else None, at=at, ago=at - last, seen=seen))
        last = at
    return results


def looked(first: Counts, second: Counts, **run_data: Any) -> Result:
    """Look twice."""
    return look(report(second), look(report(first)), **run_data)


def the(result: Result) -> Finding:
    """Return the one finding of a look that failed."""
    assert result.verdict is Verdict.FAIL, result.message
    (finding,) = result.findings
    return finding
