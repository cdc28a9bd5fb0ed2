"""The command line: one module for each command, found and run by `edgevoice.cli.main`."""
