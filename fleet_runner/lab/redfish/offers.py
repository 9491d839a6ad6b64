"""What a client offers for an update: an image, the entries it is meant for, and whether it may go backwards."""

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from fleet_runner.lab.redfish import images, multipart, upload_quirks
from fleet_runner.lab.redfish.multipart import File
from fleet_runner.lab.redfish.trees import Tree, clean
from fleet_runner.lab.redfish.upload_quirks import Faults
from fleet_runner.lab.redfish.wire import Refused, Request

NOT_RUNNING = ("Backup_*", "Golden_*", "Staging_*", "Previous-*", "Capsule_*")


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """An image that was read in whole, and what is asked for; no targets means all that the image is for.

    `oem` are the parameters of a vendor's own part of the form, None where it has none.
    """

    file: File
    targets: tuple[str, ...] = ()
    force: bool = False
    oem: Mapping[str, Any] | None = None


async def receive(request: Request, service: Mapping[str, Any], faults: Faults) -> UpdateRequest:
    """Read an image from a request, bare or as multipart, without keeping it; `faults` are those of the upload."""
    upload_quirks.head(faults, request)
    most = service.get("MaxImageSizeBytes")
    if isinstance(most, int) and (request.sending.length or 0) > most + multipart.MOST_PART_BYTES:
        raise Refused(413, f"the image is longer than MaxImageSizeBytes, {most}", "PayloadTooLarge")
    between = multipart.boundary(request.headers.get("content-type", ""))
    if between is None:
        file = File()
        async for chunk in _read(request, faults):
            file.add(chunk)
        options = service.get("HttpPushUriOptions") or {}
        return UpdateRequest(file, tuple(service.get("HttpPushUriTargets") or ()), bool(options.get("ForceUpdate")))
    parts = await multipart.parse(_read(request, faults), between)
    if parts is None:
        raise Refused(400, "the multipart body does not end", "MalformedMultipart")
    if parts.file is None:
        raise Refused(400, "the part UpdateFile is missing", "ActionParameterMissing")
    if "sessionKey" in parts.small:  # HPE's own form, which says nothing of targets
        return UpdateRequest(parts.file)
    if "UpdateParameters" not in parts.small:
        raise Refused(400, "the part UpdateParameters is missing", "ActionParameterMissing")
    said = _parameters(parts.small, "UpdateParameters")
    upload_quirks.form(faults, parts, said)
    oem = _parameters(parts.small, "OemParameters") if "OemParameters" in parts.small else None
    return UpdateRequest(parts.file, targets_of(said), bool(said.get("ForceUpdate")), oem)


async def _read(request: Request, faults: Faults) -> AsyncIterator[bytes]:
    """Give a request's body, or of it what a fault lets be read."""
    most = int(faults["reads_part"]["bytes"]) if "reads_part" in faults else None
    read = 0
    async for chunk in request.sending.chunks():
        read += len(chunk)
        if most is not None and read > most:
            raise Refused(400, f"the image ends after {most} bytes", "InvalidImage")
        yield chunk


def typed(wish: UpdateRequest, entries: Iterable[str], image_types: Mapping[str, str]) -> None:
    """Raise Refused where a BMC that has to be told what kind of image it is was told another, or nothing."""
    if image_types and wish.oem is None:
        raise Refused(400, "the part OemParameters is missing", "ActionParameterMissing")
    wanted = {kind for entry in entries for glob, kind in image_types.items() if fnmatchcase(entry, glob)}
    if wanted - {(wish.oem or {}).get("ImageType")}:
        raise Refused(400, f"the ImageType is not {' or '.join(sorted(wanted))}", "ActionParameterNotSupported")


def examine(tree: Tree, wish: UpdateRequest, gone: Sequence[str]) -> dict[str, str]:
    """Return what the wish would write, {inventory id: version}; raise Refused where it cannot be granted.

    `gone` are globs of what cannot be reached now.
    """
    image = images.read(wish.file.head, wish.file.size)
    if image is None:
        raise Refused(400, "the image is not one for this machine, or is damaged", "InvalidImage")
    if image.board and not any(fnmatchcase(board, image.board) for board in tree.boards):
        raise Refused(400, f"the image is for the board {image.board}, which this is not", "InvalidImage")
    versions: dict[str, str] = {}
    for target, entries in _chosen(tree, wish.targets).items():
        ids = {entry: str(tree.get(tree.entries[entry]).get("SoftwareId") or "") for entry in entries}
        found = {entry: image.brings(entry, software_id) for entry, software_id in ids.items()}
        brought = {entry: version for entry, version in found.items() if version is not None}
        if not brought:
            raise Refused(400, f"the image holds nothing for {target or 'this machine'}", "InvalidImage")
        versions |= brought
    for entry in versions:
        _writable(tree, entry, gone)
    along = {entry: each for entry in tree.entries for glob, each in image.along.items() if fnmatchcase(entry, glob)}
    return {**along, **versions}


def targets_of(said: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the Targets of a request."""
    targets = said.get("Targets") or []
    if not isinstance(targets, list) or not all(isinstance(each, str) for each in targets):
        raise Refused(400, "Targets is not a list of URIs", "ActionParameterValueTypeError")
    return tuple(targets)


def address_of(said: Mapping[str, Any]) -> str:
    """Return the ImageURI of a request, with the protocol that stands beside it where it has no scheme."""
    url, protocol = said.get("ImageURI"), said.get("TransferProtocol")
    if not isinstance(url, str):
        raise Refused(400, "ImageURI is missing", "ActionParameterMissing")
    return f"{protocol.lower()}://{url}" if "://" not in url and isinstance(protocol, str) else url


def any_like(versions: Mapping[str, str], glob: str) -> bool:
    """Whether any of the versions is like a glob."""
    return any(fnmatchcase(version, glob) for version in versions.values())


def _parameters(parts: Mapping[str, bytes], name: str) -> dict[str, Any]:
    try:
        said = json.loads(parts[name])
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise Refused(400, f"the part {name} is not a JSON object", "MalformedJSON")
    return said


def _chosen(tree: Tree, targets: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the inventory ids that each target names, by itself or by what they are about; "" stands for all."""
    running = [entry for entry in tree.entries if not any(fnmatchcase(entry, glob) for glob in NOT_RUNNING)]
    if not targets:
        return {"": running}
    chosen: dict[str, list[str]] = {}
    for target in targets:
        uri = clean(target)
        end = uri.rpartition("/")[2]
        if tree.entries.get(end) == uri:
            found = [end]
        elif uri == tree.inventory:
            found = running
        else:
            found = [entry for entry in running if uri in _about(tree, entry)]
            if not found and "HGX" in end and uri in tree.bodies:
                found = [entry for entry in running if entry.startswith("HGX_FW")]
        if not found:
            raise Refused(400, f"the target {target} cannot be updated", "ResourceNotFound")
        chosen[end] = found
    return chosen


def _about(tree: Tree, entry: str) -> list[str]:
    related = tree.get(tree.entries[entry]).get("RelatedItem") or []
    uris = [clean(each["@odata.id"]) for each in related if isinstance(each, dict) and "@odata.id" in each]
    return [*uris, *(uri.removesuffix("/Bios") for uri in uris if uri.endswith("/Bios"))]


def _writable(tree: Tree, entry: str, gone: Sequence[str]) -> None:
    uri = tree.entries[entry]
    if tree.get(uri).get("Updateable") is False:
        raise Refused(400, f"{entry} cannot be updated", "ActionNotSupported")
    if any(fnmatchcase(uri, glob) for glob in gone):
        raise Refused(400, f"{entry} cannot be updated while the host is off", "ResourceInStandby")
