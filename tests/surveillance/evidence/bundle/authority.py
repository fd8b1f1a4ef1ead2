"""A time stamp authority: OpenSSL's own, behind a small HTTP server."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CONFIG = """
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[tsa]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[tsa_config]
serial = {folder}/serial
crypto_device = builtin
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
ordering = yes
tsa_name = no
ess_cert_id_chain = no
ess_cert_id_alg = sha256
"""


@dataclass(frozen=True, slots=True)
class Authority:
    """Where it answers, and its root certificate."""

    url: str
    root: Path


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def _make(folder: Path) -> None:
    config = folder / "openssl.cnf"
    config.write_text(CONFIG.format(folder=folder))
    (folder / "serial").write_text("01\n")
    for name in ("ca", "tsa"):
        key = folder / f"{name}.key"
        _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        _openssl(
            "req", "-new", "-config", config, "-key", key, "-subj",
            f"/CN=test {name}", "-out", folder / f"{name}.csr",
        )  # fmt: skip
    extensions = ("-extfile", config, "-days", "30", "-sha256")
    _openssl(
        "x509", "-req", "-in", folder / "ca.csr", "-signkey", folder / "ca.key", *extensions,
        "-extensions", "ca", "-out", folder / "ca.pem",
    )  # fmt: skip
    _openssl(
        "x509", "-req", "-in", folder / "tsa.csr", "-CA", folder / "ca.pem", "-CAkey",
        folder / "ca.key", "-set_serial", "2", *extensions, "-extensions", "tsa", "-out",
        folder / "tsa.pem",
    )  # fmt: skip


@contextlib.contextmanager
def authority(folder: Path) -> Iterator[Authority]:
    """A running authority whose files lie in `folder`."""
    folder.mkdir()
    _make(folder)

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query, reply = folder / "query.tsq", folder / "reply.tsr"
            query.write_bytes(self.rfile.read(int(self.headers["content-length"])))
            _openssl(
                "ts", "-reply", "-config", folder / "openssl.cnf", "-section", "tsa_config",
                "-queryfile", query, "-out", reply,
            )  # fmt: skip
            self.send_response(200)
            self.send_header("content-type", "application/timestamp-reply")
            self.end_headers()
            self.wfile.write(reply.read_bytes())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Authority(f"http://127.0.0.1:{server.server_address[1]}/", folder / "ca.pem")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
