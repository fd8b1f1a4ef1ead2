"""Evidence of alerts: a bundle each, and a log of hashes that tells when one was changed."""

from surveillance.bundle.chain import CHAIN_FILE, Chain, ChainLine
from surveillance.bundle.contents import BundleContents, BundleRef
from surveillance.bundle.keys import SigningKey, VerifyKey
from surveillance.bundle.parts import part_names, part_span, read_part
from surveillance.bundle.problem import Problem
from surveillance.bundle.site_key import site_key
from surveillance.bundle.verify_bundle import verify_bundle
from surveillance.bundle.verify_folder import FolderCheck, verify_folder
from surveillance.bundle.verify_log import verify_log
from surveillance.bundle.write import write_bundle

__all__ = [
    "CHAIN_FILE",
    "BundleContents",
    "BundleRef",
    "Chain",
    "ChainLine",
    "FolderCheck",
    "Problem",
    "SigningKey",
    "VerifyKey",
    "part_names",
    "part_span",
    "read_part",
    "site_key",
    "verify_bundle",
    "verify_folder",
    "verify_log",
    "write_bundle",
]
