"""Clients' configuration files: where they are, what stands in them, and changing only our part."""
