"""How BMCs refuse images, or answer to them, in ways that people have reported: faults of the event `upload`.

Each is one that some maker's BMC has by itself; here it is set by a rule, as all faults are. A number is that of a
public issue or pull request; where there is none, the manner is in the maker's documents.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fleet_runner.lab.redfish.multipart import Parts
from fleet_runner.lab.redfish.wire import Refused, Reply, Request

Faults = Mapping[str, Mapping[str, Any]]


class Quirk(NamedTuple):
    """What a fault of uploads does: its options with their defaults, and a sentence with where it was reported."""

    sentence: str
    options: Mapping[str, Any] = {}


QUIRKS: Mapping[str, Quirk] = {
    # before the image is read
    "busy": Quirk("answers 503 in Redfish's words, as while another update is sent (Lenovo XCC, BlueField)"),
    "bare_503": Quirk("answers 503 in HTML, as a web server whose Redfish service has died (openbmc/bmcweb #30)"),
    "in_update_mode": Quirk("is in update mode since an update that was left (Supermicro X12, bmclib #363)"),
    "no_license": Quirk("answers 403, as it has no license for updates (Supermicro, Dasharo/dasharo-issues #327)"),
    "no_such_uri": Quirk("answers 405, as images go elsewhere since an update (openbmc-test-automation #2260)"),
    "too_large": Quirk("answers 413 to an image that it has not announced to be too large (Lenovo XCC)"),
    "no_space": Quirk("answers 507, as its file system is full (openbmc/openbmc #1718)"),
    "internal_error": Quirk("answers 500 and takes nothing (openbmc/bmcweb #146, #301)"),
    "error_in_success": Quirk("answers 200 with an error in the text, and takes nothing (openbmc/openbmc #3955)"),
    "reads_part": Quirk("reads so many bytes, and calls the image damaged (openbmc/openbmc #1703)", {"bytes": 100}),
    "wants_length": Quirk("answers 411 to an image without Content-Length (block/proto-fleet #427)"),
    "bare_boundary": Quirk("cannot read a form whose boundary is quoted (dell/iDRAC-Redfish-Scripting #41)"),
    # by what the form says
    "parameters_first": Quirk("wants UpdateParameters before the image (DSP0266)"),
    "plain_parameters": Quirk("takes no UpdateParameters that look like a file (NVIDIA, ocp-diag-ctam #73)"),
    "wants_extension": Quirk("wants the file's name to end so (Lenovo XCC, xcat2 confluent)", {"ending": ".uxz"}),
    "known_parameters": Quirk(
        "knows no other UpdateParameters (ForceUpdate: ocp-diag-ctam #45)",
        {"names": "Targets @Redfish.OperationApplyTime Oem"},
    ),
    "no_targets": Quirk("finds out by itself what an image is for, and takes no Targets (GB200, libredfish #39)"),
    "wants_targets": Quirk("takes no image without Targets (openbmc/bmcweb)"),
    "one_target": Quirk("takes one of Targets at a time (openbmc/bmcweb)"),
    "resource_targets": Quirk("takes BMC and BIOS for their Manager and Bios alone (Supermicro X12, X13)"),
    "wants_oem": Quirk("wants to be told what a BMC or BIOS keeps (Supermicro, fwupd #4836)"),
    "known_oem": Quirk(
        "keeps nothing else than its model does (Supermicro X12, bmclib #363)",
        {"names": "PreserveME PreserveNVRAM PreserveSMBIOS BackupBIOS PreserveCfg PreserveSdr PreserveSsl BackupBMC"},
    ),
    "wants_apply_time": Quirk("waits for StartUpdate unless it is to begin at once (Supermicro, fwupd #4836)"),
    # of what it is to fetch
    "bare_address": Quirk("takes host and path of what it fetches, without a scheme (BlueField)"),
    # in its answer to an image that it took
    "internal_error_taken": Quirk("takes the image, and answers 500 as that took long (ibm-openbmc/bmcweb #432)"),
    "accepted_message": Quirk("names the task in the arguments of a message alone (Supermicro X12, fwupd #4836)"),
    "names_no_task": Quirk("takes the image, and answers with nothing"),
}

LISTED = ("/FirmwareInventory/BMC", "/FirmwareInventory/BIOS")
NAMED = ("/Managers/1", "/Systems/1", "/Systems/1/Bios")
"""What a Supermicro's BMC and BIOS are called: as they are listed, and as what they are about."""

HEAD: Mapping[str, tuple[int, str, str]] = {
    "busy": (503, "another update is being sent", "ServiceTemporarilyUnavailable"),
    "bare_503": (503, "the service is down", "GeneralError"),
    "in_update_mode": (400, "the BMC is in update mode already", "OemFirmwareAlreadyInUpdateMode"),
    "no_license": (403, "not licensed to perform this request; needed: DCMS", "OemLicenseNotPassed"),
    "no_such_uri": (405, "POST is not possible here", "OperationNotAllowed"),
    "too_large": (413, "the file is too large", "PayloadTooLarge"),
    "no_space": (507, "no space is left on the device", "InsufficientStorage"),
    "internal_error": (500, "the request failed due to an internal service error", "InternalError"),
    "error_in_success": (200, "the request failed due to an internal service error", "InternalError"),
}
"""What is answered without a look at the image."""


def head(faults: Faults, request: Request) -> None:
    """Raise Refused where a fault refuses a request by its head."""
    for name, (status, message, code) in HEAD.items():
        if name in faults:
            refused = Refused(status, message, code)
            if name == "bare_503":
                refused.reply.body = b"<html><h1>503 Service Unavailable</h1></html>"
            raise refused
    if "wants_length" in faults and request.sending.length is None:
        raise Refused(411, "Content-Length is missing", "HeaderMissing")
    if "bare_boundary" in faults and 'boundary="' in request.headers.get("content-type", ""):
        raise Refused(400, "the form does not begin", "MalformedMultipart")


def form(faults: Faults, parts: Parts, said: Mapping[str, Any]) -> None:
    """Raise Refused where a fault refuses a form by its parts, or by its UpdateParameters, `said`."""
    if "parameters_first" in faults and parts.names[:1] != ["UpdateParameters"]:
        raise Refused(400, "UpdateParameters must come first", "ActionParameterMissing")
    if "plain_parameters" in faults and "UpdateParameters" in parts.files:
        raise Refused(400, "UpdateParameters is a file", "MalformedMultipart")
    if "wants_extension" in faults and not parts.file_name.endswith(str(faults["wants_extension"]["ending"])):
        raise Refused(400, f"the file's name {parts.file_name} has another ending", "InvalidImage")
    if "known_parameters" in faults:
        _known(said, faults["known_parameters"])
    targets = [str(target) for target in said.get("Targets") or []]
    _aimed(faults, targets)
    _kept(faults, said, targets)
    if "wants_apply_time" in faults and said.get("@Redfish.OperationApplyTime") != "Immediate":
        raise Refused(400, "the update waits for StartUpdate, which nobody asks for", "OperationNotAllowed")


def _aimed(faults: Faults, targets: Sequence[str]) -> None:
    """Raise Refused where a fault refuses what an image is for."""
    if "no_targets" in faults and targets:
        raise Refused(400, "the object at Targets is invalid", "InvalidObject")
    if ("wants_targets" in faults and not targets) or ("one_target" in faults and len(targets) > 1):
        raise Refused(400, "Targets must name one resource", "ActionParameterMissing")
    if "resource_targets" in faults and any(target.endswith(LISTED) for target in targets):
        raise Refused(400, "the target must be the Manager or the Bios", "ActionParameterValueError")


def _kept(faults: Faults, said: Mapping[str, Any], targets: Sequence[str]) -> None:
    """Raise Refused where a fault refuses what a Supermicro is told to keep."""
    oem = said.get("Oem")
    kinds = oem.get("Supermicro") if isinstance(oem, Mapping) else None
    if "wants_oem" in faults and not kinds and any(target.endswith(LISTED + NAMED) for target in targets):
        raise Refused(400, "what is kept is missing", "ActionParameterMissing")
    for kept in kinds.values() if "known_oem" in faults and isinstance(kinds, Mapping) else ():
        _known(kept, faults["known_oem"])


def fetched(faults: Faults, said: Mapping[str, Any]) -> None:
    """Raise Refused where a fault refuses what a SimpleUpdate says."""
    if "bare_address" in faults and "://" in str(said.get("ImageURI")):
        raise Refused(400, "ImageURI is not host and path", "ActionParameterValueFormatError")


def answered(faults: Faults, reply: Reply, task: str) -> Reply:
    """Return what an image that was taken is answered, `task` being the URI of its task."""
    if "internal_error_taken" in faults:
        return Refused(500, "the request failed due to an internal service error", "InternalError").reply
    if "names_no_task" in faults:
        return Reply(202)
    if "accepted_message" in faults:
        message = {"MessageId": "SMC.1.0.OemSimpleupdateAcceptedMessage", "MessageArgs": [task]}
        return Reply(202, {"Accepted": {"@Message.ExtendedInfo": [message]}})
    return reply


def _known(said: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    unknown = [name for name in said if name not in str(options["names"]).split()]
    if unknown:
        raise Refused(400, f"the property {unknown[0]} is not known here", "PropertyUnknown")
