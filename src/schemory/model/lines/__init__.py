"""Lines of graph files in any dialect: read, merged and written as values, without any I/O."""
