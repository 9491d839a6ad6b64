"""What the role left behind: nothing on the node, and one PASS per check and run in the spool."""

import os
from collections import Counter
from pathlib import Path

from testinfra.host import Host

from fleet_runner.core.spool import Decoded, Judged
from fleet_runner.core.verdicts import Verdict

TOOLS = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "bin"
RUNS = 2  # converge and idempotence


def test_every_check_passed_in_every_run() -> None:
    """A check that could not read its tool would be UNKNOWN."""
    lines = Decoded.of(Path(os.environ["FLEET_SPOOL"]).read_bytes()).lines
    results = Counter((line.result.check, line.result.verdict) for line in lines if isinstance(line, Judged))
    assert results == {(check, Verdict.PASS): RUNS for check in ("gpu_errors", "gpu_thermals", "xid")}


def test_the_tools_were_those_of_the_scenario(host: Host) -> None:
    """The machine that runs this may have GPUs of its own; they are none of the scenario's business."""
    for tool in ("nvidia-smi", "dmesg"):
        assert host.file(str(TOOLS / tool)).is_executable
        assert host.run(f"{TOOLS / tool}").rc == 0
