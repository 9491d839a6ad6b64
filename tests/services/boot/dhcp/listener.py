"""Stands where the boot service listens: keeps each request as a line of JSON; told to, it never answers."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main(port: int, kept: Path, *, hangs: bool) -> None:
    """Listen until killed."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            said = {"path": self.path, "authorization": self.headers["Authorization"], "body": body}
            with kept.open("a") as stream:
                stream.write(json.dumps(said) + "\n")
            if hangs:
                time.sleep(3600)
            self.send_response(204)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print("listening", flush=True)  # noqa: T201  the test waits for it
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), hangs=sys.argv[3] == "hangs")
