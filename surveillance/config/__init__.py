"""The site file and the checks of it."""
