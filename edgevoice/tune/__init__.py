"""Measures this machine and proposes what to change in the configuration."""
