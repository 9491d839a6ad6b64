"""A new file with a secret: its owner's alone, there whole or not at all, and never in place of another."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from fleet_runner.core.base.errors import SettingsError


@contextmanager
def kept(path: Path) -> Iterator[Callable[[str], None]]:
    """Make room for a secret before there is one, so that none is made in vain; what is written is kept at the end.

    Raises:
        SettingsError: there is such a file already, or none can be made.
    """
    draft = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        if path.exists():
            raise FileExistsError(17, "it is there already", str(path))
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            try:
                yield lambda secret: print(secret, file=file)
                file.flush()
                os.fsync(file.fileno())
                if file.tell():
                    os.link(draft, path)
            finally:
                draft.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; name a file in a folder that can be written") from error
