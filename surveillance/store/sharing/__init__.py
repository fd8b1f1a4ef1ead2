"""Which of several servers over one PostgreSQL database watches which table, and what it shows."""
