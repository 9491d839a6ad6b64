"""What a terminal adds to what a device printed: prompts, which say which device it is, and lines of no account."""

import re
from collections.abc import Sequence

from fleet_runner.core.base.errors import EvidenceError

_PROMPT = re.compile(
    r"[ \t]*(?:[\w.-]{1,64}@)?([A-Za-z0-9][\w.-]{0,252})(?:\([\w-]{1,40}\))?(?::[^\n#>$]{0,80})?[#>$%][ \t]*([^\n]*)$"
    r"|[ \t]*\[[\w.-]{1,64}@([A-Za-z0-9][\w.-]{0,252})[ \t][^\n\]]{0,80}\][#$][ \t]*([^\n]*)$",
    re.ASCII,
)
"""`leaf-01#show lldp …`, `leaf-01(config)# …`, `admin@leaf-01> …`, `cumulus@leaf-01:~$ …`, `[root@gpu-01 ~]# …`."""

_MASTER = re.compile(r"[ \t]*\{(?:master|backup|linecard|primary|secondary)(?::[\w-]{1,20})?\}[ \t]*$", re.ASCII)
"""What Junos prints above a prompt where there are several engines."""

_ASKED = re.compile(
    r"(?:sudo[ \t]+)?(?:(?:show?|nv|sonic-cli)\b[^\n]{0,120}\blldp|lldpctl\b|lldpcli\b)", re.ASCII | re.IGNORECASE
)
"""A command of the device itself: one that a jump host carries elsewhere tells the jump host's name."""

Printed = tuple[str, str]
"""The name of a device that a prompt tells ("" where none does), and what the device printed."""


def printed(text: str) -> Printed:
    """Return what a device printed, from the command that asked for neighbours to the next prompt."""
    lines = [line for line in text.removeprefix("\ufeff").replace("\r", "").split("\n") if not _MASTER.match(line)]
    prompts = [(at, *_prompt(line)) for at, line in enumerate(lines)]
    asked = [(at, device) for at, device, command in prompts if device and _ASKED.match(command)]
    if len(asked) > 1:
        (_, one), (_, other) = asked[:2]
        raise EvidenceError(f"found what {one} and what {other} printed after it, expected one command's in a file")
    if not asked:
        return "", "\n".join(_ended(lines))
    ((at, device),) = asked
    rest = lines[at + 1 :]
    end = next((number for number, line in enumerate(rest) if _prompt(line)[0] == device), len(rest))
    return device, "\n".join(rest[:end])


def _prompt(line: str) -> tuple[str, str]:
    """Return the device and the command of a prompt; nothing for another line."""
    found = _PROMPT.match(line)
    return (found[1] or found[3], found[2] or found[4] or "") if found else ("", "")


def _ended(lines: Sequence[str]) -> Sequence[str]:
    """Return lines without the prompts that wait for another command at their end."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or (_prompt(lines[end - 1])[0] and not _prompt(lines[end - 1])[1])):
        end -= 1
    return lines[:end]
