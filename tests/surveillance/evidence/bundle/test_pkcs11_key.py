"""A key in a PKCS#11 token signs the log: SoftHSM2 is the token."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pkcs11 = pytest.importorskip("pkcs11")

from asn1crypto.core import PrintableString  # noqa: E402
from pkcs11 import Attribute, KeyType, Mechanism  # noqa: E402

from settlement.errors import FeltwatchError  # noqa: E402
from surveillance.evidence.bundle import (  # noqa: E402
    VerifyKey,
    verify_folder,
)
from surveillance.evidence.bundle.pkcs11_key import TokenPlace, TokenSigner  # noqa: E402
from surveillance.evidence.bundle.site_key import token_key  # noqa: E402
from tests.surveillance.evidence.bundle.evidence_made import make_evidence  # noqa: E402

LIBRARY = Path("/usr/lib/softhsm/libsofthsm2.so")
PIN = "4711"


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenPlace]:
    """A token with one Ed25519 key, as its maker's tools would leave it."""
    if not LIBRARY.is_file() or shutil.which("softhsm2-util") is None:
        if os.environ.get("CI"):
            pytest.fail("SoftHSM2 is not installed: install the package softhsm2")
        pytest.skip("SoftHSM2 is not installed")
    folder = tmp_path_factory.mktemp("hsm")
    (folder / "tokens").mkdir()
    config = folder / "softhsm2.conf"
    config.write_text(f"directories.tokendir = {folder}/tokens\n")
    before = os.environ.get("SOFTHSM2_CONF")
    os.environ["SOFTHSM2_CONF"] = str(config)
    command = ["softhsm2-util", "--init-token", "--free", "--label", "pit", "--pin", PIN]
    subprocess.run([*command, "--so-pin", "0815"], check=True, capture_output=True)
    with pkcs11.lib(str(LIBRARY)).get_token(token_label="pit").open(rw=True, user_pin=PIN) as made:
        curve = {Attribute.EC_PARAMS: PrintableString("edwards25519").dump()}
        parameters = made.create_domain_parameters(KeyType.EC_EDWARDS, curve, local=True)
        parameters.generate_keypair(
            mechanism=Mechanism.EC_EDWARDS_KEY_PAIR_GEN, store=True, label="feltwatch"
        )
    yield TokenPlace(LIBRARY, "pit", "feltwatch", PIN)
    if before is None:
        del os.environ["SOFTHSM2_CONF"]
    else:
        os.environ["SOFTHSM2_CONF"] = before


def test_evidence_signed_by_a_token_is_checked_with_its_public_key(
    token: TokenPlace, tmp_path: Path
) -> None:
    evidence, public = tmp_path / "evidence", tmp_path / "evidence-key.pem.pub"
    for first in (1, 3):  # a server, and the same one started again
        signer = TokenSigner(token)
        try:
            key = token_key(signer, public, evidence)
            make_evidence(evidence, bundles=2, key=key, first=first)
        finally:
            signer.close()
    check = verify_folder(evidence, key=VerifyKey.load(public))
    assert check.problems == ()
    assert (check.signed, check.lines, check.bundles) == (9, 9, 4)
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".pem")]
    with pytest.raises(FeltwatchError, match="cannot be written to a file"):
        key.write(tmp_path / "stolen.pem")


@pytest.mark.parametrize("wrong", ["token", "label", "pin", "module"])
def test_what_is_missing_is_named_without_the_pin(token: TokenPlace, wrong: str) -> None:
    changed = {"token": token.token, "label": token.label, "pin": token.pin, "module": LIBRARY}
    changed[wrong] = Path("/usr/lib/none.so") if wrong == "module" else "8888"
    with pytest.raises(FeltwatchError, match=r"pkcs11:token=.*;object=.*cannot be used") as raised:
        TokenSigner(TokenPlace(**changed))  # type: ignore[arg-type]
    assert PIN not in str(raised.value)
