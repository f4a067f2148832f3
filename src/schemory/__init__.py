"""Schemory: a local memory for AI agents in which every fact has a type, a source and a date."""

__version__ = "0.1.0"
