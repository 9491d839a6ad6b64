"""Files that are given about a job: output, logs of nodes, flight recorder dumps; each is told by its content."""

import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from fleet_runner.cli.base.session import errors
from fleet_runner.cli.checks import pasted_files
from fleet_runner.cli.checks.pasted_files import STDIN
from fleet_runner.core.base.errors import EvidenceError, FleetError
from fleet_runner.core.checks.pasted.text import Read
from fleet_runner.core.jobs import flight_recorder, query_range
from fleet_runner.core.jobs.flight_recorder import Dump
from fleet_runner.core.jobs.node_logs import LinkDowns
from fleet_runner.core.jobs.output import SOURCE, JobOutput
from fleet_runner.core.jobs.rank_times import RankTimes
from fleet_runner.core.jobs.time_lines import TimeLines

MOST = 20_000
"""Files of one job."""

LARGEST = 400_000_000
"""Bytes of a dump."""

_RANK = re.compile(r"(?P<of>[a-z]*)[_.-]?rank[_.-]?(?P<number>\d{1,6})(?!\d)", re.IGNORECASE)
_APART = frozenset({"local", "node", "group", "machine", "host"})
"""Of what a rank may be that is none of the job's ranks."""

_TORCHRUN = re.compile(r"attempt_\d{1,6}/(?P<local>\d{1,4})/(?:stdout|stderr)\.log(?:\.gz)?", re.ASCII)
"""Where torchrun writes what a process says (--log-dir), in a folder that is named by its rank on its node."""
_SERIES = b'"resultType"'
_KEYS = (b'"pg_config"', b'"nccl_version"', b'"comm_lib_version"', b'"collective_seq_id"')
"""What stands at the beginning of a dump as JSON: its keys are sorted, so older releases begin with the records."""


@dataclass
class Logs:
    """What the files of a job hold. `unusable` says of each that is of no use why."""

    outputs: list[JobOutput] = field(default_factory=list[JobOutput])
    read: list[Read] = field(default_factory=list[Read])
    downs: list[LinkDowns] = field(default_factory=list[LinkDowns])
    dumps: dict[int, Dump] = field(default_factory=dict[int, Dump])
    times: RankTimes = field(default_factory=RankTimes)
    unusable: list[str] = field(default_factory=list[str])


def read(paths: list[Path], ended: float) -> Logs:
    """Read files, and those in folders; `ended` is the job's end, or now. FleetError for a path that is none."""
    logs = Logs()
    files = [path for given in paths for path in _files(given)]
    if len(files) > MOST:
        raise FleetError(f"{len(files):,} files are given, expected at most {MOST:,}; name the folder of one job")
    told = time.monotonic() + pasted_files.SLOW - pasted_files.PAUSE
    for number, path in enumerate(files):
        if errors.is_terminal and time.monotonic() - told > pasted_files.PAUSE:
            told = time.monotonic()
            errors.print(f"{number:,} of {len(files):,} files read", style="dim", markup=False)
        head = b"" if path == STDIN else _head(path)
        if _is_dump(head):
            _dump(path, logs)
        elif head.lstrip()[:1] == b"{" and _SERIES in head:
            _series(path, logs)
        else:
            _text(path, logs, ended, alone=len(files) == 1)
    return logs


def _files(path: Path) -> list[Path]:
    if path == STDIN or path.is_file():
        return [path]
    if path.is_dir():
        try:
            files = sorted(each for each in path.rglob("*") if each.is_file() and not each.is_symlink())
        except (OSError, RecursionError) as error:
            raise FleetError(f"{path}: its folders are too deep to be read; name the folder of one job") from error
        if not files:
            raise FleetError(
                f"{path}: no file is in this folder; links are not followed, so name the files themselves"
            )
        return files
    if path.exists():
        raise FleetError(f"{path}: it is no file but a pipe or a device; give its text to --log -")
    raise FleetError(f"{path}: there is no such file or folder")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as raw:
            return raw.read(4096)
    except OSError:
        return b""  # whoever reads it whole says why


def _is_dump(head: bytes) -> bool:
    """Return whether a file's first bytes are those of a pickle, or of a dump as JSON."""
    return head[:1] == b"\x80" or (head.lstrip()[:1] == b"{" and any(key in head for key in _KEYS))


def _dump(path: Path, logs: Logs) -> None:
    rank = flight_recorder.rank_of(path.name)
    if rank is None:
        logs.unusable.append(f"{path}: its name does not end with the rank, as PyTorch writes it; rename it")
    elif rank in logs.dumps:
        logs.unusable.append(f"{path}: a dump of rank {rank} was read already; give those of one end of the job")
    else:
        try:
            logs.dumps[rank] = flight_recorder.read(_bytes(path), rank)
        except (EvidenceError, OSError) as error:
            logs.unusable.append(f"{path}: {error}")


def _series(path: Path, logs: Logs) -> None:
    """Take an answer of Prometheus; what it computed without a name is named after the file."""
    try:
        query_range.take(_bytes(path).decode(errors="replace"), logs.times, path.stem)
    except (EvidenceError, OSError) as error:
        logs.unusable.append(f"{path}: {error}")


def _bytes(path: Path) -> bytes:
    size = path.stat().st_size
    if size > LARGEST:
        raise EvidenceError(f"it has {size:,} bytes, expected at most {LARGEST:,}")
    return path.read_bytes()


def _text(path: Path, logs: Logs, ended: float, *, alone: bool) -> None:
    label, year = str(path) if path != STDIN else "standard input", datetime.fromtimestamp(ended, UTC).year
    output = JobOutput(label, year, _rank(path), ended=ended, source=_source(path))
    times = TimeLines(logs.times, year, _rank(path), label=label)
    downs = LinkDowns("" if alone or path == STDIN else path.name.partition(".")[0])

    def beside(text: str) -> None:
        output.feed(text)
        downs.feed(text)
        times.feed(text)

    found = pasted_files.read(path, alone=alone, beside=beside)
    times.end()
    if not found.useless:
        logs.read.append(found)
        logs.downs.append(downs)
    elif not output.known and output.progress is None and not times.found:
        logs.unusable.append(f"{found.label}: {found.useless}")
    if output.known or (found.useless and output.progress is not None):
        logs.outputs.append(output)


def _rank(path: Path) -> int | None:
    """Return the rank that a file's name tells ("rank_3.log"); a rank on its node, or of a node, is none."""
    found = _RANK.search(path.name)
    if found is None or found["of"].lower() in _APART:
        return None
    return int(found["number"])


def _source(path: Path) -> str:
    """Return whose word an output is, with the rank on its node where the file's name or folder tells no other."""
    named = _RANK.search(path.name)
    if named is not None and named["of"].lower() == "local":
        return f"{SOURCE}, local rank {int(named['number'])}"
    found = _TORCHRUN.fullmatch("/".join(path.parts[-3:]))
    return SOURCE if found is None else f"{SOURCE}, local rank {int(found['local'])}"
