"""Schema files: loading, faults, and the pure planning of what a call changes."""
