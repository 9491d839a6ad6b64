"""What Ansible prints of a task: the name of a host, and what its module said as JSON."""

import json
import re
from typing import Any

from fleet_runner.core.base.errors import EvidenceError

BEGINS = re.compile(
    r"^(?:(?:ok|changed): \[([^\]\s]{1,253})\](?: => \(item=[^\n]{0,200}\))? => (?=\{)"
    r"|([\w.-]{1,253}) \| (?:SUCCESS|CHANGED)(?: \| rc=0)? => (?=\{))",
    re.MULTILINE | re.ASCII,
)
"""How a host's answer begins: "ok: [leaf-01] => {", "leaf-01 | SUCCESS => {"."""


def read(text: str) -> tuple[str, Any]:
    """Return a host's name and its answer; EvidenceError for several answers, and for one that is cut."""
    every = list(BEGINS.finditer(text))
    if len(every) > 1:
        one, other = (each[1] or each[2] for each in every[:2])
        raise EvidenceError(f"found what Ansible says of {one} and of {other}, expected one answer in a file")
    (begin,) = every
    try:
        return begin[1] or begin[2], json.JSONDecoder().raw_decode(text, begin.end())[0]
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"what Ansible printed is not JSON ({error!s:.120}); was it cut short?") from error
