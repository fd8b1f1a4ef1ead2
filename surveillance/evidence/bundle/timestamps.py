"""Time stamps of checkpoints by an outside authority (RFC 3161): who holds the key cannot redate.

A token lies beside the file of checkpoints, named by the hash of the checkpoint that it is of.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path

import httpx
from cryptography import x509
from rfc3161_client import (
    TimestampRequestBuilder,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle.checkpoint import Checkpoint
from surveillance.staging import write_error

ENDING = ".tsr"
ANSWER_WITHIN_S = 20.0
_HEADERS = {"content-type": "application/timestamp-query"}


def request_timestamp(checkpoint: Checkpoint, url: str, authority: Path) -> bytes:
    """Return an authority's token for a checkpoint, checked against the root certificate.

    Raises FeltwatchError when the authority does not answer, refuses, or its token is not good.
    """
    data = checkpoint.to_bytes()
    request = TimestampRequestBuilder().data(data).build()
    try:
        answer = httpx.post(
            url, content=request.as_bytes(), headers=_HEADERS, timeout=ANSWER_WITHIN_S
        )
        answer.raise_for_status()
    except httpx.HTTPError as error:
        raise FeltwatchError(f"{url}: gave no time stamp: {error}") from error
    try:
        response = decode_timestamp_response(answer.content)
        root = x509.load_pem_x509_certificate(authority.read_bytes())
        verifier = VerifierBuilder.from_request(request).add_root_certificate(root).build()
        verifier.verify_message(response, data)
    except (ValueError, VerificationError, OSError) as error:
        raise FeltwatchError(f"{url}: its time stamp is not good: {error}") from error
    return answer.content


def write_timestamp(folder: Path, checkpoint: Checkpoint, token: bytes) -> Path:
    """Keep a token beside the checkpoints. Raises FeltwatchError."""
    path = timestamp_path(folder, checkpoint)
    try:
        path.write_bytes(token)
    except OSError as error:
        raise write_error(path, error) from error
    return path


def timestamp_path(folder: Path, checkpoint: Checkpoint) -> Path:
    """Return the path of a checkpoint's time stamp token."""
    digest = hashlib.sha256(checkpoint.to_bytes()).hexdigest()
    return folder / f"{checkpoint.number:09d}-{digest[:16]}{ENDING}"


def stamped_at(token: bytes, checkpoint: Checkpoint, authority: Path) -> datetime:
    """Return when an authority saw a checkpoint, UTC. Raises FeltwatchError when it did not."""
    try:
        response = decode_timestamp_response(token)
        root = x509.load_pem_x509_certificate(authority.read_bytes())
        VerifierBuilder().add_root_certificate(root).build().verify_message(
            response, checkpoint.to_bytes()
        )
    except OSError as error:
        raise FeltwatchError(f"{authority}: {error.strerror or error}") from error
    except (ValueError, VerificationError) as error:
        raise FeltwatchError(f"is no time stamp of this checkpoint: {error}") from error
    return response.tst_info.gen_time
