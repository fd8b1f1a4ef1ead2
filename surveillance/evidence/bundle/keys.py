"""Ed25519 keys that sign the log: the private one signs, the public one can only check.

The private key is PEM (PKCS #8) in a file that only its owner may read, outside of the
evidence folder; the public key lies beside it, named `.pub`, to be given to whoever is to
check the evidence. Signatures by RFC 8032.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from settlement.errors import FeltwatchError
from settlement.input_file import reading
from surveillance.evidence.bundle.canonical import canonical_json
from surveillance.staging import write_error

SignedState = Literal["own", "false", "other", "none"]
"""Signed by the key; said to be but is not; signed by another key; not signed."""

PUBLIC_SUFFIX = ".pub"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class VerifyKey:
    """A public key; `id` names it in every line that its private key signed.

    >>> key = SigningKey.make()
    >>> note = key.sign({"n": 1}, "note")
    >>> key.public.state(note, "note"), key.public.state({**note, "n": 2}, "note")
    ('own', 'false')
    >>> SigningKey.make().public.state(note, "note"), key.public.state({"n": 1}, "note")
    ('other', 'none')
    """

    def __init__(self, key: Ed25519PublicKey) -> None:
        self._key = key
        self.id = hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]

    @classmethod
    def load(cls, path: Path) -> VerifyKey:
        """The key in a file, of a private key its public part. Raises FeltwatchError."""
        data = _read(path)
        try:
            if b"PRIVATE KEY" in data:
                return _private(path, data).public
            key = serialization.load_pem_public_key(data)
        except ValueError:
            raise FeltwatchError(f"{path}: is no key in PEM form") from None
        if not isinstance(key, Ed25519PublicKey):
            raise FeltwatchError(f"{path}: is no Ed25519 key")
        return cls(key)

    def state(self, value: Mapping[str, Any], what: str) -> SignedState:
        """Return the signature's state of an object that may carry one; `what` is its kind."""
        signature, key = value.get("signature"), value.get("key")
        if signature is None and key is None:
            return "none"
        if key != self.id:
            return "other"
        try:
            self._key.verify(bytes.fromhex(str(signature)), _message(value, what))
        except (InvalidSignature, ValueError):
            return "false"
        return "own"

    def to_pem(self) -> bytes:
        """The text of a key file."""
        return self._key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


class Signer(Protocol):
    """Holder of a private key that signs with it: the library's own key, or a token."""

    def public_key(self) -> Ed25519PublicKey:
        """The public part."""

    def sign(self, data: bytes, /) -> bytes:
        """The signature by RFC 8032, 64 bytes."""


class SigningKey:
    """A private key; see `VerifyKey` for what it makes and how that is checked.

    >>> sorted(SigningKey.make().sign({"n": 1}, "note"))
    ['key', 'n', 'signature']
    """

    def __init__(self, key: Signer) -> None:
        """Sign with a key of the library, or of a token
        (`surveillance.evidence.bundle.pkcs11_key`)."""
        self._key = key
        self.public = VerifyKey(key.public_key())

    @classmethod
    def make(cls) -> SigningKey:
        """A new key."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Path) -> SigningKey:
        """The private key in a file that nobody else may read. Raises FeltwatchError."""
        data = _read(path)
        if path.stat().st_mode & _OTHERS:
            raise FeltwatchError(f"{path}: others may read this private key: chmod 600 {path}")
        try:
            return _private(path, data)
        except ValueError:
            raise FeltwatchError(f"{path}: is no private key in PEM form") from None

    def sign(self, value: Mapping[str, Any], what: str) -> dict[str, Any]:
        """The object with `key` and `signature`, which is over all other keys and its kind."""
        named = {**value, "key": self.public.id}
        return {**named, "signature": self._key.sign(_message(named, what)).hex()}

    def write(self, path: Path) -> None:
        """Write a key file that only its owner may read. Raises FeltwatchError."""
        if not isinstance(self._key, Ed25519PrivateKey):
            raise FeltwatchError(f"{path}: the key of a token cannot be written to a file")
        data = self._key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        part = path.with_name(path.name + ".partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                part.unlink()
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            part.replace(path)
        except OSError as error:
            raise write_error(path, error) from error


def public_path(path: Path) -> Path:
    """Return the path of the public key beside a private key file."""
    return path.with_name(path.name + PUBLIC_SUFFIX)


def _message(value: Mapping[str, Any], what: str) -> bytes:
    rest = {key: part for key, part in value.items() if key not in ("signature", "sha256")}
    # A line never counts as a head record, nor for a signature of another program.
    return f"feltwatch {what}\n".encode() + canonical_json(rest)


def _private(path: Path, data: bytes) -> SigningKey:
    try:
        key = serialization.load_pem_private_key(data, None)
    except TypeError:
        raise FeltwatchError(f"{path}: the key needs a password: give one without") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise FeltwatchError(f"{path}: is no Ed25519 key")
    return SigningKey(key)


def _read(path: Path) -> bytes:
    with reading(path):
        return path.read_bytes()
