"""A switch's gNMI server, as wire: it wants a certificate, and answers paths with what lies in its file.

`python gnmi_switch.py FOLDER` prints its port. FOLDER has `switch.pem`, `switch.key`, `ours.pem`, and `answers.json`:
{"models": […], "encodings": […], "paths": {"openconfig:lldp/interfaces": [[path, value], …]}}. In place of updates
there may be an error, {"state": …, "said": …}, or a command that prints the value, {"command": [word, …]}, which is
told what was asked as sshd does. SONiC's paths are asked for as "OC-YANG:openconfig-lldp:lldp/interfaces".
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from pygnmi.create_gnmi_path import gnmi_path_generator
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc


class Switch(gnmi_pb2_grpc.gNMIServicer):
    """Answers as its file says, which is read anew each time."""

    def __init__(self, folder: Path) -> None:
        self._answers = folder / "answers.json"

    def Capabilities(self, request: Any, context: Any) -> Any:  # noqa: N802  gRPC's name
        """Tell models and encodings."""
        told = json.loads(self._answers.read_text())
        return gnmi_pb2.CapabilityResponse(
            supported_models=[gnmi_pb2.ModelData(name=name) for name in told["models"]],
            supported_encodings=[gnmi_pb2.Encoding.Value(name) for name in told["encodings"]],
            gNMI_version="0.8.0",
        )

    def Get(self, request: Any, context: Any) -> Any:  # noqa: N802  likewise
        """Answer one path."""
        told = json.loads(self._answers.read_text())
        if gnmi_pb2.Encoding.Name(request.encoding) not in told["encodings"]:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "this encoding is not supported")
        [path] = request.path
        asked = f"{path.origin or request.prefix.target}:{'/'.join(each.name for each in path.elem)}"
        answer = told["paths"].get(asked)
        if answer is None:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no such path:\n {asked}")
        if "command" in answer:
            env = os.environ | {"SSH_ORIGINAL_COMMAND": asked}
            ran = subprocess.run(answer["command"], env=env, capture_output=True, check=True, text=True)
            answer = [[asked.rpartition(":")[2], ran.stdout]]
        if isinstance(answer, dict):
            context.abort(grpc.StatusCode[answer["state"]], answer["said"])
        field = "json_ietf_val" if request.encoding == gnmi_pb2.JSON_IETF else "json_val"
        return gnmi_pb2.GetResponse(
            notification=[
                gnmi_pb2.Notification(
                    prefix=request.prefix,
                    update=[
                        gnmi_pb2.Update(
                            path=gnmi_path_generator(where),
                            val=gnmi_pb2.TypedValue(**{field: value.encode()})
                            if isinstance(value, str)
                            else gnmi_pb2.TypedValue(**value),
                        )
                        for where, value in answer
                    ],
                )
            ]
        )


def certificates(folder: Path) -> None:
    """Make two authorities; a switch, of 127.0.0.1, and a runner of the first one; and a thief of the other."""

    def openssl(*words: str) -> None:
        new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
        subprocess.run(["openssl", *new, *words], check=True, capture_output=True, cwd=folder)

    for name in ("ours", "theirs"):
        openssl("-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
    for name, of, subject in (
        ("switch", "ours", "IP:127.0.0.1"),
        ("runner", "ours", "DNS:r"),
        ("thief", "theirs", "DNS:r"),
    ):
        signed = ("-CA", f"{of}.pem", "-CAkey", f"{of}.key", "-keyout", f"{name}.key", "-out", f"{name}.pem")
        openssl(*signed, "-subj", f"/CN={name}", "-addext", f"subjectAltName={subject}")


@contextmanager
def served(folder: Path) -> Iterator[dict[str, str]]:
    """Serve a folder that has certificates; yield how Ansible's variables say that the switch is reached."""
    with subprocess.Popen([sys.executable, __file__, str(folder)], stdout=subprocess.PIPE, text=True) as made:
        try:
            assert made.stdout is not None
            yield {
                "ansible_network_os": "openconfig",
                "ansible_host": "127.0.0.1",
                "ansible_port": made.stdout.readline().strip(),
                "ansible_root_certificates_file": str(folder / "ours.pem"),
                "ansible_certificate_chain_file": str(folder / "runner.pem"),
                "ansible_private_key_file": str(folder / "runner.key"),
            }
        finally:
            made.kill()


def main(folder: Path) -> None:
    """Serve until it is ended."""
    server = grpc.server(ThreadPoolExecutor(4))
    gnmi_pb2_grpc.add_gNMIServicer_to_server(Switch(folder), server)
    key, certificate, ours = ((folder / name).read_bytes() for name in ("switch.key", "switch.pem", "ours.pem"))
    credentials = grpc.ssl_server_credentials([(key, certificate)], ours, require_client_auth=True)
    port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
