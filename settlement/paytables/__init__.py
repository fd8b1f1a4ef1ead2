"""Pay tables: their TOML files, their form and how they are found."""
