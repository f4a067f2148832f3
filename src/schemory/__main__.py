"""`python -m schemory`: the command line."""

from schemory.cli.main import run

run()
