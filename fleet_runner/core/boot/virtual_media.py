"""A medium that a BMC shows its host as a drive: which slot takes ours, whose is in it, and how it is asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

INSERT, EJECT = "#VirtualMedia.InsertMedia", "#VirtualMedia.EjectMedia"

SUFFIX = ".iso"
"""BMCs tell a medium by its name's end, and refuse others."""

OPTICAL = frozenset({"CD", "DVD"})

UPLOADED = ("RDOC", "Remote")
"""Lenovo's slots whose media are uploaded into the XCC, or mounted from a file share."""

MORE: Mapping[str, Any] = {
    "TransferProtocolType": "",
    "TransferMethod": "Stream",
    "Inserted": True,
    "WriteProtected": True,
}
"""What some BMCs want beside the address; a Supermicro X11 refuses it (openstack/sushy), so it is sent on request."""

LICENSED = ("licens", "sft-dcms", "sft-oob")
"""In the words of a BMC that has no licence for it: HPE's, and Supermicro's with the licence's name."""

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """The slot that takes our medium, or has it; "" and why not, where there is none."""

    slot: str = ""
    why: str = ""


def choose(slots: Mapping[str, Body], address: str, *, patched: bool = False) -> Choice:
    """Return the slot for a medium, of a BMC's resources; with `patched` its slots are changed by PATCH (Lenovo's).

    A medium that somebody else inserted stays, and ours does not go beside it: which one a host boots, nobody knows.
    """
    optical = {uri: body for uri, body in slots.items() if OPTICAL.intersection(_listed(body.get("MediaTypes")))}
    for uri, body in optical.items():
        if taken(body) and not ours(body, address):
            return Choice(
                why=f"{uri} has a medium in it that is not ours ({_name(body)}), and it stays there; once it is"
                " needed no more, eject it, then retry"
            )
    able = [uri for uri, body in optical.items() if insertion(body)]
    if not able and patched:
        able = [uri for uri, body in optical.items() if "Image" in body and not _uploaded(body)]
    if not able:
        return Choice(why=f"of its {len(slots)} slots for virtual media none takes an image by its address")
    return Choice(next((uri for uri in able if taken(optical[uri])), able[0]))


def insertion(body: Body) -> str:
    """Return where a medium is inserted by the slot's action; "" where it has none."""
    return _target(body, INSERT)


def ejection(body: Body) -> str:
    """Return where a medium is ejected by the slot's action; "" where it has none."""
    return _target(body, EJECT)


def taken(body: Body) -> bool:
    """Whether something is in a slot; one that does not say is free only without an image."""
    inserted = body.get("Inserted")
    return inserted if isinstance(inserted, bool) else bool(body.get("Image"))


def ours(body: Body, address: str) -> bool:
    """Whether what is in a slot is the medium of an address; some BMCs show nothing of it but the file's name."""
    image = str(body.get("Image") or body.get("ImageName") or "")
    return image == address if "://" in image else _last(image) == _last(address)


def connected(body: Body) -> bool:
    """Whether a medium that is in its slot can be read: a BMC may take an address that it cannot reach."""
    return taken(body) and body.get("ConnectedVia") != "NotConnected"


def more(sent: Body, words: str) -> Body | None:
    """Return a request again with what a BMC said is missing in it; None where it misses nothing that we know."""
    missing = next((name for name in MORE if name in words and name not in sent), None)
    if missing is None:
        return None
    scheme = str(sent["Image"]).partition(":")[0].upper()
    return {**sent, missing: MORE[missing] or scheme}


def unlicensed(words: str) -> bool:
    """Whether a BMC refuses for want of a licence."""
    return any(sign in words.lower() for sign in LICENSED)


def switched_off(manager: Body, system: Body) -> str:
    """Say by which setting a BMC has no virtual media now; "" where it shows none (AMI's, Dell's, Supermicro's)."""
    ami = _mapping(_mapping(_mapping(manager.get("Oem")).get("Ami")).get("VirtualMedia"))
    if ami.get("RMediaStatus") == "Disabled":
        return "its Oem.Ami.VirtualMedia.RMediaStatus is Disabled; enable remote media (AMIVirtualMedia.EnableRMedia)"
    if _mapping(system.get("VirtualMediaConfig")).get("ServiceEnabled") is False:
        return "its system's VirtualMediaConfig.ServiceEnabled is false; set it to true"
    return ""


def _target(body: Body, name: str) -> str:
    target = _mapping(_mapping(body.get("Actions")).get(name)).get("target")
    return target if isinstance(target, str) else ""


def _uploaded(body: Body) -> bool:
    return str(body.get("Id") or "").startswith(UPLOADED)


def _name(body: Body) -> str:
    """Return a medium's name, without what stands before it: an address may hold a password."""
    image = _last(str(body.get("ImageName") or body.get("Image") or "").partition("?")[0])
    return repr(image[:80]) if image else "without a name"


def _last(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _listed(found: object) -> list[Any]:
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _mapping(found: object) -> Body:
    return found if isinstance(found, Mapping) else {}
