"""Project memory: notes that agents keep while they work, one namespace per project (memory.md)."""
