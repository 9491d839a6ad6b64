"""Options of sbatch, srun and salloc as they were typed: where they end, and which of them take the next word.

As in Slurm, options end at the first word that is neither one nor the value of one: what follows is the script's own.
"""

from collections.abc import Iterator, Sequence

VALUED = frozenset({
    "accel-bind", "account", "acctg-freq", "array", "batch", "bb", "bbf", "bcast-exclude", "begin", "chdir",
    "cluster", "cluster-constraint", "clusters", "comment", "constraint", "container", "container-id", "context",
    "core-spec", "cores-per-socket", "cpu-bind", "cpu-freq", "cpu_bind", "cpus-per-gpu", "cpus-per-task",
    "deadline", "delay-boot", "dependency", "distribution", "environment", "epilog", "error", "exclude", "export",
    "export-file", "extra", "extra-node-info", "gid", "gpu-bind", "gpu-freq", "gpus", "gpus-per-node",
    "gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "het-group", "hint", "ignore-signals", "input",
    "job-name", "jobid", "kill-on-invalid-dep", "licenses", "mail-type", "mail-user", "mcs-label", "mem",
    "mem-bind", "mem-per-cpu", "mem-per-gpu", "mem-update", "mincpus", "mpi", "msg-timeout", "network", "nodefile",
    "nodelist", "nodes", "ntasks", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket",
    "ntasks-per-tres", "open-mode", "output", "pack-group", "partition", "power", "prefer", "priority", "profile",
    "prolog", "qos", "relative", "reservation", "resources", "segment", "signal", "slurmd-debug",
    "sockets-per-node", "switches", "task-epilog", "task-prolog", "tasks-per-node", "thread-spec", "threads",
    "threads-per-core", "time", "time-min", "tmp", "treewidth", "tres-bind", "tres-per-task", "uid",
    "wait-all-nodes", "wckey", "wrap",
})  # fmt: skip
"""Long options whose value is the next word, unless it stands behind `=`; from Slurm 20.11 to 25.11, of all three."""

EVERYWHERE = frozenset("ABCDFGJLMNSbcdmnpqtwx")
SHORT = {
    "salloc": EVERYWHERE,
    "sbatch": EVERYWHERE | frozenset("aeio"),
    "srun": EVERYWHERE | frozenset("eiorTW"),
}
"""Short options whose value is the rest of their word, or the next one."""

ATTACHED = frozenset("IKk")
"""Short options whose value, where they have one, is the rest of their word."""

EXCLUDE = frozenset({"exclude", "exclud"})
"""A long option may be cut short while no other begins so, and `exclusive` does."""


def exclusions(words: Sequence[str]) -> Iterator[str]:
    """Yield the lists of nodes that a command line leaves out; one of another command is read as sbatch's.

    Slurm keeps a line without its quotes, so that a value with blanks ends the options. That of `--wrap` does not:
    it stands for the script, and whatever comes is an option of Slurm's or a word of its own.
    """
    command = words[0].rpartition("/")[2] if words else ""
    wrapped, rest = False, iter(words[1:])
    for word in rest:
        if word == "--" or (not _option(word) and word != ":" and not wrapped):
            return
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            if not sign and _takes(name, command):
                value = next(rest, "")
            wrapped |= name == "wrap"
            yield from [value] * (name in EXCLUDE)
        elif _option(word):
            yield from _short(word, SHORT.get(command, SHORT["sbatch"]), rest)


def _option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _takes(name: str, command: str) -> bool:
    """Whether a long option takes the next word; `--wait` does so with srun alone."""
    if name == "wait":
        return command == "srun"
    return any(each.startswith(name) for each in VALUED)


def _short(word: str, valued: frozenset[str], rest: Iterator[str]) -> Iterator[str]:
    """Read a word of short options, of which the last may have a value."""
    for at, letter in enumerate(word[1:], 2):
        if letter in valued:
            value = word[at:] or next(rest, "")
            yield from [value] * (letter == "x")
        if letter in valued | ATTACHED:
            return
