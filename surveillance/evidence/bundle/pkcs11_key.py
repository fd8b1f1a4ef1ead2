"""The site's key in a PKCS#11 token: a smart card or an HSM signs, and never gives the key away."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pkcs11
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pkcs11 import Attribute, KeyType, Mechanism, ObjectClass
from pkcs11.exceptions import PKCS11Error

from settlement.errors import FeltwatchError

_POINT_BYTES = 32


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """Location of a key: PKCS #11 library, token label, key label and PIN."""

    module: Path
    token: str
    label: str
    pin: str

    def __str__(self) -> str:
        """Name it without the PIN."""
        return f"pkcs11:token={self.token};object={self.label}"


class TokenSigner:
    """An Ed25519 key of a token that signs (CKM_EDDSA); for any number of threads."""

    def __init__(self, place: TokenPlace) -> None:
        """Open the token. Raises FeltwatchError naming what is missing."""
        self._place = place
        self._lock = threading.Lock()  # one session signs one thing at a time
        try:
            token = pkcs11.lib(str(place.module)).get_token(token_label=place.token)
            self._session = token.open(user_pin=place.pin)
            self._key: Any = self._session.get_key(ObjectClass.PRIVATE_KEY, label=place.label)
            public = self._session.get_key(ObjectClass.PUBLIC_KEY, label=place.label)
        except (PKCS11Error, RuntimeError) as error:
            why = str(error) or type(error).__name__
            raise FeltwatchError(
                f"{place}: cannot be used ({why}): check pkcs11_module, pkcs11_token, "
                "pkcs11_label and the PIN"
            ) from error
        if self._key.key_type != KeyType.EC_EDWARDS:
            raise FeltwatchError(f"{place}: is no Ed25519 key")
        # The point stands by itself or within an OCTET STRING, by who made the token.
        point = bytes(public[Attribute.EC_POINT])[-_POINT_BYTES:]
        self._public = Ed25519PublicKey.from_public_bytes(point)

    def public_key(self) -> Ed25519PublicKey:
        """The public part."""
        return self._public

    def sign(self, data: bytes) -> bytes:
        """Return the signature, 64 bytes. Raises FeltwatchError, as for a card taken out."""
        try:
            with self._lock:
                return bytes(self._key.sign(data, mechanism=Mechanism.EDDSA))
        except PKCS11Error as error:
            why = str(error) or type(error).__name__
            raise FeltwatchError(f"{self._place}: does not sign: {why}") from error

    def close(self) -> None:
        """End the session with the token."""
        self._session.close()
