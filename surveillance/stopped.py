"""What is raised when a person stops a run."""


class Stopped(Exception):  # noqa: N818 - not an error: the person asked for it
    """The person stopped the run; the message says what is kept."""
