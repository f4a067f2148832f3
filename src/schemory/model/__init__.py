"""What the words of the product mean: frozen values and pure functions, no I/O, clock or chance."""
