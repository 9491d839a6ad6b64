"""Secrets taken out of text before it leaves the controller: what is known to be one, and what looks like one."""

import re
from collections.abc import Collection, Mapping
from typing import Any

GONE = "[removed]"

SHORTEST = 4
"""A known secret that is shorter is left: it would be found in every number."""

LONGEST_LINE = 20_000
"""Characters of a line that are kept: longer ones are no log, and what is beyond would not be looked at."""

_NAME = (
    r"(?i:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential"
    r"|auth[_-]?key|nonce|snmp[_-]?community|psk|munge[_-]?key)"
)
"""What a secret is called, wherever in a name it stands."""

_NAMED = re.compile(_NAME)
_KEYED = re.compile(
    rf"(?P<name>{_NAME}[\w.-]{{0,40}}[\"']?[ \t]{{0,5}}[=:][ \t]{{0,5}})"
    r"(?P<value>\"[^\"\r\n]{1,4000}\"|'[^'\r\n]{1,4000}'|[^\s\"',;&}\]]{1,4000})"
)
_OPTION = re.compile(r"(?P<name>\s--?(?P<option>[\w-]{1,60})[ \t]{1,5})(?P<value>[^\s-]\S{0,1000})")
_HEADER = re.compile(
    r"(?i)(?P<name>\b(?:authorization|x-auth-token|cookie|set-cookie|x-vault-token)\s?:\s?)(?P<value>[^\r\n]{1,4000})"
)
_SCHEME = re.compile(r"(?P<name>\b(?i:bearer|basic) )(?P<value>[A-Za-z0-9+/=._~-]{8,4000})")
_URL = re.compile(r"(?P<name>\b[a-z][a-z0-9+.-]{1,20}://)(?P<value>[^\s/@:]{0,200}:[^\s/@]{1,200})(?=@)")
_SHAPES = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|glpat-[A-Za-z0-9_-]{15,255}"
    r"|hv[sbr]\.[A-Za-z0-9_-]{20,255}|xox[abprs]-[A-Za-z0-9-]{10,255}|AKIA[0-9A-Z]{16}"
    r"|eyJ[A-Za-z0-9_-]{5,2000}\.[A-Za-z0-9_-]{5,4000}(?:\.[A-Za-z0-9_-]{0,2000})?|[a-z0-9]{6}\.[a-z0-9]{16})"
    r"|\$(?:1|2[aby]|5|6|7|y|argon2id)\$[A-Za-z0-9./$,=+-]{10,300}"
)
"""Tokens by their own shape: GitHub, GitLab, Vault, Slack, AWS, JWT, kubeadm, and hashes of passwords."""

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_WITHIN = 200
"""Lines of one private key; after them it is no key any more."""


class Scrubber:
    """Scrubs one text line by line; `known` are secrets as they are. `count` is how many were taken out."""

    def __init__(self, known: Collection[str] = ()) -> None:
        self.count = 0
        self._key = 0
        mine = sorted({each for each in known if len(each) >= SHORTEST}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, mine))) if mine else None

    def line(self, text: str) -> str:
        """Return a line without secrets; the lines of a private key become one."""
        text, rest = text[:LONGEST_LINE], "\n" if len(text) > LONGEST_LINE and text.endswith("\n") else ""
        text = self._without_keys(text)
        if self._known is not None:
            text, found = self._known.subn(GONE, text)
            self.count += found
        for each in (_HEADER, _SCHEME, _URL, _KEYED, _OPTION):
            text = each.sub(self._value, text)
        text, found = _SHAPES.subn(GONE, text)
        self.count += found
        return text + rest

    def tree(self, value: Any) -> Any:
        """Return plain JSON types without secrets: each text by itself, and whatever stands under a secret's name."""
        if isinstance(value, Mapping):
            return {str(name): self._named(str(name), each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(each) for each in value]
        return self.text(value) if isinstance(value, str) else value

    def _named(self, name: str, value: Any) -> Any:
        if not _NAMED.search(name) or not isinstance(value, str) or not value:
            return self.tree(value)
        self.count += 1
        return GONE

    def text(self, text: str) -> str:
        """Return a whole text without secrets."""
        return "".join(map(self.line, text.splitlines(keepends=True)))

    def _without_keys(self, text: str) -> str:
        """Leave out private keys, which may begin in one line and end in another."""
        kept = ""
        while text:
            if self._key:
                end = _END.search(text)
                self._key = 0 if end else self._key - 1
                text = text[end.end() :] if end else ""
                continue
            begin = _BEGIN.search(text)
            if begin is None:
                return kept + text
            self.count += 1
            self._key = _WITHIN
            kept += text[: begin.start()] + GONE + ("" if _END.search(text, begin.end()) else "\n")
            text = text[begin.end() :]
            if not text.strip():
                break
        return kept

    def _value(self, found: re.Match[str]) -> str:
        option = found.groupdict().get("option")
        if GONE[:-1] in found["value"] or (option is not None and not _NAMED.search(option)):
            return found[0]
        self.count += 1
        return found["name"] + GONE
