"""`python -m fleet_runner.lab.redfish TREE`: emulated BMCs until Ctrl-C."""

import argparse
import sys
from pathlib import Path

from fleet_runner.core.base.errors import FleetError
from fleet_runner.lab.redfish.serving import ServeOptions, faults, serve
from fleet_runner.lab.redfish.trees import OUR_OWN


def main() -> int:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(
        prog="python -m fleet_runner.lab.redfish", description="Emulated BMCs on 127.0.0.1."
    )
    add = parser.add_argument
    add("tree", nargs="?", type=Path, default=OUR_OWN, help="{URI: body} as .json or .json.gz, or a mockup's folder")
    add("--count", type=int, default=1, help="how many BMCs")
    add("--port", type=int, default=0, help="the first one's port; whichever are free unless told")
    add("--credentials", type=Path, help="a file of mode 0600 with username and password; made up unless told")
    add("--rules", type=Path, help="a YAML file of faults")
    add("--seed", type=int, default=0, help="what chance in rules starts from; each further BMC counts one up")
    add("--speed", type=float, default=1.0, help="2 is twice as fast as usual")
    add("--tls", nargs=2, type=Path, metavar=("CERT", "KEY"), help="serve https with this certificate")
    add("--json", action="store_true", help="say where they are as JSON")
    add("--faults", action="store_true", help="list what can go wrong by rule, and end")
    given = vars(parser.parse_args())
    if given.pop("faults"):
        sys.stdout.write(f"{faults()}\n")
        return 0
    tls = given.pop("tls")
    wanted = ServeOptions(**{"as_json": given.pop("json"), "tls": (tls[0], tls[1]) if tls else None, **given})
    try:
        serve(wanted, lambda text: print(text, flush=True))  # noqa: T201  this is its output
    except FleetError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
