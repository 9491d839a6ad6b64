"""Asks one switch over gNMI, which only reads, and prints its answer: `python -m fleet_runner.adapters.gnmi … PATH`.

A process of its own for each question, as ssh is: whoever started it ends it, and gRPC's threads never meet a fork.
Both sides show a certificate (TLS), so that there is no password to keep or to lock.

It prints {"updates": [{"path": "lldp/interfaces", "val": {...}}]}, and ends with 0; with 1 if the switch refuses, and
with 255 if nothing was asked, as ssh does; the last line of its errors says why.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from fleet_runner.core.cabling.switches import SONIC_TARGET, gnmi_path

REFUSED, NO_CONNECTION = 1, 255

MOST_BYTES = 32 * 1024 * 1024
"""Of one answer; gRPC's own limit, 4 MiB, is less than the largest switches say of their interfaces."""

_MODULES = ("grpc", "pygnmi.spec.v080.gnmi_pb2", "pygnmi.spec.v080.gnmi_pb2_grpc")

_NO_SESSION = ("UNAVAILABLE", "UNAUTHENTICATED")
"""States of gRPC in which the switch has not heard the question."""

_PLAIN = frozenset({"string_val", "int_val", "uint_val", "bool_val", "float_val", "double_val", "ascii_val"})


def main() -> None:
    """Ask, print, and end."""
    parser = argparse.ArgumentParser(
        prog="fleet_runner.adapters.gnmi", description="Reads a path of a switch over gNMI."
    )
    parser.add_argument("--ca", type=Path, required=True, help="certificates that the switch's must be signed by")
    parser.add_argument("--certificate", type=Path, required=True, help="our certificate, which the switch knows")
    parser.add_argument("--key", type=Path, required=True, help="its key")
    parser.add_argument("--name", default="", help="the name in the switch's certificate, if it is not its address")
    parser.add_argument("--seconds", type=float, default=30, help="how long each of the two calls may take")
    parser.add_argument("address", help="HOST:PORT")
    parser.add_argument("path", help="such as /openconfig-lldp:lldp/interfaces")
    asked = parser.parse_args()
    try:
        grpc, messages, stubs = (import_module(name) for name in _MODULES)
    except ImportError:
        _end(NO_CONNECTION, "gNMI needs packages that are not installed: pip install 'fleet-runner[gnmi]'")
    try:
        files = [path.read_bytes() for path in (asked.ca, asked.key, asked.certificate)]
    except OSError as error:
        _end(NO_CONNECTION, f"{error.filename}: {error.strerror}")
    options = [("grpc.max_receive_message_length", MOST_BYTES), ("grpc.enable_http_proxy", 0)]
    options += [("grpc.ssl_target_name_override", asked.name)] if asked.name else []
    with grpc.secure_channel(asked.address, grpc.ssl_channel_credentials(*files), options) as channel:
        try:
            told = list(_answer(messages, stubs.gNMIStub(channel), asked.path, asked.seconds))
        except grpc.RpcError as error:
            state = error.code().name
            _end(NO_CONNECTION if state in _NO_SESSION else REFUSED, f"{state}: {_line(error.details())}")
        except ValueError:
            _end(REFUSED, "it answered with a value that is not JSON")
    sys.stdout.write(json.dumps({"updates": told}))


def _answer(messages: Any, switch: Any, path: str, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield each update of what a path holds now."""
    able = switch.Capabilities(messages.CapabilityRequest(), timeout=seconds)
    origin, elements = gnmi_path(path, [model.name for model in able.supported_models])
    encodings = list(able.supported_encodings)
    answer = switch.Get(
        messages.GetRequest(
            prefix=messages.Path(target="" if origin else SONIC_TARGET),
            path=[messages.Path(origin=origin, elem=[messages.PathElem(name=name) for name in elements])],
            encoding=messages.JSON if messages.JSON_IETF not in encodings else messages.JSON_IETF,
        ),
        timeout=seconds,
    )
    for told in answer.notification:
        for update in told.update:
            yield {"path": _written([*told.prefix.elem, *update.path.elem]), "val": _value(update.val)}


def _written(elements: Any) -> str:
    """Return a path as text, as gNMI's specification writes it."""
    return "/".join(
        each.name + "".join(f"[{key}={_escaped(value)}]" for key, value in sorted(each.key.items()))
        for each in elements
    )


def _escaped(value: str) -> str:
    return re.sub(r"([\]\\])", r"\\\1", value)


def _value(told: Any) -> Any:
    """Return a value; None for those of other encodings, which nobody asked for."""
    kind = told.WhichOneof("value")
    if kind in {"json_ietf_val", "json_val"}:
        return json.loads(getattr(told, kind))
    return getattr(told, kind) if kind in _PLAIN else None


def _line(told: str | None) -> str:
    """Return what a switch says of an error in one line; it may be anything."""
    return " ".join("".join(each if each.isprintable() else " " for each in told or "").split())[:300]


def _end(code: int, why: str) -> NoReturn:
    sys.stderr.write(f"{why}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
