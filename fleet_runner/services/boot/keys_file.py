"""The public ssh keys of people who may log in to nodes, in the form of an authorized_keys file."""

import re
from pathlib import Path

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.inventory.consistency import show

_KEY = re.compile(r"(?:\S.*\s)?(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+ AAAA[A-Za-z0-9+/]+={0,3}(?: [^\n]*)?")
"""Options, if any, then a kind, the key in base64, and a comment, if any."""


def authorized_keys(path: Path | None) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return the keys of the file and the file, none for None; SettingsError names the line that is no public key."""
    if path is None:
        return (), ()
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SettingsError(f"boot_authorized_keys names {path}: {why}; expected public ssh keys") from None
    found = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    keys = [(number, line) for number, line in found if line and not line.startswith("#")]
    for number, line in keys:
        if not _KEY.fullmatch(line):
            raise SettingsError(
                f"{path}:{number}: found {_shown(line)}, expected a public key such as ssh-ed25519 AAAA…"
            )
    return tuple(line for _, line in keys), (path,)


def _shown(line: str) -> str:
    """Return how a line begins; a private key that was put there by mistake is not quoted."""
    return show(line.partition(" ")[0][:16])
