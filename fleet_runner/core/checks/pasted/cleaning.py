"""What terminals, mail and chat put around the lines of a tool, taken away again."""

import re

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-9;?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])"
)
_QUOTED = re.compile(r"[ \t]{0,8}(?:(?:&gt;|>|\|)[ \t]?){1,6}")
_NOTHING = re.compile("[\ufeff\u200b\u200c\u200d\u2060\x00]")
_FROM_FILE = re.compile(
    r"(?: {0,8}\d{1,8}[\t:]|[\w./+~-]{1,200}[:-](?:\d{1,8}[:-])?)"
    r"(?=\[ {0,12}\d|[A-Z][a-z]{2} [ \d]\d \d\d:|\d{4}-\d\d-\d\dT)"
)
"""What grep and cat -n put before a line of a log: the name of its file, and its number."""


def uncoloured(text: str) -> str:
    """Return lines without colours and characters of no width, and with plain blanks."""
    text = _ESCAPE.sub("", text) if "\x1b" in text else text
    if text.isascii():
        return text.replace("\x00", "")
    return _NOTHING.sub("", text).replace("\u00a0", " ")


def clean(line: str) -> str:
    """Return a line without colours, carriage returns, quoting marks and the name of the file it was found in."""
    plain = uncoloured(line).rstrip("\r\n\t ")
    quoted = _QUOTED.match(plain)
    plain = plain[quoted.end() :] if quoted is not None else plain
    named = _FROM_FILE.match(plain)
    return plain[named.end() :] if named is not None else plain


def cleaned(text: str) -> str:
    """Return a text with each of its lines cleaned; a last one that has no end is left without."""
    return "\n".join(clean(line) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
