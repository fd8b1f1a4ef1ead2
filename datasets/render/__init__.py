"""Everything that draws: felts, chips, lammers, arms, cameras."""
