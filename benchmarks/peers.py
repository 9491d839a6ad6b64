"""The field's own comparisons of a fabric with what it should be, given the same fabric and the same swaps.

`ibtopodiff` (Debian: ibutils) reads the design as a topology file with a definition for each type of system, and the
fabric as the list of links that a subnet manager writes. `ibnetdiscover --diff` compares two fabrics that it saved;
a simulator (Debian: ibsim-utils) gives it them, which takes minutes for large ones: small sizes only. A plain
comparison with networkx, if that Python package is there, is given the links that somebody else has read: two graphs
of ports, and the cables that are in one of them alone. It names no fault and no plug.
"""

import importlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import captures

from fleet_runner.core.cabling.links import Link, Port

PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
LARGEST_SIMULATED = 4 * 1024
"""Cables."""

READY_SECONDS = 60
LIMIT_SECONDS = 30
"""Debian's ibtopodiff ends with a crash, or not at all, on its own package's examples as well."""

_NODE = "VenID:000002C9 DevID:D2F20000 Rev:000000A0"


class Run(NamedTuple):
    """What a tool took and said."""

    cpu_seconds: float
    peak_mb: float
    output: str


def compared(designed: list[Link], plugged: list[Link], folder: Path) -> Iterator[str]:
    """Yield a line for each tool."""
    if tool := shutil.which("ibtopodiff", path=PATH):
        yield _ibtopodiff(tool, designed, plugged, folder)
    else:
        yield "ibtopodiff is not installed (Debian: ibutils)"
    tools = [shutil.which(each, path=PATH) for each in ("ibnetdiscover", "ibsim")]
    library = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"), None)
    if not all(tools) or not library:
        yield "ibnetdiscover --diff needs infiniband-diags and ibsim-utils"
    elif len(designed) > LARGEST_SIMULATED:
        yield "ibnetdiscover --diff: not measured, the simulator is too slow for this size"
    else:
        yield _ibnetdiscover(str(tools[0]), str(tools[1]), (designed, plugged), (folder, library))
    yield _networkx(designed, plugged)


def _networkx(designed: list[Link], plugged: list[Link]) -> str:
    """Compare as anybody would by hand, links to a list of edges of one graph and not of the other."""
    try:
        networkx = importlib.import_module("networkx")
    except ImportError:
        return "networkx is not installed: no plain comparison of graphs; install that Python package to have it"
    begun = time.process_time()
    expected, observed = networkx.Graph(designed), networkx.Graph(plugged)
    for one, other in ((expected, observed), (observed, expected)):
        one.add_nodes_from(other)
    missing, extra = networkx.difference(expected, observed), networkx.difference(observed, expected)
    count = missing.number_of_edges(), extra.number_of_edges()
    seconds = time.process_time() - begun
    return (
        f"networkx, of links that were read before: {seconds:.3f} s CPU; {count[0]} missing, {count[1]} not designed"
    )


def _ibtopodiff(tool: str, designed: list[Link], plugged: list[Link], folder: Path) -> str:
    systems = folder / "ibnl"
    systems.mkdir(exist_ok=True)
    for kind, ports, name in (("SW", captures.RADIX, "BENCHSW"), ("CA", 1, "BENCHHCA")):
        rows = "".join(f"    {port} -> P{port}\n" for port in range(1, ports + 1))
        (systems / f"{name}.ibnl").write_text(f"TOPSYSTEM {name}\n\nNODE {kind} {ports} {name}DEV U1\n{rows}\n")
    topology, subnet = folder / "design.topo", folder / "subnet.lst"
    topology.write_text("".join(_systems(designed)))
    subnet.write_text("".join(f"{{ {_told(a)} }} {{ {_told(b)} }} PHY=4x LOG=ACT SPD=5\n" for a, b in plugged))
    anchor = designed[-1].a  # a core's port: only servers' cables are swapped
    start = ["-s", f"{_system(anchor)}/U1", "-p", str(captures.number(anchor)), "-g", f"0x{captures.guid(anchor)}"]
    run = _run([tool, "-t", str(topology), "-d", str(subnet), *start], folder, {"IBDM_IBNL_PATH": str(systems)})
    return _said("ibtopodiff", run)


def _systems(designed: list[Link]) -> Iterator[str]:
    for ends in captures.records(designed).values():
        near = ends[0][0]
        rows = "".join(
            f"   P{captures.number(a)} -> {_type(b)} {_system(b)} P{captures.number(b)}\n" for a, b in ends
        )
        yield f"{_type(near)} {_system(near)}\n{rows}\n"


def _type(port: Port) -> str:
    return "BENCHSW" if captures.is_switch(port) else "BENCHHCA"


def _system(port: Port) -> str:
    return port.device if captures.is_switch(port) else f"{port.device}-{port.interface}"


def _told(port: Port) -> str:
    kind, ports = ("SW", captures.RADIX) if captures.is_switch(port) else ("CA", 1)
    own = captures.guid(port)
    return (
        f"{kind} Ports:{ports:02X} SystemGUID:{own} NodeGUID:{own} PortGUID:{own} {_NODE} {{{_system(port)}}} "
        f"LID:0001 PN:{captures.number(port):02X}"
    )


def _ibnetdiscover(tool: str, ibsim: str, fabrics: tuple[list[Link], list[Link]], places: tuple[Path, Path]) -> str:
    folder, library = places
    caches = [folder / "designed.cache", folder / "plugged.cache"]
    for plugged, cache in zip(fabrics, caches, strict=True):
        cache.unlink(missing_ok=True)
        (folder / "netlist").write_text(_netlist(plugged))
        simulated = {"LD_PRELOAD": str(library), "IBSIM_SOCKNAME": f"bench-{os.getpid()}"}
        with (folder / "ibsim.out").open("w") as output:
            simulator = subprocess.Popen(  # noqa: S603 - a tool that was looked up, on files of our own
                [ibsim, "-s", "netlist"],
                cwd=folder,
                env=os.environ | {"IBSIM_SOCKNAME": simulated["IBSIM_SOCKNAME"]},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                _await(folder / "ibsim.out")
                _run([tool, "--cache", str(cache)], folder, simulated)
            finally:
                simulator.terminate()
                simulator.wait(timeout=READY_SECONDS)
    return _said(
        "ibnetdiscover --diff", _run([tool, "--load-cache", str(caches[1]), "--diff", str(caches[0])], folder, {})
    )


def _netlist(plugged: list[Link]) -> str:
    lines: list[str] = []
    for ends in captures.records(plugged).values():
        near = ends[0][0]
        switch = captures.is_switch(near)
        kind = f"Switch\t{captures.RADIX}" if switch else "Ca\t1"
        lines.append(f'{kind} "{"S" if switch else "H"}-{_system(near)}"\t\t# "{_system(near)}"')
        lines += [
            f'[{captures.number(a)}]\t"{"S" if captures.is_switch(b) else "H"}-{_system(b)}"[{captures.number(b)}]'
            for a, b in ends
        ]
        lines.append("")
    return "\n".join(lines) + "\n"


def _await(output: Path) -> None:
    limit = time.monotonic() + READY_SECONDS
    while "sim>" not in output.read_text():
        if time.monotonic() > limit:
            raise SystemExit(f"ibsim is not ready after {READY_SECONDS} s: {output.read_text()[-300:]}")
        time.sleep(0.05)


def _run(command: list[str], folder: Path, extra: dict[str, str]) -> Run:
    with (folder / "said").open("w+") as output:
        process = subprocess.Popen(  # noqa: S603 - a tool that was looked up, on files of our own
            command, cwd=folder, env=os.environ | extra, stdout=output, stderr=subprocess.STDOUT
        )
        limit = time.monotonic() + LIMIT_SECONDS
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            if time.monotonic() > limit:
                process.kill()
            time.sleep(0.01)
        process.returncode = ended[1]
        output.seek(0)
        said = output.read()
    code = os.waitstatus_to_exitcode(ended[1])
    if code < 0:
        said += f"\nended by signal {-code}: " + ("it ran too long" if code == -signal.SIGKILL else "it crashed")
    return Run(ended[2].ru_utime + ended[2].ru_stime, ended[2].ru_maxrss / 1024, said)


def _said(tool: str, run: Run) -> str:
    rows = [line for line in run.output.splitlines() if line.strip()]
    return f"{tool}: {run.cpu_seconds:.3f} s CPU; peak {run.peak_mb:.0f} MB; {len(rows)} lines, the last: {rows[-1:]}"
