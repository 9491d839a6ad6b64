"""playbooks/wipe.yml: what it erases, what it leaves, and what it finds again, on this machine with drives of ours.

The drives are files; lsblk and nvme stand in for the real ones over them and write down what they are told. The TPM
is swtpm, cleared by the real tpm2-tools.
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from tests import tpm
from tests.chains import SUPERVISOR
from tests.core.lifecycle.wipe import looks
from tests.playing import Ansible, inventory, spool, unclean
from tests.plugins.test_fleet_wipe import holders

NODE = "gpu-01"
SIZE = 1 << 20
QUICK = {"wipe_pause_seconds": 0.2}
WAY = ((State.REGISTERED, Event.START), (State.PROVISION, Event.FAILED), (State.TRIAGE, Event.WIPE))

LSBLK = """#!/bin/sh
case "$*" in *MODEL*) exec cat {root}/lsblk.json;; esac
for last; do :; done
exec cat $last.lsblk
"""

NVME = """#!/bin/sh
echo "$*" >>{root}/nvme.log
case $1 in
    list) exec cat {root}/list.json;;
    id-ctrl) exec cat $2.id;;
    list-ns) echo '{{"nsid_list": [{{"nsid": 1}}]}}';;
    sanitize-log) exec cat $2.log;;
    sanitize) cp {evidence}/sanitize_in_progress.json $2.log;;
    format) exec dd if=/dev/zero of=$2 bs=4096 count=256 conv=notrunc status=none;;
esac
"""


@dataclass(frozen=True, slots=True)
class Bench:
    """One node with its drives, its store, and the play that wipes it."""

    root: Path
    ansible: Ansible
    store: Store
    tcti: str

    def drive(self, number: int, *, sanitizes: bool = False, **more: Any) -> Path:
        """Plug a drive in that holds something."""
        path = self.root / f"nvme{number}n1"
        path.write_bytes(os.urandom(SIZE))
        row = looks.block(str(path), serial=f"S{number}", size=SIZE) | more
        can = {"sn": f"S{number}", "mn": "X 1", "fr": "1", "oacs": 2, "sanicap": 1 if sanitizes else 0}
        path.with_suffix(".id").write_text(json.dumps(can))
        self.log(path, "never")
        path.with_suffix(".lsblk").write_text(json.dumps({"blockdevices": [row]}))
        rows = [json.loads(each.read_text())["blockdevices"][0] for each in sorted(self.root.glob("*.lsblk"))]
        (self.root / "lsblk.json").write_text(json.dumps({"blockdevices": rows}))
        ways = [{"Controllers": [{"Transport": "pcie", "Namespaces": [{"NameSpace": row["path"]}]}]} for row in rows]
        (self.root / "list.json").write_text(json.dumps({"Devices": ways}))
        return path

    def log(self, drive: Path, name: str) -> None:
        """Choose what a drive says of its last sanitize."""
        new = drive.with_suffix(".new")
        new.write_text(looks.evidence(f"nvme/sanitize_{name}.json"))
        new.replace(drive.with_suffix(".log"))

    def told(self, verb: str) -> list[str]:
        """Return what nvme was told to do, of one kind."""
        log = self.root / "nvme.log"
        return [line for line in (log.read_text().splitlines() if log.exists() else []) if line.split()[0] == verb]

    def play(self, *words: str, run: Run | None = None, serials: tuple[str, ...] = ("S1", "S2"), **more: Any) -> str:
        """Wipe the node, by hand or as a run of the runner's, and return what Ansible says."""
        parts = [{"slot": "", "kind": "drive", "model": "", "serial": each} for each in serials]
        device = {"name": NODE, "serial": more.pop("serial", ""), "parts": parts}
        profile = more.pop("profile", {"wipe": {"disks": [{"model": "X *", "count": len(serials) or 1}]}})
        environment = {"PATH": f"{self.root}/tools:{os.environ['PATH']}", "TPM2TOOLS_TCTI": self.tcti}
        own = {"fleet_device": device, "fleet_profile": profile, "fleet_environment": environment}
        nodes = inventory(self.root / "nodes.yml", {NODE: own}, wipe_dir=str(self.root / "stays"), **QUICK, **more)
        runs = {NODE: {"run": run.id, "fence": run.fence, "since": 1.0}} if run else {}
        (self.root / "spool.jsonl").unlink(missing_ok=True)
        given = {"FLEET_SPOOL": str(self.root / "spool.jsonl")} | ({"FLEET_BATCH": "b"} if run else {})
        answer = self.ansible("ansible-playbook", "-i", nodes, "-e", json.dumps({"fleet_runs": runs}),
                              "playbooks/wipe.yml", *words, **given)  # fmt: skip
        assert [said for said in unclean(answer) if "Task failed: fleet_wipe" not in said] == []
        return answer.stdout + answer.stderr

    def result(self) -> Result:
        """Return what the check answered."""
        (found,) = (line for line in spool(self.root / "spool.jsonl") if isinstance(line, Judged))
        return found.result

    def keep(self, run: Run) -> None:
        """Do with the spool what the runner does: store the results, and end the run."""
        lines = [line for line in spool(self.root / "spool.jsonl") if isinstance(line, Judged)]
        self.store.ingest(run.batch, 0, 1, lines)
        self.store.close_run(run, Outcome.WORKING, "", time.time())

    def opened(self) -> Run:
        """Open a run of the wipe, as the runner does."""
        node = self.store.node(NODE)
        assert node is not None
        decision = Decision((OpenRun(Stage.WIPE, "why", batch=f"b{node.version}"),), "", 0.0)
        (run,) = self.store.apply(node, decision, time.time())
        return run

    def reboot(self) -> None:
        """End all that works on the node, and forget its logs, as a boot does."""
        for pid in holders(self.root / "stays"):
            os.kill(pid, signal.SIGKILL)
        for path in (self.root / "stays").rglob("*.*"):
            path.unlink()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A node that is to be wiped, and has no drives yet."""
    if why := tpm.why_not():
        pytest.skip(why)
    (tmp_path / "tools").mkdir()
    for name, text in (("lsblk", LSBLK), ("nvme", NVME)):
        tool = tmp_path / "tools" / name
        tool.write_text(text.format(root=tmp_path, evidence=looks.EVIDENCE / "nvme"))
        tool.chmod(0o755)
    ansible = Ansible(tmp_path, {"FLEET_STATE_DIR": str(tmp_path / "state")})
    with tpm.tpm(tmp_path / "tpm") as tcti, Store.create(f"sqlite:///{tmp_path}/state/fleet.db") as store:
        store.register([Device(NODE, "t", "gpu-server", "hall")], 1.0)
        for row in WAY:
            node = store.node(NODE)
            assert node is not None
            store.apply(node, Decision((Move(TRANSITIONS[row], "ann", "it leaves"),), "", 1.0), time.time())
        made = Bench(tmp_path, ansible, store, tcti)
        yield made
        made.reboot()


def test_everything_is_erased_once_with_proof_and_a_second_play_finds_it_done(bench: Bench) -> None:
    drives = [bench.drive(1), bench.drive(2)]
    key = tpm.run(bench.tcti, "tpm2_createprimary", "-C", "o", "-G", "ecc", "-c", "/dev/null")
    for _ in range(2):
        bench.play()
        assert bench.result().verdict is Verdict.PASS, bench.result().message
    assert [drive.read_bytes().strip(b"\0") for drive in drives] == [b"", b""]
    assert len(bench.told("format")) == 2
    assert tpm.run(bench.tcti, "tpm2_createprimary", "-C", "o", "-G", "ecc", "-c", "/dev/null") != key
    (entry,) = bench.store.history(NODE, kind="wipe")
    assert "serial S1) by format_erase" in entry.sentence
    assert "the TPM (IBM" in entry.sentence


def test_check_mode_says_what_would_be_erased_and_erases_nothing(bench: Bench) -> None:
    drive = bench.drive(1)
    held = drive.read_bytes()
    bench.play("--check", serials=("S1",))
    assert bench.result().message.startswith("check mode, nothing was erased. To be erased: ")
    assert (drive.read_bytes(), bench.told("format"), bench.store.history(NODE, kind="wipe")) == (held, [], ())


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"profile": {}}, "the profile does not say what a wipe may erase"),
        ({"serial": "another machine"}, "is it another machine at this address? Nothing is erased"),
        ({"serials": ()}, "nothing says that this is it"),
    ],
)
def test_a_node_that_is_not_known_for_sure_is_not_touched(bench: Bench, more: dict[str, Any], why: str) -> None:
    bench.drive(1)
    bench.play(**more)
    assert (bench.result().verdict, bench.told("format")) == (Verdict.UNKNOWN, [])
    assert why in bench.result().message
    assert bench.store.history(NODE, kind="wipe") == ()


def test_a_node_in_another_state_is_not_touched(bench: Bench) -> None:
    bench.drive(1)
    node = bench.store.node(NODE)
    assert node is not None
    bench.store.apply(node, Decision((Move(TRANSITIONS[State.WIPE, Event.FAILED], "ann"),), "", 2.0), 2.0)
    assert "only one in the state wipe is erased" in bench.play()
    assert bench.told("format") == []


def test_a_run_that_was_taken_over_erases_nothing(bench: Bench) -> None:
    """As of a play that was frozen, and wakes up."""
    bench.drive(1)
    run = bench.opened()
    bench.store.close_run(run, Outcome.LOST, "", time.time())
    assert "is over or was taken over" in bench.play(run=run)
    assert bench.told("format") == []


@pytest.mark.nightly
def test_a_node_that_booted_anew_after_the_look_is_not_erased_until_it_is_looked_at_again(bench: Bench) -> None:
    """As for a play that was frozen in between: the first look tells of a boot that is over by then."""
    drive = bench.drive(1)
    cat = bench.root / "tools" / "cat"
    other = "0c7b5d6e-2f5a-4b6e-9d3c-1a2b3c4d5e6f"
    cat.write_text(f'#!/bin/sh\ncase "$*" in *boot_id*) echo {other}; exit;; esac\nexec /bin/cat "$@"\n')
    cat.chmod(0o755)
    held = drive.read_bytes()
    said = bench.play(serials=("S1",), wipe_visit_seconds=0)
    assert "the node has booted anew since it was looked at; it was not touched" in said
    assert (drive.read_bytes(), bench.told("format")) == (held, [])
    assert bench.result().observed["working"]
    cat.unlink()
    bench.play(serials=("S1",))
    assert bench.result().verdict is Verdict.PASS, bench.result().message
    assert len(bench.told("format")) == 1


@pytest.mark.nightly
def test_what_is_not_the_nodes_own_or_in_use_is_left_while_the_rest_is_erased(bench: Bench) -> None:
    """Each that is the node's has its finding; a stick has a record."""
    own, used = bench.drive(1), bench.drive(2, mountpoints=["/scratch"])
    foreign, stick = bench.drive(3), bench.drive(4, tran="usb")
    held = [each.read_bytes() for each in (used, foreign, stick)]
    bench.play(serials=("S1", "S2"), profile={"wipe": {"disks": [{"model": "X *", "count": 3}], "tpm": False}})
    assert bench.result().verdict is Verdict.FAIL
    assert not own.read_bytes().strip(b"\0")
    assert [each.read_bytes() for each in (used, foreign, stick)] == held
    codes = {finding.component: finding.code for finding in bench.result().findings}
    assert codes["disk-S2"] == "wipe.hurdle"
    assert codes["disk-S3"] == "wipe.serial"
    assert "wipe.left" in codes.values()


@pytest.mark.nightly
def test_a_sanitize_outlives_the_play_and_a_reboot_of_the_node_and_is_never_begun_twice(bench: Bench) -> None:
    """The first visit begins it; the second finds it in the node's log, the third only in the drive's own."""
    drive = bench.drive(1, sanitizes=True)
    bench.drive(2)
    for visit in ("begins", "finds", "booted"):
        if visit == "booted":
            bench.reboot()
        run = bench.opened()
        bench.play(run=run, wipe_visit_seconds=0 if visit != "begins" else 3)
        assert bench.result().observed.get("working") is True, bench.result().message
        bench.keep(run)
    drive.write_bytes(bytes(SIZE))
    bench.log(drive, "done")
    bench.play(wipe_visit_seconds=30)
    assert bench.result().verdict is Verdict.PASS, bench.result().message
    assert (len(bench.told("sanitize")), len(bench.told("format"))) == (1, 1)
    assert "its own log says that it was sanitized" in bench.result().message


@pytest.mark.nightly
def test_a_node_is_erased_when_no_test_loads_it_any_more(bench: Bench) -> None:
    """The load writes where the drive's tool does: nothing of it comes after the first word to a drive."""
    bench.drive(1)
    log = bench.root / "nvme.log"
    words = f"trap '' TERM; while :; do echo load >>{log}; sleep 0.05; done"
    load = {"name": "load", "argv": ["sh", "-c", words], "limit": 900.0}
    chain = {"key": "burn_in-1", "jobs": [load], "programs": SUPERVISOR, "dir": str(bench.root / "jobs")}
    nodes = inventory(bench.root / "nodes.yml", {NODE: {}})
    done = bench.ansible("ansible", "-i", nodes, NODE, "-m", "fleet_job", "-a", json.dumps(chain))
    assert done.returncode == 0, done.stdout
    bench.play(serials=("S1",), active_job_dir=chain["dir"])
    assert bench.result().verdict is Verdict.PASS, bench.result().message
    told = [line.split()[0] for line in log.read_text().splitlines()]
    assert told.index("load") < told.index("format")
    assert "load" not in told[next(at for at, word in enumerate(told) if word != "load") :]
