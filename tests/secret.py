"""A file with a secret, as only its owner may have one."""

from pathlib import Path


def private(path: Path, text: str) -> Path:
    """Write it, for its owner alone."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text, encoding="utf-8")
    return path
