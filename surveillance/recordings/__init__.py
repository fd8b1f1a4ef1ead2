"""Audits of recordings in the background: which there are, their processes, their results."""

from surveillance.recordings.folders import AllowedFolders, Video
from surveillance.recordings.manager import AuditManager

__all__ = ["AllowedFolders", "AuditManager", "Video"]
