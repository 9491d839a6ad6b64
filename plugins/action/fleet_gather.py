"""Gathers what only a node and its BMC have into files of the controller; see `fleet_runner.core.checks.collect`."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.checks.collect import BMC, BUG_REPORT, entry, of_node
from fleet_runner.core.checks.evidence import Read, ReadEnd, Reading, ReadKind

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTATION = r"""
module: fleet_gather
short_description: Gathers what a person needs to find out what is wrong with a node
description:
  - Reads texts of the node and resources of its BMC into files that only the runner's user can read, a folder for
    each stay; of a node, the newest three are kept. What cannot be read is left out, and said with its reason.
  - Runs nvidia-bug-report.sh where it is, for a bounded time, and fetches its file in pieces.
  - A node that does not answer gives what its BMC tells. Never fails because of the node; C(gathered) judges.
options:
  seconds: {description: How long nvidia-bug-report.sh may take., type: float, default: 240}
  megabytes: {description: The most that is fetched of its file., type: int, default: 128}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: What a person needs is gathered
  fleet_gather:
  register: collect_gathered
"""

RETURN = r"""
progress: {description: The reading gather_progress., returned: always, type: dict}
"""

KEPT = 3
BMC_SECONDS = 300.0
PIECE = 4  # megabytes that are fetched at a time
PLACE = re.compile(r"/[A-Za-z0-9/._-]{1,200}")


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True  # it changes nothing on the node
    _VALID_ARGS = frozenset({"seconds", "megabytes"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Gather from the node, then from its BMC."""
        answer = super().run(tmp, task_vars)
        self._variables = task_vars or {}
        name = str(self._variables["inventory_hostname"])
        runs = json.loads(json.dumps(self._templar.template(self._variables.get("fleet_runs")) or {}, default=str))
        since = float((runs.get(name) or {}).get("since") or time.time())
        above = settings.load().state_dir / "bundles" / name
        self._folder = above / str(int(since * 1000))
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        files = [*self._from_node(), *self._from_bmc(name)]
        for old in sorted(each for each in above.iterdir() if each.is_dir())[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        answer.update(changed=False, progress={"files": files})
        return answer

    def _from_node(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        healthy = self._templar.template(self._variables.get("fleet_profile")) or {}
        node = of_node(healthy if isinstance(healthy, dict) else {})
        try:
            for name, read in node.items():
                reading = self._read(read)
                text = reading.text if reading.end in {ReadEnd.OK, ReadEnd.TRUNCATED, ReadEnd.TIMEOUT} else ""
                why = "" if reading.end is ReadEnd.OK else reading.error or reading.end.value
                found.append(self._keep(name, text.encode("utf-8", "replace"), why))
            found.append(self._bug_report())
        except AnsibleConnectionFailure as error:
            done = {each["name"] for each in found}
            why = f"the node does not answer: {str(error)[:200]}"
            found += [entry(name, why) for name in (*node, BUG_REPORT) if name not in done]
        return found

    def _read(self, read: Read) -> Reading:
        arguments = {"reads": [read.to_json()]}
        try:
            answer = self._execute_module(
                module_name="fleet_collect", module_args=arguments, task_vars=self._variables
            )
            return Reading.from_json(json.loads(json.dumps(answer["readings"][0], default=str)))
        except AnsibleConnectionFailure:
            raise
        except (AnsibleError, LookupError, TypeError, ValueError) as error:
            return Reading(read.name, ReadEnd.ERROR, error=f"the node gave no answer: {error}"[:300])

    def _bug_report(self) -> dict[str, Any]:
        """Run it in a folder of its own on the node, fetch what it wrote, and leave nothing behind."""
        place = str(self._low_level_execute_command("mktemp -d").get("stdout", "")).strip()
        if not PLACE.fullmatch(place) or ".." in place:
            return entry(BUG_REPORT, "the node has no room for it: mktemp gave no folder")
        try:
            seconds = float(self._task.args.get("seconds") or 240)
            argv = ("nvidia-bug-report.sh", "--output-file", f"{place}/{BUG_REPORT.removesuffix('.gz')}")
            reading = self._read(Read("bug_report", ReadKind.COMMAND, argv, seconds=seconds, max_bytes=100_000))
            why = "" if reading.end is ReadEnd.OK else reading.error or reading.end.value
            if reading.end is ReadEnd.MISSING:
                return entry(BUG_REPORT, why)
            return self._fetched(f"{place}/{BUG_REPORT}", why)
        finally:
            self._low_level_execute_command(f"rm -rf {place}")

    def _fetched(self, path: str, why: str) -> dict[str, Any]:
        most = int(self._task.args.get("megabytes") or 128)
        target, size = self._folder / BUG_REPORT, 0
        with _private(target) as file:
            for at in range(0, most, PIECE):
                command = f"dd if={path} bs=1048576 skip={at} count={PIECE} 2>/dev/null | base64"
                told = str(self._low_level_execute_command(command).get("stdout", ""))
                try:
                    piece = base64.b64decode("".join(told.split()), validate=True)
                except (binascii.Error, ValueError):
                    return entry(
                        BUG_REPORT, f"the node sent something else than its pieces; {why}".rstrip("; "), size
                    )
                size += file.write(piece)
                if len(piece) < PIECE * 1048576:
                    return entry(BUG_REPORT, why or ("" if size else "it wrote nothing"), size)
        return entry(BUG_REPORT, f"cut at {most} MB", size)

    def _from_bmc(self, name: str) -> list[dict[str, Any]]:
        """Ask the BMC in a thread of its own: one that trickles must not keep the play."""
        url = str(self._templar.template(self._variables.get("fleet_bmc_url")) or "")
        if not url:
            why = str(self._variables.get("fleet_bmc_refused") or "no fleet_bmc_url is known")
            return [entry(each, why) for each in BMC]
        found: dict[str, dict[str, Any]] = {}
        asking = threading.Thread(target=_ask, args=(url, name, found, self._keep), daemon=True)
        asking.start()
        asking.join(BMC_SECONDS)
        known = dict(found)
        return [known.get(each) or entry(each, f"the BMC {url} did not finish in time") for each in BMC]

    def _keep(self, name: str, data: bytes, why: str = "") -> dict[str, Any]:
        """Write a file of the folder, for nobody else to read; an empty one is only said."""
        if data:
            with _private(self._folder / name) as file:
                file.write(data)
        return entry(name, why, len(data))


def _ask(url: str, name: str, into: dict[str, Any], keep: Callable[..., dict[str, Any]]) -> None:
    from fleet_runner.adapters import ipmi, redfish  # noqa: PLC0415  slow to load, and some nodes have no BMC

    try:
        with ipmi.opened(settings.load(), url, redfish.Limits(total_seconds=120.0), name=name) as bmc:
            for file, patterns in BMC.items():
                try:
                    into[file] = keep(file, json.dumps(bmc.gather(patterns), indent=1, sort_keys=True).encode())
                except FleetError as error:
                    into[file] = entry(file, str(error)[:300])
    except Exception as error:  # noqa: BLE001  a BMC's nonsense, whatever it breaks, is only said
        for file in BMC.keys() - into.keys():
            into[file] = entry(file, f"{type(error).__name__}: {error}"[:300])


def _private(path: Path) -> Any:
    """Open a new file that only its owner can read."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb")
