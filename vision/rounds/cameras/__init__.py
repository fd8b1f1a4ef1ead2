"""Further cameras of a table: what they read, and how it is joined to the first one's."""
