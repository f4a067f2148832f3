"""MCP tools as data: registry, argument checks, replies; no transport and no SDK."""
