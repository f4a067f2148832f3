"""`python -m schemory`: the command line."""

from schemory.cli.front import run

run()
