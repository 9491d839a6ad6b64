"""A plain client of emulated BMCs, so that their tests stand on no code of the product's but the emulator."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import requests

from fleet_runner.lab.redfish import Durations, Emulator, images, load
from fleet_runner.lab.redfish.trees import OUR_OWN, Tree

USER = ("admin", "correct horse")
QUICK = Durations.quick()
LONGEST = 120.0


def own() -> Tree:
    """The project's own small tree."""
    return load(OUR_OWN)


def emulator(tree: Tree | None = None, **said: Any) -> Emulator:
    """A BMC with the quickest pace, not yet started."""
    return Emulator(tree or own(), **{"credentials": USER, "pace": QUICK, **said})


def wait(until: Callable[[], Any]) -> Any:
    """Return the first true thing that a question gives; how long that takes says nothing."""
    deadline = time.monotonic() + LONGEST
    while not (found := until()):
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.003)
    return found


class Client:
    """Somebody who talks with a BMC, by session or with Basic."""

    def __init__(self, bmc: Emulator, user: tuple[str, str] = USER, *, basic: bool = True) -> None:
        self.bmc = bmc
        self.http = requests.Session()
        self.http.trust_env = False
        if basic:
            self.http.auth = user

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def ask(self, method: str, uri: str, body: Any = None, **said: Any) -> requests.Response:
        """Send one request."""
        return self.http.request(method, self.bmc.url + uri, json=body, timeout=LONGEST, **said)

    def get(self, uri: str) -> Any:
        """Return a resource that must be there."""
        reply = self.ask("GET", uri)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def log_in(self, user: tuple[str, str] = USER) -> requests.Response:
        """Open a session, and use it from now on where that worked."""
        said = {"UserName": user[0], "Password": user[1]}
        reply = self.ask("POST", self.bmc.tree.sessions, said)
        if reply.ok:
            self.http.auth = None
            self.http.headers["X-Auth-Token"] = reply.headers["X-Auth-Token"]
        return reply

    def push(self, image: Path, targets: tuple[str, ...] = (), **more: Any) -> requests.Response:
        """Send an image as multipart, or by the form of a BMC that has nothing else (iLO 5)."""
        service = self.get(self.bmc.tree.update_service)
        if "MultipartHttpPushUri" not in service:
            form = {"sessionKey": "x", "parameters": "{}"}
            with image.open("rb") as file:
                uri, files = service["HttpPushUri"], {"file": ("image.bin", file)}
                return self.http.post(self.bmc.url + uri, data=form, files=files, timeout=LONGEST)
        uri = service["MultipartHttpPushUri"]
        said = {"Targets": [self.bmc.tree.entries.get(target, target) for target in targets], **more}
        with image.open("rb") as file:
            parts = {
                "UpdateParameters": (None, json.dumps(said), "application/json"),
                "UpdateFile": ("image.bin", file, "application/octet-stream"),
            }
            return self.http.post(self.bmc.url + uri, files=parts, timeout=LONGEST)

    def update(self, folder: Path, versions: Mapping[str, str], **more: Any) -> requests.Response:
        """Make an image and send it."""
        path = folder / "image.bin"
        images.write(path, versions)
        return self.push(path, **more)

    def power(self, action: str) -> requests.Response:
        """Do a power action."""
        system = self.bmc.tree.systems[0]
        target = self.get(system)["Actions"]["#ComputerSystem.Reset"]["target"]
        return self.ask("POST", target, {"ResetType": action})


def over(bmc: Emulator) -> str:
    """Wait until the newest update is over, and return what became of it."""
    return wait(lambda: bmc.updates() and bmc.updates()[-1].outcome != "running" and bmc.updates()[-1].outcome)
