"""Importers and exporters of graph files."""
