"""fleet-runner cabling check: which cables to move, from files or from the fabric as it is now."""

from typing import Annotated

import typer

from fleet_runner.cli.cabling import sheets
from fleet_runner.cli.cabling.captures import Capture, from_file
from fleet_runner.cli.cabling.design import Design, design, uncollected
from fleet_runner.cli.cabling.drawing import draw
from fleet_runner.cli.cabling.options import AsJson, Csv, Expected, FabricName, Names, Observed, Svg, one_form
from fleet_runner.cli.cabling.sweeping import sweep
from fleet_runner.cli.cabling.telling import note, strange_adapters, tell
from fleet_runner.cli.session import Exit, console, print_json
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.kinds import ordered
from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.fabrics import Fabric

Judged = tuple[Capture, Verdicts]


def check(
    *,
    expected: Expected = None,
    observed: Observed = None,
    fabric: FabricName = None,
    names: Names = None,
    svg: Svg = None,
    json: AsJson = False,
    csv: Csv = False,
    wait: Annotated[float, typer.Option(min=0, help="seconds to wait for a sweep of the fabric")] = 900.0,
) -> None:
    """Compare a fabric with its design, and say which cables to move.

    Without `--observed` the fabrics of the source of truth are swept now, through the runner, and what they said is
    judged. One entry a physical fault, each with the fewest touches that put it right.

    Exit code 0: as designed; 1: faults were found; 2: a file cannot be used; 3: the site contradicts itself, the
    capture or the design is suspect, or what stands at a port cannot be told and nothing else is wrong; 4: no sweep
    ended in time.
    """
    one_form(json=json, csv=csv)
    with uncollected():
        should = design(expected, names)
        wanted = should.fabric(fabric) if fabric else None
        if observed is not None:
            capture = from_file(observed)
            found = [(capture, _judged(should, capture, wanted))]
        else:
            swept = sweep([wanted] if wanted else should.fabrics, wait)
            found = [(capture, _judged(should, capture, which)) for which, capture in swept]
    if json:
        print_json(found[0][1] if len(found) == 1 else {_name(each): verdicts for each, verdicts in found})
    elif csv:
        sheets.faults([fault for _, verdicts in found for fault in ordered(verdicts.faults)], should.places)
    else:
        _print(found)
    if json or csv:
        _beside(found)
    if svg is not None:
        draw(svg, [fault for _, verdicts in found for fault in ordered(verdicts.faults)], should.places)
    raise typer.Exit(max((_code(verdicts) for _, verdicts in found), key=_SEVERITY.index))


_SEVERITY = (Exit.OK, Exit.TROUBLE, Exit.NO)
"""A fault that is sure says more than what cannot be told of another fabric."""


def _code(verdicts: Verdicts) -> Exit:
    if verdicts.faults and not verdicts.suspect:
        return Exit.NO
    return Exit.TROUBLE if verdicts.suspect or verdicts.doubts or verdicts.silent else Exit.OK


def _judged(should: Design, capture: Capture, fabric: Fabric | None) -> Verdicts:
    try:
        return should.judge(capture.discovery.links, fabric)
    except EvidenceError as error:
        raise EvidenceError(f"{capture.label}: {error}") from error


def _print(found: list[Judged]) -> None:
    for number, (capture, verdicts) in enumerate(found):
        if capture.run is not None:
            console.print(*[""] * bool(number), f"{capture.run.node}, swept in run {capture.run.id}:", sep="\n")
        tell(verdicts)
        if hint := strange_adapters(capture.discovery, verdicts):
            note(hint)


def _beside(found: list[Judged]) -> None:
    """What a program must be told, and a person too, stands beside the answer."""
    for _, verdicts in found:
        if verdicts.suspect:
            note(f"WARNING {verdicts.suspect}")


def _name(capture: Capture) -> str:
    return capture.run.node if capture.run is not None else capture.label
