"""A temporary database in which a file of memory is checked and compared before it is stored."""
