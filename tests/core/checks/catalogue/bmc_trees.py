"""What a BMC's reads bring from a tree of its resources, as the controller gathers them."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fleet_runner.adapters.redfish.bulk import gather
from fleet_runner.adapters.redfish.exchange import Reply
from fleet_runner.adapters.redfish.resources import Resources
from fleet_runner.core.checks.reads import READS

Tree = Mapping[str, Mapping[str, Any]]

SUPERMICRO, DGX = "supermicro_hgx_h100.json.gz", "dgx_h100.json.gz"


class Wire:
    """Answers from a tree: 404 for what is not in it, another status for those of `answers`, by their beginning."""

    url = "https://bmc"

    def __init__(self, tree: Tree, answers: Mapping[str, int] | None = None) -> None:
        self.tree = tree
        self.answers = answers or {}
        self.asked: list[str] = []

    def own(self, uri: Any) -> str:
        """Return a URI as it is asked for."""
        return str(uri).rstrip("/")

    def get(self, uri: str) -> Reply:
        """Answer one request."""
        self.asked.append(uri)
        status = next((code for start, code in self.answers.items() if uri.startswith(start)), 200)
        body = self.tree.get(uri)
        if status != 200:
            return Reply(status, {}, {"error": {"message": "told so"}})
        return Reply(404, {}, None) if body is None else Reply(200, {}, dict(body))


def tree_of(samples: Path, name: str) -> dict[str, Any]:
    """Return a captured tree, to change at its top."""
    return dict(_read(samples / "redfish" / name))


@cache
def _read(path: Path) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return tree


def gathered(tree: Tree, read: str, answers: Mapping[str, int] | None = None) -> str:
    """Return the text of a read of many resources."""
    wire: Any = Wire(tree, answers)
    return json.dumps(gather(Resources(wire), READS[read].argv))
