"""Commands of the server, its accounts and its evidence."""
