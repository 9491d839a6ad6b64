"""What our program allreduce.py prints on each node of a group."""

from dataclasses import dataclass

from fleet_runner.core.checks.parsers import program

PROGRAM = "allreduce"


@dataclass(frozen=True, slots=True)
class AllreduceResult:
    """What one node saw. `wrong` elements were not the sum they must be; without trouble `bus_gbps` is known.

    Bus bandwidth is what nccl-tests call so: bytes / seconds * 2 (n - 1) / n for n ranks, comparable for any n.
    """

    nodes: int
    ranks: int
    backend: str
    wrong: int
    bus_gbps: float
    troubles: tuple[str, ...]


def parse(output: str) -> AllreduceResult:
    """Read what a node saw; EvidenceError unless the program came to its end."""
    line = program.whole(output, PROGRAM)[-1]
    told = line.get("troubles")
    troubles = (
        tuple(f"{each!s:.200}" for each in told)
        if isinstance(told, list)
        else ("its output has no list of troubles",)
    )
    nodes = program.count(line, "nodes")
    return AllreduceResult(
        nodes=nodes,
        ranks=nodes * program.count(line, "local"),
        backend=program.text(line, "backend"),
        wrong=program.count(line, "wrong"),
        bus_gbps=0.0 if troubles else program.amount(line, "bus_gbps"),
        troubles=troubles,
    )
