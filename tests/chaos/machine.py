"""A simulated machine: its log is all that it remembers, and the witness of what was done to it.

Each machine has one file, to which every process appends whole lines (O_APPEND): their order is the order in which
things happened. Work on a machine is a generator: what it yields are the seconds until its next step.
"""

import json
import os
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.states import Stage
from tests.chaos.fates import CURES, IN_SERVICE, OLD, PIN, Fate, Fault

Told = Mapping[str, Any]
Answers = tuple[Result, ...]
Work = Generator[float, None, Answers]

POLL = 0.1
ASKED_FOR = {Fault.RESET: Remedy.RESET, Fault.STUBBORN: Remedy.RESET, Fault.TRIAGE: Remedy.TRIAGE}
"""What a fault in service asks for where that is not a reboot."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A node's machine. `path` is its log; `now` tells the time, which a run without processes makes itself."""

    name: str
    fate: Fate
    path: Path
    now: Callable[[], float] = time.time

    def log(self, event: str, **values: Any) -> None:
        """Append what happens, as one write."""
        line = json.dumps({"event": event, "at": round(self.now(), 3), **values}) + "\n"
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)

    def events(self, event: str, **values: Any) -> list[dict[str, Any]]:
        """Return what has happened of one kind, oldest first."""
        wanted = {"event": event, **values}
        return [each for each in self.everything() if wanted.items() <= each.items()]

    def everything(self) -> list[dict[str, Any]]:
        """Return all that has happened, oldest first."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]

    def is_broken(self) -> bool:
        """Whether what broke in service is there still."""
        happened = [each["event"] for each in self.everything()]
        if "break" not in happened:
            return False
        return CURES.get(self.fate.fault, frozenset()).isdisjoint(happened[happened.index("break") :])

    def version(self) -> str:
        """Return the firmware that it has now."""
        done = [each for each in self.events("flash") if each["until"] <= self.now()]
        return PIN if done and self.fate.fault is not Fault.BRICK else OLD

    def recable(self) -> None:
        """Let a technician move the cable."""
        if not self.events("recable"):
            self.log("recable")

    def work(self, stage: Stage, told: Told) -> Work:
        """Do what a stage does, and return what its checks answer."""
        yield self.fate.step
        if self.fate.blind is stage and not self.events("blind", stage=stage.value):
            self.log("blind", stage=stage.value)
            return (Result("network_speed", Verdict.UNKNOWN, "no answer"),)
        return (yield from _STAGES[stage](self, told))

    def once(self, event: str, told: Told, seconds: float) -> Generator[float, None, None]:
        """Do something that a stay needs once, as the roles do it: ask the machine first, then wait for its end.

        Between the question and the deed there is time, in which whoever asked may be killed, or stopped.
        """
        yield self.fate.step
        done = self.events(event, since=told["since"])
        if not done:
            yield self.fate.step
            self.log(event, since=told["since"], until=self.now() + seconds)
        while not all(each["until"] <= self.now() for each in self.events(event, since=told["since"])):
            yield POLL


def _survey(machine: Machine, told: Told) -> Work:
    yield machine.fate.step
    power = "On" if machine.events("power on") else "Off"
    said = {"power": power, "boot": "OSRunning" if power == "On" else ""}
    found = Result("machine_power", Verdict.PASS, f"the machine is {power.lower()}", observed=said)
    return (found, _good("node_up"), _good("machine_identity")) if power == "On" else (found,)


def _provision(machine: Machine, told: Told) -> Work:
    yield from machine.once("power on", told, machine.fate.boot)
    if machine.fate.fault is Fault.NO_BOOT:
        return (_bad(machine, "network_boot", "boot.stuck", "boot", Remedy.TRIAGE),)
    return (_good("network_boot"),)


def _verify(machine: Machine, told: Told) -> Work:
    yield machine.fate.step
    if machine.fate.fault is Fault.SWAP and not machine.events("recable"):
        return (_sound(machine), _bad(machine, "cabling_infiniband", "cabling.swap", "ib2", Remedy.RECABLE))
    return (_sound(machine), _good("cabling_infiniband"))


def _burn_in(machine: Machine, told: Told) -> Work:
    yield machine.fate.step
    begun = machine.events("tests", since=told["since"])
    if not begun:
        yield machine.fate.step
        machine.log("tests", since=told["since"], until=machine.now() + machine.fate.tests)
    if not begun or begun[-1]["until"] > machine.now():
        return (Result("cpu_stress", Verdict.UNKNOWN, "it runs", observed={"working": True}),)
    if machine.fate.fault is Fault.BURN:
        return (_bad(machine, "cpu_stress", "cpu.slow", "CPU 1", Remedy.TRIAGE),)
    return (_good("cpu_stress"),)


def _reset(machine: Machine, told: Told) -> Work:
    yield from machine.once("reset", told, machine.fate.boot / 2)
    return (_good("resets"),)


def _reboot(machine: Machine, told: Told) -> Work:
    yield from machine.once("boot", told, machine.fate.boot)
    return (_good("rebooted"),)


def _passive(machine: Machine, told: Told) -> Work:
    yield machine.fate.step
    if machine.fate.fault in IN_SERVICE and not machine.events("break"):
        machine.log("break")
    return (_idle(), _sound(machine))


def _drain(machine: Machine, told: Told) -> Work:
    yield machine.fate.step
    return (_idle(),)


def _look(machine: Machine, told: Told) -> Work:
    yield machine.fate.step
    return (_good("kernel"),)


_STAGES: Mapping[Stage, Callable[[Machine, Told], Work]] = {
    Stage.SURVEY: _survey,
    Stage.PROVISION: _provision,
    Stage.VERIFY: _verify,
    Stage.BURN_IN: _burn_in,
    Stage.RESET: _reset,
    Stage.REBOOT: _reboot,
    Stage.HEALTH_PASSIVE: _passive,
    Stage.DRAIN: _drain,
    Stage.CABLING: _look,
    Stage.COLLECT: _look,
}


def _good(check: str) -> Result:
    return Result(check, Verdict.PASS, "as designed")


def _idle() -> Result:
    return Result("gpu_usage", Verdict.PASS, "no work", observed={"in_use": False})


def _sound(machine: Machine) -> Result:
    if not machine.is_broken():
        return _good("parts_gpu")
    return _bad(machine, "parts_gpu", "gpu.lost", "GPU 3", ASKED_FOR.get(machine.fate.fault, Remedy.REBOOT))


def _bad(machine: Machine, check: str, code: str, part: str, remedy: Remedy) -> Result:
    said, fault = f"{part} is not as designed.", f"{machine.name}/{code}/{part}"
    steps = ("Look at it.",) if remedy in {Remedy.RECABLE, Remedy.TRIAGE} else ()
    finding = Finding(code, part, said, remedy, fault, (machine.name,), steps)
    return Result(check, Verdict.FAIL, said, (finding,))
