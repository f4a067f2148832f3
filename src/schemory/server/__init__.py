"""Adapters that put the tools on a wire; the only importers of the MCP SDK."""
