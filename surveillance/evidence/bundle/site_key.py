"""The key of a site: made at the first start, and the log that it takes over then."""

from __future__ import annotations

from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle.chain import Chain, locked
from surveillance.evidence.bundle.keys import Signer, SigningKey, VerifyKey, public_path
from surveillance.staging import write_error

LOCK_FILE = "key.lock"
"""In the evidence folder: held while the key is made."""

NEW_SUFFIX = ".new"
"""A key of this ending has yet to take the log over; an own one may be put there as well."""


def site_key(path: Path, evidence_dir: Path) -> SigningKey:
    """The key in the file `path`, made when there is none; the public key lies beside it.

    A new key takes over the folder's log as it is, once: a log that is later found without
    its signature is reported as altered. Raises FeltwatchError for a key inside of the evidence
    folder, one that others may read, or a disk that takes nothing.
    """
    check_key_place(path, evidence_dir)
    if not path.exists():
        try:
            evidence_dir.mkdir(parents=True, exist_ok=True)
            # Workers that start together would each make one.
            with locked(evidence_dir / LOCK_FILE):
                if not path.exists():
                    _make(path, evidence_dir)
        except OSError as error:
            raise write_error(path, error) from error
    key = SigningKey.load(path)
    _write_public(public_path(path), key.public)
    return key


def _make(path: Path, evidence_dir: Path) -> None:
    """Make the key. Raises FeltwatchError or OSError."""
    new = path.with_name(path.name + NEW_SUFFIX)
    if not new.exists():
        SigningKey.make().write(new)
    # Only when the log has taken it does the key stand under its name: a crash between
    # the two would look like a log that somebody put there without the key.
    Chain.of(evidence_dir, SigningKey.load(new)).begin_signing()
    new.replace(path)


def token_key(signer: Signer, public_file: Path, evidence_dir: Path) -> SigningKey:
    """The key of a token (PKCS#11), whose public key is written to `public_file`.

    A key that the file does not hold yet takes the folder's log over as it stands. Raises
    FeltwatchError when the disk takes nothing or the token does not sign.
    """
    key = SigningKey(signer)
    if not public_file.exists() or VerifyKey.load(public_file).id != key.public.id:
        Chain.of(evidence_dir, key).begin_signing()
    _write_public(public_file, key.public)
    return key


def check_key_place(path: Path, evidence_dir: Path) -> None:
    """Raise FeltwatchError when the key would lie where those may write whom it guards against."""
    if path.resolve().is_relative_to(evidence_dir.resolve()):
        raise FeltwatchError(
            f"{path}: the key lies in the evidence folder {evidence_dir}, beside what it is to "
            "guard: name a file elsewhere"
        )


def _write_public(path: Path, key: VerifyKey) -> None:
    text = key.to_pem()
    try:
        if not path.exists() or path.read_bytes() != text:
            path.write_bytes(text)
    except OSError as error:
        raise write_error(path, error) from error
