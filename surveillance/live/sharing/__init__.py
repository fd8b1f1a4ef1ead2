"""Cameras that several servers share over one PostgreSQL database; see `store.sharing`."""
