"""The folder of a lab: what lies where, and writing it so that a reader never sees half a file."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleet_runner.core.base.errors import FleetError


class LabError(FleetError):
    """The lab is not up, or was asked for something that it does not have."""


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab by its folder, always absolute."""

    root: Path

    @property
    def settings(self) -> Path:
        """The product's settings for this lab."""
        return self.root / "fleet.toml"

    @property
    def site(self) -> Path:
        """The source of truth: a folder of site files."""
        return self.root / "site"

    @property
    def credentials(self) -> Path:
        """The user and password of every BMC."""
        return self.root / "bmc.yml"

    @property
    def about(self) -> Path:
        """What `up` decided: how many servers, each BMC's port, the seconds of a boot."""
        return self.root / "lab.json"

    @property
    def fabric(self) -> Path:
        """The cables as they are plugged."""
        return self.root / "fabric.json"

    @property
    def log(self) -> Path:
        """The witness: one JSON object per line for everything that happened to a node."""
        return self.root / "log.jsonl"

    @property
    def pids(self) -> Path:
        """The processes of the lab, with their start times."""
        return self.root / "pids"

    def node(self, name: str) -> Path:
        """Return a node's own folder."""
        return self.root / "nodes" / name

    def nodes(self) -> tuple[str, ...]:
        """Return the names of the nodes."""
        return tuple(sorted(path.parent.name for path in self.root.glob("nodes/*/state.json")))

    def known(self, name: str) -> str:
        """Return the name if the lab has such a node, else say which it has."""
        if name not in self.nodes():
            has = ", ".join(self.nodes()) or "none: run `fleet-runner lab up` first"
            raise LabError(f"{self.root}: no node named {name!r}; its nodes are {has}")
        return name


def open_lab(folder: Path) -> Lab:
    """Return the lab that lies in a folder, or say that there is none."""
    lab = Lab(folder.resolve())
    if not lab.about.is_file():
        raise LabError(f"{lab.root} holds no lab; run `fleet-runner lab up --dir {folder}` first")
    return lab


def read(path: Path) -> dict[str, Any]:
    """Read a JSON file of the lab."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace a file as a whole."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
        file.write(text)
    new.replace(path)


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file as a whole."""
    write(path, json.dumps(value, indent=1) + "\n")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock: one writer at a time, also between processes."""
    with (folder / ".lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
