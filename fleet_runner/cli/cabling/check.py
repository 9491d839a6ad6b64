"""fleet-runner cabling check: which cables to move, from files or from the fabric as it is now."""

from typing import Annotated

import typer

from fleet_runner.cli.base.session import Exit, console, print_json
from fleet_runner.cli.cabling import sheets
from fleet_runner.cli.cabling.design import design, uncollected
from fleet_runner.cli.cabling.look import Look, at_files, look
from fleet_runner.cli.cabling.options import (
    AsJson,
    Csv,
    Expected,
    FabricName,
    Names,
    Observed,
    Svg,
    both_files,
    one_form,
)
from fleet_runner.cli.cabling.picture import draw
from fleet_runner.cli.cabling.text import note, tell
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.kinds import ordered


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
    """Compare a fabric, or Ethernet, with its design, and say which cables to move.

    Without `--observed` the fabrics of the source of truth are swept now, through the runner, and what they said is
    judged. One entry a physical fault, each with the fewest touches that put it right.

    Exit code 0: as designed; 1: faults were found; 2: a file cannot be used; 3: the site contradicts itself, the
    capture or the design is suspect, or what stands at a port cannot be told and nothing else is wrong; 4: no sweep
    ended in time.
    """
    one_form(json=json, csv=csv)
    both_files(expected, observed)
    with uncollected():
        should = design(expected, names)
        wanted = should.fabric(fabric) if fabric else None
        if observed is not None:
            found = [at_files(should, observed, wanted)]
        else:
            from fleet_runner.cli.cabling.sweep import sweep  # noqa: PLC0415  it loads the loop, and files need none

            swept = sweep([wanted] if wanted else should.fabrics, wait)
            found = [look(should, capture, which) for which, capture in swept]
    faults = [(each.fabric, fault) for each in found for fault in ordered(each.verdicts.faults)]
    if json:
        print_json(found[0].verdicts if len(found) == 1 else {each.fabric: each.verdicts for each in found})
    elif csv:
        sheets.faults(faults, should.places)
    else:
        _print(found)
    if json or csv:
        _beside(found)
    if svg is not None:
        draw(svg, [fault for _, fault in faults], should.places)
    raise typer.Exit(max((_code(each.verdicts) for each in found), key=_SEVERITY.index))


_SEVERITY = (Exit.OK, Exit.TROUBLE, Exit.NO)
"""A fault that is sure says more than what cannot be told of another fabric."""


def _code(verdicts: Verdicts) -> Exit:
    if verdicts.faults and not verdicts.suspect:
        return Exit.NO
    untold = verdicts.suspect or verdicts.doubts or verdicts.silent or verdicts.unmapped or verdicts.shifted
    return Exit.TROUBLE if untold else Exit.OK


def _print(found: list[Look]) -> None:
    for number, each in enumerate(found):
        if each.run is not None:
            console.print(*[""] * bool(number), f"{each.fabric}, swept in run {each.run}:", sep="\n")
        tell(each.verdicts)
        for hint in each.hints:
            note(hint)


def _beside(found: list[Look]) -> None:
    """What a program must be told, and a person too, stands beside the answer."""
    for each in found:
        if each.verdicts.suspect:
            note(f"WARNING {each.verdicts.suspect}")
