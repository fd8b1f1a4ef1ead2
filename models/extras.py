"""What training needs beside the base installation, and how large that is."""

INSTALL_TRAIN = (
    'pip install "feltwatch[train]", which is about 7 GB with the libraries for graphics cards; '
    "for a CPU alone install torch's CPU build before it"
)
"""How to install it, for errors that say that it is missing."""
