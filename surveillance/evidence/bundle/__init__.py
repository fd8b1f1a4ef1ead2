"""Evidence of alerts: a bundle each, and a log of hashes that reveals a changed one."""

from surveillance.evidence.bundle.chain import CHAIN_FILE, Chain, ChainLine
from surveillance.evidence.bundle.contents import BundleContents, BundleRef, FurtherClip
from surveillance.evidence.bundle.keys import SigningKey, VerifyKey
from surveillance.evidence.bundle.parts import part_names, part_span, read_part
from surveillance.evidence.bundle.problem import Problem
from surveillance.evidence.bundle.site_key import site_key
from surveillance.evidence.bundle.verify_bundle import verify_bundle
from surveillance.evidence.bundle.verify_folder import FolderCheck, verify_folder
from surveillance.evidence.bundle.verify_log import verify_log
from surveillance.evidence.bundle.write import write_bundle

__all__ = [
    "CHAIN_FILE",
    "BundleContents",
    "BundleRef",
    "Chain",
    "ChainLine",
    "FolderCheck",
    "FurtherClip",
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
