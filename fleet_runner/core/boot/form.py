"""What machines send: the fields of a query or a form, and what cloud-init tells when it phones home."""

import binascii
import re
from base64 import b64decode
from dataclasses import dataclass

MOST_KEYS = 8
"""Host keys that one node may tell."""

ABSENT = "N/A"
"""What cloud-init posts for what it does not have."""

_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")
_TEXT = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*")
_KEY = re.compile(r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) +([A-Za-z0-9+/]{40,2000}={0,2})(?: .*)?")


@dataclass(frozen=True, slots=True)
class PhonedForm:
    """What a node posts: its instance id, its name, and its ssh host keys without their comments."""

    instance_id: str
    hostname: str
    host_keys: tuple[str, ...]


def fields(text: bytes, *, plus: bool = False) -> dict[str, str]:
    """Return the fields of a query; the first of a name counts. In a form, `plus` is a space."""
    found: dict[str, str] = {}
    for part in text.split(b"&"):
        name, _, value = part.partition(b"=")
        if name:
            found.setdefault(_decoded(name, plus=plus), _decoded(value, plus=plus))
    return found


def phoned(body: bytes) -> PhonedForm | str:
    """Return what a phone-home tells, or why it is none."""
    try:
        form = {name: value.strip() for name, value in fields(body.decode("ascii").encode(), plus=True).items()}
    except UnicodeDecodeError:
        return "found bytes that are no text, expected cloud-init's form"
    if not all(_TEXT.fullmatch(text) for pair in form.items() for text in pair):
        return "found control characters, expected cloud-init's form"
    told = [value for name, value in form.items() if name.startswith("pub_key_") and value not in ("", ABSENT)]
    if "instance_id" not in form or len(told) > MOST_KEYS:
        return f"found {len(form)} fields, expected instance_id and at most {MOST_KEYS} host keys"
    keys = [_host_key(value) for value in told]
    if None in keys:
        return "found a host key that is none, expected lines like ssh-ed25519 AAAA…"
    return PhonedForm(form["instance_id"], form.get("hostname", ""), tuple(filter(None, keys)))


def _host_key(line: str) -> str | None:
    """Return a public key without its comment; its kind stands inside the blob once more."""
    found = _KEY.fullmatch(line)
    if found is None:
        return None
    try:
        blob = b64decode(found[2], validate=True)
    except binascii.Error:
        return None
    kind = found[1].encode()
    return f"{found[1]} {found[2]}" if blob.startswith(len(kind).to_bytes(4, "big") + kind) else None


def _decoded(text: bytes, *, plus: bool) -> str:
    if plus:
        text = text.replace(b"+", b" ")
    if b"%" in text:
        text = _ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode("ascii")), text)
    return text.decode("utf-8", "replace")
