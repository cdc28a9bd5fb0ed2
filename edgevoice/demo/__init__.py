"""A conversation held in a simulated room, and what is left of it to look at."""
