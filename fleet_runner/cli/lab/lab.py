"""fleet-runner lab: a simulated data centre on this computer, its faults and its tenants."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from fleet_runner.cli.lab.demo import demo
from fleet_runner.lab import down as ending
from fleet_runner.lab import faults as catalogue
from fleet_runner.lab import jobs
from fleet_runner.lab import up as starting
from fleet_runner.lab.folder import open_lab
from fleet_runner.lab.redfish import serving
from fleet_runner.lab.redfish.trees import OUR_OWN

app = typer.Typer(
    no_args_is_help=True,
    help="A simulated data centre: GPU servers with real-looking tools, BMCs and cables, and faults by name.",
)
job = typer.Typer(no_args_is_help=True, help="Run a tenant's job on a node.")
app.add_typer(job, name="job")

console = Console(highlight=False, soft_wrap=True, emoji=False)

Dir = Annotated[Path, typer.Option("--dir", envvar="FLEET_LAB_DIR", help="The lab's folder.", show_default=True)]
Node = Annotated[str, typer.Argument(metavar="NODE", help="The node, for example gpu-03.")]
FaultName = Annotated[str, typer.Argument(metavar="FAULT", help="The fault's name; `lab faults` lists them.")]
HERE = Path("lab")


@app.command()
def up(
    folder: Dir = HERE,
    servers: Annotated[int | None, typer.Option(help="GPU servers of a new lab; default: 8.")] = None,
    boot_seconds: Annotated[float, typer.Option(min=0.0, help="How long a boot takes in a new lab.")] = 1.5,
    boot_service: Annotated[
        bool, typer.Option(help="Nodes of a new lab boot through the boot service, or as at a site that has none.")
    ] = True,
    rails: Annotated[
        bool,
        typer.Option(
            "--rails", help="A new lab has two Ethernet rails beside InfiniBand, of three makers' switches."
        ),
    ] = False,
) -> None:
    """Start the lab: files, BMCs, a boot service, all nodes off. Safe to run again."""
    lab = starting.up(folder, servers, boot_seconds, boot_service=boot_service, rails=rails, tell=typer.echo)
    shown = os.path.relpath(lab.settings)
    console.print(f"{len(lab.nodes())} servers in {lab.root}; use them with [bold]export FLEET_CONFIG={shown}[/bold]")


@app.command()
def down(
    folder: Dir = HERE,
    delete: Annotated[bool, typer.Option("--delete", help="Remove the lab's folder too.")] = False,
) -> None:
    """Stop the lab; its folder stays unless told otherwise."""
    ended = ending.down(open_lab(folder), delete=delete)
    console.print(f"{ended} process(es) ended{'; the folder is removed' if delete else ''}")


@app.command()
def faults() -> None:
    """List the faults that can be injected, their options, and which checks FAIL for each."""
    table = Table("fault", "what it does", "options", "found by", box=None)
    for name, fault in catalogue.FAULTS.items():
        options = " ".join(
            f"--{option.replace('_', '-')} {'…' if value == '' else value}" for option, value in fault.options.items()
        )
        table.add_row(name, fault.sentence, options, ", ".join(fault.seen_by))
    console.print(table)


@app.command()
def inject(
    fault: FaultName,
    node: Node,
    *,
    folder: Dir = HERE,
    code: Annotated[int | None, typer.Option(help="xid: its number.")] = None,
    gpu: Annotated[int | None, typer.Option(help="The GPU, counted from 0.")] = None,
    psu: Annotated[int | None, typer.Option(help="dead_psu: the power supply, counted from 0.")] = None,
    fan: Annotated[int | None, typer.Option(help="dead_fan: the fan, counted from 0.")] = None,
    dimm: Annotated[str | None, typer.Option(help="memory_error, dimm_errors: the memory module.")] = None,
    link: Annotated[int | None, typer.Option(help="nvlink_down: the NVLink, counted from 0.")] = None,
    seconds: Annotated[float | None, typer.Option(help="clock_off: how far; negative is late.")] = None,
    rail: Annotated[int | None, typer.Option(help="The node's rail, counted from 0.")] = None,
    other: Annotated[str | None, typer.Option("--with", help="swapped_cables: the other node.")] = None,
    with_rail: Annotated[int | None, typer.Option(help="swapped_cables: the rail it is exchanged with.")] = None,
    tool: Annotated[str | None, typer.Option(help="tool_hang: the tool.")] = None,
    at: Annotated[str | None, typer.Option(help="no_boot: the milestone.")] = None,
    share: Annotated[float | None, typer.Option(help="slow_gpu: the share of its arithmetic that is left.")] = None,
    component: Annotated[
        str | None,
        typer.Option(
            help="wrong_firmware: the inventory's id; mlag_peer_down: switch or link; RoCE: the port or leaf."
        ),
    ] = None,
    version: Annotated[str | None, typer.Option(help="wrong_firmware: the version found.")] = None,
    unit: Annotated[str | None, typer.Option(help="service_down: the service.")] = None,
    serial: Annotated[str | None, typer.Option(help="other_serial: the serial number that it says.")] = None,
    stays: Annotated[int | None, typer.Option(help="service_down: 1 if starting it again does not help.")] = None,
    times: Annotated[int | None, typer.Option(help="flapping_link: how often it went down.")] = None,
) -> None:
    """Inject a fault into a node. The same fault again changes nothing."""
    given: dict[str, Any] = {
        "code": code, "gpu": gpu, "psu": psu, "fan": fan, "dimm": dimm, "rail": rail, "with": other,
        "with_rail": with_rail, "tool": tool, "at": at, "share": share, "component": component, "version": version,
        "times": times, "link": link, "seconds": seconds, "unit": unit, "stays": stays,
        "serial": serial,
    }  # fmt: skip
    options = {name: value for name, value in given.items() if value is not None}
    force = catalogue.inject(open_lab(folder), fault, node, options)
    words = ", ".join(f"{name} {value}" for name, value in force.items() if value != "")
    console.print(f"{node}: {fault}{f' ({words})' if words else ''}")


@app.command()
def fix(fault: FaultName, node: Node, folder: Dir = HERE) -> None:
    """Remove a fault from a node."""
    was = catalogue.fix(open_lab(folder), fault, node)
    console.print(f"{node}: {fault} {'is put right' if was else 'was not there'}")


@app.command()
def bmc(
    tree: Annotated[
        Path, typer.Argument(help="{URI: body} as .json or .json.gz, or a DMTF mockup's folder.", show_default=False)
    ] = OUR_OWN,
    *,
    count: Annotated[int, typer.Option(help="How many BMCs.")] = 1,
    port: Annotated[int, typer.Option(help="The first one's port; 0 takes whichever are free.")] = 0,
    credentials: Annotated[
        Path | None, typer.Option(help="A file of mode 0600 with username and password; default: generated.")
    ] = None,
    rules: Annotated[Path | None, typer.Option(help="A YAML file of what goes wrong.")] = None,
    seed: Annotated[int, typer.Option(help="What chance in rules starts from.")] = 0,
    speed: Annotated[float, typer.Option(help="2 is twice as fast as usual.")] = 1.0,
    tls: Annotated[tuple[Path, Path] | None, typer.Option(metavar="CERT KEY", help="Serve https with these.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say where they are as JSON.")] = False,
) -> None:
    """Emulate BMCs from a captured Redfish tree on 127.0.0.1, until Ctrl-C; they take firmware and settings."""
    wanted = serving.ServeOptions(tree, count, port, credentials, rules, seed, speed, tls, as_json)
    serving.serve(wanted, typer.echo)


@job.command("start")
def job_start(node: Node, folder: Dir = HERE) -> None:
    """Start a job that uses all GPUs of a node, until it is stopped or the node reboots."""
    console.print(f"{node}: job runs as process {jobs.start(open_lab(folder), node)}")


@job.command("stop")
def job_stop(node: Node, folder: Dir = HERE) -> None:
    """Stop the jobs of a node."""
    console.print(f"{node}: {jobs.stop(open_lab(folder), node)} job(s) stopped")


app.command()(demo)
