"""Tells which project a folder belongs to, from files alone and without running anything."""
