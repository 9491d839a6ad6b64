"""What commands that a person waits for cost, beside `ansible --version` of the same environment.

`python benchmarks/cli.py [--rounds N]` makes a store from the example site with one tick and runs each command
in turn, round after round. Taken is the CPU time of the whole process, user and system, the median of the rounds.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

SITE = Path(__file__).resolve().parent.parent / "docs" / "examples" / "site"
BIN = Path(sys.executable).parent
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""As on an installation: modules are compiled once, not for each command."""

DESIGN = "device a,port a,device b,port b\ngpu-01,mlx5_0,leaf-1,1\ngpu-02,mlx5_0,leaf-1,2\n"

FABRIC = """\
Switch\t40 "S-0000000000000010"\t\t# "leaf-1" enhanced port 0 lid 1 lmc 0
[1]\t"H-0000000000000020"[1](21) \t\t# "gpu-01 mlx5_0" lid 2 4xNDR
[2]\t"H-0000000000000030"[1](31) \t\t# "gpu-02 mlx5_0" lid 3 4xNDR

Ca\t1 "H-0000000000000020"\t\t# "gpu-01 mlx5_0"
[1](21) \t"S-0000000000000010"[1]\t\t# lid 2 lmc 0 "leaf-1" lid 1 4xNDR

Ca\t1 "H-0000000000000030"\t\t# "gpu-02 mlx5_0"
[1](31) \t"S-0000000000000010"[2]\t\t# lid 3 lmc 0 "leaf-1" lid 1 4xNDR
"""
"""Two cables, and what ibnetdiscover prints of them."""

OURS = (
    ("--help",),
    ("status",),
    ("node", "gpu-01"),
    ("tickets",),
    ("cabling", "--help"),
    ("cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt"),
    ("check", "list"),
)


def taken(folder: Path, program: str, *words: str) -> float:
    """Return the CPU seconds of a command; CalledProcessError where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([BIN / program, *words], cwd=folder, env=COMPILED, check=True, capture_output=True)  # noqa: S603  ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: list[str]) -> int:
    """Print one line a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args(arguments).rounds
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copytree(SITE, folder / "site")
        (folder / "fleet.toml").write_text('source = "site"\n', encoding="utf-8")
        (folder / "cables.csv").write_text(DESIGN, encoding="utf-8")
        (folder / "fabric.txt").write_text(FABRIC, encoding="utf-8")
        taken(folder, "fleet-runner", "tick")
        commands = [("ansible", "--version"), *(("fleet-runner", *words) for words in OURS)]
        seconds: dict[tuple[str, ...], list[float]] = {command: [] for command in commands}
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
            for command in commands:
                seconds[command].append(taken(folder, *command))
    beside = median(seconds[commands[0]])
    for command in commands:
        took = median(seconds[command])
        print(f"{' '.join(command[:3]):28} {took:5.2f} s CPU  {took / beside:4.1f} times ansible --version")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
